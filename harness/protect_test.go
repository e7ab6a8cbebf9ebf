package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retrial/harness/solver"
	"retrial/results"
	"retrial/tasks"
)

// TestVerdictsAreGuarded: each verdict's event says what protected files it was
// given, and which of them, hidden ones included, stood changed once it ended.
func TestVerdictsAreGuarded(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(fmt.Sprintf(guessTask, "a", "10s"), "-- hidden/score.sh --\n", "-- hidden/score.sh --\n. ./hook.sh\n", 1)
	if err := os.WriteFile(filepath.Join(dir, "a.txtar"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	corpus, err := tasks.Load(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	plan := parsePlan(t, corpus, "replicates: 1\nattempts: 1\narms: [blind]\n")
	for name, c := range map[string]struct {
		hook          string
		verify, score []string
	}{
		"honest":                  {":", nil, nil},
		"litter beside the test":  {"echo 1 > test_visible.log", nil, nil},
		"verify's test rewritten": {"if [ ! -e score.sh ]; then echo exit 0 > test_visible.sh; fi", []string{"test_visible.sh"}, nil},
		"score replaced":          {"if [ -e score.sh ]; then echo exit 0 > score.sh; fi", nil, []string{"score.sh"}},
		"score removed":           {"rm -f score.sh", nil, []string{"score.sh"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := mustRun(t, plan, newScripted(plan, func(_ context.Context, s scene) (solver.Reply, error) {
				return answer("42"), os.WriteFile(filepath.Join(s.req.Dir, "hook.sh"), []byte(c.hook+"\n"), 0o644)
			}), options{})
			start := guardOf(t, m, results.KindTrialStart)
			for kind, want := range map[results.Kind][]string{results.KindVerdict: c.verify, results.KindScore: c.score} {
				if got := guardOf(t, m, kind); got.SHA != start.SHA || len(start.SHA) != 64 || !slices.Equal(got.Changed, want) {
					t.Errorf("%s: %+v, want changed %q and hash %s", kind, got, want, start.SHA)
				}
			}
		})
	}
}

type guard struct {
	SHA     string   `json:"protected_sha"`
	Changed []string `json:"protected_changed"`
}

// guardOf reads what the one event of a kind tells of protected files.
func guardOf(t *testing.T, m *made, kind results.Kind) (g guard) {
	t.Helper()
	events := m.events(kind)
	if len(events) != 1 {
		t.Fatalf("%d %s events", len(events), kind)
	}
	if err := json.Unmarshal([]byte(events[0].Detail), &g); err != nil {
		t.Fatalf("detail %q: %v", events[0].Detail, err)
	}
	return g
}
