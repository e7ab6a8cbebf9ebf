package mutate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// corpusTask is as much of a task as these tests need.
type corpusTask struct {
	id, instruction, verify, score string
	files                          []File            // editable
	solution                       map[string]string // path -> text
	dir                            string            // workspace with the hidden tests beside the visible ones
	tags                           string
}

var fieldPattern = regexp.MustCompile(`(?m)^(\w+):[ \t]*(.*)$`)

// writeTask unpacks a task archive into a temporary folder.
func writeTask(t testing.TB, name string) corpusTask {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	task := corpusTask{dir: t.TempDir(), solution: map[string]string{}}
	shown := map[string]string{}
	fields := map[string]string{}
	for _, f := range archive.Files {
		kind, path, _ := strings.Cut(f.Name, "/")
		switch kind {
		case "task.yaml":
			for _, m := range fieldPattern.FindAllStringSubmatch(string(f.Data), -1) {
				fields[m[1]] = strings.TrimSpace(m[2])
			}
		case "solution":
			task.solution[path] = string(f.Data)
		case "workspace", "hidden":
			if kind == "workspace" {
				shown[path] = string(f.Data)
			}
			full := filepath.Join(task.dir, path)
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	task.id, task.verify, task.score, task.tags = fields["id"], fields["verify"], fields["score"], fields["tags"]
	for _, path := range strings.Split(strings.Trim(fields["editable"], "[]"), ",") {
		path = strings.TrimSpace(path)
		task.files = append(task.files, File{path, shown[path]})
	}
	return task
}

// compose writes a prompt as the harness would.
func compose(task corpusTask, history string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Mend the program below.\n\n## Task\n\n%s\n\n## Tests\n\nCommand: %s\n\n## Files\n", task.instruction, task.verify)
	for _, f := range task.files {
		fmt.Fprintf(&b, "\n### %s\n\n````python\n%s````\n", f.Path, f.Text)
	}
	return b.String() + history
}

func newEngine(t testing.TB, opts Options) *Engine {
	t.Helper()
	e, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func corpus(t testing.TB) []corpusTask {
	dir := os.Getenv("RETRIAL_MUTATE_CORPUS")
	if dir == "" {
		t.Skip("set RETRIAL_MUTATE_CORPUS to a folder of task archives to measure the solver on it")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatalf("find tasks in %s: %d, %v", dir, len(names), err)
	}
	sort.Strings(names)
	var tasks []corpusTask
	for _, n := range names {
		tasks = append(tasks, writeTask(t, n))
	}
	return tasks
}

// TestCorpus prints, for each task of a folder, what its mutants come to, and then
// the figures of the loop for some settings: every verdict is known by then.
func TestCorpus(t *testing.T) {
	tasks := corpus(t)
	e := newEngine(t, Options{})
	passing, right, mutants := 0, 0, 0
	began := time.Now()
	for _, task := range tasks {
		p, r, n := tableOf(t, e, task)
		passing, right, mutants = passing+p, right+r, mutants+n
	}
	t.Logf("%d tasks, %d mutants, %d pass the visible tests, %d of them wrong, %.0f s", len(tasks), mutants, passing, passing-right, time.Since(began).Seconds())
	for _, dial := range []Options{{}, {Lines: 4}, {Lines: 5}, {Lines: 6}, {Lines: 8}, {Alpha: 0.02}, {Lines: 5, Alpha: 0.02}, {Rho: 0.4}, {Rho: 0.8}} {
		dial, err := dial.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		e.opts.Lines, e.opts.Alpha, e.opts.Rho = dial.Lines, dial.Alpha, dial.Rho
		t.Logf("lines %d alpha %g rho %g", dial.Lines, dial.Alpha, dial.Rho)
		loopAll(t, e, tasks)
	}
}

// tableOf logs a task's table: mutants that pass, those of them that are right, all.
func tableOf(t *testing.T, e *Engine, task corpusTask) (pass, right, all int) {
	rows, err := e.Table(context.Background(), TableRequest{Dir: task.dir, Files: task.files,
		VerifyCommand: task.verify, ScoreCommand: task.score, TaskKey: task.id, Jobs: 2})
	if err != nil {
		t.Fatalf("%s: %v", task.id, err)
	}
	reach := false
	var said []string
	for _, r := range rows {
		if r.Visible.Passed {
			pass++
			mark := "wrong"
			if r.Hidden.Passed {
				right++
				mark = "right"
			}
			said = append(said, fmt.Sprintf("%s %s [%s]", mark, r.Mutant, r.Operator))
		}
		reach = reach || task.solution[r.Path] == r.Result
	}
	sort.Strings(said)
	t.Logf("%-24s mutants %4d pass visible %3d right %3d solution reached %-5v %s\n    %s", task.id, len(rows), pass, right, reach,
		task.tags, strings.Join(said, "\n    "))
	return pass, right, len(rows)
}
