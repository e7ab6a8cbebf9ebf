package paired

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestEIsAMartingale: under theta=1/2 the expected next e-value is the present one.
func TestEIsAMartingale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := float64(rapid.IntRange(0, 60).Draw(t, "b"))
		c := float64(rapid.IntRange(0, 60).Draw(t, "c"))
		for _, m := range []BetaPrior{KT, Uniform, {2, 0.7}} {
			next := (m.E(b+1, c) + m.E(b, c+1)) / 2
			near(t, "next", next/m.E(b, c), 1, 1e-9)
			oneSided := (m.OneSidedE(b+1, c) + m.OneSidedE(b, c+1)) / 2
			near(t, "next one-sided", oneSided/m.OneSidedE(b, c), 1, 1e-7)
		}
		near(t, "uniform", Uniform.LogE(b, c), (b+c)*math.Ln2-math.Log(b+c+1)-logChoose(b+c, b), 1e-9)
		near(t, "swapped", KT.LogE(c, b), KT.LogE(b, c), 1e-9)
		ci := KT.Interval(b, c, 0.9)
		if b > 0 {
			near(t, "log e at low", KT.logEAt(b, c, ci.Low), math.Log(10), 1e-6)
		}
		if c > 0 {
			near(t, "log e at high", KT.logEAt(b, c, ci.High), math.Log(10), 1e-6)
		}
		if b+c > 0 && !ci.Covers(b/(b+c)) {
			t.Fatalf("%+v misses %g", ci, b/(b+c))
		}
	})
}

// everySequence calls f with each sequence of n fair signs of size 1.
func everySequence(n int, f func(d []float64)) {
	d := make([]float64, n)
	for pattern := range 1 << n {
		for i := range d {
			d[i] = float64(2*(pattern>>i&1) - 1)
		}
		f(d)
	}
}

// TestAnytimeErrors lists every sequence of fair outcomes and sums the
// probability that a method ever errs.
func TestAnytimeErrors(t *testing.T) {
	const n, level = 14, 0.8
	var byE, byEB, capital, sequences float64
	everySequence(n, func(d []float64) {
		sequences++
		wins := make([]bool, n)
		for i, x := range d {
			wins[i] = x > 0
		}
		e, p := KT.Path(wins)
		byE += indicator(FirstCrossing(e, 1-level) >= 0)
		if (FirstCrossing(e, 1-level) >= 0) != (p[n] <= 1-level) {
			t.Fatalf("e %v, p %v", e, p)
		}
		cs := RunningIntersection(EmpiricalBernstein(d, level))
		byEB += indicator(!cs[n-1].Covers(0))
		y, lambda, _ := bets(d, 1-level)
		up, down := hedge(y, lambda, 0.5)
		capital += (up + down) / 2
	})
	if byE == 0 || byE/sequences > 1-level || byEB/sequences > 1-level {
		t.Errorf("ever wrong: e-value %g, empirical Bernstein %g", byE/sequences, byEB/sequences)
	}
	near(t, "expected capital", capital/sequences, 1, 1e-9)
}

func TestHedgedIntervalAgainstGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, 15).Draw(t, "d")
		const level = 0.8
		ci := HedgedInterval(d, level)
		for i := -99; i <= 99; i++ {
			mean := float64(i) / 100
			if math.Abs(mean-ci.Low) < 1e-6 || math.Abs(mean-ci.High) < 1e-6 {
				continue
			}
			if accepted := HedgedCapital(d, mean, level) < 1/(1-level); accepted != ci.Covers(mean) {
				t.Fatalf("mean %g accepted %v, interval %+v", mean, accepted, ci)
			}
		}
	})
}

func TestSequentialEdges(t *testing.T) {
	nan := math.NaN()
	near(t, "log e of negative counts", KT.LogE(-1, 2), nan, 0)
	near(t, "low of negative counts", KT.Interval(-1, 2, 0.95).Low, nan, 0)
	near(t, "log e of no prior", BetaPrior{}.LogE(1, 2), nan, 0)
	near(t, "level", KT.Interval(1, 2, 1).Low, nan, 0)
	for what, ci := range map[string]Interval{
		"normal": NormalMixture([]float64{1.5}, 0.95, 40), "tuning": NormalMixture([]float64{0.5}, 0.95, 0),
		"bernstein": EmpiricalBernstein([]float64{2}, 0.95)[0], "hedged": HedgedInterval([]float64{nan}, 0.95),
	} {
		near(t, what, ci.Low, nan, 0)
	}
	near(t, "capital at the end", HedgedCapital([]float64{0.5}, 1, 0.95), nan, 0)
	near(t, "capital of nothing", HedgedCapital(nil, 0, 0.95), 1, 0)
	for _, ci := range []Interval{NormalMixture(nil, 0.95, 40), HedgedInterval(nil, 0.95)} {
		if ci.Low != -1 || ci.High != 1 {
			t.Errorf("nothing: %+v", ci)
		}
	}
	if cs := EmpiricalBernstein(nil, 0.95); len(cs) != 0 {
		t.Errorf("nothing: %v", cs)
	}
}

// TestLooksSpendAlpha recomputes the error of two looks by integrating over the
// first one with the trapezoidal rule.
func TestLooksSpendAlpha(t *testing.T) {
	for name, f := range map[string]func(int, float64) []float64{"obf": OBrienFleming, "pocock": Pocock} {
		z := f(2, 0.05)
		upper := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
		total := upper(z[0])
		const step = 1e-3
		for x := -8.0; x < z[0]; x += step {
			mid := math.Min(x+step/2, z[0])
			total += step * math.Exp(-mid*mid/2) / math.Sqrt(2*math.Pi) * upper(z[1]*math.Sqrt2-mid)
		}
		near(t, name, total, 0.025, 2e-5)
		near(t, name+" single look", f(1, 0.05)[0], twoSidedZ(0.95), 1e-9)
		if f(0, 0.05) != nil || f(3, 0) != nil {
			t.Errorf("%s accepts nonsense", name)
		}
	}
}
