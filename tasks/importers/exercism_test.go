package importers

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestExercismRefusals(t *testing.T) {
	dir := t.TempDir()
	exercise := func(language, slug, config string) {
		at := filepath.Join(dir, language, "exercises/practice", slug)
		for p, content := range map[string]string{
			".docs/instructions.md": "Do it.", ".meta/config.json": config, ".meta/example.py": "x = 2\n", ".meta/other.py": "x = 2\n",
			"a.py": "x = 1\n", "a_test.py": "import a\n",
		} {
			writeFile(t, filepath.Join(at, p), content)
		}
	}
	const files = `{"files": {"solution": ["a.py"], "test": ["a_test.py"], "example": [".meta/example.py"]}}`
	exercise("cobol", "one", files)
	exercise("python", "broken", "{")
	exercise("python", "missing", strings.Replace(files, "a_test.py", "../../b_test.py", 1))
	exercise("python", "no-example", `{"files": {"solution": ["a.py"], "test": ["a_test.py"]}}`)
	exercise("python", "no-solution", `{"files": {"test": ["a_test.py"]}}`)
	exercise("python", "ok", files)
	exercise("python", "two-for-one", strings.Replace(files, `[".meta/example.py"]`, `[".meta/example.py", ".meta/other.py"]`, 1))
	exercise("python", "untold", files)
	if err := errors.Join(os.Remove(filepath.Join(dir, "python/exercises/practice/untold/.docs/instructions.md")),
		os.Symlink(t.TempDir(), filepath.Join(dir, "python/exercises/practice/way-out")),
		os.Symlink(t.TempDir(), filepath.Join(dir, "rust"))); err != nil {
		t.Fatal(err)
	}
	const at = "python/exercises/practice/"
	got := expect(t, "exercism", dir, []string{"python-ok"}, []string{
		"cobol/exercises/practice/one: no test command", at + "broken: config.json cannot be read", at + `missing: names "../../b_test.py"`,
		at + "no-example: names no", at + `no-solution: names no "solution"`, at + "two-for-one: cannot be told", at + "untold: instructions.md",
		at + "way-out: symlink that leaves the source", "rust: symlink that leaves the source",
	})
	if f := got["python-ok"].Files(); !slices.Equal(f, []string{"solution/a.py", "task.yaml", "workspace/a.py", "workspace/a_test.py"}) {
		t.Errorf("files %q", f)
	}
}

// TestExercismExamples: which file each example is laid over.
func TestExercismExamples(t *testing.T) {
	for _, c := range []struct{ editable, examples, want []string }{
		{[]string{"a.go"}, []string{".meta/example.go"}, []string{"a.go"}},
		{[]string{"a.cpp", "a.h"}, []string{".meta/example.h", ".meta/example.cpp"}, []string{"a.cpp", "a.h"}},
		{[]string{"b.py", "a.py"}, []string{".meta/a.py", ".meta/b.py"}, []string{"a.py", "b.py"}},
		{[]string{"b.py", "a.py"}, []string{".meta/x.py", ".meta/y.py"}, []string{"a.py", "b.py"}},
		{[]string{"src/main/java/A.java"}, []string{".meta/src/reference/java/A.java"}, []string{"src/main/java/A.java"}},
		{[]string{"src/main/java/A.java", "src/main/java/C.java"},
			[]string{".meta/src/reference/java/A.java", ".meta/src/reference/java/B.java"}, []string{"src/main/java/A.java", "src/main/java/B.java"}},
		{[]string{"a.py"}, nil, nil},
		{[]string{"a.py", "b.py"}, []string{".meta/x.py"}, nil},
	} {
		dir := t.TempDir()
		for _, p := range c.examples {
			writeFile(t, filepath.Join(dir, "e", p), p)
		}
		f, err := openFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := exercismSolution(f, "e", c.editable, c.examples)
		if have := slices.Sorted(maps.Keys(got)); !slices.Equal(have, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("%v over %v gives %v, %v; want %v", c.examples, c.editable, have, err, c.want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestGoExercise: go test fails on the stub and passes on the example.
func TestGoExercise(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not here")
	}
	source, at := t.TempDir(), "exercises/practice/half"
	for p, content := range map[string]string{
		"config.json": `{"slug": "go"}`, at + "/.docs/instructions.md": "Halve it.",
		at + "/.meta/config.json": `{"files": {"solution": ["half.go"], "test": ["half_test.go"], "example": [".meta/example.go"], "editor": ["cases_test.go"]}}`,
		at + "/.meta/example.go":  "package half\n\nfunc Half(n int) int { return n / 2 }\n",
		at + "/go.mod":            "module half\n\ngo 1.18\n",
		at + "/half.go":           "package half\n\nfunc Half(n int) int { return n }\n",
		at + "/cases_test.go":     "package half\n\nvar cases = map[int]int{4: 2}\n",
		at + "/half_test.go":      "package half\n\nimport \"testing\"\n\nfunc TestHalf(t *testing.T) {\n\tfor n, w := range cases {\n\t\tif Half(n) != w {\n\t\t\tt.Fail()\n\t\t}\n\t}\n}\n",
	} {
		writeFile(t, filepath.Join(source, p), content)
	}
	task := expect(t, "exercism", source, []string{"go-half"}, nil)["go-half"].Task
	if !slices.Equal(task.Protect, []string{"cases_test.go", "half_test.go"}) || !slices.Equal(task.Editable, []string{"half.go"}) {
		t.Errorf("protect %q, editable %q", task.Protect, task.Editable)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, task.Workspace); err != nil {
		t.Fatal(err)
	}
	test := func() ([]byte, error) {
		cmd := exec.Command("sh", "-c", task.Verify)
		cmd.Dir = dir
		return cmd.CombinedOutput()
	}
	if out, err := test(); err == nil {
		t.Errorf("the stub passes:\n%s", out)
	}
	example, err := fs.ReadFile(task.Solution, "half.go")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "half.go"), string(example))
	if out, err := test(); err != nil {
		t.Errorf("the example fails: %v\n%s", err, out)
	}
}
