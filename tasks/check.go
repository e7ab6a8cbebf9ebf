package tasks

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Verdict is what one command said of one tree.
type Verdict struct {
	Passed   bool
	TimedOut bool
	ExitCode int
	Output   string // normalised, cut to what is kept
	Duration time.Duration
}

// String says how a command ended, in a few words.
func (v Verdict) String() string {
	switch {
	case v.TimedOut:
		return "timed out"
	case v.Passed:
		return "passes"
	default:
		return fmt.Sprintf("fails (exit %d)", v.ExitCode)
	}
}

// Judge runs a task's commands on a fresh tree: the workspace, with the
// solution laid over it where solved is set. It runs both, verify first; score
// is nil where the task has none. An error means that the commands could not
// be run at all.
type Judge func(ctx context.Context, t *Task, solved bool) (verify Verdict, score *Verdict, err error)

// Finding is what Check found of one task. No Faults: the task is sound.
type Finding struct {
	Task      string
	Untouched string // how the untouched workspace did: verify, then score
	Solved    string // the same for the solution; "no solution" where there is none
	Slowest   time.Duration
	Timeout   time.Duration
	Faults    []string
}

// What a POSIX shell exits with where it cannot start a command.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// Check runs a task's commands on the untouched workspace, which must fail
// verify and score, and on the solution, which must pass both. An error means
// that it could not be checked.
func Check(ctx context.Context, t *Task, judge Judge) (Finding, error) {
	f := Finding{Task: t.ID, Timeout: t.Timeout, Solved: "no solution"}
	verify, score, err := judge(ctx, t, false)
	if err != nil {
		return f, fmt.Errorf("check task %s: %w", t.ID, err)
	}
	f.note(&f.Untouched, verify, score)
	switch {
	case verify.Passed:
		f.Faults = append(f.Faults, "the untouched workspace passes verify: there is nothing to solve")
	case verify.ExitCode == exitNotFound || verify.ExitCode == exitNotExecutable:
		f.Faults = append(f.Faults, "verify cannot be run: "+lastLine(verify))
	}
	if score != nil && score.Passed {
		f.Faults = append(f.Faults, "the untouched workspace passes score")
	}
	if !t.HasFiles(t.Solution) {
		f.Faults = append(f.Faults, "there is no solution/ to check the commands against")
		return f, nil
	}
	if verify, score, err = judge(ctx, t, true); err != nil {
		return f, fmt.Errorf("check solution of task %s: %w", t.ID, err)
	}
	f.note(&f.Solved, verify, score)
	if !verify.Passed {
		f.Faults = append(f.Faults, "the solution fails verify: "+lastLine(verify))
	}
	if score != nil && !score.Passed {
		f.Faults = append(f.Faults, "the solution fails score: "+lastLine(*score))
	}
	return f, nil
}

func (f *Finding) note(to *string, verify Verdict, score *Verdict) {
	*to = "verify " + verify.String()
	f.Slowest = max(f.Slowest, verify.Duration)
	if score != nil {
		*to += ", score " + score.String()
		f.Slowest = max(f.Slowest, score.Duration)
	}
}

func lastLine(v Verdict) string {
	lines := strings.Split(strings.TrimSpace(v.Output), "\n")
	if v.TimedOut || lines[len(lines)-1] == "" {
		return v.String()
	}
	return v.String() + ", " + lines[len(lines)-1]
}
