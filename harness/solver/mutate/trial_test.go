package mutate

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// program unpacks files into a workspace and opens a session on the editable one.
func program(t *testing.T, path, text, test string) *session {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string]string{path: text, "test_it.py": test} {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	e := newEngine(t, Options{})
	s := e.open(dir, "task", []File{{path, text}}, tests{Names: []string{"test_it"}})
	t.Cleanup(s.close)
	if _, err := s.analyse(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

const countingTest = `import unittest
import work

class T(unittest.TestCase):
    def test_a(self):
        self.assertEqual(work.f(3), 3)
    def test_b(self):
        self.assertEqual(work.g(), 1)
    def test_c(self):
        with self.subTest("inner"):
            self.assertEqual(work.f(0), 0)
    @unittest.skip("not now")
    def test_d(self):
        pass
    def test_e(self):
        self.assertEqual(work.f(2), 2)
`

const countingProgram = `def f(n):
    total = 0
    for i in range(n):
        total += 1
    return total


def g():
    return 1
`

// Whatever a candidate does, there is a verdict, the interpreter lives on, and
// nothing the tests print reaches the protocol. One that hangs or takes all
// memory passes no test, so that anything else is submitted before it.
func TestCandidatesThatMisbehave(t *testing.T) {
	s := program(t, "work.py", countingProgram, countingTest)
	if !s.facts.Passed || s.facts.Count != 5 || s.facts.Total != 5 {
		t.Fatalf("baseline: %+v", s.facts)
	}
	head := "def f(n):\n    return n\n\n\ndef g():\n    "
	tests := []struct {
		name, text string
		want       Verdict
	}{
		{"right", head + "return 1\n", Verdict{true, 5, 5}},
		{"wrong", head + "return 2\n", Verdict{false, 4, 5}},
		{"hangs in one test", head + "while True:\n        pass\n", Verdict{false, 0, 5}},
		{"hangs and catches all", head + "while True:\n        try:\n            f(1)\n        except BaseException:\n            pass\n", Verdict{false, 0, 5}},
		{"hangs in a comprehension", head + "return [x for x in iter(int, 1)]\n", Verdict{false, 0, 5}},
		{"calls itself for ever", head + "return g()\n", Verdict{false, 4, 5}},
		{"hangs everywhere", "def f(n):\n    while True:\n        n += 1\n\ndef g():\n    return 1\n", Verdict{false, 0, 5}},
		{"hangs at import", "while True:\n    x = 1\n", Verdict{}},
		{"exits", head + "import os\n    os._exit(0)\n", Verdict{}},
		{"exits politely", head + "raise SystemExit(0)\n", Verdict{false, 4, 5}},
		{"crashes", head + "import os\n    os.kill(os.getpid(), 11)\n", Verdict{}},
		{"takes all memory", head + "return 'x' * (1 << 34)\n", Verdict{false, 0, 5}},
		{"takes all memory slowly", "x = 'x'\nfor i in range(60):\n    x = x + x\n", Verdict{}},
		{"prints and reads", head + "print('{}')\n    import sys\n    sys.stderr.write('x')\n    return 1 + len(sys.stdin.read())\n", Verdict{true, 5, 5}},
		{"writes to every descriptor", head + "import os\n    for fd in range(1, 30):\n        try:\n            os.write(fd, b'{}\\n')\n        except OSError:\n            pass\n    return 1\n", Verdict{}},
		{"does not import", "import no_such_module\n", Verdict{false, 0, 1}},
		{"does not parse", "def f(:\n", Verdict{}},
	}
	for _, tt := range tests {
		m := Mutant{Path: "work.py", End: len(countingProgram), Text: tt.text}
		v, err := s.try(context.Background(), candidate{Mutant: m, id: patchID("work.py", tt.text)})
		if err != nil || v != tt.want {
			t.Errorf("%s: got %+v (%v), want %+v", tt.name, v, err, tt.want)
		}
	}
}

// A file of the workspace goes before a module of the same name that the warm
// interpreter happens to have loaded.
func TestNamesakes(t *testing.T) {
	s := program(t, "calendar.py", "def f(n):\n    return n\n", strings.ReplaceAll(strings.ReplaceAll(countingTest, "work.g()", "1"), "work", "calendar"))
	if !s.facts.Passed {
		t.Errorf("baseline: %+v", s.facts)
	}
}

// Packages, relative imports and future imports work in pieces.
func TestPackage(t *testing.T) {
	text := "\"\"\"Doc.\"\"\"\nfrom __future__ import annotations\nfrom . import __name__ as package\n\n\ndef f(n: Missing) -> Gone:\n    return n\n\n\ndef g():\n    return len(package) - 2\n"
	s := program(t, "pkg/work.py", text, strings.ReplaceAll(countingTest, "import work", "from pkg import work"))
	if !s.facts.Passed || s.facts.Total != 5 {
		t.Errorf("baseline: %+v", s.facts)
	}
}

// Statements get the tests that execute them; module level code is everyone's.
func TestCoverage(t *testing.T) {
	text := `LIMIT = 2


def f(n,
      extra=0):
    if n > LIMIT:
        return (n
                + 0)
    return n + extra


def g():
    raise ValueError(LIMIT - 1)
`
	s := program(t, "work.py", text, countingTest)
	want := []lineFacts{
		{"work.py", 1, 1, 4, false},
		{"work.py", 4, 0, 3, false},
		{"work.py", 6, 0, 3, false},
		{"work.py", 7, 0, 1, false},
		{"work.py", 9, 0, 2, false},
		{"work.py", 13, 1, 0, true},
	}
	if !reflect.DeepEqual(s.facts.Lines, want) {
		t.Errorf("got %+v", s.facts.Lines)
	}
}

// The table says what the tests say; the reference solution is among the right ones.
func TestTable(t *testing.T) {
	task := bundled(t, "clamp")
	e := newEngine(t, Options{})
	req := TableRequest{Dir: task.dir, Files: task.files, VerifyCommand: task.verify, ScoreCommand: task.score, TaskKey: task.id, Jobs: 2}
	rows, err := e.Table(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	passing, right, reached := 0, 0, false
	for _, r := range rows {
		if (r.Hidden != nil) != r.Visible.Passed {
			t.Errorf("%s: hidden %v, visible %v", r.Mutant, r.Hidden, r.Visible)
		}
		if r.Visible.Passed {
			passing++
			if r.Hidden.Passed {
				right++
			}
		}
		if task.solution[r.Path] == r.Result {
			reached = reached || r.Visible.Passed && r.Hidden.Passed
		}
	}
	if len(rows) < 40 || passing == 0 || right == 0 || !reached {
		t.Errorf("%d mutants, %d pass, %d right, solution reached %v", len(rows), passing, right, reached)
	}
	req.Jobs, req.ScoreAll = 1, true
	again, err := e.Table(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	for i := range again {
		if again[i].Hidden == nil || again[i].Visible != rows[i].Visible || again[i].Mutant != rows[i].Mutant {
			t.Errorf("row %d: %+v, then %+v", i, rows[i], again[i])
		}
	}
}

// The embedded sources keep to what Python 3.8 can read.
func TestSourcesAreOldPython(t *testing.T) {
	for _, name := range modules {
		out, err := exec.Command("python3", "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read(), feature_version=(3, 8))", name+".py").CombinedOutput()
		if err != nil {
			t.Errorf("%s.py: %s", name, out)
		}
	}
}

// A candidate whose process is killed from outside has no verdict: it is tried
// again, in the end it is an error, and nothing is kept of it.
func TestKilledFromOutside(t *testing.T) {
	s := program(t, "work.py", countingProgram, countingTest)
	dies := func(times int) candidate {
		text := fmt.Sprintf(`def f(n):
    return n


def g():
    import os, signal
    marks = len([n for n in os.listdir(".") if n.startswith("died")])
    if marks < %d:
        open("died%%d" %% marks, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return 1
`, times)
		return candidate{Mutant: Mutant{Path: "work.py", End: len(countingProgram), Text: text}, id: patchID("work.py", text)}
	}
	if v, err := s.try(context.Background(), dies(2)); err != nil || !v.Passed {
		t.Errorf("killed twice: %+v, %v", v, err)
	}
	for n := range 2 {
		if err := os.Remove(filepath.Join(s.dir, fmt.Sprintf("died%d", n))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.try(context.Background(), dies(3)); err == nil || !strings.Contains(err.Error(), "killed from outside") {
		t.Errorf("killed three times: %v", err)
	}
	if v, err := s.try(context.Background(), dies(3)); err != nil || !v.Passed {
		t.Errorf("tried again later: %+v, %v", v, err)
	}
}
