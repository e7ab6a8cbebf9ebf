package main

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"retrial/harness"
	"retrial/harness/workspace"
	"retrial/tasks"
)

// TestBuiltInCorpora certifies a random third of each built-in corpus; `make certify`
// does all of every corpus, and repeats every run.
func TestBuiltInCorpora(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every task's commands")
	}
	seed := rand.Uint64()
	if typed := os.Getenv("RETRIAL_CERTIFY_SEED"); typed != "" {
		var err error
		if seed, err = strconv.ParseUint(typed, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("rerun with RETRIAL_CERTIFY_SEED=%d go test -run TestBuiltInCorpora ./cmd/retrial", seed)
	for _, name := range tasks.BuiltIn() {
		t.Run(name, func(t *testing.T) {
			corpus, err := tasks.Load(name, "")
			if err != nil {
				t.Fatal(err)
			}
			list := corpus.Tasks
			random := rand.New(rand.NewPCG(seed, 1))
			random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			list = list[:(len(list)+2)/3]
			tools, err := harness.FindToolchain(t.Context(), list)
			if err != nil {
				t.Skip(err)
			}
			found, err := certify(t.Context(), list, harness.Grader{Sandbox: workspace.None, Tools: tools}, tasks.CertifyOptions{Parallel: 2, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range found {
				if !c.Sound() {
					t.Errorf("%s: %s", c.Task, reasons(c))
				}
			}
			if len(found) != len(list) {
				t.Errorf("%d certificates of %d tasks", len(found), len(list))
			}
		})
	}
}

// TestBuiltInCertificates demands that each task of a built-in corpus has a
// certificate for its present content; a run of it checks nothing.
func TestBuiltInCertificates(t *testing.T) {
	for _, name := range tasks.BuiltIn() {
		corpus, err := tasks.Load(name, "")
		if err != nil {
			t.Fatal(err)
		}
		known, err := builtInCertificates(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range corpus.Tasks {
			if row, ok := known[k.Hash]; !ok || !row.Sound || row.SolutionRuns < 5 {
				t.Errorf("%s, %s: no sound certificate of 5 runs for what it holds now: `make certify` writes it", name, k.ID)
			}
		}
		if len(known) != len(corpus.Tasks) {
			t.Errorf("%s: %d certificates of %d tasks", name, len(known), len(corpus.Tasks))
		}
	}
}

// TestFlakeIsFound: a solution that fails one run in ten is seen to flake by 30
// runs with probability 1 - 0.9^30 = 0.958. The count is of 1,000 tasks with
// verdicts drawn at random; the bound below is 4 standard errors under that.
func TestFlakeIsFound(t *testing.T) {
	const many, runs = 1000, 30
	random := rand.New(rand.NewPCG(7, 1))
	list := make([]*tasks.Task, many)
	for i := range list {
		tree := fstest.MapFS{"a": {Data: []byte("a")}}
		list[i] = &tasks.Task{ID: "t" + strconv.Itoa(i), Workspace: tree, Hidden: fstest.MapFS{}, Solution: tree, Timeout: time.Second}
	}
	found, err := tasks.Certify(t.Context(), list, func(_ context.Context, _ *tasks.Task, solved bool) (tasks.Verdict, *tasks.Verdict, error) {
		return tasks.Verdict{Passed: solved && random.Float64() >= 0.1}, nil, nil
	}, tasks.CertifyOptions{Repeats: runs})
	if err != nil {
		t.Fatal(err)
	}
	flaky := 0
	for _, c := range found {
		if !c.Sound() {
			flaky++
		}
	}
	if flaky < 932 || flaky == many {
		t.Errorf("%d of %d tasks that fail 1 run in 10 were found by %d runs, want about 958", flaky, many, runs)
	}
}

// TestFlakeUpper holds the bound against its closed form where no run
// disagrees, 1 - (alpha/2)^(1/n).
func TestFlakeUpper(t *testing.T) {
	for runs, want := range map[int]float64{1: 0.975, 5: 0.5218, 30: 0.1157} {
		if got := flakeUpper(0, runs); got < want-5e-5 || got > want+5e-5 {
			t.Errorf("0 of %d: at most %v, want %v", runs, got, want)
		}
	}
	if got := flakeUpper(1, 10); got < 0.445 || got > 0.4451 {
		t.Errorf("1 of 10: at most %v, want 0.4450", got)
	}
}
