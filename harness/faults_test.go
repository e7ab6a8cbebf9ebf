package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"retrial/arms"
	"retrial/harness/solver"
	"retrial/harness/workspace"
	"retrial/results"
)

var errBroken = errors.New("the machine broke")

// TestFaultOnce: a solver that fails once per attempt changes nothing but the
// number of tries. The events that the failed tries left are in the log and
// reach no table.
func TestFaultOnce(t *testing.T) {
	plan := parsePlan(t, guessCorpus(t, "a", "b"), "replicates: 1\nattempts: 3\n"+fourArms)
	play := func(faults int) func(context.Context, scene) (solver.Reply, error) {
		return func(_ context.Context, s scene) (solver.Reply, error) {
			if s.try <= faults {
				return solver.Reply{}, errBroken
			}
			r := answer("bad %s %d", s.arm(), s.attempt)
			if s.attempt == 3 && s.arm() == "diff-feedback" {
				r = answer("42")
			}
			r.VerifyRuns = s.attempt
			return r, nil
		}
	}
	whole := mustRun(t, plan, newScripted(plan, play(0)), options{})
	for _, faults := range []int{1, maxTries - 1} {
		got := mustRun(t, plan, newScripted(plan, play(faults)), options{})
		if n, want := len(got.events(results.KindInfraFault)), faults*len(whole.attempts); n != want {
			t.Errorf("%d faults are in the log, want %d", n, want)
		}
		for _, e := range got.events(results.KindAttemptFinish) {
			if int(e.TryID) != faults+1 {
				t.Errorf("attempt %s ended in try %d, want %d", e.AttemptID, e.TryID, faults+1)
			}
		}
		sameTables(t, whole, got)
	}
	if len(whole.attempts) == 0 || len(whole.trials) != 8 {
		t.Fatalf("%d attempts, %d trials", len(whole.attempts), len(whole.trials))
	}
}

// TestFaultLate: the try is lost after the solver replied, with half of its
// events logged: here the workspace's own directory is gone and another is in
// its place.
func TestFaultLate(t *testing.T) {
	plan := parsePlan(t, guessCorpus(t, "a"), "replicates: 1\nattempts: 2\n"+fourArms)
	play := func(fail bool) func(context.Context, scene) (solver.Reply, error) {
		return func(_ context.Context, s scene) (solver.Reply, error) {
			if fail && s.try == 1 {
				box := filepath.Dir(s.req.Dir)
				err := errors.Join(os.Rename(box, box+"-moved"), os.Mkdir(box, 0o700))
				t.Cleanup(func() { os.RemoveAll(box + "-moved") })
				return solver.Reply{Steps: []solver.Step{{Tool: "sh", Error: "of the lost try"}}, Description: "lost"}, err
			}
			return answer("bad"), nil
		}
	}
	whole := mustRun(t, plan, newScripted(plan, play(false)), options{})
	c, dir := config(t, plan, newScripted(plan, play(true)), options{})
	if err := Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if err := c.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	got := &made{dir: dir}
	got.read(t)
	if n := len(got.events(results.KindInfraFault)); n != len(whole.attempts) {
		t.Errorf("%d faults, want %d", n, len(whole.attempts))
	}
	sameTables(t, whole, got)
	if p := got.prompt(t, "a/0/2/diff-feedback"); strings.Contains(p, "lost") {
		t.Errorf("the prompt shows what a lost try said:\n%s", p)
	}
}

// sameTables compares two runs' tables but for the clocks.
func sameTables(t *testing.T, want, got *made) {
	t.Helper()
	attempts := func(m *made) map[string]results.Attempt {
		out := maps.Clone(m.attempts)
		for id, a := range out {
			a.StartedAt, a.SolveSeconds, a.VerifySeconds = nil, nil, nil
			out[id] = a
		}
		return out
	}
	trials := func(m *made) map[string]results.Trial {
		out := maps.Clone(m.trials)
		for id, r := range out {
			r.Seconds = nil
			out[id] = r
		}
		return out
	}
	sameRows(t, attempts(want), attempts(got))
	sameRows(t, trials(want), trials(got))
}

