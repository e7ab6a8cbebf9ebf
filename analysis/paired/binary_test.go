package paired

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// near fails unless got and want agree within tol, NaN agreeing with NaN.
func near(t rapid.TB, what string, got, want, tol float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > tol {
		t.Fatalf("%s: got %.15g, want %.15g within %g", what, got, want, tol)
	}
}

// drawTable draws a table of up to 4*most pairs.
func drawTable(t *rapid.T, most int) Table {
	cell := rapid.IntRange(0, most)
	return Table{
		Both: float64(cell.Draw(t, "both")), TreatOnly: float64(cell.Draw(t, "treat_only")),
		CtrlOnly: float64(cell.Draw(t, "ctrl_only")), Neither: float64(cell.Draw(t, "neither")),
	}
}

// intervals are all intervals for the difference of a table.
var intervals = map[string]func(Table, float64) Interval{
	"tango": Table.Tango, "newcombe10": Table.Newcombe10, "newcombe8": Table.Newcombe8,
	"bonett_price": Table.BonettPrice, "agresti_min": Table.AgrestiMin, "wald": Table.Wald,
}

func TestMcNemarAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t, 6)
		m, b, c := int(table.Discordant()), int(table.TreatOnly), int(table.CtrlOnly)
		extreme, tied := 0, 0
		for pattern := range 1 << m {
			wins := 0
			for bit := range m {
				wins += pattern >> bit & 1
			}
			if lose := m - wins; min(wins, lose) <= min(b, c) {
				extreme++
				if min(wins, lose) == min(b, c) {
					tied++
				}
			}
		}
		all := float64(int(1) << m)
		near(t, "exact", table.McNemarExact().Value, float64(extreme)/all, 1e-12)
		mid := (float64(extreme) - float64(tied)/2) / all
		if b == c {
			mid = 1
		}
		near(t, "mid-p", table.McNemarMidP().Value, mid, 1e-12)
	})
}

func TestMcNemarConcordantPairsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t, 40)
		risk := Table{TreatOnly: table.TreatOnly, CtrlOnly: table.CtrlOnly}
		near(t, "exact", table.McNemarExact().Value, risk.McNemarExact().Value, 0)
		near(t, "mid-p", table.McNemarMidP().Value, risk.McNemarMidP().Value, 0)
		near(t, "swapped", table.Swap().McNemarMidP().Value, table.McNemarMidP().Value, 1e-13)
		if table.McNemarMidP().Value > table.McNemarExact().Value {
			t.Fatalf("mid-p above exact p for %+v", table)
		}
	})
}

// tangoByLikelihood is the score with the nuisance parameter found by maximising
// the likelihood numerically, instead of by the closed form.
func tangoByLikelihood(table Table, delta float64) float64 {
	n, b, c := table.Pairs(), table.TreatOnly, table.CtrlOnly
	term := func(k, p float64) float64 {
		if k == 0 {
			return 0
		}
		return k * math.Log(p)
	}
	loglik := func(q float64) float64 {
		return term(b, q+delta) + term(c, q) + term(n-b-c, 1-2*q-delta)
	}
	lo, hi := math.Max(0, -delta), (1-delta)/2
	for range 200 {
		x, y := lo+(hi-lo)/3, hi-(hi-lo)/3
		if loglik(x) < loglik(y) {
			lo = x
		} else {
			hi = y
		}
	}
	q := (lo + hi) / 2
	return (b - c - n*delta) / math.Sqrt(n*(2*q+delta*(1-delta)))
}

func TestTangoAgainstLikelihood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t, 12)
		if table.Pairs() == 0 {
			return
		}
		delta := float64(rapid.IntRange(-98, 98).Draw(t, "delta")) / 100
		if delta == 0 && table.Discordant() == 0 {
			return
		}
		want := tangoByLikelihood(table, delta)
		near(t, "score", table.TangoScore(delta), want, 1e-5*(1+math.Abs(want)))
		level := rapid.Float64Range(0.5, 0.999).Draw(t, "level")
		z, ci := twoSidedZ(level), table.Tango(level)
		if ci.Low > -1 {
			near(t, "score at low", table.TangoScore(ci.Low), z, 1e-6)
		}
		if ci.High < 1 {
			near(t, "score at high", table.TangoScore(ci.High), -z, 1e-6)
		}
	})
}

