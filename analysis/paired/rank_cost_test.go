package paired

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// enumerateRanks lists all sign patterns over midranks computed pairwise.
func enumerateRanks(d []float64, rankZeros bool) (wPlus, p, greater float64) {
	var used, ranks []float64
	for _, x := range d {
		if x != 0 || rankZeros {
			used = append(used, x)
		}
	}
	for _, x := range used {
		rank := 0.5
		for _, y := range used {
			rank += indicator(math.Abs(y) < math.Abs(x)) + indicator(math.Abs(y) == math.Abs(x))/2
		}
		if x != 0 {
			ranks = append(ranks, rank)
			wPlus += rank * indicator(x > 0)
		}
	}
	var upper, lower float64
	for pattern := range 1 << len(ranks) {
		w := 0.0
		for i, r := range ranks {
			w += r * float64(pattern>>i&1)
		}
		upper += indicator(w >= wPlus)
		lower += indicator(w <= wPlus)
	}
	all := float64(int(1) << len(ranks))
	return wPlus, math.Min(1, 2*math.Min(upper, lower)/all), upper / all
}

func TestSignedRankAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			return float64(rapid.IntRange(-5, 5).Draw(t, "x")) / 4
		}), 0, 9).Draw(t, "d")
		for zeros, f := range map[bool]func([]float64) SignedRank{false: Wilcoxon, true: Pratt} {
			w, p, greater := enumerateRanks(d, zeros)
			got := f(append(slices.Clone(d), math.NaN()))
			near(t, "w", got.WPlus, w, 1e-12)
			near(t, "p", got.P.Value, p, 1e-12)
			near(t, "greater", got.Greater.Value, greater, 1e-12)
			if got.Used != len(d) {
				t.Fatalf("used %d of %d", got.Used, len(d))
			}
		}
	})
}

// TestHodgesLehmannInvertsWilcoxon: shifts inside the interval are those that the
// exact test does not reject.
func TestHodgesLehmannInvertsWilcoxon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfNDistinct(rapid.IntRange(1, 4000), 5, 9, func(x int) int { return x }).Draw(t, "d")
		values := make([]float64, len(d))
		for i, x := range d {
			values[i] = float64(x*8+1) * float64(1-2*(x%2)) // distinct sizes, no average equal to a value
		}
		const level = 0.9
		est, ci, flags := HodgesLehmann(values, level)
		if len(flags) > 0 || !(ci.Low <= est && est <= ci.High) {
			t.Fatalf("%g in %+v, flags %v", est, ci, flags)
		}
		rejects := func(shift float64) bool {
			moved := make([]float64, len(values))
			for i, x := range values {
				moved[i] = x - shift
			}
			return Wilcoxon(moved).P.Value <= 1-level
		}
		const step = 1e-3
		if !rejects(ci.Low-step) || rejects(ci.Low+step) || rejects(ci.High-step) || !rejects(ci.High+step) {
			t.Fatalf("%+v is not the set of accepted shifts", ci)
		}
	})
}

func TestHodgesLehmannEdges(t *testing.T) {
	_, ci, flags := HodgesLehmann([]float64{1, -1, 3}, 0.95)
	if !math.IsNaN(ci.Low) || !slices.Equal(flags, []Flag{FlagTies}) {
		t.Errorf("ties: %+v, %v", ci, flags)
	}
	est, _, flags := HodgesLehmann([]float64{math.NaN()}, 0.95)
	if !math.IsNaN(est) || !slices.Equal(flags, []Flag{FlagEmpty}) {
		t.Errorf("nothing finite: %g, %v", est, flags)
	}
	if _, ci, _ := HodgesLehmann([]float64{1, 2, 4}, 2); !math.IsNaN(ci.High) {
		t.Errorf("level 2: %+v", ci)
	}
	near(t, "p of zeros", Pratt([]float64{0, 0}).P.Value, 1, 0)
	near(t, "z of zeros", Pratt([]float64{0, 0}).Z, math.NaN(), 0)
}

func drawReadings(t *rapid.T, least, most int) []Reading {
	value := rapid.Float64Range(0.5, 4)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Reading {
		return Reading{value.Draw(t, "treat"), value.Draw(t, "ctrl")}
	}), least, most).Draw(t, "readings")
}

// TestFiellerInvertsT: at a limit rho the mean of treat-rho*ctrl is exactly at
// the critical t.
func TestFiellerInvertsT(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		readings := drawReadings(t, 3, 10)
		r := RatioOfMeans(readings, 0.95)
		if r.G >= 1 {
			if !math.IsInf(r.Interval.Low, -1) || !HasFlag(r.Flags, FlagUnbounded) {
				t.Fatalf("g %g, %+v, %v", r.G, r.Interval, r.Flags)
			}
			return
		}
		for _, rho := range []float64{r.Interval.Low, r.Interval.High} {
			d := make([]float64, len(readings))
			for j, x := range readings {
				d[j] = x.Treat - rho*x.Ctrl
			}
			se := meanSE(d)
			if se < 1e-6 {
				return
			}
			crit := tQuantile(0.975, float64(len(d)-1))
			near(t, "t at the limit", math.Abs(meanOf(d))/se/crit, 1, 1e-6)
		}
	})
}

func TestCostEdges(t *testing.T) {
	nan := math.NaN()
	r := RatioOfMeans([]Reading{{1, 2}, {nan, 1}}, 0.95)
	near(t, "ratio of one", r.Value, 0.5, 0)
	near(t, "its limit", r.Interval.Low, nan, 0)
	if r.Used != 1 || r.Dropped != 1 || !slices.Equal(r.Flags, []Flag{FlagDropped, FlagSingleCluster}) {
		t.Errorf("%+v", r)
	}
	if r := RatioOfMeans(nil, 0.95); !math.IsNaN(r.Value) || !slices.Equal(r.Flags, []Flag{FlagEmpty}) {
		t.Errorf("nothing: %+v", r)
	}
	free := RatioOfMeans([]Reading{{1, 0}, {2, 0}}, 0.95)
	if !math.IsNaN(free.Value) || !slices.Equal(free.Flags, []Flag{FlagUnbounded}) {
		t.Errorf("free control: %+v", free)
	}
	g := GeometricRatio([]Reading{{2, 1}, {8, 1}, {0, 1}, {1, nan}}, 0.95)
	near(t, "geometric ratio", g.Value, 4, 1e-12)
	if g.Used != 2 || g.Dropped != 2 || !HasFlag(g.Flags, FlagDropped) {
		t.Errorf("%+v", g)
	}
	same := []Outcome{{Effect: Reading{0.1, 0.1}, Cost: Reading{2, 1}}, {Effect: Reading{0.3, 0.3}, Cost: Reading{4, 1}}}
	near(t, "icer without effect", ICER(same), nan, 0)
	near(t, "icer of nothing", ICER(nil), nan, 0)
	e := NetBenefit(same, 10, 0.95)
	near(t, "benefit without effect", e.Delta, -2, 1e-15)
	if e.Interval.Method != MethodINB {
		t.Errorf("method %s", e.Interval.Method)
	}
}
