package paired

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Equivalence is a test of two one-sided hypotheses: that the difference is at
// most -margin (Low) and that it is at least +margin (High). Rejecting both says
// that the difference lies inside the margins. The margin must be fixed before
// the data are seen.
type Equivalence struct {
	// Margin is the largest difference that counts as none, positive.
	Margin float64
	// LowStat and HighStat are the statistics against -margin and +margin, Low
	// and High their one-sided p-values.
	LowStat, HighStat float64
	Low, High         P
	// P is the larger of the two: the p-value of equivalence.
	P P
}

func newEquivalence(margin, low, high float64, tail func(float64) float64, method string) Equivalence {
	e := Equivalence{Margin: margin, LowStat: low, HighStat: high}
	e.Low = P{Value: tail(low), Method: method}
	e.High = P{Value: tail(-high), Method: method}
	e.P = P{Value: math.Max(e.Low.Value, e.High.Value), Method: method}
	return e
}

// TOST tests equivalence with [Clusters.CR2] and t; at level 1-alpha it agrees
// with a 1-2 alpha [Clusters.CR2T] interval inside the margins. It assumes
// independent tasks. NaN for a margin that is not positive, with fewer than two
// tasks, and where the standard error is 0.
// Source: Schuirmann 1987 (J Pharmacokinet Biopharm 15:657).
func (cs Clusters) TOST(margin float64) Equivalence {
	m := cs.moments()
	se, df := m.cr2(), m.df()
	if !(margin > 0) || !(se > 0) {
		se = nan
	}
	upper := func(t float64) float64 {
		p := tTwoSidedP(t, df) / 2
		if t < 0 {
			p = 1 - p
		}
		return p
	}
	return newEquivalence(margin, (m.delta+margin)/se, (m.delta-margin)/se, upper, MethodTOST)
}

// TangoTOST tests equivalence with Tango's score at the margins; at level
// 1-alpha it agrees with a 1-2 alpha [Table.Tango] interval inside the margins.
// It assumes independent pairs. NaN without pairs and for a margin outside (0, 1].
// Source: Tango 1998 (Stat Med 17:891).
func (t Table) TangoTOST(margin float64) Equivalence {
	low, high := t.TangoScore(-margin), t.TangoScore(margin)
	if !(margin > 0 && margin <= 1) {
		low, high = nan, nan
	}
	upper := func(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
	return newEquivalence(margin, low, high, upper, MethodTangoTOST)
}

// CochranQ tests whether several arms have the same success probability in the
// same units, an omnibus before comparisons of pairs of arms. success[i][k] says
// whether unit i succeeded in arm k. It assumes independent units. The degrees of
// freedom are arms-1. Where no unit tells arms apart Q is 0 and p is 1; NaN with
// fewer than two arms, without units and for a ragged matrix.
// Source: Cochran 1950 (Biometrika 37:256).
func CochranQ(success [][]bool) (q, df float64, p P) {
	undefined := P{Value: nan, Method: MethodCochranQ}
	if len(success) == 0 || len(success[0]) < 2 {
		return nan, nan, undefined
	}
	k := len(success[0])
	columns, total, rowSquares := make([]float64, k), 0.0, 0.0
	for _, unit := range success {
		if len(unit) != k {
			return nan, nan, undefined
		}
		row := 0.0
		for i, s := range unit {
			row += indicator(s)
			columns[i] += indicator(s)
		}
		total += row
		rowSquares += row * row
	}
	df = float64(k - 1)
	den := float64(k)*total - rowSquares
	if den == 0 {
		return 0, df, P{Value: 1, Method: MethodCochranQ}
	}
	squares := 0.0
	for _, c := range columns {
		squares += c * c
	}
	q = df * (float64(k)*squares - total*total) / den
	return q, df, P{Value: mathext.GammaIncRegComp(df/2, q/2), Method: MethodCochranQ}
}
