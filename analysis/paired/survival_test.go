package paired

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawAttempts(t *rapid.T, name string, k, most int) []Attempts {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Attempts {
		return Attempts{Last: rapid.IntRange(1, k).Draw(t, "last"), Success: rapid.Bool().Draw(t, "success")}
	}), 0, most).Draw(t, name)
}

// redistribute is Efron's second route to the Kaplan-Meier curve: every censored
// trial hands its weight on to the trials after it.
func redistribute(trials []Attempts, k int) []float64 {
	weight := make([]float64, len(trials))
	for i := range weight {
		weight[i] = 1 / float64(len(trials))
	}
	success, total := make([]float64, k), 0.0
	for t := 1; t <= k; t++ {
		lost, left := 0.0, 0
		for i, a := range trials {
			switch {
			case a.Last == t && a.Success:
				total += weight[i]
			case a.Last == t:
				lost += weight[i]
			case a.Last > t:
				left++
			}
		}
		success[t-1] = total
		for i, a := range trials {
			if a.Last > t {
				weight[i] += lost / float64(left)
			}
		}
	}
	return success
}

func TestKaplanMeierAgainstRedistribution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const k = 5
		trials := drawAttempts(t, "trials", k, 12)
		want := redistribute(trials, k)
		for i, p := range KaplanMeier(trials, k).Points {
			if p.AtRisk == 0 && !(p.Success == 1) {
				near(t, "success with nobody at risk", p.Success, math.NaN(), 0)
				continue
			}
			near(t, "success", p.Success, want[i], 1e-12)
		}
	})
}

func TestKaplanMeierWithoutCensoring(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const k = 4
		trials := drawAttempts(t, "trials", k, 20)
		for i := range trials {
			if !trials[i].Success {
				trials[i].Last = k
			}
		}
		if len(trials) == 0 {
			return
		}
		curve, n, spent := KaplanMeier(trials, k), float64(len(trials)), 0.0
		for _, a := range trials {
			spent += float64(a.Last) / n
		}
		for _, p := range curve.Points {
			within := 0.0
			for _, a := range trials {
				within += indicator(a.Success && a.Last <= p.Attempt) / n
			}
			near(t, "success", p.Success, within, 1e-12)
			if within < 1-1e-9 {
				near(t, "se", p.SE, math.Sqrt(within*(1-within)/n), 1e-9)
			}
			if ci := p.LogLog(0.95); within > 0 && within < 1-1e-9 && !(0 <= ci.Low && ci.Low < within && within < ci.High && ci.High <= 1) {
				t.Fatalf("%+v around %g", ci, within)
			}
		}
		mean, _ := curve.Spent(k)
		near(t, "attempts spent", mean, spent, 1e-9)
	})
}

// TestSpentSE compares the standard error with the spread of the mean over all
// samples of the empirical distribution, which it estimates.
func TestSpentSE(t *testing.T) {
	trials := []Attempts{{1, true}, {1, true}, {2, true}, {3, true}, {3, false}, {3, false}}
	_, se := KaplanMeier(trials, 3).Spent(3)
	values := make([]float64, len(trials))
	for i, a := range trials {
		values[i] = float64(a.Last)
	}
	near(t, "se", se, BootstrapMean(values, 0, 1).SE(), 1e-9)
}

func TestSurvivalEdges(t *testing.T) {
	c := KaplanMeier([]Attempts{{0, false}, {4, true}, {-1, true}, {2, true}}, 3)
	if c.Excluded != 3 || !slices.Equal(c.Flags, []Flag{FlagInvalidAttempts}) {
		t.Errorf("excluded %d, flags %v", c.Excluded, c.Flags)
	}
	near(t, "success", c.Points[2].Success, 1, 0)
	censored := KaplanMeier([]Attempts{{1, false}, {1, false}}, 2)
	near(t, "success at 1", censored.Points[0].Success, 0, 0)
	near(t, "success at 2", censored.Points[1].Success, math.NaN(), 0)
	near(t, "interval at 2", censored.Points[1].LogLog(0.95).Low, math.NaN(), 0)
	if !slices.Equal(censored.Flags, []Flag{FlagRiskSetEmpty}) {
		t.Errorf("flags %v", censored.Flags)
	}
	mean, se := censored.Spent(2)
	near(t, "spent while somebody is at risk", mean, 2, 0)
	near(t, "its se", se, 0, 0)
	none := KaplanMeier(nil, 2)
	near(t, "success of nobody", none.Points[0].Success, math.NaN(), 0)
	for _, tau := range []int{0, 3} {
		mean, se := none.Spent(tau)
		near(t, "spent outside the curve", mean, math.NaN(), 0)
		near(t, "its se", se, math.NaN(), 0)
	}
	_, ci := SpentDifference(none, censored, 2, 0.95)
	near(t, "difference to nobody", ci.Low, math.NaN(), 0)
}

