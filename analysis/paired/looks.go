package paired

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

const (
	// lookReach bounds the z-scale over which earlier looks are integrated.
	lookReach = 8
	// lookNodes is the number of quadrature nodes per look.
	lookNodes = 400
)

// OBrienFleming lists the critical z of equally spaced looks at a two-sided
// significance level alpha, by the Lan-DeMets spending function of
// O'Brien-Fleming type: reject at look k when |z| reaches entry k-1. Each tail
// spends alpha/2; crossing both is neglected, which is conservative. It assumes
// that z has independent increments in information, as the CR2 z over completed
// tasks has. nil for looks < 1 or alpha outside (0, 1).
// Source: Lan & DeMets 1983 (Biometrika 70:659).
func OBrienFleming(looks int, alpha float64) []float64 {
	if looks < 1 || !validLevel(alpha) {
		return nil
	}
	z := normalQuantile(1 - alpha/4)
	spent := func(k int) float64 {
		return math.Erfc(z / math.Sqrt(float64(k)/float64(looks)) / math.Sqrt2)
	}
	return crossing(looks, func(k int, cross func(float64) float64) float64 {
		want := spent(k) - spent(k-1)
		return bisect(-lookReach, lookReach, func(c float64) bool { return cross(c) > want })
	})
}

// Pocock lists the constant critical z of equally spaced looks at a two-sided
// significance level alpha; otherwise as [OBrienFleming].
// Source: Pocock 1977 (Biometrika 64:191).
func Pocock(looks int, alpha float64) []float64 {
	if looks < 1 || !validLevel(alpha) {
		return nil
	}
	constant := bisect(0, lookReach, func(c float64) bool {
		total := 0.0
		crossing(looks, func(_ int, cross func(float64) float64) float64 {
			total += cross(c)
			return c
		})
		return total > alpha/2
	})
	bounds := make([]float64, looks)
	for k := range bounds {
		bounds[k] = constant
	}
	return bounds
}

// crossing walks through the looks. choose is given the look and a function that
// returns the probability of first crossing a bound there, and returns the bound.
// Source: Armitage, McPherson & Rowe 1969 (JRSS A 132:235).
func crossing(looks int, choose func(k int, cross func(float64) float64) float64) []float64 {
	var bounds, nodes, mass []float64 // density of z at the last look, below its bound
	for k := 1; k <= looks; k++ {
		from, to := float64(k-1), float64(k)
		tail := func(c float64) float64 {
			if k == 1 {
				return math.Erfc(c/math.Sqrt2) / 2
			}
			p := 0.0
			for i, z := range nodes {
				p += mass[i] * math.Erfc((c*math.Sqrt(to)-z*math.Sqrt(from))/math.Sqrt2) / 2
			}
			return p
		}
		c := choose(k, tail)
		bounds = append(bounds, c)
		x, w := make([]float64, lookNodes), make([]float64, lookNodes)
		quad.Legendre{}.FixedLocations(x, w, -lookReach, c)
		next := make([]float64, lookNodes)
		for i, z := range x {
			next[i] = w[i] * lookDensity(z, from, to, nodes, mass)
		}
		nodes, mass = x, next
	}
	return bounds
}

// lookDensity is the density of z at a look, given the density at the last one.
func lookDensity(z, from, to float64, nodes, mass []float64) float64 {
	normal := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	if from == 0 {
		return normal(z)
	}
	d := 0.0
	for i, y := range nodes {
		d += mass[i] * normal(z*math.Sqrt(to)-y*math.Sqrt(from))
	}
	return d * math.Sqrt(to)
}
