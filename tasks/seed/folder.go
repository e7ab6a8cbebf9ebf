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
// Python's tests are found as test_*.py or *_test.py, beside the program, in
// packages, or in tests/ or test/; its modules are found from the folder itself.
//
// A file is a test, which no bug is put into and no attempt may change, where
//
//   - the language says so: *_test.go, or [IsPythonTest];
//   - it lies below a folder of tests, or is one of the files, wherever they lie,
//     by which test runners, builds and interpreters are set up (support);
//   - verify names it, by path, by pattern, or as a module to run (namedBy).
//
// What those files run in turn, such as a recipe of a Makefile, is not looked for.
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
	named := p.namedBy(p.made.Verify)
	for f := range p.files {
		switch {
		case p.Language.IsTest(f), support(f), slices.Contains(named, f):
			p.made.Protect = append(p.made.Protect, f)
		case p.Language.IsSource(f) && utf8.Valid(p.files[f].Data):
			p.Targets = append(p.Targets, f)
		}
	}
	slices.Sort(p.made.Protect)
	slices.Sort(p.Targets)
	if len(p.Targets) > 0 {
		return p, nil
	}
	why := ""
	if sources := slices.DeleteFunc(named, func(f string) bool { return !p.Language.IsSource(f) }); len(sources) > 0 {
		why = fmt.Sprintf(", and %q names %s: what the command names is a test", p.made.Verify, strings.Join(sources, ", "))
	}
	return nil, fmt.Errorf("read program %s: it has no source in %s beside its tests%s", dir, p.Language.Name(), why)
}

// IsProgram says whether dir is a folder with a program, as FromFolder takes it,
// and not a corpus of tasks: whether neither it nor a folder in it has a
// task.yaml, and no file in it is a .txtar.
func IsProgram(dir string) (bool, error) {
	for _, pattern := range []string{"task.yaml", "*/task.yaml", "*.txtar"} {
		found, err := filepath.Glob(filepath.Join(importers.EscapeGlob(dir), pattern))
		if err != nil || len(found) > 0 {
			return false, err
		}
	}
	return true, nil
}

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
	return slices.ContainsFunc(words[:len(words)-1], func(w string) bool { return slices.Contains(testFolders, strings.ToLower(w)) }) ||
		slices.Contains(setup, path.Base(p)) || setupScript.MatchString(path.Base(p))
}

var (
	testFolders = []string{"test", "tests", "spec", "specs", "__tests__", "testdata"}
	setup       = []string{
		goMod, "go.sum", "go.work", "go.work.sum",
		"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "tox.toml", "setup.cfg", "setup.py",
		"noxfile.py", "conftest.py", "sitecustomize.py", "usercustomize.py",
		"Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", ".justfile", "Taskfile.yml", "Taskfile.yaml",
		"package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", ".npmrc", ".yarnrc", ".yarnrc.yml",
	}
	setupScript = regexp.MustCompile(`^(?:jest|vitest|karma|ava|\.mocharc)\b.*\.(?:[cm]?[jt]s|json|ya?ml)$|\.(?:mk|pth)$`)
)

// namedBy lists the files that a command names, sorted, by paths from the folder
// itself or from a folder that the command names.
func (p *Program) namedBy(command string) (named []string) {
	words := strings.FieldsFunc(command, separates)
	from := []string{""}
	for i, w := range words {
		words[i] = strings.TrimPrefix(path.Clean(strings.TrimPrefix(w, "PWD/")), "/")
		if dir := words[i] + "/"; p.has(func(f string) bool { return strings.HasPrefix(f, dir) }) {
			from = append(from, dir)
		}
	}
	list := patterns(words)
	for _, f := range slices.Sorted(maps.Keys(p.files)) {
		found := strings.ContainsFunc(f, separates) && strings.Contains(command, f)
		for _, dir := range from {
			rel, below := strings.CutPrefix(f, dir)
			found = found || below && slices.ContainsFunc(list, func(l string) bool { ok, _ := path.Match(l, rel); return ok || l == rel })
		}
		if found || discovers(words, f) {
			named = append(named, f)
		}
	}
	return named
}

