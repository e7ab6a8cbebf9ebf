package harness

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"retrial/harness/solver"
	"retrial/harness/workspace"
	"retrial/results"
)

// The run that is killed: three tasks, two trials at a time.
func killedPlan(t *testing.T) *Plan {
	return parsePlan(t, guessCorpus(t, "a", "b", "c"), "replicates: 2\nattempts: 3\n"+fourArms)
}

func killedPlay(_ context.Context, s scene) (solver.Reply, error) {
	if s.arm() == "diff-feedback" && s.attempt == 3 {
		return answer("42"), nil
	}
	return answer("bad %s %d", s.arm(), s.attempt), nil
}

// TestKilledChild is the process that TestKilled kills; by itself it does
// nothing.
func TestKilledChild(t *testing.T) {
	dir, at := os.Getenv("RETRIAL_KILLED_DIR"), os.Getenv("RETRIAL_KILLED_AT")
	if dir == "" {
		t.Skip("not a helper")
	}
	n, err := strconv.Atoi(at)
	if err != nil {
		t.Fatal(err)
	}
	plan := killedPlan(t)
	j, err := results.CreateJournal(dir, results.Header{RunID: "r", DesignHash: plan.Design.Hash(), Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	var begun atomic.Int64
	s := newScripted(plan, func(ctx context.Context, s scene) (solver.Reply, error) {
		k := begun.Add(1)
		fmt.Printf("begun %s/%d\n", s.task, s.replicate) // one write each: lines are whole
		if k == int64(n) {
			fmt.Println("kill")
		}
		return killedPlay(ctx, s)
	})
	info := results.RunInfo{RunID: "r", DesignHash: plan.Design.Hash()}
	t.Fatal(Run(context.Background(), Config{ // too late: it was to be killed
		Plan: plan, Solver: s, Grader: Grader{Root: t.TempDir(), Sandbox: workspace.None}, Journal: j, Info: info, Parallel: 2,
	}))
}

// TestKilled kills a run at several points. What its journal holds makes valid
// tables: every attempt that another one followed in its trial is there, and
// each row is the one that the undisturbed run has.
func TestKilled(t *testing.T) {
	plan := killedPlan(t)
	whole := mustRun(t, plan, newScripted(plan, killedPlay), options{parallel: 2})
	points := []int{1, 2, 7, 19, 40}
	if testing.Short() {
		points = []int{7, 19}
	}
	for _, at := range points {
		t.Run(fmt.Sprintf("at solve %d", at), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			begun := killAt(t, dir, at)
			m := &made{dir: dir}
			m.read(t)
			finished := map[string]int{}
			for _, a := range m.attempts {
				finished[fmt.Sprintf("%s/%d", a.Task, a.Replicate)]++
			}
			for trial, n := range begun {
				if finished[trial] < n-1 {
					t.Errorf("trial %s: %d attempts begun, only %d of those before are in the journal", trial, n, finished[trial])
				}
			}
			checkTables(t, whole, m)
		})
	}
}

// killAt runs the helper until it says that its solver was asked for the n-th
// time, and kills it. It returns how many attempts each trial had begun.
func killAt(t *testing.T, dir string, n int) map[string]int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledChild$")
	cmd.Env = append(os.Environ(), "RETRIAL_KILLED_DIR="+dir, fmt.Sprintf("RETRIAL_KILLED_AT=%d", n), "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun, said := map[string]int{}, ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += lines.Text() + "\n"
		if trial, ok := strings.CutPrefix(lines.Text(), "begun "); ok {
			begun[trial]++
		}
		if lines.Text() == "kill" {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Fatalf("the helper ended with %v and said:\n%s", err, said)
	}
	return begun
}

// checkTables compares what a killed run's journal exports with the whole run.
func checkTables(t *testing.T, whole, killed *made) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "tables")
	if err := (results.RunInfo{RunID: "r"}).Write(killed.dir); err != nil {
		t.Fatal(err)
	}
	exported, err := results.Export(killed.dir, to, results.FormatParquet)
	if err != nil {
		t.Fatal(err)
	}
	attempts, _, err := results.ReadParquet[results.Attempt](filepath.Join(to, results.AttemptsFile))
	if err != nil {
		t.Fatal(err)
	}
	trials, err := results.ReadTrials(filepath.Join(to, results.TrialsFile))
	if err != nil {
		t.Fatal(err)
	}
	if exported.Sealed || len(attempts) != len(killed.attempts) || len(trials) != len(killed.trials) {
		t.Fatalf("exported %d attempts and %d trials, the journal has %d and %d", len(attempts), len(trials), len(killed.attempts), len(killed.trials))
	}
	got := &made{attempts: map[string]results.Attempt{}, trials: map[string]results.Trial{}}
	want := &made{attempts: map[string]results.Attempt{}, trials: map[string]results.Trial{}}
	for _, a := range attempts {
		got.attempts[a.AttemptID] = a
		want.attempts[a.AttemptID] = whole.attempts[a.AttemptID]
	}
	for _, r := range trials {
		key := fmt.Sprintf("%s/%d/%s", r.Task, r.Replicate, r.Arm)
		if r.Missing {
			if r.Passed != nil || *r.MissingReason != results.MissingInterrupted {
				t.Errorf("trial %s: %s", key, detail(r))
			}
			continue
		}
		got.trials[key], want.trials[key] = r, whole.trials[key]
	}
	sameTables(t, want, got)
	if len(whole.attempts) == len(attempts) {
		t.Error("the run was not killed in its middle")
	}
	for id := range maps.Keys(got.attempts) {
		if sha := got.attempts[id].PatchSHA; string(killed.log.Blobs[*sha].Data) != string(whole.log.Blobs[*sha].Data) {
			t.Errorf("the patch of %s is not in the journal", id)
		}
	}
}
