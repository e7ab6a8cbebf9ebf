package arms_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"retrial/arms"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// trial is a small Python program and what three failed attempts at it left:
// the third fails as the first did, the second's patch is over the default cap
// and it has a tool error.
func trial(t testing.TB) (arms.Problem, []arms.Record) {
	t.Helper()
	ar, err := txtar.ParseFile(filepath.Join("testdata", "trial.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range ar.Files {
		files[f.Name] = string(f.Data)
	}
	problem := arms.Problem{
		ID: "page-ranges", Instruction: files["instruction"], Verify: "python3 -m unittest -q test_visible",
		Files: []arms.File{{Path: "ranges.py", Content: files["ranges.py"]}},
	}
	var records []arms.Record
	for i := 1; i <= 3; i++ {
		r := arms.Record{Attempt: i, Outcome: arms.Failed}
		r.Patch, r.Description = files[fmt.Sprintf("%d/patch", i)], files[fmt.Sprintf("%d/description", i)]
		r.VerifyOutput = arms.NormaliseOutput(files[fmt.Sprintf("%d/output", i)], "")
		r.FirstError = files[fmt.Sprintf("%d/first_error", i)]
		r.Signature = arms.Sign(r.Outcome, r.VerifyOutput).Signature
		records = append(records, r)
	}
	return problem, records
}

// arm returns the preset of that name.
func arm(t testing.TB, name string) arms.Arm {
	t.Helper()
	for _, a := range arms.Presets() {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("no preset %q", name)
	return arms.Arm{}
}

// TestTranscripts writes what every preset sends in the four attempts of one
// trial. The files are there to be read.
func TestTranscripts(t *testing.T) {
	for _, a := range arms.Presets() {
		t.Run(a.Name, func(t *testing.T) {
			got := transcript(t, a)
			path := filepath.Join("testdata", a.Name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v\nwrite it with: go test ./arms -run TestTranscripts -update", err)
			}
			if got != string(want) {
				t.Errorf("prompts of arm %s differ from %s at line %d.\nIf that is meant: go test ./arms -run TestTranscripts -update, and read the diff.\ngot:\n%s", a.Name, path, differsAt(got, string(want)), got)
			}
		})
	}
}

func differsAt(a, b string) int {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return i + 1
		}
	}
	return min(len(x), len(y)) + 1
}

func transcript(t *testing.T, a arms.Arm) string {
	problem, records := trial(t)
	var b strings.Builder
	fmt.Fprintf(&b, "ARM %s: %s\nmemory %s, shows %v, caps %+v, dedupe %s\n\nThe trial: three attempts fail, the third as the first did.\n\n", a.Name, a.Question, a.Memory, a.Show, a.Caps, a.Dedupe)
	for i, r := range records {
		fmt.Fprintf(&b, "  attempt %d: %s, signature %s, patch %4d, output %4d, first error %2d characters", r.Attempt, r.Outcome, r.Signature, len(r.Patch), len(r.VerifyOutput), len(r.FirstError))
		if first, repeated := arms.Repeat(records[:i+1]); repeated {
			fmt.Fprintf(&b, "; repeats attempt %d", first)
		}
		b.WriteString("\n")
	}
	for n := range len(records) + 1 {
		d := a.Next(arms.State{Problem: problem, Budget: 4, Records: records[:n]})
		rule := strings.Repeat("=", 30)
		fmt.Fprintf(&b, "\n%s ATTEMPT %d: %s %s\n%s\n", rule, d.Attempt, d.Action, rule, injected(d.Injection))
		for _, m := range d.Prompt.Messages() {
			fmt.Fprintf(&b, "%s %s %s\n%s", rule, m.Role, rule, m.Content)
		}
	}
	if d := a.Next(arms.State{Problem: problem, Budget: 3, Records: records}); d.Action != arms.ActionStop {
		t.Errorf("after the last attempt: %s, want stop", d.Action)
	}
	return b.String()
}

func injected(inj *arms.Injection) string {
	if inj == nil {
		return "no history injected"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "history injected: attempts %v of %d records, %d characters", inj.Shown, inj.Records, inj.Chars)
	for _, c := range inj.Cuts {
		fmt.Fprintf(&b, "\n  cut: %d characters from the %s of attempt %d", c.Chars, c.Part, c.Attempt)
	}
	for _, m := range inj.Merges {
		fmt.Fprintf(&b, "\n  merged: attempts %v into attempt %d", m.Also, m.Kept)
	}
	return b.String()
}
