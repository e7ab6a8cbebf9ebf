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
	return strings.HasSuffix(p, ".py") && IsPythonTest(p)
}
func (pythonNames) IsSource(p string) bool {
	return strings.HasSuffix(p, ".py") && !IsPythonTest(p)
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

// TestFolderTests: what verify names and what sets the tests up gets no bug and is
// protected; the rest gets bugs.
func TestFolderTests(t *testing.T) {
	for name, c := range map[string]struct {
		verify  string
		files   string // beside app.py
		protect string
		targets string
	}{
		"script":             {"python3 check.py", "check.py", "check.py", "app.py"},
		"script, dotted":     {"cd . && PYTHONPATH=. python3 ./check.py --fast", "check.py", "check.py", "app.py"},
		"absolute":           {`sh -c 'python3 "$PWD/check.py"'`, "check.py", "check.py", "app.py"},
		"folder of tests":    {"python3 spec/run.py", "spec/run.py spec/more.py", "spec/more.py spec/run.py", "app.py"},
		"in a folder":        {"cd ci && sh go.sh", "ci/go.sh ci/other.py", "ci/go.sh", "app.py ci/other.py"},
		"test id":            {"pytest checks/a.py::test_one", "checks/a.py checks/b.py", "checks/a.py", "app.py checks/b.py"},
		"shell pattern":      {"for f in checks/c_*.py; do python3 $f; done", "checks/c_a.py checks/b.py", "checks/c_a.py", "app.py checks/b.py"},
		"every file":         {"python3 -m py_compile *.py && python3 check.py", "check.py", "check.py", "app.py"},
		"module":             {"python3 -m checks.all", "checks/all.py checks/b.py", "checks/all.py", "app.py checks/b.py"},
		"package":            {"python3 -m checks", "checks/__main__.py checks/b.py", "checks/__main__.py", "app.py checks/b.py"},
		"folder as program":  {"python3 checks", "checks/__main__.py", "checks/__main__.py", "app.py"},
		"unittest names":     {"python3 -m unittest -q checks.a.Case.one", "checks/a.py checks/b.py", "checks/a.py", "app.py checks/b.py"},
		"unittest pattern":   {"python3 -m unittest discover -s checks -p '*.py'", "checks/a.py b.py", "checks/a.py", "app.py b.py"},
		"no name":            {"python3 -m coverage run --source app -m unittest -k app", "test_a.py", "test_a.py", "app.py"},
		"make":               {"make test", "Makefile sub/rules.mk", "Makefile sub/rules.mk", "app.py"},
		"executable":         {"./run.sh", "run.sh", "run.sh", "app.py"},
		"a name with blanks": {"sh 'run all.sh'", "run all.sh", "run all.sh", "app.py"},
		"tox and npm":        {"tox -q && npm test", "tox.ini package.json jest.config.js jest.py", "jest.config.js package.json tox.ini", "app.py jest.py"},
		"test set-up": {"python3 -m pytest -q", "pyproject.toml pytest.ini .pytest.ini pytest.toml setup.cfg conftest.py sitecustomize.py usercustomize.py x.pth test_a.py readme.toml",
			".pytest.ini conftest.py pyproject.toml pytest.ini pytest.toml setup.cfg sitecustomize.py test_a.py usercustomize.py x.pth", "app.py"},
		"folders":        {"python3 -m unittest", "__tests__/a.py Tests/b.py pkg/testdata/c.py pkg/specs/d.py respec/e.py", "Tests/b.py __tests__/a.py pkg/specs/d.py pkg/testdata/c.py", "app.py respec/e.py"},
		"nothing beside": {"python3 app.py | diff - want.txt", "want.txt", "", ""},
	} {
		dir := t.TempDir()
		list := append(strings.Fields(c.files), "app.py")
		if strings.Contains(c.files, "run all") {
			list = []string{c.files, "app.py"}
		}
		for _, f := range list {
			full := filepath.Join(dir, filepath.FromSlash(f))
			if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, nil, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		p, err := FromFolder(context.Background(), dir, c.verify, []Language{pythonNames{}, Go{}}, nil)
		if c.targets == "" {
			if want := `beside its tests, and "` + c.verify + `" names app.py: what the command names is a test`; err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(p.made.Protect, " "); got != c.protect {
			t.Errorf("%s: protected %q, want %q", name, got, c.protect)
		}
		if got := strings.Join(p.Targets, " "); got != c.targets {
			t.Errorf("%s: bugs into %q, want %q", name, got, c.targets)
		}
	}
}

// TestFolderTestsGo: a program that verify runs is a test; so are module files.
func TestFolderTestsGo(t *testing.T) {
	dir := t.TempDir()
	for f, text := range map[string]string{"go.mod": "module m\n", "go.sum": "", "go.work": "", "a.go": "package a\n", "cmd/check/main.go": "package main\n", "cmd/app/main.go": "package main\n"} {
		full := filepath.Join(dir, filepath.FromSlash(f))
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := FromFolder(context.Background(), dir, "go run ./cmd/check -v", []Language{Go{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"cmd/check/main.go", "go.mod", "go.sum", "go.work"}; !slices.Equal(p.made.Protect, want) {
		t.Errorf("protected %v, want %v", p.made.Protect, want)
	}
	if want := []string{"a.go", "cmd/app/main.go"}; !slices.Equal(p.Targets, want) {
		t.Errorf("bugs into %v, want %v", p.Targets, want)
	}
}

// TestIsPythonTest: what is looked for as a test, and what serves one.
func TestIsPythonTest(t *testing.T) {
	for file, want := range map[string]bool{
		"test_a.py": true, "pkg/testing.py": true, "a_test.py": true, "pkg/conftest.py": true, "tests/helper.py": true, "a/test/b/c.py": true,
		"a.py": false, "latest.py": false, "contest.py": false, "_test.py": false, "attests/a.py": false, "testdata/a.py": false,
	} {
		if got := IsPythonTest(file); got != want {
			t.Errorf("%s is a test: %v", file, got)
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