func sameRows[T any](t *testing.T, want, got map[string]T) {
	t.Helper()
	if w, g := slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)); !slices.Equal(w, g) {
		t.Errorf("rows differ:\n got %v\nwant %v", g, w)
		return
	}
	for key, w := range want {
		if ws, gs := detail(w), detail(got[key]); ws != gs {
			t.Errorf("row %s\n got %s\nwant %s", key, gs, ws)
		}
	}
}

// TestFaultAlways: where the machinery never works, the arm's trial is missing
// and says why. Other arms and trials do not notice.
func TestFaultAlways(t *testing.T) {
	plan := parsePlan(t, guessCorpus(t, "a", "b"), "replicates: 2\nattempts: 3\n"+fourArms)
	s := newScripted(plan, func(_ context.Context, s scene) (solver.Reply, error) {
		if s.task == "a" && s.replicate == 0 && s.attempt == 2 && s.arm() == "notice" || s.task == "b" && s.replicate == 1 {
			return solver.Reply{}, errBroken
		}
		return answer("bad"), nil
	})
	m := mustRun(t, plan, s, options{parallel: 2})
	for key, r := range m.trials {
		broken := key == "a/0/notice" || strings.HasPrefix(key, "b/1/")
		switch {
		case broken != r.Missing || broken != (r.Passed == nil):
			t.Errorf("trial %s: missing %v, passed %v", key, r.Missing, r.Passed)
		case broken && (r.MissingReason == nil || *r.MissingReason != "infra: solve: the machine broke"):
			t.Errorf("trial %s is missing for %s", key, detail(r.MissingReason))
		case !broken && (*r.Passed || r.AttemptsUsed != 3):
			t.Errorf("trial %s: %s", key, detail(r))
		}
	}
	if r := m.trials["a/0/notice"]; r.AttemptsUsed != 1 || r.AtRisk == nil || !*r.AtRisk {
		t.Errorf("the draft of the missing trial is gone: %s", detail(r))
	}
	if n := len(m.events(results.KindInfraFault)); n != 2*maxTries {
		t.Errorf("%d faults, want %d", n, 2*maxTries)
	}
	if m.progress != (Progress{Trials: 4, TrialsDone: 4, Failed: len(m.attempts), Faults: 2}) {
		t.Errorf("progress: %+v", m.progress)
	}
	if len(m.trials) != 16 {
		t.Errorf("%d trials", len(m.trials))
	}
}

// TestSolverMayNotDecide: a reply that claims a verdict is a broken solver.
func TestSolverMayNotDecide(t *testing.T) {
	plan := parsePlan(t, guessCorpus(t, "a"), "replicates: 1\narms: [blind]\n")
	m := mustRun(t, plan, newScripted(plan, func(context.Context, scene) (solver.Reply, error) {
		return solver.Reply{Outcome: arms.Passed}, nil
	}), options{})
	if r := m.trials["a/0/blind"]; !r.Missing || len(m.attempts) != 0 {
		t.Errorf("trial: %s", detail(r))
	}
}

// TestNoWorkspaceEndsTheRun: where no workspace can be made, none of the next
// attempts would fare better.
func TestNoWorkspaceEndsTheRun(t *testing.T) {
	plan := parsePlan(t, guessCorpus(t, "a"), "replicates: 1\narms: [blind]\n")
	s := newScripted(plan, func(context.Context, scene) (solver.Reply, error) { return answer("1"), nil })
	c, dir := config(t, plan, s, options{grader: &Grader{Root: filepath.Join(t.TempDir(), "gone")}})
	if err := Run(context.Background(), c); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the run ended with %v", err)
	}
	if err := c.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	m := &made{dir: dir}
	if m.read(t); len(s.scenes) > 0 || *m.trials["a/0/blind"].MissingReason != results.MissingInterrupted {
		t.Errorf("trials: %s", detail(m.trials))
	}
}

