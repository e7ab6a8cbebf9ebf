package tasks

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// scripted is a Judge whose verdicts depend on the tree and on how often it was
// asked for before.
func scripted(noScore bool, say func(solved bool, repeat int) (verify, score Verdict)) Judge {
	var mu sync.Mutex
	asked := map[bool]int{}
	return func(_ context.Context, t *Task, solved bool) (Verdict, *Verdict, error) {
		mu.Lock()
		defer mu.Unlock()
		verify, score := say(solved, asked[solved])
		asked[solved]++
		if noScore || !t.HasScore() {
			return verify, nil, nil
		}
		return verify, &score, nil
	}
}

func certifyOne(t *testing.T, text string, judge Judge, repeats int) Certificate {
	t.Helper()
	list := load(t, write(t, filepath.Join(t.TempDir(), "a.txtar"), text)).Tasks
	found, err := Certify(t.Context(), list, judge, CertifyOptions{Repeats: repeats, Seed: 3})
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %d certificates", err, len(found))
	}
	if found[0].Hash != list[0].Hash || found[0].Task != list[0].ID {
		t.Errorf("certificate of %s %s, want %s %s", found[0].Task, found[0].Hash, list[0].ID, list[0].Hash)
	}
	return found[0]
}

var (
	passes    = Verdict{Passed: true, Duration: 2 * time.Second}
	fails     = Verdict{ExitCode: 1, Output: "one\ntwo\n", Duration: time.Second}
	late      = Verdict{TimedOut: true, ExitCode: 137, Output: "noise"}
	missing   = Verdict{ExitCode: 127, Output: "sh: nope: not found"}
	failsIn   = func(tests ...string) Verdict { return Verdict{ExitCode: 1, Failing: tests} }
	withoutIt = func() string { return sound[:strings.Index(sound, "-- solution/")] }
)

func TestCertifyOnce(t *testing.T) {
	for _, c := range []struct {
		name                                     string
		verify, score, solvedVerify, solvedScore Verdict
		noScore, noSolution                      bool
		untouched, solved                        string
		faults                                   []string
	}{
		{name: "sound", verify: fails, score: fails, solvedVerify: passes, solvedScore: passes,
			untouched: "verify fails (exit 1), score fails (exit 1)", solved: "verify passes, score passes"},
		{name: "sound without score", verify: late, solvedVerify: passes, noScore: true, untouched: "verify timed out", solved: "verify passes"},
		{name: "nothing to solve", verify: passes, score: passes, solvedVerify: passes, solvedScore: passes,
			untouched: "verify passes, score passes", solved: "verify passes, score passes",
			faults: []string{"the untouched workspace passes verify: there is nothing to solve", "the untouched workspace passes score"}},
		{name: "bad solution", verify: fails, score: fails, solvedVerify: fails, solvedScore: late,
			untouched: "verify fails (exit 1), score fails (exit 1)", solved: "verify fails (exit 1), score timed out",
			faults: []string{"the solution fails verify: fails (exit 1), two", "the solution fails score: timed out"}},
		{name: "no solution", verify: fails, noScore: true, noSolution: true, untouched: "verify fails (exit 1)", solved: "no solution",
			faults: []string{"there is no solution/ to check the commands against"}},
		{name: "verify is not there", verify: missing, solvedVerify: missing, noScore: true,
			untouched: "verify fails (exit 127)", solved: "verify fails (exit 127)",
			faults: []string{"verify cannot be run: fails (exit 127), sh: nope: not found", "the solution fails verify: fails (exit 127), sh: nope: not found"}},
		{name: "score is not there", verify: fails, score: missing, solvedVerify: passes, solvedScore: passes,
			untouched: "verify fails (exit 1), score fails (exit 127)", solved: "verify passes, score passes",
			faults: []string{"score cannot be run: fails (exit 127), sh: nope: not found"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := sound
			if c.noSolution {
				text = withoutIt()
			}
			got := certifyOne(t, text, scripted(c.noScore, func(solved bool, _ int) (Verdict, Verdict) {
				if solved {
					return c.solvedVerify, c.solvedScore
				}
				return c.verify, c.score
			}), 1)
			if got.Untouched != c.untouched || got.Solved != c.solved || !slices.Equal(got.Faults, c.faults) || got.Timeout != 7*time.Second {
				t.Errorf("%+v\nwant %q, %q, %q", got, c.untouched, c.solved, c.faults)
			}
			if c.name == "sound" && (got.Slowest != 2*time.Second || got.Median != 2*time.Second) {
				t.Errorf("slowest %v, median %v, want 2s", got.Slowest, got.Median)
			}
		})
	}
}

