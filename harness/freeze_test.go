package harness

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retrial/arms"
	"retrial/harness/solver"
	"retrial/results"
	"retrial/tasks"
)

const frozenDesign = "replicates: 1\nattempts: 2\narms: [blind, diff-feedback]\ngates: {flakes_max: 0.5}\n"

func frozenHash(t testing.TB, p *Plan) string {
	t.Helper()
	f, err := p.Frozen()
	if err != nil {
		t.Fatal(err)
	}
	hash, err := f.Hash()
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// What is frozen is the same whoever asks, and holds every threshold, task and
// prompt: the one that the first attempt is really sent.
func TestFrozen(t *testing.T) {
	corpus := guessCorpus(t, "a", "b")
	p := parsePlan(t, corpus, frozenDesign)
	if frozenHash(t, p) != frozenHash(t, parsePlan(t, guessCorpus(t, "a", "b"), frozenDesign)) {
		t.Error("the same design and corpus have two hashes")
	}
	f, err := p.Frozen()
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Gates) != len(arms.GateDefaults) || f.Gates["flakes_max"] != 0.5 || f.Gates["at_risk_min"] != arms.GateDefaults["at_risk_min"] {
		t.Errorf("thresholds %v", f.Gates)
	}
	m := mustRun(t, p, newScripted(p, func(_ context.Context, s scene) (solver.Reply, error) { return answer("wrong"), nil }), options{})
	seen := 0
	for _, e := range m.log.Events {
		if e.Kind == results.KindPromptComposed && e.Attempt == 1 {
			seen++
			for _, task := range f.Tasks {
				if task.ID == e.Task && task.Prompt != *e.PromptSHA {
					t.Errorf("task %s was sent the prompt %s, and %s is frozen", e.Task, *e.PromptSHA, task.Prompt)
				}
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d drafts", seen)
	}
}

// Anything that changes what a run does or how it is judged changes the hash.
func TestFrozenKnowsChanges(t *testing.T) {
	want := frozenHash(t, parsePlan(t, guessCorpus(t, "a", "b"), frozenDesign))
	for _, c := range []struct{ what, design string }{
		{"seed", frozenDesign + "seed: 2\n"}, {"budget", frozenDesign + "budget: {attempts: 9}\n"}, {"limit", frozenDesign + "limit: 1\n"},
		{"margin", frozenDesign + "primary: {treatment: diff-feedback, control: blind, margin: 0.1}\n"},
		{"prediction", frozenDesign + "predictions: [{arm: blind, value: 0, low: 0, high: 1}]\n"},
		{"cap", strings.Replace(frozenDesign, "diff-feedback]", "{name: x, base: diff-feedback, caps: {diff: 9}}]", 1)},
		{"threshold", strings.Replace(frozenDesign, "0.5", "0.6", 1)},
	} {
		if frozenHash(t, parsePlan(t, guessCorpus(t, "a", "b"), c.design)) == want {
			t.Errorf("%s does not count", c.what)
		}
	}
	for from, to := range map[string]string{"wrong\n": "wrongs\n", "= 42 ]": "= 43 ]", "\n42\n": "\n43\n", "timeout: 10s": "timeout: 11s", "answer right": "answer better", "more": "more"} {
		dir := t.TempDir()
		for _, id := range []string{"a", "b"} {
			text := strings.NewReplacer("%s\ninst", id+"\ninst", "timeout: %s", "timeout: 10s").Replace(guessTask)
			if id == "b" {
				text = strings.Replace(text, from, to, 1)
			}
			if err := os.WriteFile(filepath.Join(dir, id+".txtar"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		changed, err := tasks.Load(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		if same := frozenHash(t, parsePlan(t, changed, frozenDesign)) == want; same != (from == to) {
			t.Errorf("%q of a task becomes %q: the hash is the same, %t", from, to, same)
		}
	}
}

// The log says under which registration a run was made.
func TestRunStartNamesTheRegistration(t *testing.T) {
	p := parsePlan(t, guessCorpus(t, "a"), frozenDesign)
	var d results.RunDetail
	text, err := json.Marshal(runDetail(p, results.RunInfo{Registration: "abc"}))
	if err != nil || json.Unmarshal(text, &d) != nil || d.Registration != "abc" {
		t.Errorf("%s, %v", text, err)
	}
}
