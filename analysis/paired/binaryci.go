package paired

import "math"

// noInterval is an interval that the data or the level do not determine.
func noInterval(level float64, method string) Interval {
	return Interval{Low: nan, High: nan, Level: level, Method: method}
}

// usable reports whether an interval for the difference can be computed at all;
// otherwise it returns what to say instead: the whole range without pairs, NaN
// for counts or levels that make no sense.
func (t Table) usable(level float64, method string) (Interval, bool) {
	switch {
	case !t.valid() || !validLevel(level):
		return noInterval(level, method), false
	case t.Pairs() == 0:
		return Interval{Low: -1, High: 1, Level: level, Method: method}, false
	}
	return Interval{Level: level, Method: method}, true
}

// Tango is the score interval for the difference, the default for independent
// pairs. Counts need not be whole. It assumes independent pairs. Limits lie in
// [-1, 1]; with b=n the upper limit is 1, with c=n the lower is -1; without
// discordant pairs they are ±z²/(n+z²); without pairs [-1, 1].
// Source: Tango 1998 (Stat Med 17:891); coverage in Fagerland et al. 2014.
func (t Table) Tango(level float64) Interval {
	ci, ok := t.usable(level, MethodTango)
	if !ok {
		return ci
	}
	ci.Low, ci.High = t.tangoLimits(twoSidedZ(level))
	return ci
}

// tangoLimits inverts the score test at the critical value z, which may come
// from Student's t. The score falls as the hypothetical difference grows.
func (t Table) tangoLimits(z float64) (low, high float64) {
	delta := t.Delta()
	low, high = -1, 1
	if t.CtrlOnly < t.Pairs() && t.TangoScore(-1) > z {
		low = bisect(-1, delta, func(d float64) bool { return t.TangoScore(d) > z })
	}
	if t.TreatOnly < t.Pairs() && t.TangoScore(1) < -z {
		high = bisect(delta, 1, func(d float64) bool { return t.TangoScore(d) > -z })
	}
	return low, high
}

// TangoScore is the score statistic for the hypothesis that the difference is
// delta, in [-1, 1]; it is standard normal under the hypothesis when pairs are
// independent. Positive values say that the observed difference lies above delta.
// Where the score variance is 0 it is ±Inf, or 0 if the difference is met exactly.
// NaN without pairs.
// Source: Tango 1998 (Stat Med 17:891).
func (t Table) TangoScore(delta float64) float64 {
	n, b, c := t.Pairs(), t.TreatOnly, t.CtrlOnly
	if !t.valid() || n == 0 {
		return nan
	}
	qa := 2 * n
	qb := -b - c + (2*n-b+c)*delta
	qc := -c * delta * (1 - delta)
	root := math.Sqrt(math.Max(0, qb*qb-4*qa*qc))
	q := (root - qb) / (2 * qa)
	if qb > 0 { // the same root, without the cancellation
		q = -2 * qc / (root + qb)
	}
	variance := n * (2*q + delta*(1-delta))
	num := b - c - n*delta
	switch {
	case num == 0:
		return 0
	case !(variance > 0):
		return math.Copysign(inf, num)
	}
	return num / math.Sqrt(variance)
}

// Newcombe10 is Newcombe's method 10: Wilson intervals of the two marginal
// proportions, squared and added with a continuity-corrected correlation. It
// assumes independent pairs and needs the concordant counts. Limits lie in
// [-1, 1]; without pairs [-1, 1].
// Source: Newcombe 1998 (Stat Med 17:2635), method 10.
func (t Table) Newcombe10(level float64) Interval {
	return t.newcombe(level, MethodNewcombe10, true)
}

// Newcombe8 is Newcombe's method 8: as [Table.Newcombe10] without the continuity
// correction of the correlation.
// Source: Newcombe 1998 (Stat Med 17:2635), method 8.
func (t Table) Newcombe8(level float64) Interval {
	return t.newcombe(level, MethodNewcombe8, false)
}

func (t Table) newcombe(level float64, method string, corrected bool) Interval {
	ci, ok := t.usable(level, method)
	if !ok {
		return ci
	}
	n := t.Pairs()
	p1, p2 := (t.Both+t.TreatOnly)/n, (t.Both+t.CtrlOnly)/n
	w1, w2 := Wilson(t.Both+t.TreatOnly, n, level), Wilson(t.Both+t.CtrlOnly, n, level)
	phi := t.correlation(corrected)
	add := func(x, y float64) float64 {
		return math.Sqrt(math.Max(0, x*x-2*phi*x*y+y*y))
	}
	ci.Low = t.Delta() - add(p1-w1.Low, w2.High-p2)
	ci.High = t.Delta() + add(p2-w2.Low, w1.High-p1)
	return ci
}

// correlation is the phi coefficient of the table, 0 where a margin is 0. The
// corrected form shrinks a positive ad-bc by n/2 and never below 0.
func (t Table) correlation(corrected bool) float64 {
	margins := (t.Both + t.TreatOnly) * (t.CtrlOnly + t.Neither) *
		(t.Both + t.CtrlOnly) * (t.TreatOnly + t.Neither)
	if margins == 0 {
		return 0
	}
	a := t.Both*t.Neither - t.TreatOnly*t.CtrlOnly
	if corrected && a > 0 {
		a = math.Max(0, a-t.Pairs()/2)
	}
	return a / math.Sqrt(margins)
}

// BonettPrice is the Laplace-adjusted Wald interval: one is added to b and c and
// two to n; clipped to [-1, 1]. It assumes independent pairs. Without discordant
// pairs it is ±z√2/(n+2); without pairs [-1, 1].
// Source: Bonett & Price 2012 (J Educ Behav Stat 37:479).
func (t Table) BonettPrice(level float64) Interval {
	ci, ok := t.usable(level, MethodBonettPrice)
	if !ok {
		return ci
	}
	n := t.Pairs() + 2
	ci.Low, ci.High = clippedWald(t.TreatOnly+1, t.CtrlOnly+1, n, level)
	return ci
}

// AgrestiMin is the Wald interval after adding one half to every cell, clipped
// to [-1, 1]. It assumes independent pairs. Without pairs [-1, 1].
// Source: Agresti & Min 2005 (Stat Med 24:729).
func (t Table) AgrestiMin(level float64) Interval {
	ci, ok := t.usable(level, MethodAgrestiMin)
	if !ok {
		return ci
	}
	ci.Low, ci.High = clippedWald(t.TreatOnly+0.5, t.CtrlOnly+0.5, t.Pairs()+2, level)
	return ci
}

// Wald is the simple asymptotic interval, clipped to [-1, 1]. It assumes many
// independent pairs; its coverage is poor for few and its width is 0 without
// discordant pairs, so that it serves only as a reference. Without pairs [-1, 1].
// Source: Fagerland et al. 2014 (Stat Med 33:2850).
func (t Table) Wald(level float64) Interval {
	ci, ok := t.usable(level, MethodWald)
	if !ok {
		return ci
	}
	ci.Low, ci.High = clippedWald(t.TreatOnly, t.CtrlOnly, t.Pairs(), level)
	return ci
}

func clippedWald(b, c, n, level float64) (low, high float64) {
	delta := (b - c) / n
	se := math.Sqrt(math.Max(0, b+c-(b-c)*(b-c)/n)) / n
	z := twoSidedZ(level)
	return clip(delta-z*se, -1, 1), clip(delta+z*se, -1, 1)
}