func TestCertifyRepeats(t *testing.T) {
	for _, c := range []struct {
		name                string
		say                 func(solved bool, repeat int) (verify, score Verdict)
		untouched, solution int // runs
		disagree            int
		flaky               string
		faults              []string
	}{
		{name: "sound", untouched: 5, solution: 5, say: func(solved bool, _ int) (Verdict, Verdict) {
			if solved {
				return passes, passes
			}
			return failsIn("a", "b"), fails
		}},
		{name: "flaky score", untouched: 5, solution: 5, disagree: 1, say: func(solved bool, repeat int) (Verdict, Verdict) {
			if solved && repeat != 3 {
				return passes, passes
			}
			return map[bool]Verdict{true: passes, false: fails}[solved], fails
		}, flaky: "flaky: the solution passes in 4 of 5 runs; in another the solution fails score: fails (exit 1), two"},
		{name: "failing tests change", untouched: 5, solution: 5, say: func(solved bool, repeat int) (Verdict, Verdict) {
			if solved {
				return passes, passes
			}
			return failsIn("a", map[bool]string{true: "b", false: "c"}[repeat == 4]), fails
		}, faults: []string{"the failing tests of the untouched workspace are not the same each time: 2 kinds of failure in 5 runs"}},
		{name: "untouched passes at times", untouched: 5, solution: 5, say: func(solved bool, repeat int) (Verdict, Verdict) {
			if solved || repeat == 2 {
				return passes, passes
			}
			return fails, fails
		}, faults: []string{"the untouched workspace passes verify in some of 5 runs: verify is flaky"}},
		{name: "hangs", untouched: 1, solution: 1, say: func(bool, int) (Verdict, Verdict) { return late, late },
			faults: []string{"the solution fails verify: timed out", "the solution fails score: timed out"}},
		{name: "never passes", untouched: 5, solution: 5, say: func(bool, int) (Verdict, Verdict) { return fails, fails },
			faults: []string{"the solution fails verify: fails (exit 1), two", "the solution fails score: fails (exit 1), two"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := certifyOne(t, sound, scripted(false, c.say), 5)
			if got.UntouchedRuns != c.untouched || got.SolvedRuns != c.solution || got.SolvedDisagree != c.disagree || !slices.Equal(got.Faults, c.faults) || got.Flaky != c.flaky {
				t.Errorf("%+v\nwant %d and %d runs, %d of them disagreeing, faults %q", got, c.untouched, c.solution, c.disagree, c.faults)
			}
		})
	}
}

func TestCertifyWarnsOfSlowSolutions(t *testing.T) {
	slow := Verdict{Passed: true, Duration: 4 * time.Second}
	got := certifyOne(t, sound, scripted(false, func(solved bool, _ int) (Verdict, Verdict) {
		if solved {
			return passes, slow
		}
		return fails, fails
	}), 1)
	if len(got.Faults) > 0 || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "took 4s, more than half of the timeout of 7s") {
		t.Errorf("faults %q, warnings %q", got.Faults, got.Warnings)
	}
}

