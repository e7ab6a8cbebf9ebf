package paired

import "math"

// IntervalScore scores a forecast that a number lies between low and high with
// probability level, once the number is observed: the width, and 2/(1-level)
// for each unit by which the number lies outside. Less is better; a forecaster's
// expected score is least where low and high are the central quantiles believed
// in. NaN for low above high, a level not between 0 and 1, and NaN.
// Source: Gneiting & Raftery 2007 (JASA 102:359), equation 43.
func IntervalScore(low, high, level, observed float64) float64 {
	if !(low <= high) || !validLevel(level) || math.IsNaN(observed) {
		return nan
	}
	return high - low + 2/(1-level)*(math.Max(0, low-observed)+math.Max(0, observed-high))
}

// BrierScore is the mean squared distance between one forecast probability and
// trials of which s of n succeeded: p(1-p)+(forecast-p)^2 with p = s/n, so that
// p(1-p) is what the best single number would have scored. Less is better. NaN
// without a trial and for impossible input.
// Source: Brier 1950 (Monthly Weather Review 78:1), for one event.
func BrierScore(forecast float64, s, n int) float64 {
	if n < 1 || s < 0 || s > n || !(forecast >= 0 && forecast <= 1) {
		return nan
	}
	p := float64(s) / float64(n)
	return p*(1-p) + (forecast-p)*(forecast-p)
}

// MethodWilsonDeff is that of [ClusteredProportion].
const MethodWilsonDeff = "wilson_deff"

// ClusteredProportion estimates the probability of success in trials of which
// those of one task are not independent: the pooled share, and the Wilson interval
// on effective counts, all counts divided by the design effect (the CR2 variance
// of the share over the binomial one, at least 1), with the t quantile of its
// Satterthwaite degrees of freedom in place of z. Tasks without a trial are
// ignored. The interval is NaN with fewer than two tasks, the share without a
// trial.
// Source: Wilson 1927 on the effective sample size of Kish 1965, compared with
// others by Dean & Pagano 2015 (J. Survey Stat. Method. 3:484); checked by
// simulation.
func ClusteredProportion(tasks []Tries, level float64) (share float64, ci Interval) {
	var clusters Clusters // against a control that never succeeds, the difference is the share
	s, n := 0, 0
	for _, t := range tasks {
		clusters = append(clusters, Cluster{TreatOnly: t.Successes, Neither: t.Replicates - t.Successes})
		s, n = s+t.Successes, n+t.Replicates
	}
	share = clusters.Delta()
	df, deff := clusters.SatterthwaiteDF(), clusters.DesignEffect()
	if !validLevel(level) || math.IsNaN(df) || math.IsNaN(deff) {
		return share, noInterval(level, MethodWilsonDeff)
	}
	ci = wilson(float64(s)/deff, float64(n)/deff, tQuantile((1+level)/2, df))
	ci.Level, ci.Method = level, MethodWilsonDeff
	return share, ci
}
