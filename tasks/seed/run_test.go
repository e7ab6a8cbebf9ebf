package seed

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"retrial/tasks"
	"retrial/tasks/importers"
)

// scripted judges Go programs without running them: a program that is not the
// original fails some of the tests that are there, drawn from its text; some
// hang, some do not compile, some fail nothing.
type scripted struct {
	original map[string]string
	runs     atomic.Int64
}

func (s *scripted) judge(_ context.Context, t *tasks.Task, solved bool) (tasks.Verdict, *tasks.Verdict, error) {
	s.runs.Add(1)
	tree, err := readTree(t.Workspace)
	if err != nil {
		return tasks.Verdict{}, nil, err
	}
	lay := func(over fs.FS) {
		if t.HasFiles(over) {
			files, _ := readTree(over)
			maps.Copy(tree, files)
		}
	}
	if solved {
		lay(t.Solution)
	}
	verify := s.run(tree, t.Verify)
	if t.Score == "" {
		return verify, nil, nil
	}
	lay(t.Hidden)
	score := s.run(tree, t.Score)
	return verify, &score, nil
}

func (s *scripted) run(tree map[string]importers.File, command string) tasks.Verdict {
	h := fnv.New64a()
	same := true
	for _, p := range slices.Sorted(maps.Keys(s.original)) {
		same = same && string(tree[p].Data) == s.original[p]
		h.Write(tree[p].Data)
	}
	v := tasks.Verdict{Passed: same, Duration: time.Millisecond}
	draw := h.Sum64()
	switch {
	case same:
		return v
	case draw%11 == 0:
		return tasks.Verdict{TimedOut: true}
	case draw%13 == 0:
		return tasks.Verdict{ExitCode: 1, Output: "FAIL\tm [build failed]\n"}
	}
	units, _ := Go{}.Tests(context.Background(), texts(tree, ".go"), "")
	for _, u := range units.Units {
		var n uint64
		fmt.Sscanf(u.Name, "Test%d", &n)
		prefix := strings.TrimPrefix(command, "run ") // "run TestV": what verify runs alone
		if strings.HasPrefix(u.Path, prefix) && draw>>(8+n)&1 == 1 {
			v.Output += fmt.Sprintf("--- FAIL: %s (0.00s)\n    got %d\n", u.Name, draw>>60)
		}
	}
	v.Passed = v.Output == ""
	if !v.Passed {
		v.ExitCode, v.Output = 1, v.Output+"FAIL\nFAIL\tm\t0.01s\n"
	}
	return v
}

func texts(tree map[string]importers.File, suffix string) map[string]string {
	out := map[string]string{}
	for p, f := range tree {
		if strings.HasSuffix(p, suffix) {
			out[p] = string(f.Data)
		}
	}
	return out
}

func bytesOf(files map[string]string) map[string]importers.File {
	out := map[string]importers.File{}
	for p, text := range files {
		out[p] = importers.File{Data: []byte(text)}
	}
	return out
}

// drawnTask is a task of a few Go files, with or without a score of its own.
func drawnTask(t *rapid.T, id string) (*tasks.Task, map[string]string) {
	program, tests := map[string]string{}, "package p\n\nimport \"testing\"\n"
	for i := range rapid.IntRange(1, 3).Draw(t, "files") {
		text := "package p\n"
		for f := range rapid.IntRange(1, 3).Draw(t, "functions") {
			line := rapid.SampledFrom([]string{"if a < b {\n\t\treturn a + 1\n\t}", "for a > 0 && b != 2 {\n\t\ta--\n\t\tb += a\n\t}", "b = a * 3", "a, b = b, a"})
			text += fmt.Sprintf("\nfunc f%d%d(a, b int) int {\n\t%s\n\t%s\n\treturn b - a\n}\n", i, f, line.Draw(t, "line"), line.Draw(t, "line"))
		}
		program[fmt.Sprintf("f%d.go", i)] = text
	}
	for i := range rapid.IntRange(1, 6).Draw(t, "tests") {
		tests += fmt.Sprintf("\nfunc Test%d(t *testing.T) {}\n", i)
	}
	stub := maps.Clone(program)
	stub["f0.go"] = "package p\n"
	stub["visible_test.go"] = tests
	made := importers.Made{ID: id, Instruction: "write it", Verify: "run visible", Timeout: time.Second, Workspace: bytesOf(stub),
		Solution: bytesOf(program), Protect: []string{"visible_test.go"}}
	if rapid.Bool().Draw(t, "scored") {
		made.Score, made.Hidden = "run hidden", bytesOf(map[string]string{"hidden_test.go": tests})
	}
	folder, err := made.Folder("drawn")
	if err != nil {
		t.Fatal(err)
	}
	return folder.Task, program
}

