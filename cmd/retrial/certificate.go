package main

import "retrial/tasks"

const certificateSchema = "retrial/certificate/v1"

// certificateFile is what `tasks check -o FILE` writes.
type certificateFile struct {
	Schema  string                    `json:"schema"`
	Tool    string                    `json:"tool"`    // version of retrial
	Sandbox string                    `json:"sandbox"` // bubblewrap|none
	Repeats int                       `json:"repeats"`
	Seed    uint64                    `json:"seed"`  // of the order of runs
	Tasks   map[string]certificateRow `json:"tasks"` // by the hash of the task's content
}

// certificateRow is what was found of one task, as JSON. Durations are seconds.
type certificateRow struct {
	Task           string   `json:"task"`
	Hash           string   `json:"hash"`
	Sound          bool     `json:"sound"`
	Untouched      string   `json:"untouched"`
	UntouchedRuns  int      `json:"untouched_runs"`
	FailingTests   []string `json:"failing_tests"`
	Solution       string   `json:"solution"`
	SolutionRuns   int      `json:"solution_runs"`
	Disagreeing    int      `json:"disagreeing_runs"` // runs of the solution that differ from most
	FlakeRate      *float64 `json:"flake_rate"`       // null without a run
	FlakeRateUpper *float64 `json:"flake_rate_upper"` // of the exact 95% interval (Clopper-Pearson)
	Median         float64  `json:"median_seconds"`   // of the solution's commands
	Slowest        float64  `json:"slowest_seconds"`
	Timeout        float64  `json:"timeout_seconds"`
	Faults         []string `json:"faults"`
	Warnings       []string `json:"warnings"`
}

func certificateRows(found []tasks.Certificate) []certificateRow {
	rows := make([]certificateRow, len(found))
	for i, c := range found {
		rows[i] = certificateRow{
			Task: c.Task, Hash: c.Hash, Sound: len(c.Faults) == 0,
			Untouched: c.Untouched, UntouchedRuns: c.UntouchedRuns, FailingTests: append([]string{}, c.Failing...),
			Solution: c.Solved, SolutionRuns: c.SolvedRuns, Disagreeing: c.SolvedDisagree,
			Median: c.Median.Seconds(), Slowest: c.Slowest.Seconds(), Timeout: c.Timeout.Seconds(),
			Faults: append([]string{}, c.Faults...), Warnings: append([]string{}, c.Warnings...),
		}
		if c.SolvedRuns > 0 {
			rate, upper := float64(c.SolvedDisagree)/float64(c.SolvedRuns), flakeUpper(c.SolvedDisagree, c.SolvedRuns)
			rows[i].FlakeRate, rows[i].FlakeRateUpper = &rate, &upper
		}
	}
	return rows
}

func byHash(found []tasks.Certificate) map[string]certificateRow {
	out := map[string]certificateRow{}
	for _, row := range certificateRows(found) {
		out[row.Hash] = row
	}
	return out
}
