package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retrial/harness/workspace"
	"retrial/tasks"
)

// TestNoVerdict: a command that something else killed, or that exits with 75,
// says nothing of the attempt. It is a fault of the machine, never a failure.
func TestNoVerdict(t *testing.T) {
	for verify, want := range map[string]string{"kill -9 $$": "killed from outside", "echo lost it; exit 75": "no verdict: lost it"} {
		file := filepath.Join(t.TempDir(), "a.txtar")
		if err := os.WriteFile(file, []byte("-- task.yaml --\nid: a\ninstruction: Do it.\nverify: "+verify+"\n-- workspace/a.txt --\na\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		corpus, err := tasks.Load(file, "")
		if err != nil {
			t.Fatal(err)
		}
		verdict, _, err := (Grader{Root: t.TempDir(), Sandbox: workspace.None}).Judge(t.Context(), corpus.Tasks[0], false)
		var silent *tasks.NoVerdictError
		if !errors.As(err, &silent) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: verdict %+v, error %v", verify, verdict, err)
		}
	}
}
