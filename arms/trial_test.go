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
	files := archive(t, "trial.txtar")
	problem := arms.Problem{
		ID: "page-ranges", Instruction: files["instruction"], Verify: "python3 -m unittest -q test_visible",
		Files: []arms.File{{Path: "ranges.py", Content: files["ranges.py"]}},
	}
	return problem, readRecords(files)
}

// readRecords makes three records of an archive's files.
func readRecords(files map[string]string) []arms.Record {
	var records []arms.Record
	for i := 1; i <= 3; i++ {
		r := arms.Record{Attempt: i, Outcome: arms.Failed}
		r.Patch, r.Description = files[fmt.Sprintf("%d/patch", i)], files[fmt.Sprintf("%d/description", i)]
		r.VerifyOutput = arms.NormaliseOutput(files[fmt.Sprintf("%d/output", i)], "")
		r.FirstError = files[fmt.Sprintf("%d/first_error", i)]
		r.Signature = arms.Sign(r.Outcome, r.VerifyOutput).Signature
		records = append(records, r)
	}
	return records
}

// donors are the records of three failed drafts of other tasks.
func donors(t testing.TB) []arms.Record {
	t.Helper()
	return readRecords(archive(t, "donors.txtar"))
}

// after is the state of that trial after n of its attempts, with donors, a
// planner that has replied to each number of records, and one rung to climb.
func after(t testing.TB, n int) arms.State {
	problem, records := trial(t)
	s := arms.State{Problem: problem, Budget: 4, Records: records[:n], Donors: donors(t), Rungs: 1, Seed: 7}
	for i := range records {
		s.Plans = append(s.Plans, arms.Plan{After: i + 1, Text: "Leave show() alone. The last run is never written: write it after the loop, as the loop writes the others.\n"})
	}
	return s
}

func archive(t testing.TB, name string) map[string]string {
	t.Helper()
	ar, err := txtar.ParseFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range ar.Files {
		files[f.Name] = string(f.Data)
	}
	return files
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
	_, records := trial(t)
	var b strings.Builder
	fmt.Fprintf(&b, "ARM %s: %s\nmemory %s, shows %v, caps %+v, dedupe %s", a.Name, a.Question, a.Memory, a.Show, a.Caps, a.Dedupe)
	if a.ShowsHistory() {
		fmt.Fprintf(&b, "\nfrom %s, placement %s, on a repeat %v", a.From, a.Placement, a.OnRepeat)
	}
	b.WriteString("\n\nThe trial: three attempts fail, the third as the first did.\n\n")
	for i, r := range records {
		fmt.Fprintf(&b, "  attempt %d: %s, signature %s, patch %4d, output %4d, first error %2d characters", r.Attempt, r.Outcome, r.Signature, len(r.Patch), len(r.VerifyOutput), len(r.FirstError))
		if first, repeated := arms.Repeat(records[:i+1]); repeated {
			fmt.Fprintf(&b, "; repeats attempt %d", first)
		}
		b.WriteString("\n")
	}
	for n := range len(records) + 1 {
		s := after(t, n)
		plans := s.Plans
		s.Plans = nil
		d := a.Next(s)
		write(&b, d)
		if d.Action == arms.ActionPlan {
			s.Plans = plans
			write(&b, a.Next(s))
		}
	}
	s := after(t, 3)
	if s.Budget = 3; a.Next(s).Action != arms.ActionStop {
		t.Errorf("after the last attempt: %s, want stop", a.Next(s).Action)
	}
	return b.String()
}

// write writes one decision: what is asked, and the messages and files with it.
func write(b *strings.Builder, d arms.Decision) {
	rule := strings.Repeat("=", 30)
	fmt.Fprintf(b, "\n%s ATTEMPT %d: %s %s\n%s\n", rule, d.Attempt, d.Action, rule, injected(d.Injection))
	if d.Rung > 0 {
		fmt.Fprintf(b, "rung %d of the solver's ladder\n", d.Rung)
	}
	for _, m := range d.Prompt.Messages() {
		fmt.Fprintf(b, "%s %s %s\n%s", rule, m.Role, rule, m.Content)
	}
	for _, f := range d.Prompt.Files {
		fmt.Fprintf(b, "%s file %s %s\n%s", rule, f.Path, rule, f.Content)
	}
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