// TestCoverageByEnumeration recomputes published coverage figures by summing over
// every possible table, with 60% of concordant pairs both succeeding.
func TestCoverageByEnumeration(t *testing.T) {
	cases := []struct {
		method               string
		psi, direction, want float64
	}{
		{"tango", 0.05, 0, 0.986}, {"tango", 0.1, 0.5, 0.972}, {"tango", 0.2, 0.8, 0.932}, {"tango", 0.5, 1, 0.962},
		{"newcombe10", 0.05, 0, 0.997}, {"newcombe10", 0.1, 0.5, 0.956}, {"newcombe10", 0.2, 0.8, 0.946},
		{"newcombe10", 0.5, 1, 0.951},
	}
	for _, c := range cases {
		got := coverage(intervals[c.method], 40, c.psi, c.psi*c.direction)
		near(t, c.method, got, c.want, 0.0005001)
	}
}

func coverage(interval func(Table, float64) Interval, n int, psi, delta float64) float64 {
	p := [4]float64{0.6 * (1 - psi), (psi + delta) / 2, (psi - delta) / 2, 0.4 * (1 - psi)}
	fact, _ := math.Lgamma(float64(n + 1))
	covered := 0.0
	for both := 0; both <= n; both++ {
		for b := 0; both+b <= n; b++ {
			for c := 0; both+b+c <= n; c++ {
				counts := [4]int{both, b, c, n - both - b - c}
				logp := fact
				for i, k := range counts {
					lg, _ := math.Lgamma(float64(k + 1))
					logp -= lg
					if k > 0 {
						logp += float64(k) * math.Log(p[i])
					}
				}
				if logp < -30 || math.IsNaN(logp) {
					continue
				}
				ci := interval(Cluster{counts[0], counts[1], counts[2], counts[3]}.Table(), 0.95)
				covered += math.Exp(logp) * indicator(ci.Low <= delta+1e-12 && delta-1e-12 <= ci.High)
			}
		}
	}
	return covered
}

func TestDifferenceIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t, 30)
		for name, f := range intervals {
			narrow, wide, swapped := f(table, 0.8), f(table, 0.95), f(table.Swap(), 0.95)
			near(t, name+" swapped low", swapped.Low, -wide.High, 1e-9)
			near(t, name+" swapped high", swapped.High, -wide.Low, 1e-9)
			const slack = 1e-12
			if wide.Low < -1-slack || wide.High > 1+slack {
				t.Fatalf("%s leaves [-1,1]: %+v", name, wide)
			}
			if wide.Low > narrow.Low+slack || wide.High < narrow.High-slack {
				t.Fatalf("%s: 95%% %+v inside 80%% %+v", name, wide, narrow)
			}
			if name == "tango" && table.Pairs() > 0 && !wide.Covers(table.Delta()) {
				t.Fatalf("%s %+v misses %g", name, wide, table.Delta())
			}
		}
	})
}