func TestFatal(t *testing.T) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	denied := &fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.EACCES}
	for _, c := range []struct {
		name  string
		ctx   context.Context
		err   error
		fatal bool
	}{
		{"a broken machine", t.Context(), errBroken, false},
		{"an aborted run", done, errBroken, true},
		{"a full disk", t.Context(), fmt.Errorf("diff: %w", syscall.ENOSPC), true},
		{"a used-up quota", t.Context(), fmt.Errorf("diff: %w", syscall.EDQUOT), true},
		{"an unwritable folder for workspaces", t.Context(), openError{fmt.Errorf("open: %w", denied)}, true},
		{"a file that an attempt made unreadable", t.Context(), fmt.Errorf("diff: %w", denied), false},
	} {
		if got := fatal(c.ctx, c.err); (got != nil) != c.fatal {
			t.Errorf("%s: fatal says %v", c.name, got)
		}
	}
}

// TestDrain: draining finishes the attempts being made and begins none.
func TestDrain(t *testing.T) {
	plan := parsePlan(t, guessCorpus(t, "a", "b", "c"), "replicates: 3\nattempts: 3\n"+fourArms)
	const workers = 3
	drain := make(chan struct{})
	var begun atomic.Int64
	release := make(chan struct{})
	s := newScripted(plan, func(context.Context, scene) (solver.Reply, error) {
		if begun.Add(1) == workers {
			close(drain)
			close(release)
		}
		<-release
		return answer("bad"), nil
	})
	before := runtime.NumGoroutine()
	m := makeRun(t, context.Background(), plan, s, options{parallel: workers, drain: drain})
	if !errors.Is(m.err, ErrDrained) {
		t.Fatalf("the run ended with %v", m.err)
	}
	if begun.Load() != workers || len(m.attempts) != workers {
		t.Errorf("%d attempts begun, %d finished, want %d", begun.Load(), len(m.attempts), workers)
	}
	for key, r := range m.trials {
		if !r.Missing || *r.MissingReason != results.MissingInterrupted {
			t.Errorf("trial %s: %s", key, detail(r))
		}
	}
	if len(m.events(results.KindRunFinish)) > 0 {
		t.Error("a drained run says that it finished")
	}
	noneLeft(t, before)
}

// TestDrainAtTheEnd: a drain that finds nothing left to begin changes nothing.
func TestDrainAtTheEnd(t *testing.T) {
	plan := parsePlan(t, guessCorpus(t, "a"), "replicates: 1\nattempts: 2\narms: [blind]\n")
	drain := make(chan struct{})
	s := newScripted(plan, func(_ context.Context, s scene) (solver.Reply, error) {
		if s.attempt == 2 {
			close(drain)
		}
		return answer("bad"), nil
	})
	if m := makeRun(t, context.Background(), plan, s, options{drain: drain}); m.err != nil || *m.trials["a/0/blind"].Passed {
		t.Errorf("the run ended with %v: %s", m.err, detail(m.trials))
	}
}

// noneLeft waits until no more goroutines run than before.
func noneLeft(t *testing.T, before int) {
	t.Helper()
	for range 1_000_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
}

