package importers

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// laid writes a task's trees as a grader does: the workspace, the solution over
// it where solved is set, the hidden files where hidden is.
func laid(t *testing.T, f Folder, solved, hidden bool) string {
	t.Helper()
	dir := t.TempDir()
	for _, tree := range []struct {
		fs.FS
		wanted bool
	}{{f.Task.Workspace, true}, {f.Task.Solution, solved}, {f.Task.Hidden, hidden}} {
		if !tree.wanted || !f.Task.HasFiles(tree.FS) {
			continue
		}
		err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(tree, p)
			if err != nil {
				return err
			}
			writeFile(t, filepath.Join(dir, p), string(data))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runIn runs a task's command in a folder.
func runIn(t *testing.T, dir, command string) (out string, code int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PATH="+python()+string(os.PathListSeparator)+os.Getenv("PATH"))
	data, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(data), cmd.ProcessState.ExitCode()
}

// python is the folder of the interpreter itself: a version manager's shim takes
// longer to start than these tests take to run.
var python = sync.OnceValue(func() string {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return "."
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
})

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not here")
	}
}

// TestSWEBenchCommands: the untouched workspace fails, the solution passes, in
// each style of names that can be tried here.
func TestSWEBenchCommands(t *testing.T) {
	needPython(t)
	p := makeProject(t, "invented/ledger")
	hasPytest := exec.Command("python3", "-c", "import pytest").Run() == nil
	if !hasPytest {
		t.Log("pytest is not here: rows with its names must give no verdict")
	}
	for name, change := range map[string]map[string]any{
		"unittest":         nil,
		"unittest, new":    {"FAIL_TO_PASS": []string{"test_two (tests.test_balance.BalanceTest.test_two)"}},
		"unittest, dotted": {"FAIL_TO_PASS": []string{"tests.test_balance.BalanceTest.test_two"}},
		"unittest, runner": {"image": "x"},
		"pytest":           {"FAIL_TO_PASS": []string{"tests/test_balance.py::BalanceTest::test_two"}, "PASS_TO_PASS": []string{"tests/test_balance.py::BalanceTest::test_empty"}},
		"bare names":       {"FAIL_TO_PASS": []string{"test_two"}, "PASS_TO_PASS": []string{"test_empty"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := p.one(t, change)
			pytest := f.Task.Verify != "" && (name == "pytest" || name == "bare names")
			for _, solved := range []bool{false, true} {
				for _, command := range []string{f.Task.Verify, f.Task.Score} {
					if pytest && solved == (command == f.Task.Verify) {
						continue // it takes its time to start
					}
					out, code := runIn(t, laid(t, f, solved, command == f.Task.Score), command)
					want := map[bool]int{false: 1, true: 0}[solved]
					if pytest && !hasPytest {
						want = 75
					}
					if code != want {
						t.Errorf("solved %v: %s exits %d, want %d\n%s", solved, command, code, want, out)
					}
				}
			}
		})
	}
}

// outcomes runs names in one call and returns those that have not passed, with
// what became of them, as the runner tells.
func outcomes(t *testing.T, dir, style string, names, targets []string) map[string]string {
	t.Helper()
	spec, err := json.Marshal(map[string]any{"style": style, "tests": names, "targets": targets})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "names.json"), string(spec))
	out, code := runIn(t, dir, "python3 swebench_tests.py names.json")
	got := map[string]string{}
	for line := range strings.Lines(out) {
		for _, word := range []string{"FAILED", "SKIPPED", "NOT RUN"} {
			if name, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), word+" "); ok && slices.Contains(names, name) {
				got[name] = word
			}
		}
	}
	if want := min(len(got), 1); code != want {
		t.Errorf("exits %d with %v\n%s", code, got, out)
	}
	return got
}

// someUnittest has a test for each thing that can become of one.
const someUnittest = `import os, unittest
class T(unittest.TestCase):
    def test_good(self):
        pass
    def test_described(self):
        """It has a description."""
    def test_bad(self):
        self.fail("bad")
    def test_error(self):
        raise SystemExit(0)
    @unittest.skip("not now")
    def test_skipped(self):
        pass
    @unittest.expectedFailure
    def test_expected(self):
        self.fail("as expected")
    @unittest.expectedFailure
    def test_unexpected(self):
        pass
    def test_sub(self):
        for i in range(2):
            with self.subTest(i=i):
                self.assertEqual(i, 0)
    def tearDown(self):
        if self._testMethodName == "test_torn":
            raise ValueError("torn")
    def test_torn(self):
        pass
class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise ValueError("no class")
    def test_never(self):
        pass
`

