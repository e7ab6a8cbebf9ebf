package analysis

import (
	"math"
	"slices"

	"retrial/analysis/paired"
	"retrial/results"
)

// Level is the level of every interval.
const Level = 0.95

// Estimands: over which trials a difference is taken.
const (
	EstimandAll    = "all"     // every trial: intention to treat, primary
	EstimandAtRisk = "at_risk" // trials whose draft failed verify
)

// tally is two arms' trials of one run, put side by side by group.
type tally struct {
	clusters  paired.Clusters
	missingT  int
	missingC  int
	low, high float64 // sums of the difference with missing trials worst and best for the treatment
	trials    int     // pairs, missing ones included
	linked    bool    // every pair shares a fork
	readings  [][]paired.Reading
}

// tallyPairs pairs treatment and control over the trials of an estimand.
func (d *Data) tallyPairs(treatment, control, estimand string) tally {
	index := map[string]int{}
	names := d.groupNames()
	for i, g := range names {
		index[g] = i
	}
	t := tally{clusters: make(paired.Clusters, len(names)), readings: make([][]paired.Reading, len(names)), linked: true}
	for _, key := range d.keys {
		x, y := d.byArm[treatment][key], d.byArm[control][key]
		if x == nil || y == nil {
			continue
		}
		if estimand == EstimandAtRisk && !atRisk(x, y) {
			continue
		}
		if x.ForkID == nil || y.ForkID == nil || *x.ForkID != *y.ForkID {
			t.linked = false
		}
		t.add(index[d.groups[key.Task]], x, y)
	}
	return t
}

// atRisk says whether the pair's draft failed verify. Arms of one fork share
// it; a side that is missing leaves it to the other.
func atRisk(x, y *results.Trial) bool {
	return x.AtRisk != nil && *x.AtRisk || y.AtRisk != nil && *y.AtRisk
}

func (t *tally) add(group int, x, y *results.Trial) {
	t.trials++
	bit := func(r *results.Trial, missing float64) float64 {
		switch {
		case r.Passed == nil:
			return missing
		case *r.Passed:
			return 1
		}
		return 0
	}
	t.low += bit(x, 0) - bit(y, 1)
	t.high += bit(x, 1) - bit(y, 0)
	if x.Passed == nil {
		t.missingT++
	}
	if y.Passed == nil {
		t.missingC++
	}
	if x.Passed == nil || y.Passed == nil {
		return
	}
	c := &t.clusters[group]
	switch {
	case *x.Passed && *y.Passed:
		c.Both++
	case *x.Passed:
		c.TreatOnly++
	case *y.Passed:
		c.CtrlOnly++
	default:
		c.Neither++
	}
	t.readings[group] = append(t.readings[group], paired.Reading{Treat: bit(x, 0), Ctrl: bit(y, 0)})
}

// FlagUnpaired: no fork links the arms, so that only task means were compared.
const FlagUnpaired paired.Flag = "unpaired"

// compare estimates one difference.
func (d *Data) compare(treatment, control, estimand string) PairRow {
	t := d.tallyPairs(treatment, control, estimand)
	row := PairRow{
		Treatment: treatment, Control: control, Estimand: estimand, Unit: d.unit(),
		Primary: treatment == d.Design.Primary.Treatment && control == d.Design.Primary.Control && estimand == EstimandAll,
		Missing: Missing{Treatment: t.missingT, Control: t.missingC, Bounds: Bounds{Low: -1, High: 1}},
	}
	if t.trials > 0 {
		row.Missing.Bounds = Bounds{Low: Number(t.low / float64(t.trials)), High: Number(t.high / float64(t.trials))}
	}
	if !t.linked {
		return row.fromMeans(paired.MeanDifference(t.readings, Level, d.Design.Seed))
	}
	e := paired.Difference(t.clusters, Level)
	if e.Unit == paired.UnitPair {
		row.Unit = "pair"
		e.Flags = slices.DeleteFunc(e.Flags, func(f paired.Flag) bool { return f == paired.FlagSparse }) // Tango on pairs is no fallback
	}
	row.Tasks, row.Pairs = e.Tasks, e.Pairs
	row.Both, row.TreatmentOnly, row.ControlOnly, row.Neither = &e.Both, &e.TreatOnly, &e.CtrlOnly, &e.Neither
	row.Delta, row.CI, row.P, row.Flags = Number(e.Delta), interval(e.Interval), pValue(e.P), flags(e.Flags)
	row.MDE80 = mde(e.Interval, e.DF)
	return row
}

// fromMeans fills the row from task means: a replicate number that no fork
// backs pairs nothing, so that pairs are not counted.
func (row PairRow) fromMeans(e paired.MeanEstimate) PairRow {
	row.Tasks, row.Pairs, row.Delta = e.Tasks, e.Pairs, Number(e.Delta)
	row.CI, row.P, row.MDE80 = interval(e.Interval), pValue(e.P), mde(e.Interval, e.DF)
	row.Flags = append(flags(e.Flags), FlagUnpaired)
	return row
}

// mde is the smallest difference that a run with an interval of this width
// would find with 80% power, nil where there is no such interval.
func mde(ci paired.Interval, df float64) *Number {
	if v := paired.MDEFromInterval(ci, df, 0.8); !math.IsNaN(v) {
		return number(v)
	}
	return nil
}