// TestLogRankIsCMH: the log-rank test is the CMH test over the risk sets.
func TestLogRankIsCMH(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const k = 4
		var strata []Stratum
		var sets []FourFold
		for range rapid.IntRange(1, 4).Draw(t, "strata") {
			s := Stratum{Treat: drawAttempts(t, "treat", k, 5), Ctrl: drawAttempts(t, "ctrl", k, 5)}
			strata = append(strata, s)
			for a := 1; a <= k; a++ {
				rt, dt := atAttempt(s.Treat, a)
				rc, dc := atAttempt(s.Ctrl, a)
				sets = append(sets, FourFold{dt, rt - dt, dc, rc - dc})
			}
		}
		got, want := LogRank(strata), CMH(sets, false)
		near(t, "chi2", got.Stat, want.Stat, 1e-9)
		near(t, "p", got.P.Value, want.P.Value, 1e-9)
		for i := range strata {
			strata[i].Treat, strata[i].Ctrl = strata[i].Ctrl, strata[i].Treat
		}
		near(t, "chi2 with arms swapped", LogRank(strata).Stat, got.Stat, 1e-9)
	})
}

// TestCMHAgainstHypergeometric recomputes expectation and variance of each
// stratum by listing all tables with its margins.
func TestCMHAgainstHypergeometric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.IntRange(0, 5)
		strata := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) FourFold {
			return FourFold{
				float64(cell.Draw(t, "a")), float64(cell.Draw(t, "b")),
				float64(cell.Draw(t, "c")), float64(cell.Draw(t, "d")),
			}
		}), 1, 4).Draw(t, "strata")
		var gap, variance float64
		for _, f := range strata {
			treat, pass, n := int(f.TreatPass+f.TreatFail), int(f.TreatPass+f.CtrlPass), int(f.total())
			var weight, sum, squares float64
			for x := max(0, treat+pass-n); x <= min(treat, pass); x++ {
				w := weightedChoose(treat, x) * weightedChoose(n-treat, pass-x)
				weight, sum, squares = weight+w, sum+w*float64(x), squares+w*float64(x*x)
			}
			mean := sum / weight
			gap += f.TreatPass - mean
			variance += squares/weight - mean*mean
		}
		got := CMH(strata, false)
		if variance < 1e-12 {
			near(t, "chi2", got.Stat, 0, 1e-9)
			near(t, "p", got.P.Value, 1, 1e-9)
			return
		}
		near(t, "chi2", got.Stat, gap*gap/variance, 1e-7)
		corrected := math.Max(0, math.Abs(gap)-0.5)
		near(t, "corrected", CMH(strata, true).Stat, corrected*corrected/variance, 1e-7)
	})
}

func TestMantelHaenszel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.IntRange(1, 9)
		f := FourFold{
			float64(cell.Draw(t, "a")), float64(cell.Draw(t, "b")),
			float64(cell.Draw(t, "c")), float64(cell.Draw(t, "d")),
		}
		// One stratum: the plain odds ratio with Woolf's standard error.
		or, ci := MantelHaenszel([]FourFold{f}, 0.95)
		want := f.TreatPass * f.CtrlFail / (f.TreatFail * f.CtrlPass)
		se := math.Sqrt(1/f.TreatPass + 1/f.TreatFail + 1/f.CtrlPass + 1/f.CtrlFail)
		near(t, "odds ratio", or/want, 1, 1e-12)
		near(t, "log high", math.Log(ci.High/or), twoSidedZ(0.95)*se, 1e-9)
		near(t, "log low", math.Log(ci.Low/or), -twoSidedZ(0.95)*se, 1e-9)
	})
	or, ci := MantelHaenszel([]FourFold{{3, 0, 0, 2}}, 0.95)
	if !math.IsInf(or, 1) || !math.IsNaN(ci.High) {
		t.Errorf("only treatment passes: %g, %+v", or, ci)
	}
	or, _ = MantelHaenszel([]FourFold{{}}, 0.95)
	near(t, "odds ratio of nothing", or, math.NaN(), 0)
}
