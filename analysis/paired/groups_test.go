package paired

import (
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

func TestPassAtKAgainstSubsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 4).Draw(t, "k")
		tasks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Tries {
			n := rapid.IntRange(4, 8).Draw(t, "n")
			return Tries{n, rapid.IntRange(0, n).Draw(t, "c")}
		}), 1, 4).Draw(t, "tasks")
		var some, every, flip float64
		for _, x := range tasks {
			var any, all, of float64
			successes := uint(1)<<x.Successes - 1
			for set := range uint(1) << x.Replicates {
				if bits.OnesCount(set) == k {
					of++
					any += indicator(set&successes != 0)
					all += indicator(set&^successes == 0)
				}
			}
			some += any / of / float64(len(tasks))
			every += all / of / float64(len(tasks))
			disagree, pairs := 0.0, 0.0
			for i := range x.Replicates {
				for j := range i {
					pairs++
					disagree += indicator((i < x.Successes) != (j < x.Successes))
				}
			}
			flip += disagree / pairs / float64(len(tasks))
		}
		near(t, "pass@k", PassAtK(tasks, k), some, 1e-12)
		near(t, "pass^k", PassHatK(tasks, k), every, 1e-12)
		near(t, "flip rate", FlipRate(tasks), flip, 1e-12)
	})
	for what, v := range map[string]float64{
		"k above n": PassAtK([]Tries{{3, 1}}, 4), "k of 0": PassAtK([]Tries{{3, 1}}, 0),
		"no task": PassHatK(nil, 1), "too many successes": PassHatK([]Tries{{3, 4}}, 1),
		"one replicate": FlipRate([]Tries{{1, 1}}),
	} {
		near(t, what, v, math.NaN(), 0)
	}
}

func TestOneWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// ICC(1) of equal groups is the pairwise covariance within groups over the
		// variance, both around the grand mean, up to the usual n-1 corrections.
		n := rapid.IntRange(2, 4).Draw(t, "size")
		groups := rapid.SliceOfN(rapid.SliceOfN(rapid.Float64Range(-1, 1), n, n), 2, 6).Draw(t, "groups")
		a := AnalyseGroups(groups)
		grand, total := 0.0, 0.0
		for _, g := range groups {
			grand += meanOf(g) / float64(len(groups))
		}
		for _, g := range groups {
			for _, v := range g {
				total += (v - grand) * (v - grand)
			}
		}
		j := float64(len(groups))
		near(t, "sums of squares", a.MSB*(j-1)+a.MSW*j*float64(n-1), total, 1e-9)
		near(t, "k0", a.K0, float64(n), 1e-12)
		if total > 1e-6 && a.MSW > 1e-9 {
			ci := a.Interval(0.9)
			if !(ci.Low <= a.ICC()+1e-9 && a.ICC() <= ci.High+1e-9) {
				t.Fatalf("icc %g outside %+v", a.ICC(), ci)
			}
		}
	})
	for what, g := range map[string][][]float64{
		"nothing": nil, "one group": {{1, 0}}, "single values": {{1}, {0}}, "no variation": {{0.1, 0.1}, {0.1, 0.1}},
	} {
		a := AnalyseGroups(g)
		near(t, what, a.ICC(), math.NaN(), 0)
		near(t, what, a.MeanICC(), math.NaN(), 0)
		near(t, what, a.Interval(0.95).Low, math.NaN(), 0)
	}
	agree := AnalyseGroups([][]float64{{1, 1}, {}, {0, 0}})
	near(t, "groups that agree", agree.ICC(), 1, 0)
	near(t, "their interval", agree.Interval(0.95).Low, math.NaN(), 0)
}

func drawStudies(t *rapid.T, least int) []Study {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Study {
		return Study{rapid.Float64Range(-1, 1).Draw(t, "y"), rapid.Float64Range(0.05, 0.5).Draw(t, "se")}
	}), least, 7).Draw(t, "studies")
}

func TestMetaAgainstDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStudies(t, 2)
		df := float64(len(s) - 1)
		fixed, h := FixedEffect(s), Heterogeneous(s)
		slope := 0.0 // the weighted least-squares condition of the mean
		for _, x := range s {
			slope += (x.Estimate - fixed.Estimate) / (x.SE * x.SE)
		}
		near(t, "normal equation", slope, 0, 1e-8)
		near(t, "scale of the fixed effect", fixed.Scale*df, h.Q, 1e-9)
		pm := PauleMandel(s)
		if h.Q > df {
			near(t, "spread at tau2", spread(s, pm.Tau2), df, 1e-6)
		} else {
			near(t, "tau2", pm.Tau2, 0, 0)
		}
		if len(s) == 2 {
			near(t, "two studies", pm.Tau2, DerSimonianLaird(s).Tau2, 1e-9)
		}
		_, mkh, _ := pm.MKH(0.95)
		_, hksj, _ := pm.HKSJ(0.95)
		if plain := pm.Interval(0.95); mkh.Width() < plain.Width() || mkh.Width() < hksj.Width()-1e-12 {
			t.Fatalf("mkh %+v, hksj %+v, normal %+v", mkh, hksj, plain)
		}
	})
	for _, bad := range [][]Study{nil, {{1, 0}}, {{1, -1}, {2, 1}}, {{math.NaN(), 1}}} {
		near(t, "estimate", PauleMandel(bad).Estimate, math.NaN(), 0)
		near(t, "q", Heterogeneous(bad).Q, math.NaN(), 0)
		near(t, "low", DerSimonianLaird(bad).Interval(0.95).Low, math.NaN(), 0)
	}
	one := FixedEffect([]Study{{0.3, 0.1}})
	_, ci, p := one.HKSJ(0.95)
	near(t, "hksj of one study", ci.Low, math.NaN(), 0)
	near(t, "its p", p.Value, math.NaN(), 0)
	near(t, "I2 of one study", Heterogeneous([]Study{{0.3, 0.1}}).I2, math.NaN(), 0)
}
