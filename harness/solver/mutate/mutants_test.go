package mutate

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"os"
)

func newLister(t *testing.T) *Lister {
	t.Helper()
	l, err := NewLister("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// TestListerListsWhatTheEngineTries: the same mutants as an analysis has, each
// with its function.
func TestListerListsWhatTheEngineTries(t *testing.T) {
	task := writeTask(t, filepath.Join("testdata", "tasks", "clamp.txtar"))
	rows, err := newEngine(t, Options{}).Table(context.Background(), TableRequest{Dir: task.dir, Files: task.files, VerifyCommand: task.verify})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range task.files {
		files[f.Path] = f.Text
	}
	l := newLister(t)
	list, err := l.Mutants(context.Background(), files)
	if err != nil || len(list) != len(rows) || len(list) == 0 {
		t.Fatalf("%d listed, %d tried, %v", len(list), len(rows), err)
	}
	named := 0
	for i, m := range list {
		if m.Mutant != rows[i].Mutant || !slices.Contains(Operators(), m.Operator) {
			t.Errorf("mutant %d is %+v, the engine's %+v", i, m.Mutant, rows[i].Mutant)
		}
		if text, err := m.apply(files[m.Path]); err != nil || text != rows[i].Result {
			t.Errorf("mutant %d gives another text, %v", i, err)
		}
		if m.Function != "" {
			named++
		}
	}
	if named == 0 {
		t.Error("no mutant lies in a function")
	}
	nested, err := l.Mutants(context.Background(), map[string]string{"n.py": "class C:\n    def f(self):\n        def g():\n            return 1\n        return g\n\n\nX = 2\n", "bad.py": "def ("})
	if err != nil {
		t.Fatal(err)
	}
	where := map[string]string{}
	for _, m := range nested {
		where[m.Before] = m.Function
	}
	if where["1"] != "C.f.g" || where["2"] != "" {
		t.Errorf("functions %v", where)
	}
}

// TestOperatorNames: the names are those that have a weight.
func TestOperatorNames(t *testing.T) {
	text, err := sources.ReadFile("ops.py")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(text[strings.Index(string(text), "WEIGHTS = {"):]), "}")
	var names []string
	for _, m := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(table, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	if !slices.Equal(names, Operators()) {
		t.Errorf("operators %v, weights %v", Operators(), names)
	}
}

const listedTests = `import unittest

def test_loose():
    pass


class One(unittest.TestCase):
    @unittest.skip("now")
    def test_a(self):
        pass

    def test_b(self):
        pass


class Two(unittest.TestCase):
    x = 1

    def test_c(self): pass
`

// TestListerFindsTests: methods and functions, with what a class needs that
// loses all it has.
func TestListerFindsTests(t *testing.T) {
	units, lone, err := newLister(t).Tests(context.Background(), map[string]string{"tests/test_x.py": listedTests, "tests/test_y.py": "def ("})
	if err != nil || lone != nil {
		t.Fatalf("%v, %v", lone, err)
	}
	var said []string
	for _, u := range units {
		text := listedTests[u.Start:u.End]
		said = append(said, u.Name)
		if !strings.HasSuffix(text, "\n") || !strings.Contains(text, "def test_") || u.Alone != (u.Block == "One") || u.Method != (u.Block != "") {
			t.Errorf("%+v holds %q", u, text)
		}
	}
	if want := []string{"test_loose", "One.test_a", "One.test_b", "Two.test_c"}; !slices.Equal(said, want) {
		t.Errorf("tests %v, want %v", said, want)
	}
	if units[1].Filler != "    pass\n" || !strings.HasPrefix(listedTests[units[1].Start:], "    @unittest.skip") {
		t.Errorf("the first method is %+v", units[1])
	}
}

// TestProbe: the asserts of the only test are told apart; the changed file says
// of each that fails what failed, and fails as a whole.
func TestProbe(t *testing.T) {
	text := `from __future__ import annotations
import unittest

def check(f):
    base = 1
    assert f(1) == base
    assert f(2) == (
        5), "five"
    assert True, "vacuous"
    assert f(3) == 9
    for n in range(3):
        assert f(n) == n
    assert f(
        0) == 0
    raise_it = f(7)
    assert raise_it.missing


class Only(unittest.TestCase):
    def test_only(self):
        check(lambda n: n)
`
	units, lone, err := newLister(t).Tests(context.Background(), map[string]string{"test_p.py": text})
	if err != nil || lone == nil || len(units) != 1 {
		t.Fatalf("%d units, %v, %v", len(units), lone, err)
	}
	var parts []string
	for _, u := range lone.Units {
		parts = append(parts, strings.Fields(text[u.Start:u.End])[1])
	}
	if want := []string{"f(1)", "f(2)", "f(3)", "n", "f(", "raise_it.missing"}; !slices.Equal(parts, want) {
		t.Fatalf("asserts %v, want %v", parts, want)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, lone.Path), []byte(lone.Probe), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-m", "unittest", "-q", "test_p")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("the probe passes")
	}
	var said []string
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "[unit ") {
			said = append(said, strings.TrimSpace(line))
		}
	}
	want := []string{"[unit 1] AssertionError: five", "[unit 2] AssertionError: 3 against 9", "[unit 5] AttributeError: 'int' object has no attribute 'missing'"}
	if !slices.Equal(said, want) {
		t.Errorf("the probe says %q, want %q in\n%s", said, want, out)
	}
}
