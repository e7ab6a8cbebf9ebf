package paired

import "math"

// Table is one 2x2 table of paired binary outcomes from independent pairs. The
// counts are non-negative; they are float64 because score intervals accept the
// effective counts of clustered data, which are not whole. The zero value is a
// table of no pairs.
type Table struct {
	// Both succeeded, only the treatment did, only the control did, neither did.
	Both, TreatOnly, CtrlOnly, Neither float64
}

// Pairs is the number of pairs n.
func (t Table) Pairs() float64 { return t.Both + t.TreatOnly + t.CtrlOnly + t.Neither }

// Discordant is the number of pairs m=b+c that differ between the arms.
func (t Table) Discordant() float64 { return t.TreatOnly + t.CtrlOnly }

// Swap exchanges treatment and control.
func (t Table) Swap() Table {
	t.TreatOnly, t.CtrlOnly = t.CtrlOnly, t.TreatOnly
	return t
}

// Delta is the difference of success probabilities, (b-c)/n, in [-1, 1]; NaN
// without pairs.
func (t Table) Delta() float64 {
	if !t.valid() || t.Pairs() == 0 {
		return nan
	}
	return (t.TreatOnly - t.CtrlOnly) / t.Pairs()
}

// valid reports whether all counts are finite and non-negative.
func (t Table) valid() bool {
	for _, x := range [...]float64{t.Both, t.TreatOnly, t.CtrlOnly, t.Neither} {
		if !(x >= 0) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// whole reports whether the discordant counts are valid and integers, which the
// exact tests need.
func (t Table) whole() bool {
	return t.valid() && t.TreatOnly == math.Trunc(t.TreatOnly) && t.CtrlOnly == math.Trunc(t.CtrlOnly)
}

// McNemarExact is the exact conditional two-sided test of equal success,
// min(1, 2 P(Bin(m,1/2) <= min(b,c))). It assumes independent pairs and never
// exceeds its nominal level. Without discordant pairs p is 1; NaN where a count
// is negative or discordant counts are not whole.
// Source: McNemar 1947; Fagerland, Lydersen & Laake 2013 (BMC MRM 13:91).
func (t Table) McNemarExact() P {
	p := P{Value: nan, Method: MethodMcNemarExact}
	if t.whole() {
		m := t.Discordant()
		p.Value = math.Min(1, 2*binomialHalfCDF(m, math.Min(t.TreatOnly, t.CtrlOnly)))
	}
	return p
}

// McNemarMidP is the mid-p version of [Table.McNemarExact]: the observed table
// counts half, 2 P(Bin(m,1/2) <= min(b,c)) - P(Bin(m,1/2) = b), at most 1. It
// assumes independent pairs and is the default there. A tie b=c gives 1, as no
// discordant pair does; NaN where a count is negative or discordant counts are
// not whole.
// Source: Fagerland, Lydersen & Laake 2013 (BMC MRM 13:91).
func (t Table) McNemarMidP() P {
	p := P{Value: nan, Method: MethodMcNemarMidP}
	if !t.whole() {
		return p
	}
	m := t.Discordant()
	if t.TreatOnly == t.CtrlOnly {
		p.Value = 1
		return p
	}
	low := math.Min(t.TreatOnly, t.CtrlOnly)
	p.Value = math.Min(1, 2*binomialHalfCDF(m, low)-binomialPMF(m, low, 0.5))
	return p
}

// McNemar is the asymptotic test, chi2_1 = (b-c)^2/m, with its statistic. It
// assumes independent pairs and many discordant ones. Without discordant pairs
// the statistic is 0 and p is 1.
// Source: McNemar 1947.
func (t Table) McNemar() (chi2 float64, p P) {
	return t.mcNemarChi2(0, MethodMcNemar)
}

// McNemarCC is [Table.McNemar] with Edwards's continuity correction,
// (max(0, |b-c|-1))^2/m. It is conservative.
// Source: Edwards 1948; R's mcnemar.test(correct=TRUE).
func (t Table) McNemarCC() (chi2 float64, p P) {
	return t.mcNemarChi2(1, MethodMcNemarCC)
}

func (t Table) mcNemarChi2(correction float64, method string) (float64, P) {
	if !t.valid() {
		return nan, P{Value: nan, Method: method}
	}
	m := t.Discordant()
	if m == 0 {
		return 0, P{Value: 1, Method: method}
	}
	d := math.Max(0, math.Abs(t.TreatOnly-t.CtrlOnly)-correction)
	chi2 := d * d / m
	return chi2, P{Value: chi2P1(chi2), Method: method}
}