// TestSWEBenchRunner: what becomes of each test, by unittest and by Django's
// runner, whose place a script takes here that runs unittest as it does.
func TestSWEBenchRunner(t *testing.T) {
	needPython(t)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "swebench_tests.py"), sweBenchRunner)
	writeFile(t, filepath.Join(dir, "tests/runtests.py"), `import sys, os, unittest
assert sys.argv[1:6] == ["--verbosity", "2", "--settings=test_sqlite", "--parallel", "1"], sys.argv
sys.path[0] = os.getcwd()
ok = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromNames(sys.argv[6:])).wasSuccessful()
sys.exit(not ok)
`)
	writeFile(t, filepath.Join(dir, "some.py"), someUnittest)
	writeFile(t, filepath.Join(dir, "exits.py"), "import os, unittest\nclass T(unittest.TestCase):\n    def test_exit(self):\n        os._exit(0)\n")
	writeFile(t, filepath.Join(dir, "no_import.py"), "import nothing_of_that_name\n")
	want := map[string]string{
		"test_good (some.T)": "", "test_good (some.T.test_good)": "", "test_described (some.T)": "", "It has a description.": "", "test_expected (some.T)": "",
		"test_bad (some.T)": "FAILED", "test_error (some.T)": "FAILED", "test_skipped (some.T)": "SKIPPED", "test_unexpected (some.T)": "FAILED",
		"test_sub (some.T)": "FAILED", "test_torn (some.T)": "FAILED", "test_never (some.Broken)": "NOT RUN", "test_missing (some.T)": "NOT RUN",
		"test_good (other.T)": "NOT RUN", "test_x (no_import.T)": "NOT RUN",
	}
	for _, style := range []string{"unittest", "django"} {
		got := outcomes(t, dir, style, slices.Sorted(maps.Keys(want)), []string{"no_import", "some"})
		for name, w := range want {
			if got[name] != w {
				t.Errorf("%s: %s is %q, want %q", style, name, got[name], w)
			}
		}
		for name, targets := range map[string][]string{"test_good (some.T)": {"some"}, "test_exit (exits.T)": {"exits"}, "test_good (some.T) ": {"exits", "some"}} {
			ok := name == "test_good (some.T)"
			if got := outcomes(t, dir, style, []string{name}, targets); (len(got) == 0) != ok {
				t.Errorf("%s: %s: %v", style, name, got)
			}
		}
	}
}

// somePytest has a test for each thing that can become of one.
const somePytest = `import os, pytest
def test_good(): pass
def test_bad(): assert False
@pytest.mark.skip(reason="x")
def test_skipped(): pass
@pytest.mark.xfail
def test_expected(): assert False
@pytest.mark.xfail(strict=True)
def test_unexpected(): pass
@pytest.mark.parametrize("v", ["a b", "a c"])
def test_cut(v): pass
@pytest.mark.parametrize("v", ["a b", "a c"])
def test_half(v): assert v == "a b"
@pytest.fixture
def torn():
    yield
    raise ValueError("torn")
def test_torn(torn): pass
class TestC:
    def test_in(self): pass
`

// TestSWEBenchPytest: the same by pytest, where it is on the machine; without it
// there is no verdict.
func TestSWEBenchPytest(t *testing.T) {
	needPython(t)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "swebench_tests.py"), sweBenchRunner)
	writeFile(t, filepath.Join(dir, "test_some.py"), somePytest)
	writeFile(t, filepath.Join(dir, "test_exit.py"), "import os\ndef test_exit(): os._exit(0)\n")
	writeFile(t, filepath.Join(dir, "test_broken.py"), "import nothing_of_that_name\ndef test_x(): pass\n")
	// A virtual environment of its own has no pytest.
	bare := filepath.Join(t.TempDir(), "bare")
	if out, err := exec.Command("python3", "-m", "venv", "--without-pip", bare).CombinedOutput(); err != nil {
		t.Skipf("python3 makes no virtual environment: %v\n%s", err, out)
	}
	writeFile(t, filepath.Join(dir, "names.json"), `{"style": "pytest", "tests": ["test_some.py::test_good"], "targets": ["test_some.py"]}`)
	if out, code := runIn(t, dir, filepath.Join(bare, "bin/python3")+" swebench_tests.py names.json"); code != 75 || !strings.Contains(out, "has no pytest") {
		t.Errorf("without pytest: exits %d\n%s", code, out)
	}
	if exec.Command("python3", "-c", "import pytest").Run() != nil {
		t.Skip("pytest is not here")
	}
	want := map[string]string{
		"test_some.py::test_good": "", "test_some.py::test_expected": "", "test_some.py::test_cut[a b]": "", "test_some.py::test_cut[a": "",
		"test_some.py::test_half[a b]": "", "test_some.py::TestC::test_in": "", "test_good": "", "test_cut": "",
		"test_some.py::test_bad": "FAILED", "test_some.py::test_skipped": "SKIPPED", "test_some.py::test_unexpected": "FAILED",
		"test_some.py::test_half[a": "FAILED", "test_some.py::test_torn": "FAILED", "test_half": "FAILED",
		"test_some.py::test_missing": "NOT RUN", "test_some.py::test_cut": "NOT RUN", "test_broken.py::test_x": "NOT RUN", "test_gone.py::test_x": "NOT RUN",
	}
	got := outcomes(t, dir, "pytest", slices.Sorted(maps.Keys(want)), []string{"test_broken.py", "test_some.py", "test_gone.py"})
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s is %q, want %q", name, got[name], w)
		}
	}
	for name, target := range map[string]string{"test_some.py::test_good": "test_some.py", "test_exit.py::test_exit": "test_exit.py", "test_gone.py::test_x": "test_gone.py"} {
		if got := outcomes(t, dir, "pytest", []string{name}, []string{target}); (len(got) == 0) != (target == "test_some.py") {
			t.Errorf("%s: %v", name, got)
		}
	}
}
