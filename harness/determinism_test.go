package harness

import (
	"context"
	"fmt"
	"os/exec"
	"testing"

	"retrial/harness/solver"
	"retrial/harness/workspace"
	"retrial/results"
	"retrial/tasks"
)

// mutateRun runs the built-in repairer on a few built-in tasks.
func mutateRun(t *testing.T, design string, parallel int) *made {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not here")
	}
	c, err := tasks.Load("builtin:py-bugs", "")
	if err != nil {
		t.Fatal(err)
	}
	plan := parsePlan(t, c, design)
	tools, err := FindToolchain(t.Context(), plan.Tasks)
	if err != nil {
		t.Fatal(err)
	}
	s, err := solver.NewMutate(plan.Design.Solver.Memory, tools.Python, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := mustRun(t, plan, s, options{parallel: parallel, grader: &Grader{Root: t.TempDir(), Sandbox: workspace.None, Tools: tools}})
	if n := len(m.events(results.KindInfraFault)); n > 0 {
		t.Fatalf("%d infrastructure faults: %s", n, *m.events(results.KindInfraFault)[0].Reason)
	}
	return m
}

func (m *made) fingerprint(t *testing.T) string {
	t.Helper()
	if err := results.Seal(m.dir, m.log); err != nil {
		t.Fatal(err)
	}
	sum, err := results.Fingerprint(m.dir)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestSameForAnyParallelism: the sealed rows, clocks aside, do not depend on how
// many trials ran at a time, and a rerun repeats them. Another seed does not.
func TestSameForAnyParallelism(t *testing.T) {
	design := "tasks: [ttl-cache, csv-records, role-resolution]\nreplicates: 2\nlimits: {verify_runs: 8}\narms: [blind, diff-feedback]\n"
	widths := []int{1, 2, 4, 8, 1}
	if testing.Short() {
		design = "tasks: [role-resolution]\nreplicates: 3\nattempts: 2\nlimits: {verify_runs: 6}\narms: [blind, diff-feedback]\n"
		widths = []int{1, 4}
	}
	var first string
	for i, width := range widths {
		m := mutateRun(t, design+"seed: 7\n", width)
		sum := m.fingerprint(t)
		if i == 0 {
			first = sum
			if len(m.attempts) <= len(m.trials)/2 {
				t.Fatalf("%d attempts in %d trials: nothing was retried", len(m.attempts), len(m.trials)/2)
			}
		}
		if sum != first {
			t.Errorf("with %d trials at a time the rows differ (run %d of %v): %s, not %s", width, i, widths, sum, first)
		}
	}
	if sum := mutateRun(t, design+"seed: 8\n", 4).fingerprint(t); sum == first {
		t.Error("another seed gives the same rows")
	}
}

// TestIgnoreEqualsBlind: a solver that does not look at its history cannot tell
// the arms apart. Every difference would be the harness's.
func TestIgnoreEqualsBlind(t *testing.T) {
	design := "tasks: [ttl-cache, csv-records, role-resolution]\nreplicates: 2\nlimits: {verify_runs: 8}\n"
	if testing.Short() {
		design = "tasks: [role-resolution]\nreplicates: 1\nlimits: {verify_runs: 6}\n"
	}
	m := mutateRun(t, "solver: {kind: mutate, memory: ignore}\n"+fourArms+design, 2)
	compared := 0
	for _, r := range m.trials {
		blind := m.trials[fmt.Sprintf("%s/%d/blind", r.Task, r.Replicate)]
		if r.Missing || *r.Passed != *blind.Passed || r.AttemptsUsed != blind.AttemptsUsed || *r.VerifyRuns != *blind.VerifyRuns {
			t.Errorf("trial of %s: %s\nblind: %s", r.Arm, detail(r), detail(blind))
			continue
		}
		for i, id := range r.AttemptIDs {
			a, b := m.attempts[id], m.attempts[blind.AttemptIDs[i]]
			if a.Outcome != b.Outcome || *a.PatchSHA != *b.PatchSHA || *a.VerifyRuns != *b.VerifyRuns || *a.Seed != *b.Seed ||
				detail(a.Signature) != detail(b.Signature) || detail(a.ScorePassed) != detail(b.ScorePassed) {
				t.Errorf("attempt %s: %s\nblind: %s", id, detail(a), detail(b))
			}
			if id != blind.AttemptIDs[i] {
				compared++
			}
		}
	}
	if compared == 0 {
		t.Error("no arm made an attempt of its own: nothing was compared")
	}
}

// TestAbortEndsTheRepairer: aborting leaves no interpreter behind.
func TestAbortEndsTheRepairer(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not here")
	}
	c, err := tasks.Load("builtin:py-bugs", "")
	if err != nil {
		t.Fatal(err)
	}
	plan := parsePlan(t, c, "limit: 6\nreplicates: 1\n"+fourArms)
	tools, err := FindToolchain(t.Context(), plan.Tasks)
	if err != nil {
		t.Fatal(err)
	}
	s, err := solver.NewMutate("heed", tools.Python, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, abort := context.WithCancel(context.Background())
	defer abort()
	m := makeRun(t, ctx, plan, s, options{
		parallel: 3, grader: &Grader{Root: t.TempDir(), Sandbox: workspace.None, Tools: tools},
		progress: func(p Progress) {
			if p.Passed+p.Failed == 2 {
				abort()
			}
		},
	})
	if m.err == nil || len(m.events(results.KindRunFinish)) > 0 {
		t.Errorf("the run ended with %v", m.err)
	}
	s.Close()
	if left := children(t); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}
