package paired

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestIntervalScore(t *testing.T) {
	for _, c := range []struct{ low, high, level, x, want float64 }{
		{0.2, 0.6, 0.9, 0.3, 0.4},                            // inside: the width
		{0.2, 0.6, 0.9, 0.2, 0.4}, {0.2, 0.6, 0.9, 0.6, 0.4}, // the ends are inside
		{0.2, 0.6, 0.9, 0.1, 0.4 + 20*0.1}, {0.2, 0.6, 0.9, 0.7, 0.4 + 20*0.1},
		{0.2, 0.6, 0.5, 0.7, 0.4 + 4*0.1}, {-0.1, -0.1, 0.8, -0.1, 0}, {-0.1, -0.1, 0.8, 0.1, 10 * 0.2},
		{0.6, 0.2, 0.9, 0.3, math.NaN()}, {0, 1, 1, 0.5, math.NaN()}, {0, 1, 0, 0.5, math.NaN()}, {0, 1, 0.9, math.NaN(), math.NaN()}, {math.NaN(), 1, 0.9, 0, math.NaN()},
	} {
		near(t, "score", IntervalScore(c.low, c.high, c.level, c.x), c.want, 1e-12)
	}
}

// The score is proper: over any distribution, no interval expects less than the
// one between its central quantiles.
func TestIntervalScoreIsProper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-1, 1), 20, 20).Draw(t, "distribution")
		level := rapid.SampledFrom([]float64{0.5, 0.8, 0.9}).Draw(t, "level")
		expected := func(low, high float64) (sum float64) {
			for _, v := range x {
				sum += IntervalScore(low, high, level, v)
			}
			return sum
		}
		best, bestOfAll := math.Inf(1), math.Inf(1)
		for _, low := range x { // the least is at points of the distribution
			for _, high := range x {
				if high < low {
					continue
				}
				score := expected(low, high)
				bestOfAll = math.Min(bestOfAll, score)
				below, above := 0.0, 0.0
				for _, v := range x {
					below, above = below+indicator(v < low), above+indicator(v > high)
				}
				tail := (1 - level) / 2 * float64(len(x))
				if below <= tail+1e-9 && above <= tail+1e-9 && atLeast(x, low, tail) && atMost(x, high, tail) {
					best = math.Min(best, score)
				}
			}
		}
		near(t, "the quantiles' score", best, bestOfAll, 1e-9)
	})
}

// atLeast says whether the mass up to low reaches tail, atMost whether that from
// high on does: they are quantiles.
func atLeast(x []float64, low, tail float64) bool {
	n := 0.0
	for _, v := range x {
		n += indicator(v <= low)
	}
	return n >= tail-1e-9
}

func atMost(x []float64, high, tail float64) bool {
	n := 0.0
	for _, v := range x {
		n += indicator(v >= high)
	}
	return n >= tail-1e-9
}

func TestBrierScoreAgainstTrials(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		s := rapid.IntRange(0, n).Draw(t, "s")
		f := rapid.Float64Range(0, 1).Draw(t, "forecast")
		sum := 0.0
		for i := range n {
			sum += math.Pow(f-indicator(i < s), 2)
		}
		near(t, "Brier", BrierScore(f, s, n), sum/float64(n), 1e-12)
	})
	for _, bad := range []float64{BrierScore(0.5, 0, 0), BrierScore(0.5, 3, 2), BrierScore(0.5, -1, 2), BrierScore(1.5, 1, 2), BrierScore(math.NaN(), 1, 2)} {
		near(t, "impossible input", bad, math.NaN(), 0)
	}
}

func TestClusteredProportion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Tries {
			n := rapid.IntRange(0, 6).Draw(t, "n")
			return Tries{n, rapid.IntRange(0, n).Draw(t, "s")}
		}), 0, 12).Draw(t, "tasks")
		s, n, used := 0, 0, 0
		var failures []Tries
		for _, x := range tasks {
			s, n, used = s+x.Successes, n+x.Replicates, used+int(indicator(x.Replicates > 0))
			failures = append(failures, Tries{x.Replicates, x.Replicates - x.Successes})
		}
		share, ci := ClusteredProportion(tasks, 0.95)
		near(t, "share", share, float64(s)/float64(n), 1e-12)
		if used < 2 {
			near(t, "low, too few tasks", ci.Low, math.NaN(), 0)
			return
		}
		if !(0 <= ci.Low && ci.Low <= share && share <= ci.High && ci.High <= 1 && ci.Low < ci.High) {
			t.Fatalf("%v of %v", ci, share)
		}
		plain, wider := Wilson(float64(s), float64(n), 0.95), ci.High-ci.Low
		if wider < plain.High-plain.Low-1e-12 {
			t.Fatalf("%v is narrower than that of independent trials, %v", ci, plain)
		}
		_, mirror := ClusteredProportion(failures, 0.95)
		near(t, "mirrored low", mirror.Low, 1-ci.High, 1e-12)
		near(t, "mirrored high", mirror.High, 1-ci.Low, 1e-12)
	})
	// With one trial per task and very many of them it is Wilson's.
	many := make([]Tries, 4000)
	for i := range many {
		many[i] = Tries{1, i % 4 / 3}
	}
	_, ci := ClusteredProportion(many, 0.95)
	want := Wilson(1000, 4000, 0.95)
	near(t, "low", ci.Low, want.Low, 1e-5)
	near(t, "high", ci.High, want.High, 1e-5)
}

// The interval covers the truth about as often as it says, where trials of a task
// are strongly alike and where they are not; Wilson's, on the same trials, does not.
func TestClusteredProportionCovers(t *testing.T) {
	const draws, tasks, replicates, seed = 4000, 40, 5, 11
	for _, c := range []struct {
		low, high float64 // a task succeeds at one of these rates, evenly
		plainLow  bool    // whether independence is far off
	}{{0.1, 0.9, true}, {0.5, 0.5, false}, {0.02, 0.3, true}, {0.05, 0.05, false}} {
		rng := rand.New(rand.NewPCG(seed, 1))
		truth, covered, plain := (c.low+c.high)/2, 0.0, 0.0
		for range draws {
			list := make([]Tries, tasks)
			s := 0
			for i := range list {
				p := c.low
				if rng.IntN(2) == 1 {
					p = c.high
				}
				list[i].Replicates = replicates
				for range replicates {
					list[i].Successes += int(indicator(rng.Float64() < p))
				}
				s += list[i].Successes
			}
			_, ci := ClusteredProportion(list, 0.95)
			covered += indicator(ci.Low <= truth && truth <= ci.High) / draws
			w := Wilson(float64(s), tasks*replicates, 0.95)
			plain += indicator(w.Low <= truth && truth <= w.High) / draws
		}
		t.Logf("rates %v and %v: covers %.3f, Wilson %.3f", c.low, c.high, covered, plain)
		if covered < 0.94 || covered > 0.99 || (plain < 0.9) != c.plainLow {
			t.Errorf("rates %v and %v, seed %d: covers %.3f, Wilson %.3f", c.low, c.high, seed, covered, plain)
		}
	}
}
