package paired

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// validProportion reports whether s of n is a proportion that the interval at
// this level can be computed for.
func validProportion(s, n, level float64) bool {
	return s >= 0 && s <= n && !math.IsInf(n, 0) && validLevel(level)
}

// Wilson is the score interval for the probability behind s successes in n
// independent trials (0 <= s <= n, not necessarily whole). n=0 gives [0, 1];
// other impossible input NaN.
// Source: Wilson 1927 (JASA 22:209).
func Wilson(s, n, level float64) Interval {
	if !validProportion(s, n, level) {
		return noInterval(level, MethodWilson)
	}
	ci := wilson(s, n, twoSidedZ(level))
	ci.Level, ci.Method = level, MethodWilson
	return ci
}

// wilson is the score interval with z as the quantile.
func wilson(s, n, z float64) Interval {
	ci := Interval{Low: 0, High: 1}
	if n == 0 {
		return ci
	}
	p, z2 := s/n, z*z
	centre := (p + z2/(2*n)) / (1 + z2/n)
	half := z * math.Sqrt(p*(1-p)/n+z2/(4*n*n)) / (1 + z2/n)
	if s > 0 {
		ci.Low = clip(centre-half, 0, 1)
	}
	if s < n {
		ci.High = clip(centre+half, 0, 1)
	}
	return ci
}

// ClopperPearson is the exact interval for the probability behind s successes in
// n independent trials (0 <= s <= n); its coverage is at least the level. n=0
// gives [0, 1]; other impossible input NaN.
// Source: Clopper & Pearson 1934 (Biometrika 26:404).
func ClopperPearson(s, n, level float64) Interval {
	if !validProportion(s, n, level) {
		return noInterval(level, MethodClopper)
	}
	ci := Interval{Low: 0, High: 1, Level: level, Method: MethodClopper}
	tail := (1 - level) / 2
	if s > 0 {
		ci.Low = mathext.InvRegIncBeta(s, n-s+1, tail)
	}
	if s < n {
		ci.High = mathext.InvRegIncBeta(s+1, n-s, 1-tail)
	}
	return ci
}

// MidPProportion is the mid-p interval for the probability behind s successes
// in n independent trials (0 <= s <= n): the Clopper-Pearson tails with the
// observed count at half weight. n=0 gives [0, 1]; other impossible input NaN.
// Source: Berry & Armitage 1995 (Statistician 44:417).
func MidPProportion(s, n, level float64) Interval {
	if !validProportion(s, n, level) {
		return noInterval(level, MethodMidP)
	}
	ci := Interval{Low: 0, High: 1, Level: level, Method: MethodMidP}
	tail := (1 - level) / 2
	if s > 0 {
		ci.Low = bisect(0, 1, func(p float64) bool { return midUpperTail(s, n, p) < tail })
	}
	if s < n {
		ci.High = bisect(0, 1, func(p float64) bool { return 1-midUpperTail(s, n, p) > tail })
	}
	return ci
}

// midUpperTail is P(X > s) + P(X = s)/2 for X ~ Bin(n, p).
func midUpperTail(s, n, p float64) float64 {
	above := 0.0
	if s < n {
		above = mathext.RegIncBeta(s+1, n-s, p)
	}
	return above + binomialPMF(n, s, p)/2
}