func seeded(t *rapid.T, task *tasks.Task, o Options) ([]*tasks.Task, Report) {
	p, err := FromTask(task, []Language{Go{}})
	if err != nil {
		t.Fatal(err)
	}
	var out []*tasks.Task
	report, err := Run(context.Background(), []*Program{p}, o, func(f importers.Folder) error {
		out = append(out, f.Task)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, report
}

// TestSeededTasks: the solution gives back the original, the bug is one place,
// every candidate is counted once, bounds are kept, and the number of runs at a
// time changes nothing.
func TestSeededTasks(t *testing.T) {
	kept := 0
	rapid.Check(t, func(t *rapid.T) {
		task, program := drawnTask(t, "drawn")
		o := Options{PerFile: rapid.IntRange(1, 4).Draw(t, "per file"), Max: rapid.IntRange(0, 5).Draw(t, "max"), Seed: rapid.Uint64().Draw(t, "seed"), Parallel: 1}
		o.Judge = (&scripted{original: program}).judge
		list, report := seeded(t, task, o)
		o.Parallel = 4
		again, reportAgain := seeded(t, task, o)
		if fmt.Sprint(report) != fmt.Sprint(reportAgain) || len(list) != len(again) {
			t.Fatalf("with 4 runs at a time:\n%v\nwith one:\n%v", reportAgain, report)
		}
		perFile := map[string]int{}
		for i, one := range list {
			if one.Hash != again[i].Hash {
				t.Fatalf("task %d differs with 4 runs at a time: %s, %s", i, one.ID, again[i].ID)
			}
			perFile[checkSeeded(t, task, one, program)]++
		}
		for f, n := range perFile {
			if n > o.PerFile {
				t.Fatalf("%d tasks of %s, want at most %d", n, f, o.PerFile)
			}
		}
		r := report
		dropped := r.Broken + r.Uncaught + r.Unverified + r.Unscored + r.TimedOut + r.NoVerdict
		if r.Kept != len(list) || r.Caught != r.Kept+r.Equivalent+r.Unsound || r.Candidates != dropped+r.Caught || r.Max(o) {
			t.Fatalf("%d tasks, and %+v", len(list), r)
		}
		kept += r.Kept
	})
	if kept == 0 {
		t.Error("no task was ever kept")
	}
}

// Max says whether more was kept than allowed.
func (r Report) Max(o Options) bool { return o.Max > 0 && r.Kept > o.Max }

// checkSeeded checks one task against its origin; it returns the file of the bug.
func checkSeeded(t *rapid.T, origin, one *tasks.Task, program map[string]string) string {
	workspace, _ := readTree(one.Workspace)
	solution, _ := readTree(one.Solution)
	if len(solution) != 1 || one.Group != origin.ID || !one.HasScore() && !slices.Contains(one.Tags, "unsplit") {
		t.Fatalf("task %s: %d files solve it, group %s, tags %v", one.ID, len(solution), one.Group, one.Tags)
	}
	where := ""
	for p, text := range program {
		got := string(workspace[p].Data)
		if fix, ok := solution[p]; ok {
			where = p
			if string(fix.Data) != text || got == text {
				t.Fatalf("task %s: its solution of %s is not the original, or there is no bug", one.ID, p)
			}
			onePlace(t, text, got)
		} else if got != text {
			t.Fatalf("task %s: %s has changed too", one.ID, p)
		}
	}
	if origin.HasScore() {
		if one.Score != origin.Score || one.Verify != origin.Verify {
			t.Fatalf("task %s: the given split is gone", one.ID)
		}
		return where
	}
	if hidden, _ := readTree(one.Hidden); one.HasScore() && string(hidden["visible_test.go"].Data) == string(workspace["visible_test.go"].Data) {
		t.Fatalf("task %s: nothing is hidden", one.ID)
	}
	return where
}

// onePlace: two texts differ in one stretch of at most two statements.
func onePlace(t *rapid.T, a, b string) {
	was, is := strings.Split(a, "\n"), strings.Split(b, "\n")
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	if max(len(was), len(is)) > 5 {
		t.Fatalf("the bug spans %d lines: %q became %q", max(len(was), len(is)), was, is)
	}
}

// TestSkipsWhatDoesNotPass: a program whose tests fail as it stands makes no
// tasks, and the report says why.
func TestSkipsWhatDoesNotPass(t *testing.T) {
	made := importers.Made{ID: "x", Instruction: "x", Verify: "run", Timeout: time.Second, Workspace: bytesOf(map[string]string{"a.go": "package p\n"}),
		Solution: bytesOf(map[string]string{"a.go": "package p\n\nvar a = 1\n"})}
	folder, err := made.Folder("x")
	if err != nil {
		t.Fatal(err)
	}
	p, err := FromTask(folder.Task, []Language{Go{}})
	if err != nil {
		t.Fatal(err)
	}
	fails := func(context.Context, *tasks.Task, bool) (tasks.Verdict, *tasks.Verdict, error) {
		return tasks.Verdict{ExitCode: 1, Output: "--- FAIL: TestA (0.00s)\nFAIL\n"}, nil, nil
	}
	report, err := Run(context.Background(), []*Program{p}, Options{Judge: fails}, func(importers.Folder) error { return nil })
	if err != nil || report.Programs != 0 || len(report.Skipped) != 1 || !strings.Contains(report.Skipped[0].Reason, "do not pass as it stands") {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := FromTask(folder.Task, nil); err == nil {
		t.Error("a task without a language serves")
	}
}
