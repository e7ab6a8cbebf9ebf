package tasks

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	pass, fail := Verdict{Passed: true, Duration: 2 * time.Second}, Verdict{ExitCode: 1, Output: "one\ntwo\n", Duration: time.Second}
	late := Verdict{TimedOut: true, ExitCode: 137, Output: "noise"}
	missing := Verdict{ExitCode: 127, Output: "sh: nope: not found"}
	for _, c := range []struct {
		name                                     string
		verify, score, solvedVerify, solvedScore Verdict
		noScore, noSolution                      bool
		untouched, solved                        string
		faults                                   []string
	}{
		{name: "sound", verify: fail, score: fail, solvedVerify: pass, solvedScore: pass,
			untouched: "verify fails (exit 1), score fails (exit 1)", solved: "verify passes, score passes"},
		{name: "sound without score", verify: late, solvedVerify: pass, noScore: true, untouched: "verify timed out", solved: "verify passes"},
		{name: "nothing to solve", verify: pass, score: pass, solvedVerify: pass, solvedScore: pass,
			untouched: "verify passes, score passes", solved: "verify passes, score passes",
			faults: []string{"the untouched workspace passes verify: there is nothing to solve", "the untouched workspace passes score"}},
		{name: "bad solution", verify: fail, score: fail, solvedVerify: fail, solvedScore: late,
			untouched: "verify fails (exit 1), score fails (exit 1)", solved: "verify fails (exit 1), score timed out",
			faults: []string{"the solution fails verify: fails (exit 1), two", "the solution fails score: timed out"}},
		{name: "no solution", verify: fail, noScore: true, noSolution: true, untouched: "verify fails (exit 1)", solved: "no solution",
			faults: []string{"there is no solution/ to check the commands against"}},
		{name: "verify is not there", verify: missing, solvedVerify: missing, noScore: true,
			untouched: "verify fails (exit 127)", solved: "verify fails (exit 127)",
			faults: []string{"verify cannot be run: fails (exit 127), sh: nope: not found", "the solution fails verify: fails (exit 127), sh: nope: not found"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := sound
			if c.noSolution {
				text = text[:strings.Index(text, "-- solution/")]
			}
			k := load(t, write(t, filepath.Join(t.TempDir(), "a.txtar"), text)).Tasks[0]
			f, err := Check(t.Context(), k, func(_ context.Context, got *Task, solved bool) (Verdict, *Verdict, error) {
				v, s := c.verify, &c.score
				if solved {
					v, s = c.solvedVerify, &c.solvedScore
				}
				if c.noScore {
					s = nil
				}
				return v, s, nil
			})
			if err != nil || f.Task != "add-one" || f.Untouched != c.untouched || f.Solved != c.solved || !slices.Equal(f.Faults, c.faults) || f.Timeout != 7*time.Second {
				t.Errorf("%v, %+v\nwant %q, %q, %q", err, f, c.untouched, c.solved, c.faults)
			}
			if c.name == "sound" && f.Slowest != 2*time.Second {
				t.Errorf("slowest %v, want 2s", f.Slowest)
			}
		})
	}
}

func TestCheckErrors(t *testing.T) {
	k := load(t, write(t, filepath.Join(t.TempDir(), "a.txtar"), sound)).Tasks[0]
	broken := errors.New("no room")
	for _, atSolution := range []bool{false, true} {
		_, err := Check(t.Context(), k, func(_ context.Context, _ *Task, solved bool) (Verdict, *Verdict, error) {
			if solved == atSolution {
				return Verdict{}, nil, broken
			}
			return Verdict{ExitCode: 1}, nil, nil
		})
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "add-one") {
			t.Errorf("error %v", err)
		}
	}
}
