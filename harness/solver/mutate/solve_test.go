package mutate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func bundled(t testing.TB, name string) corpusTask {
	return writeTask(t, filepath.Join("testdata/tasks", name+".txtar"))
}

func request(task corpusTask, seed int, history string, memory Memory) Request {
	return Request{Prompt: compose(task, history), Dir: task.dir, VerifyCommand: task.verify, TaskKey: task.id,
		TrialSeed: seedOf("trial", seed/3), AttemptSeed: seedOf("attempt", seed), Memory: memory}
}

func solve(t testing.TB, e *Engine, req Request) Reply {
	t.Helper()
	r, err := e.Solve(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A passing reply really passes, changes one file, and the counts are right.
func TestSolveMends(t *testing.T) {
	task := bundled(t, "clamp")
	e := newEngine(t, Options{})
	mended := 0
	for seed := range 12 {
		r := solve(t, e, request(task, seed, "", Heed))
		if len(r.Files) != 1 || r.TestsTotal != 5 || r.VerifyRuns < 2 || r.VerifyRuns > 64 {
			t.Errorf("seed %d: %+v", seed, r)
		}
		if r.Passed != (r.TestsPassed == 5) {
			t.Errorf("seed %d: passed %v with %d tests", seed, r.Passed, r.TestsPassed)
		}
		if !r.Passed {
			continue
		}
		mended++
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(task.dir)); err != nil {
			t.Fatal(err)
		}
		for path, text := range r.Files {
			if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("python3", "-m", "unittest", "-q", "test_visible")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("seed %d: %s does not pass: %s", seed, r.Description, out)
		}
	}
	if mended == 0 {
		t.Errorf("mended %d of 12", mended)
	}
}

// The reply is a function of the request: memo and concurrency change nothing.
func TestSolveDeterministic(t *testing.T) {
	tasks := []corpusTask{bundled(t, "clamp"), bundled(t, "hopeless")}
	const seeds = 6
	plain := newEngine(t, Options{NoMemo: true})
	want := map[string]Reply{}
	for _, task := range tasks {
		for seed := range seeds {
			want[fmt.Sprint(task.id, seed)] = solve(t, plain, request(task, seed, "", Heed))
		}
	}
	memo := newEngine(t, Options{})
	var wg sync.WaitGroup
	for round := range 2 {
		for _, task := range tasks {
			for seed := range seeds {
				wg.Go(func() {
					r, err := memo.Solve(context.Background(), request(task, seed, "", Heed))
					if err != nil || !reflect.DeepEqual(r, want[fmt.Sprint(task.id, seed)]) {
						t.Errorf("round %d %s seed %d: got %+v (%v), want %+v", round, task.id, seed, r, err, want[fmt.Sprint(task.id, seed)])
					}
				})
			}
		}
	}
	wg.Wait()
}

// With Ignore the history has no effect at all; with Heed the same history has.
func TestIgnoreEqualsBlind(t *testing.T) {
	task := bundled(t, "hopeless")
	e := newEngine(t, Options{})
	differs := 0
	for seed := range 10 {
		blind := solve(t, e, request(task, seed, "", Heed))
		for _, history := range []string{historyOf(task, []Reply{blind}), noticeText} {
			if r := solve(t, e, request(task, seed, history, Ignore)); !reflect.DeepEqual(r, blind) {
				t.Errorf("seed %d: ignore gives %+v, blind %+v", seed, r, blind)
			}
			if r := solve(t, e, request(task, seed, history, Heed)); !reflect.DeepEqual(r, blind) {
				differs++
			}
		}
	}
	if differs < 10 {
		t.Errorf("heeding changed %d of 20 replies", differs)
	}
}

// With every shown patch whole, Heed submits none of them again, until none is left.
func TestHeedNeverRepeats(t *testing.T) {
	task := bundled(t, "hopeless")
	e := newEngine(t, Options{})
	var shown []Reply
	seen := map[string]int{}
	for attempt := range 25 {
		r := solve(t, e, request(task, attempt, historyOf(task, shown), Heed))
		key := fmt.Sprint(r.Files)
		if first, again := seen[key]; again {
			t.Fatalf("attempt %d repeats attempt %d: %s", attempt, first, r.Description)
		}
		seen[key] = attempt
		shown = append(shown, r)
	}
}

// Fixate stays within a line of the last shown patch.
func TestFixateStaysNear(t *testing.T) {
	task := bundled(t, "hopeless")
	e := newEngine(t, Options{Lines: 1})
	near := 0
	for seed := range 20 {
		draft := solve(t, e, request(task, seed, "", Heed))
		r := solve(t, e, request(task, seed+100, historyOf(task, []Reply{draft}), Fixate))
		a, b := descriptionLine(t, draft), descriptionLine(t, r)
		if before(r.Description)[:5] == before(draft.Description)[:5] && math.Abs(float64(a-b)) <= 1 {
			near++
		}
	}
	if near < 18 {
		t.Errorf("%d of 20 stay near", near)
	}
}

func descriptionLine(t *testing.T, r Reply) int {
	t.Helper()
	var line int
	_, rest, _ := strings.Cut(r.Description, ":")
	if _, err := fmt.Sscanf(rest, "%d", &line); err != nil {
		t.Fatalf("read line of %q: %v", r.Description, err)
	}
	return line
}

// The best of failing candidates is submitted; runs are capped, the baseline's included.
func TestVerifyRunsCap(t *testing.T) {
	task := bundled(t, "hopeless")
	e := newEngine(t, Options{})
	for runs := 1; runs < 6; runs++ {
		req := request(task, 1, "", Heed)
		req.VerifyRuns = runs
		if r := solve(t, e, req); r.VerifyRuns != runs || len(r.Files) != 1 || r.Passed || r.TestsTotal != 6 {
			t.Errorf("%d runs: %+v", runs, r)
		}
	}
}

func TestErrors(t *testing.T) {
	if _, err := New(Options{Python: "no-such-python"}); err == nil || !strings.Contains(err.Error(), "install Python") {
		t.Errorf("missing python: %v", err)
	}
	if _, err := New(Options{Rho: 2}); err == nil {
		t.Error("rho 2 is accepted")
	}
	task := bundled(t, "clamp")
	e := newEngine(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Solve(ctx, request(task, 1, "", Heed)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	req := request(task, 1, "", "remember")
	if _, err := e.Solve(context.Background(), req); err == nil || !strings.Contains(err.Error(), "remember") {
		t.Errorf("unknown memory: %v", err)
	}
	req = request(task, 1, "", Heed)
	req.VerifyCommand = "make test"
	if _, err := e.Solve(context.Background(), req); !errors.Is(err, ErrUnsupported) {
		t.Errorf("make test: %v", err)
	}
	broken := newEngine(t, Options{Wrap: func([]string) []string { return []string{"sh", "-c", "echo no sandbox here >&2; exit 1"} }})
	if _, err := broken.Solve(context.Background(), request(task, 1, "", Heed)); err == nil {
		t.Error("a sandbox that does not start is not reported")
	}
	e.Close()
	if _, err := e.Solve(context.Background(), request(task, 1, "", Heed)); err == nil {
		t.Error("a closed engine solves")
	}
}

// A wrapped interpreter works as a bare one; a file that is not Python is left alone.
func TestWrap(t *testing.T) {
	task := bundled(t, "clamp")
	wrapped := newEngine(t, Options{Wrap: func(argv []string) []string { return append([]string{"env", "-i"}, argv...) }})
	plain := newEngine(t, Options{})
	req := request(task, 3, "", Heed)
	if a, b := solve(t, wrapped, req), solve(t, plain, req); !reflect.DeepEqual(a, b) {
		t.Errorf("wrapped %+v, plain %+v", a, b)
	}
	req.Prompt = "## Files\n### notes.txt\n```\nif a < b:\n```\n### broken.py\n```\nif a <\n```\n"
	if r := solve(t, plain, req); len(r.Files) != 0 || r.Passed {
		t.Errorf("nothing to mutate: %+v", r)
	}
}

// Noise is standard Gumbel (mean 0.5772, variance π²/6) and fixed by its arguments.
func TestGumbel(t *testing.T) {
	const n = 20000
	sum, squares := 0.0, 0.0
	for i := range n {
		g := gumbel(uint64(i), "x", []byte("y"))
		sum, squares = sum+g, squares+g*g
	}
	mean := sum / n
	if variance := squares/n - mean*mean; math.Abs(mean-0.5772) > 0.05 || math.Abs(variance-math.Pi*math.Pi/6) > 0.1 {
		t.Errorf("mean %g variance %g", mean, variance)
	}
	if a, b := gumbel(7, "trial line", []byte("a.py:3")), 0.6; a == gumbel(8, "trial line", []byte("a.py:3")) || math.IsNaN(a*b) {
		t.Error("the seed does not matter")
	}
}
