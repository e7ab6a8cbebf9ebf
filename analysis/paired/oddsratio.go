package paired

// OddsRatio is the conditional odds ratio b/c of independent pairs: the odds of
// success under treatment against control inside a pair. It is +Inf when only
// the treatment ever succeeds alone, NaN without discordant pairs.
// Source: Breslow & Day 1980, section 5.2.
func (t Table) OddsRatio() float64 {
	switch {
	case !t.valid() || t.Discordant() == 0:
		return nan
	case t.CtrlOnly == 0:
		return inf
	}
	return t.TreatOnly / t.CtrlOnly
}

// OddsRatioExact is the interval for [Table.OddsRatio] from the Clopper-Pearson
// limits of b of m, at least at its level. Without discordant pairs (0, +Inf).
// Source: Breslow & Day 1980; exact2x2's mcnemar.exact.
func (t Table) OddsRatioExact(level float64) Interval {
	return oddsInterval(ClopperPearson(t.TreatOnly, t.Discordant(), level))
}

// OddsRatioMidP is the interval for [Table.OddsRatio] from the mid-p limits of b
// of m. Without discordant pairs (0, +Inf).
// Source: Fagerland et al. 2014 (Stat Med 33:2850).
func (t Table) OddsRatioMidP(level float64) Interval {
	return oddsInterval(MidPProportion(t.TreatOnly, t.Discordant(), level))
}

// OddsRatioWilson is the interval for [Table.OddsRatio] from the Wilson limits
// of b of m. Without discordant pairs (0, +Inf).
// Source: Fagerland et al. 2014 (Stat Med 33:2850), transformed Wilson score.
func (t Table) OddsRatioWilson(level float64) Interval {
	return oddsInterval(Wilson(t.TreatOnly, t.Discordant(), level))
}

// oddsInterval maps limits of a probability p to limits of the odds p/(1-p).
func oddsInterval(ci Interval) Interval {
	ci.Low, ci.High = odds(ci.Low), odds(ci.High)
	return ci
}

func odds(p float64) float64 {
	if p >= 1 {
		return inf
	}
	return p / (1 - p)
}