func TestBinaryEdges(t *testing.T) {
	none := Table{}
	near(t, "delta of nothing", none.Delta(), math.NaN(), 0)
	near(t, "p of nothing", none.McNemarExact().Value, 1, 0)
	for name, f := range intervals {
		if ci := f(none, 0.95); ci.Low != -1 || ci.High != 1 {
			t.Errorf("%s of nothing: %+v", name, ci)
		}
		for _, bad := range []Table{{Both: -1}, {TreatOnly: math.NaN()}, {Neither: math.Inf(1)}} {
			if ci := f(bad, 0.95); !math.IsNaN(ci.Low) || !math.IsNaN(ci.High) {
				t.Errorf("%s of %+v: %+v", name, bad, ci)
			}
		}
		for _, level := range []float64{0, 1, -1, 2, math.NaN()} {
			if ci := f(Table{Both: 3, TreatOnly: 1}, level); !math.IsNaN(ci.Low) {
				t.Errorf("%s at level %g: %+v", name, level, ci)
			}
		}
	}
	z2 := twoSidedZ(0.95) * twoSidedZ(0.95)
	near(t, "no discordant pair", Table{Both: 25, Neither: 15}.Tango(0.95).High, z2/(40+z2), 1e-12)
	near(t, "all treatment", Table{TreatOnly: 8}.Tango(0.95).High, 1, 0)
	near(t, "all control", Table{CtrlOnly: 8}.Tango(0.95).Low, -1, 0)
	near(t, "fractions have no exact test", Table{TreatOnly: 1.5}.McNemarExact().Value, math.NaN(), 0)
	half := Table{Both: 2.5, TreatOnly: 1.5, CtrlOnly: 0.5, Neither: 3}
	twice := Table{Both: 5, TreatOnly: 3, CtrlOnly: 1, Neither: 6}
	near(t, "fractions have a score", half.TangoScore(-0.1)*math.Sqrt2, twice.TangoScore(-0.1), 1e-12)
	near(t, "odds of nothing", none.OddsRatio(), math.NaN(), 0)
	for _, ci := range []Interval{none.OddsRatioExact(0.95), none.OddsRatioMidP(0.95), none.OddsRatioWilson(0.95)} {
		if ci.Low != 0 || !math.IsInf(ci.High, 1) {
			t.Errorf("odds ratio interval of nothing: %+v", ci)
		}
	}
}

// tailSums are P(X >= s) and P(X <= s) for X ~ Bin(n, p), term by term, with the
// term at s counted by weight.
func tailSums(s, n int, p, weight float64) (upper, lower float64) {
	for k := range n + 1 {
		term := weightedChoose(n, k) * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
		switch {
		case k == s:
			upper += weight * term
			lower += weight * term
		case k > s:
			upper += term
		default:
			lower += term
		}
	}
	return upper, lower
}

func weightedChoose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return c
}

func TestProportionsAgainstTailSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		s := rapid.IntRange(0, n).Draw(t, "s")
		level := rapid.Float64Range(0.5, 0.995).Draw(t, "level")
		tail := (1 - level) / 2
		check := func(name string, ci Interval, weight float64) {
			if s > 0 {
				upper, _ := tailSums(s, n, ci.Low, weight)
				near(t, name+" upper tail at low", upper, tail, 1e-9)
			} else {
				near(t, name+" low", ci.Low, 0, 0)
			}
			if s < n {
				_, lower := tailSums(s, n, ci.High, weight)
				near(t, name+" lower tail at high", lower, tail, 1e-9)
			} else {
				near(t, name+" high", ci.High, 1, 0)
			}
		}
		check("clopper_pearson", ClopperPearson(float64(s), float64(n), level), 1)
		check("midp", MidPProportion(float64(s), float64(n), level), 0.5)
		w, p := Wilson(float64(s), float64(n), level), float64(s)/float64(n)
		for _, limit := range []float64{w.Low, w.High} {
			if 0 < limit && limit < 1 {
				score := math.Abs(p-limit) / math.Sqrt(limit*(1-limit)/float64(n))
				near(t, "wilson score", score, twoSidedZ(level), 1e-8)
			}
		}
	})
}

func TestPairs(t *testing.T) {
	counts, dropped := Tally([]Pair{{1, 1}, {1, 0}, {1, 0}, {0, 1}, {0, 0}, {math.NaN(), 1}, {0, 2}})
	if want := (Cluster{1, 2, 1, 1}); counts != want || dropped != 2 {
		t.Errorf("tally: %+v, %d dropped", counts, dropped)
	}
	matched, unpaired := MatchReplicates([]int{3, 1, 1, 9}, []int{1, 2, 3})
	if len(matched) != 2 || matched[0] != 3 || matched[1] != 1 || unpaired != 3 {
		t.Errorf("match: %v, %d unpaired", matched, unpaired)
	}
}