// separates says whether r ends a word of a command: blanks, quotes and operators
// of the shell, and what stands between an option or a file and its value.
func separates(r rune) bool { return strings.ContainsRune(" \t\n\"'`;&|<>()=:,{}$@", r) }

var (
	interpreter = regexp.MustCompile(`(?:^|/)python[0-9.]*$`)
	dotted      = regexp.MustCompile(`^[\pL_][\pL\pN_.]*$`)
	everything  = regexp.MustCompile(`^\*+(?:\.\w+)?$`)
)

// patterns are the words of a command that may be paths, and the paths that its
// words stand for: modules and folders that an interpreter runs, modules that
// unittest loads, packages that go run builds. "*" and "*.py" name no file in
// particular.
func patterns(words []string) (out []string) {
	module := func(name string, ends ...string) {
		for _, end := range ends {
			out = append(out, strings.ReplaceAll(name, ".", "/")+end)
		}
	}
	before, cases := "", false
	for i, w := range words {
		if !everything.MatchString(path.Base(w)) {
			out = append(out, w)
		}
		switch {
		case before == "-m":
			module(w, ".py", "/__main__.py")
		case interpreter.MatchString(before):
			out = append(out, w+"/__main__.py")
		case i > 1 && words[i-2] == "go" && before == "run" && w != ".":
			out = append(out, w+"/*.go")
		case cases && before != "-k" && dotted.MatchString(w):
			for end := range w + "." {
				if end > 0 && (w + ".")[end] == '.' {
					module(w[:end], ".py", "/__init__.py")
				}
			}
		}
		before, cases = w, cases || w == "unittest"
	}
	return out
}

// discovers says whether a command has unittest look for tests in a file: by a
// pattern of names after -p, below the folder after -s.
func discovers(words []string, f string) bool {
	pattern, start := "", "."
	for i := 1; i < len(words); i++ {
		switch words[i-1] {
		case "-p", "--pattern":
			pattern = words[i]
		case "-s", "--start-directory":
			start = words[i]
		}
	}
	ok, _ := path.Match(pattern, path.Base(f))
	return ok && slices.Contains(words, "unittest") && (start == "." || strings.HasPrefix(f, start+"/"))
}

// language is the first that the folder has source and tests of, else source.
func (p *Program) language(languages []Language) (Language, error) {
	for _, l := range languages {
		if p.has(l.IsSource) && p.has(l.IsTest) {
			return l, nil
		}
	}
	for _, l := range languages {
		if p.has(l.IsSource) {
			return l, nil
		}
	}
	return nil, fmt.Errorf("it has no source in %s", names(languages))
}

// has says whether the program has a file that like picks.
func (p *Program) has(like func(path string) bool) bool {
	for f := range p.files {
		if like(f) {
			return true
		}
	}
	return false
}

// IsPythonTest says whether a Python file holds tests or serves them: those that
// discovery looks for, conftest.py, and all below tests/ or test/.
func IsPythonTest(p string) bool {
	return pythonTest.MatchString(p) || pythonSuffix.MatchString(p) || pythonBeside.MatchString(p)
}

var (
	pythonTest   = regexp.MustCompile(`(?:^|/)test[^/]*\.py$`)
	pythonSuffix = regexp.MustCompile(`(?:^|/)[^/]+_test\.py$`)
	pythonBeside = regexp.MustCompile(`(?:^|/)(?:conftest\.py$|tests?/)`)
	pytestStyle  = regexp.MustCompile(`(?m)^(?:async )?def test|^import pytest|^from pytest|^class Test\w*:`)
	caseStyle    = regexp.MustCompile(`\bunittest\b|\bTestCase\b`)
)

// command finds out how the program's tests are run.
func (p *Program) command(ctx context.Context, judge tasks.Judge) (string, error) {
	if p.Language.Name() == "go" {
		if _, ok := p.files[goMod]; !ok {
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
