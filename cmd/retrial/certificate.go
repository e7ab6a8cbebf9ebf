package main

import (
	"encoding/json"
	"fmt"

	"retrial/tasks"
	"retrial/tasks/strict"
)

const certificateSchema = "retrial/certificate/v1"

// certificateFile is what `tasks check -o FILE` writes.
type certificateFile struct {
	Schema  string       `json:"schema"`
	Tool    string       `json:"tool"`    // version of retrial, as the next three of the last check
	Sandbox string       `json:"sandbox"` // bubblewrap|none
	Repeats int          `json:"repeats"`
	Seed    uint64       `json:"seed"` // of the order of runs
	Tasks   certificates `json:"tasks"`
}

// certificates are what is known of tasks, by the hash of their content.
type certificates map[string]certificateRow

// readCertificates reads a file that `tasks check` wrote.
func readCertificates(path string) (certificates, error) {
	data, err := strict.ReadPath(path, strict.MaxFile)
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	return parseCertificates(path, data)
}

func parseCertificates(path string, data []byte) (certificates, error) {
	var f certificateFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("read certificates: %s: %w", path, err)
	}
	if f.Schema != certificateSchema {
		return nil, fmt.Errorf("read certificates: %s is %q, not %s", path, f.Schema, certificateSchema)
	}
	if f.Tasks == nil {
		return nil, fmt.Errorf("read certificates: %s holds no tasks", path)
	}
	for hash, row := range f.Tasks {
		if row.Hash != hash || row.contradictory() {
			return nil, fmt.Errorf("read certificates: %s: the entry %.12s contradicts itself", path, hash)
		}
	}
	return f.Tasks, nil
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
	Stronger       stronger `json:"stronger"`
	Flaky          string   `json:"flaky"` // how runs of the solution disagree; "" where they agree
	Faults         []string `json:"faults"`
	Warnings       []string `json:"warnings"`
}

// stronger is what came of seeking a program that verify lets pass and score
// rejects, as JSON.
type stronger struct {
	Verdict string `json:"verdict"` // yes|could not tell|not asked
	Reason  string `json:"reason"`  // why it could not tell
	Witness string `json:"witness"` // the change that makes such a program
	Of      string `json:"of"`      // solution|workspace: what the witness changes
	Changes int    `json:"changes"` // known of the programs looked at
	Tried   int    `json:"tried"`
	Passed  int    `json:"passed_verify"` // of those tried
}

// contradictory says that no check writes such a row.
func (r certificateRow) contradictory() bool {
	return r.SolutionRuns < 0 || r.Disagreeing < 0 || r.Disagreeing > r.SolutionRuns || r.Sound != (len(r.Faults) == 0 && r.Flaky == "")
}

func certificateRows(found []tasks.Certificate) []certificateRow {
	rows := make([]certificateRow, len(found))
	for i, c := range found {
		rows[i] = certificateRow{
			Task: c.Task, Hash: c.Hash, Sound: c.Sound(), Flaky: c.Flaky,
			Untouched: c.Untouched, UntouchedRuns: c.UntouchedRuns, FailingTests: append([]string{}, c.Failing...),
			Solution: c.Solved, SolutionRuns: c.SolvedRuns, Disagreeing: c.SolvedDisagree,
			Stronger: stronger{
				Verdict: string(c.Strength.Verdict), Reason: c.Strength.Reason, Witness: c.Strength.Witness, Of: c.Strength.Program(),
				Changes: c.Strength.Changes, Tried: c.Strength.Tried, Passed: c.Strength.Passed,
			},
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

func byHash(found []tasks.Certificate) certificates {
	out := certificates{}
	for _, row := range certificateRows(found) {
		out[row.Hash] = row
	}
	return out
}