// TestAbort: aborting ends what runs, a solver here, a verify command there, and
// leaves no process and no workspace.
func TestAbort(t *testing.T) {
	plan := parsePlan(t, guessCorpus(t, "a", "b"), "replicates: 1\nattempts: 2\n"+fourArms)
	ctx, abort := context.WithCancel(context.Background())
	defer abort()
	pids := filepath.Join(t.TempDir(), "pids")
	if err := syscall.Mkfifo(pids, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newScripted(plan, func(ctx context.Context, s scene) (solver.Reply, error) {
		if s.task == "a" {
			<-ctx.Done()
			return solver.Reply{}, ctx.Err()
		}
		hook := fmt.Sprintf("sleep 1000 &\necho $$ $! > %s\nwait\n", pids)
		return solver.Reply{}, os.WriteFile(filepath.Join(s.req.Dir, "hook.sh"), []byte(hook), 0o644)
	})
	var told []byte
	var once sync.WaitGroup
	once.Go(func() {
		told, _ = os.ReadFile(pids) // opens when the hook writes
		abort()
	})
	before := runtime.NumGoroutine()
	m := makeRun(t, ctx, plan, s, options{parallel: 2})
	once.Wait()
	if !errors.Is(m.err, context.Canceled) {
		t.Errorf("the run ended with %v", m.err)
	}
	if len(m.attempts) != 0 || len(m.events(results.KindAttemptFinish)) != 0 || len(m.events(results.KindInfraFault)) != 0 {
		t.Errorf("attempts %s, faults %s", detail(m.attempts), detail(m.events(results.KindInfraFault)))
	}
	gone(t, string(told))
	noneLeft(t, before)
}

// gone checks that none of the processes runs any more.
func gone(t *testing.T, pids string) {
	t.Helper()
	fields := strings.Fields(pids)
	if len(fields) == 0 {
		t.Fatal("no process said that it ran")
	}
	for _, pid := range fields {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if _, rest, _ := strings.Cut(string(stat), ") "); !strings.HasPrefix(rest, "Z") && runtime.GOOS == "linux" {
			t.Errorf("process %s still runs: %s", pid, stat)
		}
	}
}

// TestBudgetStop: the budget counts attempts that are made, shared ones and
// repeated tries once. Its use is an event, its exhaustion an error of its own.
func TestBudgetStop(t *testing.T) {
	// A trial in which nothing passes takes 1 draft and 4 retries per attempt number.
	const perTrial = 1 + 4 + 4
	for _, c := range []struct {
		budget, parallel, attempts, trials int
		stopped                            bool
	}{
		{budget: 2 * perTrial, parallel: 1, attempts: 2 * perTrial, trials: 2},
		{budget: 2 * perTrial, parallel: 2, attempts: 2 * perTrial, trials: 2},
		{budget: 2*perTrial - 1, parallel: 1, attempts: 2*perTrial - 1, trials: 2, stopped: true},
		{budget: perTrial, parallel: 1, attempts: perTrial, trials: 1, stopped: true},
		{budget: 3, parallel: 2, attempts: 3, trials: 2, stopped: true},
		{budget: 1, parallel: 1, attempts: 1, trials: 1, stopped: true},
	} {
		t.Run(fmt.Sprintf("%d with %d workers", c.budget, c.parallel), func(t *testing.T) {
			plan := parsePlan(t, guessCorpus(t, "a"), fmt.Sprintf("replicates: 2\nattempts: 3\nbudget: {attempts: %d}\n%s", c.budget, fourArms))
			drafts := &sync.WaitGroup{} // with two workers both trials begin
			drafts.Add(c.parallel)
			m := makeRun(t, context.Background(), plan, newScripted(plan, func(_ context.Context, s scene) (solver.Reply, error) {
				if s.try == 1 {
					return solver.Reply{}, errBroken
				}
				if s.attempt == 1 && c.parallel > 1 {
					drafts.Done()
					drafts.Wait()
				}
				return answer("bad %s %d", s.arm(), s.attempt), nil
			}), options{parallel: c.parallel})
			if errors.Is(m.err, ErrBudget) != c.stopped || m.err != nil && !c.stopped {
				t.Errorf("the run ended with %v", m.err)
			}
			stops := m.events(results.KindBudgetStop)
			if len(m.attempts) != c.attempts || len(m.trials) != 4*c.trials || (len(stops) == 1) != c.stopped {
				t.Errorf("%d attempts, %d trials, %d budget stops", len(m.attempts), len(m.trials), len(stops))
			}
			if c.stopped && (stops[0].TaskIndex != -1 || stops[0].Detail != fmt.Sprintf(`{"attempts":%d}`, c.budget)) {
				t.Errorf("the stop says %s", detail(stops[0]))
			}
			if c.stopped == (len(m.events(results.KindRunFinish)) == 1) {
				t.Error("run_finish and budget_stop contradict each other")
			}
		})
	}
}

// TestJournalFailureEndsTheRun: what cannot be recorded is not gone on with.
func TestJournalFailureEndsTheRun(t *testing.T) {
	plan := parsePlan(t, guessCorpus(t, "a"), "replicates: 1\narms: [blind]\n")
	s := newScripted(plan, func(context.Context, scene) (solver.Reply, error) { return answer("bad"), nil })
	c, _ := config(t, plan, s, options{grader: &Grader{Root: t.TempDir(), Sandbox: workspace.None}})
	if err := c.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Run(context.Background(), c); !errors.Is(err, results.ErrJournalClosed) {
		t.Errorf("the run ended with %v", err)
	}
	if len(s.scenes) > 0 {
		t.Error("attempts were made that nobody will know of")
	}
}
