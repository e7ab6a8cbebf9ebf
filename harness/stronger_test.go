package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retrial/harness/solver/mutate"
	"retrial/harness/workspace"
	"retrial/tasks"
)

// ladder is a task whose visible test sees one of the three rungs.
const ladder = `-- task.yaml --
id: ladder
instruction: Name the rungs.
editable: [ladder.py]
verify: VERIFY
score: SCORE
protect: [test_visible.py]
-- workspace/ladder.py --
def rung(n):
    """Name a number: low below 3, high from 7 on."""
    if n > 3:
        return "low"
    if n >= 7:
        return "high"
    return "middle"
-- workspace/test_visible.py --
import unittest
from ladder import rung

class T(unittest.TestCase):
    def test_low(self):
        self.assertEqual(rung(1), "low")

    def test_middle(self):
        self.assertEqual(rung(5), "middle")
-- hidden/test_hidden.py --
import unittest
from ladder import rung

class T(unittest.TestCase):
    def test_all(self):
        self.assertEqual([rung(n) for n in (2, 3, 6, 7)], ["low", "middle", "middle", "high"])
-- solution/ladder.py --
def rung(n):
    """Name a number: low below 3, high from 7 on."""
    if n < 3:
        return "low"
    if n >= 7:
        return "high"
    return "middle"
`

const (
	visibleTest = "python3 -m unittest -q test_visible"
	hiddenTest  = "python3 -m unittest -q test_hidden"
)

// ladderTask loads ladder with the given commands and the grader that runs it.
func ladderTask(t *testing.T, text, verify, score string) (*tasks.Task, Grader) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ladder.txtar")
	if err := os.WriteFile(file, []byte(strings.NewReplacer("VERIFY", verify, "SCORE", score).Replace(text)), 0o644); err != nil {
		t.Fatal(err)
	}
	corpus, err := tasks.Load(file, "")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := FindToolchain(t.Context(), corpus.Tasks)
	if err != nil {
		t.Fatal(err)
	}
	return corpus.Tasks[0], Grader{Root: t.TempDir(), Sandbox: workspace.None, Tools: tools}
}

// TestStronger: a score that sees more has a witness among the changes of the
// solution; one that sees the same has none; of what cannot be changed nothing
// can be told.
func TestStronger(t *testing.T) {
	engine, err := mutate.New(mutate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	bad := strings.Replace(ladder, "if n < 3", "if n <= 3", 1)
	for _, c := range []struct {
		name, text, verify, score string
		engine                    *mutate.Engine
		verdict                   tasks.StrengthVerdict
		reason                    string
	}{
		{"stronger", ladder, visibleTest, hiddenTest, engine, tasks.Stronger, ""},
		{"the same", ladder, visibleTest, visibleTest, engine, tasks.CouldNotTell, "score rejects none of the "},
		{"not unittest", ladder, visibleTest, "sh -c true", engine, tasks.CouldNotTell, "only programs tested by Python's unittest can be changed"},
		{"no engine", ladder, visibleTest, hiddenTest, nil, tasks.CouldNotTell, "there is no Python"},
		{"no engine, not unittest", ladder, visibleTest, "sh -c true", nil, tasks.CouldNotTell, "only programs tested"},
		{"bad solution", bad, visibleTest, hiddenTest, engine, tasks.CouldNotTell, "the solution does not pass"},
	} {
		t.Run(c.name, func(t *testing.T) {
			task, g := ladderTask(t, c.text, c.verify, c.score)
			got, err := g.Stronger(t.Context(), c.engine, task, 1)
			if err != nil || got.Verdict != c.verdict || !strings.HasPrefix(got.Reason, c.reason) || (c.reason == "") != (got.Reason == "") {
				t.Fatalf("%+v, %v", got, err)
			}
			if c.verdict == tasks.Stronger && (!strings.HasPrefix(got.Witness, "ladder.py:") || !got.Solved || got.Passed < 1 || got.Tried < got.Passed) {
				t.Errorf("%+v", got)
			}
			if c.name == "the same" && (got.Tried < got.Changes || got.Passed < 3) {
				t.Errorf("not all was tried: %+v", got)
			}
		})
	}
}

// TestStrongerHoldsInTheWorkspace: the witness passes verify and fails score
// where the task's own commands judge it, and leaves no workspace behind.
func TestStrongerHoldsInTheWorkspace(t *testing.T) {
	engine, err := mutate.New(mutate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	task, g := ladderTask(t, ladder, visibleTest, hiddenTest)
	m, err := loadMaterial(task)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		strings.Replace(ladderSolution(t, task), ">= 7", "> 7", 1): true,
		strings.Replace(ladderSolution(t, task), "< 3", "> 3", 1):  false, // fails verify
		ladderSolution(t, task):                                    false, // passes score
	} {
		if got, err := g.confirm(t.Context(), m, true, "ladder.py", path); err != nil || got != want {
			t.Errorf("confirmed %v, want %v (%v):\n%s", got, want, err, path)
		}
	}
	if _, err := g.Stronger(t.Context(), engine, task, 2); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(g.Root); err != nil || len(left) != 0 {
		t.Errorf("%d entries left, %v", len(left), err)
	}
}

func ladderSolution(t *testing.T, task *tasks.Task) string {
	t.Helper()
	files, err := programFiles(task, true)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files[0].Text
}
