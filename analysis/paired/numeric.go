package paired

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// largeDF is the number of degrees of freedom from which Student's t is expanded
// about the normal distribution: the beta function loses digits there, the
// expansion is exact to 1e-12.
const largeDF = 1e6

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// validLevel reports whether level is a usable confidence level.
func validLevel(level float64) bool { return level > 0 && level < 1 }

// normalQuantile is the p quantile of the standard normal distribution.
func normalQuantile(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// twoSidedZ is the z for which a fraction level of the normal lies in [-z, z].
func twoSidedZ(level float64) float64 { return normalQuantile((1 + level) / 2) }

// tQuantile is the p quantile of Student's t with df degrees of freedom, df
// possibly fractional or infinite; NaN where df is not positive or p not inside
// (0, 1). It works from whichever tail of the beta distribution is small, which
// keeps its precision at large df.
func tQuantile(p, df float64) float64 {
	switch {
	case !(df > 0) || !(p > 0 && p < 1):
		return nan
	case p < 0.5:
		return -tQuantile(1-p, df)
	case df >= largeDF:
		z := normalQuantile(p)
		return z + (z*z*z+z)/(4*df)
	}
	x := mathext.InvRegIncBeta(0.5, df/2, 2*p-1)
	t := math.Sqrt(df * x / (1 - x))
	if x > 0.5 {
		y := mathext.InvRegIncBeta(df/2, 0.5, 2*(1-p))
		t = math.Sqrt(df * (1 - y) / y)
	}
	// One Newton step removes what the inverse of the beta function left over.
	density := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Prob(t)
	return t + (tTwoSidedP(t, df)-2*(1-p))/(2*density)
}

// tTwoSidedP is P(|t_df| >= |t|).
func tTwoSidedP(t, df float64) float64 {
	switch {
	case math.IsNaN(t) || !(df > 0):
		return nan
	case math.IsInf(t, 0):
		return 0
	case df >= largeDF:
		z := math.Abs(t) - math.Abs(t*t*t+t)/(4*df)
		return math.Erfc(math.Max(0, z) / math.Sqrt2)
	case t*t < df:
		return 1 - mathext.RegIncBeta(0.5, df/2, t*t/(df+t*t))
	}
	return mathext.RegIncBeta(df/2, 0.5, df/(df+t*t))
}

// chi2P1 is P(chi2_1 >= x). It keeps its relative precision far in the tail.
func chi2P1(x float64) float64 { return math.Erfc(math.Sqrt(x / 2)) }

// binomialHalfCDF is P(Bin(m, 1/2) <= k).
func binomialHalfCDF(m, k float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= m:
		return 1
	}
	return mathext.RegIncBeta(m-k, k+1, 0.5)
}

// binomialPMF is P(Bin(m, p) = k) for 0 <= k <= m.
func binomialPMF(m, k, p float64) float64 {
	switch {
	case p <= 0:
		return indicator(k == 0)
	case p >= 1:
		return indicator(k == m)
	}
	return math.Exp(logChoose(m, k) + k*math.Log(p) + (m-k)*math.Log1p(-p))
}

// logChoose is log C(m, k).
func logChoose(m, k float64) float64 {
	if k == 0 || k == m {
		return 0
	}
	return -math.Log(m+1) - mathext.Lbeta(m-k+1, k+1)
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// bisect returns the x in [lo, hi] where the monotone predicate above turns from
// true to false: the boundary, to the last representable digit. above(lo) is
// taken to be true and above(hi) false.
func bisect(lo, hi float64, above func(float64) bool) float64 {
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if above(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + (hi-lo)/2
}

func clip(x, lo, hi float64) float64 { return math.Min(hi, math.Max(lo, x)) }
