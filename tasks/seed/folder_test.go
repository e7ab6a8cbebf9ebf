package seed

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retrial/tasks"
)

// pythonNames knows Python's files by name alone: all that finding tests asks.
type pythonNames struct{ Go }

func (pythonNames) Name() string { return "python" }
func (pythonNames) IsTest(p string) bool {
	return strings.HasSuffix(p, ".py") && strings.Contains(p, "test")
}
func (pythonNames) IsSource(p string) bool {
	return strings.HasSuffix(p, ".py") && !strings.Contains(p, "test")
}

// TestFromFolder: how the tests of a folder are found and run.
func TestFromFolder(t *testing.T) {
	const cases, functions = "import unittest\n", "def test_a():\n    pass\n"
	for name, c := range map[string]struct {
		files  map[string]string
		verify string // typed
		pytest bool   // is there
		want   string
		fault  string
	}{
		"beside":        {files: map[string]string{"a.py": "", "test_a.py": cases}, want: "python3 -m unittest -q"},
		"in a package":  {files: map[string]string{"a/a.py": "", "a/test_a.py": cases}, want: "python3 -m unittest -q"},
		"tests":         {files: map[string]string{"a.py": "", "tests/test_a.py": cases}, want: "python3 -m unittest discover -q -s tests"},
		"tests package": {files: map[string]string{"a.py": "", "tests/__init__.py": "", "tests/test_a.py": cases}, want: "python3 -m unittest discover -q -s tests -t ."},
		"suffix":        {files: map[string]string{"a.py": "", "a_test.py": cases}, want: "python3 -m unittest discover -q -p '*_test.py'"},
		"pytest":        {files: map[string]string{"a.py": "", "test_a.py": functions, "test_b.py": cases}, pytest: true, want: pytestCommand},
		"no pytest":     {files: map[string]string{"a.py": "", "test_a.py": functions}, fault: "test_a.py needs pytest"},
		"no tests":      {files: map[string]string{"a.py": ""}, fault: "no tests found"},
		"typed":         {files: map[string]string{"a.py": ""}, verify: "make test", want: "make test"},
		"nothing":       {files: map[string]string{"a.txt": ""}, fault: "no source in python or go"},
		"tests alone":   {files: map[string]string{"test_a.py": cases}, fault: "no source in python or go"},
		"go":            {files: map[string]string{"go.mod": "module m\n", "a.go": "package a\n", "a_test.go": "package a\n", "x.py": ""}, want: "go test ./..."},
		"go alone":      {files: map[string]string{"a.go": "package a\n"}, fault: "there is no go.mod"},
		"left out":      {files: map[string]string{"a.py": "", "test_a.py": cases, ".git/x": "", "venv/b.py": "", "__pycache__/a.pyc": "", ".env": "KEY=1"}, want: "python3 -m unittest -q"},
	} {
		dir := t.TempDir()
		for p, text := range c.files {
			full := filepath.Join(dir, filepath.FromSlash(p))
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		judge := func(context.Context, *tasks.Task, bool) (tasks.Verdict, *tasks.Verdict, error) {
			return tasks.Verdict{Passed: c.pytest}, nil, nil
		}
		p, err := FromFolder(context.Background(), dir, c.verify, []Language{pythonNames{}, Go{}}, judge)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) || strings.Contains(c.fault, "no tests") != errors.Is(err, ErrNoTests) && name != "go alone" {
				t.Errorf("%s: %v, want %s", name, err, c.fault)
			}
			continue
		}
		if err != nil || p.made.Verify != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
			continue
		}
		for f := range p.files {
			if strings.HasPrefix(f, ".") || strings.HasPrefix(f, "venv") || strings.HasSuffix(f, ".pyc") {
				t.Errorf("%s: %s is part of the program", name, f)
			}
		}
		for _, f := range p.Targets {
			if slices.Contains(p.made.Protect, f) || p.Language.IsTest(f) {
				t.Errorf("%s: %s gets bugs and is a test", name, f)
			}
		}
	}
}

// TestIsProgram tells a program from a corpus.
func TestIsProgram(t *testing.T) {
	for file, want := range map[string]bool{"a.py": true, "sub/a.go": true, "task.yaml": false, "one/task.yaml": false, "one.txtar": false, "testdata/deep/one.txtar": true} {
		dir := filepath.Join(t.TempDir(), "odd[name")
		full := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := IsProgram(dir); got != want || err != nil {
			t.Errorf("a folder with %s is a program: %v, %v", file, got, err)
		}
	}
}

// TestOperatorNames: one that no language has is told, with the nearest.
func TestOperatorNames(t *testing.T) {
	if err := CheckOperators([]string{"boundary", "move"}, []Language{Go{}}); err != nil {
		t.Error(err)
	}
	if err := CheckOperators([]string{"key"}, []Language{Go{}}); err == nil {
		t.Error("Go has no operator key")
	}
	if err := CheckOperators([]string{"boundry"}, []Language{Go{}}); err == nil || !strings.Contains(err.Error(), `did you mean "boundary"`) {
		t.Error(err)
	}
}

// TestStem: ids of tasks begin with the file's path, in the letters of an id.
func TestStem(t *testing.T) {
	for file, want := range map[string]string{"a.py": "a", "pkg/Deep File.go": "pkg-deep-file", "_x.py": "x", "ü.py": "file", "src/__init__.py": "src-__init"} {
		if got := (&Program{}).stem(file); got != want || !tasks.ValidID(got) {
			t.Errorf("%s gives %q, want %q", file, got, want)
		}
	}
}