// TestCertifyOrder: every tree is run once before any repeat, a seed gives one
// order, and another seed another.
func TestCertifyOrder(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		write(t, filepath.Join(dir, id+".txtar"), strings.Replace(sound, "id: add-one", "id: "+id, 1))
	}
	list := load(t, dir).Tasks
	order := func(seed uint64) (seen []string) {
		_, err := Certify(t.Context(), list, func(_ context.Context, k *Task, solved bool) (Verdict, *Verdict, error) {
			seen = append(seen, k.ID+map[bool]string{true: "+", false: "-"}[solved])
			return Verdict{Passed: solved, ExitCode: 1}, nil, nil
		}, CertifyOptions{Repeats: 3, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return seen
	}
	one := order(1)
	if len(one) != 36 || len(slices.Compact(slices.Sorted(slices.Values(one[:12])))) != 12 {
		t.Fatalf("%d runs, the first twelve %v", len(one), one[:12])
	}
	if !slices.Equal(one, order(1)) || slices.Equal(one, order(2)) || slices.IsSorted(one[:12]) {
		t.Errorf("the order is not drawn from the seed: %v", one)
	}
}

func TestCertifyErrors(t *testing.T) {
	list := load(t, write(t, filepath.Join(t.TempDir(), "a.txtar"), sound)).Tasks
	broken := errors.New("no room")
	for _, atSolution := range []bool{false, true} {
		_, err := Certify(t.Context(), list, func(_ context.Context, _ *Task, solved bool) (Verdict, *Verdict, error) {
			if solved == atSolution {
				return Verdict{}, nil, broken
			}
			return Verdict{ExitCode: 1}, nil, nil
		}, CertifyOptions{})
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "add-one") {
			t.Errorf("error %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Certify(ctx, list, scripted(false, nil), CertifyOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// Only sound tasks that have a score are asked about; a command without a verdict
// is told as the reason for not knowing, without what it said, and ends nothing.
func TestCertifyAsksWhetherScoreIsStronger(t *testing.T) {
	right := func(solved bool, _ int) (Verdict, Verdict) {
		if solved {
			return passes, passes
		}
		return fails, fails
	}
	wrong := func(bool, int) (Verdict, Verdict) { return fails, fails }
	seen := Strength{Verdict: Stronger, Witness: "add.py:3: `<` becomes `<=`", Solved: true, Changes: 30, Tried: 4, Passed: 2}
	for _, c := range []struct {
		name  string
		say   func(solved bool, repeat int) (verify, score Verdict)
		text  string
		err   error
		asked int
		want  Strength
		line  string
	}{
		{name: "sound", say: right, text: sound, asked: 1, want: seen,
			line: "yes: the solution passes verify and fails score where add.py:3: `<` becomes `<=`"},
		{name: "no verdict", say: right, text: sound, asked: 1, err: fmt.Errorf("run it: %w", &NoVerdictError{Reason: "it was killed", Said: "/tmp/x"}),
			want: Strength{Verdict: CouldNotTell, Reason: "a command gave no verdict: it was killed"}, line: "could not tell: a command gave no verdict: it was killed"},
		{name: "not sound", say: wrong, text: sound, want: Strength{Verdict: CouldNotTell, Reason: "the task is not sound"},
			line: "could not tell: the task is not sound"},
		{name: "no score", say: right, text: regexp.MustCompile(`(?m)^score:.*\n`).ReplaceAllString(sound, ""), want: Strength{Verdict: NotAsked}, line: "not asked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := load(t, write(t, filepath.Join(t.TempDir(), "a.txtar"), c.text)).Tasks
			asked := 0
			found, err := Certify(t.Context(), list, scripted(false, c.say), CertifyOptions{Stronger: func(_ context.Context, task *Task) (Strength, error) {
				if asked++; task != list[0] {
					t.Errorf("asked about %s", task.ID)
				}
				return seen, c.err
			}})
			if err != nil || asked != c.asked || found[0].Strength != c.want || found[0].Strength.String() != c.line {
				t.Errorf("asked %d times: %+v, %v; want %+v", asked, found[0].Strength, err, c.want)
			}
		})
	}
	room := errors.New("no room")
	list := load(t, write(t, filepath.Join(t.TempDir(), "a.txtar"), sound)).Tasks
	found, err := Certify(t.Context(), list, scripted(false, right), CertifyOptions{Stronger: func(context.Context, *Task) (Strength, error) {
		return Strength{}, room
	}})
	if !errors.Is(err, room) || found != nil {
		t.Errorf("an error of the search itself: %+v, %v", found, err)
	}
	if got := certifyOne(t, sound, scripted(false, right), 1); got.Strength != (Strength{Verdict: NotAsked}) {
		t.Errorf("nobody to ask: %+v", got.Strength)
	}
}

// A task whose command gives no verdict has that as its fault, and the others are
// certified all the same.
func TestCertifyWithoutVerdict(t *testing.T) {
	good := load(t, write(t, filepath.Join(t.TempDir(), "a.txtar"), sound)).Tasks[0]
	silent := *good
	silent.ID = "silent"
	for _, where := range []bool{false, true} {
		judge := func(_ context.Context, k *Task, solved bool) (Verdict, *Verdict, error) {
			if k.ID == "silent" && solved == where {
				return Verdict{}, nil, fmt.Errorf("run %q: %w", "true", &NoVerdictError{Reason: "it exited with 75, no verdict"})
			}
			if solved {
				return passes, &passes, nil
			}
			return fails, &fails, nil
		}
		found, err := Certify(t.Context(), []*Task{good, &silent}, judge, CertifyOptions{Repeats: 3})
		if err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{false: "the untouched workspace", true: "the solution"}[where] + " could not be judged: it exited with 75, no verdict"
		if !found[0].Sound() || !slices.Contains(found[1].Faults, want) {
			t.Errorf("faults %q and %q, want none and %q", found[0].Faults, found[1].Faults, want)
		}
	}
}
