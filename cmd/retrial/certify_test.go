package main

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"retrial/harness"
	"retrial/harness/workspace"
	"retrial/tasks"
)

// TestBuiltInCorpora certifies a random third of each built-in corpus that runs no
// compiler; `make certify` does all of every corpus, and repeats every run.
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
			// The first Go task of a run compiles the standard library, which takes too long here.
			list := slices.DeleteFunc(corpus.Tasks, func(k *tasks.Task) bool { return strings.HasPrefix(k.Verify, "go ") })
			if len(list) == 0 {
				t.Skip("only Go tasks: left to make certify")
			}
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
				if len(c.Faults) > 0 {
					t.Errorf("%s: %q", c.Task, c.Faults)
				}
			}
			if len(found) != len(list) {
				t.Errorf("%d certificates of %d tasks", len(found), len(list))
			}
		})
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
