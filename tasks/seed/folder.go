package seed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"retrial/tasks"
	"retrial/tasks/importers"
	"retrial/tasks/strict"
)

// folderTimeout bounds the tests of a program that comes as a folder.
const folderTimeout = 2 * time.Minute

// ErrNoTests is wrapped by FromFolder where it finds no way to run tests.
var ErrNoTests = errors.New("no tests found")

// FromFolder takes a folder with a program and its tests. verify runs them; ""
// has it found out: go test for a folder with a go.mod; for Python unittest, or
// pytest where a test file can only be run by that. Version control, caches and
// virtual environments are left out. judge is asked whether pytest is there.
//
// Tests are test_*.py or *_test.py, beside the program, in packages, or in
// tests/ or test/; a Python program's modules are found from the folder itself.
func FromFolder(ctx context.Context, dir, verify string, languages []Language, judge tasks.Judge) (*Program, error) {
	files, err := importers.ReadFolder(dir, leftOut)
	if err != nil {
		return nil, fmt.Errorf("read program %s: %w", dir, err)
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("read program %s: %w", dir, err)
	}
	p := &Program{files: files, title: filepath.Base(full)}
	if p.Language, err = p.language(languages); err != nil {
		return nil, fmt.Errorf("read program %s: %w", dir, err)
	}
	p.made = importers.Made{Verify: verify, Timeout: folderTimeout}
	if verify == "" {
		if p.made.Verify, err = p.command(ctx, judge); err != nil {
			return nil, fmt.Errorf("read program %s: %w", dir, err)
		}
	}
	for f := range p.files {
		switch {
		case p.Language.IsTest(f), support(f):
			p.made.Protect = append(p.made.Protect, f)
		case p.Language.IsSource(f) && utf8.Valid(p.files[f].Data):
			p.Targets = append(p.Targets, f)
		}
	}
	slices.Sort(p.made.Protect)
	slices.Sort(p.Targets)
	if len(p.Targets) == 0 {
		return nil, fmt.Errorf("read program %s: it has no source in %s beside its tests", dir, p.Language.Name())
	}
	return p, nil
}

// IsProgram says whether dir is a folder with a program, as FromFolder takes it,
// and not a corpus of tasks: whether neither it nor a folder in it has a
// task.yaml, and no file in it is a .txtar.
func IsProgram(dir string) (bool, error) {
	for _, pattern := range []string{"task.yaml", "*/task.yaml", "*.txtar"} {
		found, err := filepath.Glob(filepath.Join(globQuote.Replace(dir), pattern))
		if err != nil || len(found) > 0 {
			return false, err
		}
	}
	return true, nil
}

var globQuote = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`)

// leftOut says what of a folder is no part of the program.
func leftOut(p string) bool {
	base := path.Base(p)
	return slices.Contains([]string{".git", ".hg", ".svn", ".bzr", "__pycache__", ".venv", "venv", ".tox", ".nox", ".mypy_cache",
		".pytest_cache", ".ruff_cache", "node_modules", ".idea", ".vscode", ".DS_Store", ".env"}, base) ||
		path.Ext(base) == ".pyc" || path.Ext(base) == ".bundle" || strings.HasSuffix(base, ".egg-info")
}

// support says whether a file serves the tests, whatever the language.
func support(p string) bool {
	words := strings.Split(p, "/")
	return slices.ContainsFunc(words[:len(words)-1], func(w string) bool { return w == "testdata" || w == "tests" || w == "test" }) ||
		slices.Contains([]string{"go.mod", "go.sum", "pytest.ini", "tox.ini", "setup.cfg", "conftest.py"}, path.Base(p))
}

// language is the first that the folder has source and tests of, else source.
func (p *Program) language(languages []Language) (Language, error) {
	has := func(like func(string) bool) bool {
		for f := range p.files {
			if like(f) {
				return true
			}
		}
		return false
	}
	for _, l := range languages {
		if has(l.IsSource) && has(l.IsTest) {
			return l, nil
		}
	}
	for _, l := range languages {
		if has(l.IsSource) {
			return l, nil
		}
	}
	return nil, fmt.Errorf("it has no source in %s", names(languages))
}

var (
	pythonTest   = regexp.MustCompile(`(?:^|/)test[^/]*\.py$`)
	pythonSuffix = regexp.MustCompile(`(?:^|/)[^/]+_test\.py$`)
	pytestStyle  = regexp.MustCompile(`(?m)^(?:async )?def test|^import pytest|^from pytest|^class Test\w*:`)
	caseStyle    = regexp.MustCompile(`\bunittest\b|\bTestCase\b`)
)

// command finds out how the program's tests are run.
func (p *Program) command(ctx context.Context, judge tasks.Judge) (string, error) {
	if p.Language.Name() == "go" {
		if _, ok := p.files["go.mod"]; !ok {
			return "", fmt.Errorf("%w: there is no go.mod; --verify names the command that runs them", ErrNoTests)
		}
		return "go test ./...", nil
	}
	pattern, tests := "test*.py", p.texts(pythonTest.MatchString)
	if len(tests) == 0 {
		pattern, tests = "*_test.py", p.texts(pythonSuffix.MatchString)
	}
	if len(tests) == 0 {
		return "", fmt.Errorf("%w: there is no test_*.py and no *_test.py; --verify names the command that runs them", ErrNoTests)
	}
	cases, functions := "", ""
	for _, f := range slices.Sorted(maps.Keys(tests)) {
		switch {
		case caseStyle.MatchString(tests[f]):
			cases = f
		case pytestStyle.MatchString(tests[f]):
			functions = f
		}
	}
	if functions != "" || cases == "" {
		return p.pytest(ctx, judge, either(functions, "the tests"))
	}
	line := "python3 -m unittest discover -q"
	if dir := p.start(tests); dir != "." {
		line += " -s " + dir
		if _, ok := p.files[path.Join(dir, "__init__.py")]; ok {
			line += " -t ."
		}
	}
	if pattern != "test*.py" {
		line += " -p '" + pattern + "'"
	}
	if line == "python3 -m unittest discover -q" {
		line = "python3 -m unittest -q"
	}
	return line, nil
}

// start is the folder at which discovery of unittests begins: where all tests
// lie below one that can be named plainly and is no package's, that, else the root.
func (p *Program) start(tests map[string]string) string {
	for _, dir := range []string{"tests", "test"} {
		all := true
		for f := range tests {
			all = all && strings.HasPrefix(f, dir+"/")
		}
		if all {
			return dir
		}
	}
	return "."
}

// pytestCommand leaves no cache in the workspace.
const pytestCommand = "python3 -m pytest -q -p no:cacheprovider"

func (p *Program) pytest(ctx context.Context, judge tasks.Judge, file string) (string, error) {
	t := p.task(nil, folderTimeout, false)
	t.Verify = "python3 -m pytest --version"
	verdict, _, err := judge(ctx, t, false)
	if err != nil {
		return "", err
	}
	if !verdict.Passed {
		return "", fmt.Errorf("%s needs pytest, which is not there for the commands of tasks: install it for that python3, or name another command by --verify", file)
	}
	return pytestCommand, nil
}

// CheckOperators says which name of list no language knows.
func CheckOperators(list []string, languages []Language) error {
	var valid []string
	for _, l := range languages {
		valid = append(valid, l.Operators()...)
	}
	slices.Sort(valid)
	valid = slices.Compact(valid)
	for _, name := range list {
		if !slices.Contains(valid, name) {
			return errors.New(strict.Unknown("operator", name, valid))
		}
	}
	return nil
}
