package paired

import "math"

// Stratum holds the trials of one task in both arms.
type Stratum struct{ Treat, Ctrl []Attempts }

// LogRankResult is a log-rank test on one degree of freedom.
type LogRankResult struct {
	Chi2
	// Observed and Expected count successes under treatment; more observed than
	// expected says that treatment succeeds sooner.
	Observed, Expected float64
}

// LogRank compares attempts to success of two arms, stratified: trials are
// compared only with trials of their own stratum (one stratum ignores tasks). It
// assumes that, within a stratum, trials are independent and censoring does not
// depend on the arm. Without any informative attempt the statistic is 0 and p is 1.
// Source: Mantel 1966; Peto & Peto 1972.
func LogRank(strata []Stratum) LogRankResult {
	var observed, expected, variance float64
	for _, s := range strata {
		last := 0
		for _, a := range append(append([]Attempts(nil), s.Treat...), s.Ctrl...) {
			last = max(last, a.Last)
		}
		for t := 1; t <= last; t++ {
			rt, dt := atAttempt(s.Treat, t)
			rc, dc := atAttempt(s.Ctrl, t)
			r, d := rt+rc, dt+dc
			if r == 0 {
				continue
			}
			observed += dt
			expected += d * rt / r
			if r > 1 {
				variance += d * (rt / r) * (rc / r) * (r - d) / (r - 1)
			}
		}
	}
	gap := observed - expected
	return LogRankResult{
		Chi2: chi2Of(gap*gap, variance, MethodLogRank), Observed: observed, Expected: expected,
	}
}

// atAttempt counts trials at risk at attempt t and successes at it.
func atAttempt(trials []Attempts, t int) (atRisk, events float64) {
	for _, a := range trials {
		atRisk += indicator(a.Last >= t)
		events += indicator(a.Last == t && a.Success)
	}
	return atRisk, events
}

// chi2Of is num/den on one degree of freedom, 0 with p 1 where there is no
// variance and hence nothing to test.
func chi2Of(num, den float64, method string) Chi2 {
	if den == 0 {
		return Chi2{Stat: 0, P: P{Value: 1, Method: method}}
	}
	return Chi2{Stat: num / den, P: P{Value: chi2P1(num / den), Method: method}}
}

// FourFold is the unpaired 2x2 table of one stratum. Counts are non-negative.
type FourFold struct{ TreatPass, TreatFail, CtrlPass, CtrlFail float64 }

func (f FourFold) total() float64 { return f.TreatPass + f.TreatFail + f.CtrlPass + f.CtrlFail }

// CMH is the Cochran-Mantel-Haenszel test of equal success across strata, with
// the continuity correction where corrected. It needs no pairing inside a
// stratum; with one stratum per pair it is McNemar's test. Without an informative
// stratum the statistic is 0 and p is 1.
// Source: Mantel & Haenszel 1959 (JNCI 22:719).
func CMH(strata []FourFold, corrected bool) Chi2 {
	var gap, variance float64
	for _, f := range strata {
		n := f.total()
		if n < 2 {
			continue
		}
		treat, ctrl := f.TreatPass+f.TreatFail, f.CtrlPass+f.CtrlFail
		pass, fail := f.TreatPass+f.CtrlPass, f.TreatFail+f.CtrlFail
		gap += f.TreatPass - treat*pass/n
		variance += treat * ctrl * pass * fail / (n * n * (n - 1))
	}
	gap, method := math.Abs(gap), MethodCMH
	if corrected {
		gap, method = math.Max(0, gap-0.5), MethodCMHCC
	}
	return chi2Of(gap*gap, variance, method)
}

// MantelHaenszel is the common odds ratio of success across strata, treatment
// against control, with its Robins-Breslow-Greenland interval. +Inf or 0 where
// only one arm ever wins, with a NaN interval; NaN without an informative stratum.
// Source: Mantel & Haenszel 1959; Robins, Breslow & Greenland 1986.
func MantelHaenszel(strata []FourFold, level float64) (float64, Interval) {
	var r, s, pr, mixed, qs float64
	for _, f := range strata {
		n := f.total()
		if n == 0 {
			continue
		}
		ri, si := f.TreatPass*f.CtrlFail/n, f.TreatFail*f.CtrlPass/n
		pi, qi := (f.TreatPass+f.CtrlFail)/n, (f.TreatFail+f.CtrlPass)/n
		r, s = r+ri, s+si
		pr += pi * ri
		mixed += pi*si + qi*ri
		qs += qi * si
	}
	ratio := r / s
	if !(r > 0 && s > 0) || !validLevel(level) {
		return ratio, noInterval(level, MethodMantel)
	}
	half := twoSidedZ(level) * math.Sqrt(pr/(2*r*r)+mixed/(2*r*s)+qs/(2*s*s))
	return ratio, Interval{
		Low: ratio * math.Exp(-half), High: ratio * math.Exp(half), Level: level, Method: MethodMantel,
	}
}
