package paired_test

import (
	"fmt"
	"math"

	"retrial/analysis/paired"
)

// Twelve tasks with three pairs each. The treatment wins most discordant pairs,
// but pairs of one task tend to agree, so that the task is the unit.
func ExampleDifference() {
	tasks := paired.Clusters{
		{Both: 1, TreatOnly: 2}, {Both: 3}, {TreatOnly: 3}, {Both: 2, CtrlOnly: 1},
		{TreatOnly: 1, Neither: 2}, {TreatOnly: 2, Neither: 1}, {Both: 1, TreatOnly: 1, Neither: 1}, {Neither: 3},
		{Both: 2, TreatOnly: 1}, {Both: 2, TreatOnly: 1}, {TreatOnly: 1, Neither: 2}, {CtrlOnly: 1, Neither: 2},
	}
	e := paired.Difference(tasks, 0.95)
	fmt.Printf("delta %+.3f, %s [%+.3f, %+.3f]\n", e.Delta, e.Interval.Method, e.Interval.Low, e.Interval.High)
	fmt.Printf("p %.4f (%s), b=%d c=%d\n", e.P.Value, e.P.Method, e.TreatOnly, e.CtrlOnly)
	fmt.Printf("detectable with 80%% power: %.3f\n", paired.MDEFromSE(e.SE, e.DF, 0.95, 0.8))
	// Output:
	// delta +0.278, cr2_t [+0.025, +0.531]
	// p 0.0381 (signflip_midp), b=12 c=2
	// detectable with 80% power: 0.353
}

// A value that the data do not determine is NaN and says why.
func ExampleMeanDifference() {
	e := paired.MeanDifference([][]paired.Reading{{{Treat: 0.8, Ctrl: 0.3}, {Treat: math.NaN(), Ctrl: 0.1}}}, 0.95, 1)
	fmt.Printf("%.1f ± %v %v\n", e.Delta, e.SE, e.Flags)
	// Output: 0.5 ± NaN [single_cluster dropped_non_finite]
}

// How many tasks a plan needs to detect 10 percentage points, when a quarter of
// the pairs differ and pairs of a task correlate at 0.15.
func ExampleTasksNeeded() {
	for _, replicates := range []int{1, 3, 5} {
		fmt.Println(replicates, paired.TasksNeeded(0.25, 0.15, replicates, 0.10, 0.95, 0.80))
	}
	// Output:
	// 1 199
	// 3 87
	// 5 65
}
