package paired

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"
)

// meldedNodes is the number of quadrature nodes per half of the integral.
const meldedNodes = 200

// MeldedExact is the interval for the difference that melds exact confidence
// distributions of the probability of discordance and of the treatment's share of
// discordant pairs; it agrees with the exact McNemar test. It assumes independent
// pairs and is wider than [Table.Tango]. Without pairs [-1, 1]; NaN where counts
// are negative or discordant counts are not whole.
// Source: Fay & Lumbard 2021 (Stat Med 40:1147).
func (t Table) MeldedExact(level float64) Interval {
	ci, ok := t.usable(level, MethodMelded)
	if !ok {
		return ci
	}
	if !t.whole() {
		return noInterval(level, MethodMelded)
	}
	ci.Low = t.meldedLow((1 - level) / 2)
	ci.High = -t.Swap().meldedLow((1 - level) / 2)
	return ci
}

// meldedLow is the tail quantile of (2 share - 1) discordance, where both are
// drawn from their lower confidence distributions, except that discordance comes
// from its upper one where a larger value lowers the product.
func (t Table) meldedLow(tail float64) float64 {
	n, m, b := t.Pairs(), t.Discordant(), t.TreatOnly
	if b == 0 { // the share is 0 and the product minus the discordance
		return -betaQuantile(m+1, n-m, 1-tail)
	}
	even := mathext.RegIncBeta(b, m-b+1, 0.5)
	u, w := make([]float64, 2*meldedNodes), make([]float64, 2*meldedNodes)
	quad.Legendre{}.FixedLocations(u[:meldedNodes], w[:meldedNodes], 0, even)
	quad.Legendre{}.FixedLocations(u[meldedNodes:], w[meldedNodes:], even, 1)
	gain := make([]float64, len(u))
	for i := range u {
		gain[i] = 2*betaQuantile(b, m-b+1, u[i]) - 1
	}
	below := func(x float64) bool {
		p := 0.0
		for i, g := range gain {
			switch {
			case g > 0:
				p += w[i] * betaCDF(m, n-m+1, x/g)
			case g < 0:
				p += w[i] * (1 - betaCDF(m+1, n-m, x/g))
			case x >= 0:
				p += w[i]
			}
		}
		return p < tail
	}
	return bisect(-1, 1, below)
}

// betaCDF is the distribution function of Beta(a, b), a point mass at 0 or 1
// where a or b is 0.
func betaCDF(a, b, x float64) float64 {
	switch {
	case x < 0:
		return 0
	case x >= 1 || a == 0:
		return 1
	case b == 0:
		return 0
	}
	return mathext.RegIncBeta(a, b, x)
}

// betaQuantile inverts [betaCDF] for 0 < p < 1.
func betaQuantile(a, b, p float64) float64 {
	switch {
	case a == 0:
		return 0
	case b == 0:
		return 1
	}
	return mathext.InvRegIncBeta(a, b, math.Min(1, math.Max(0, p)))
}
