package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"retrial/arms"
	"retrial/harness/solver"
	"retrial/harness/workspace"
	"retrial/results"
	"retrial/tasks"
	checkers "retrial/tasks/text"
)

// wordTask is a task that a built-in checker judges: one five-letter word.
const wordTask = `-- task.yaml --
id: word
instruction: |
  Write one word of exactly five letters that starts with the letter b.
examples:
  - prompt: And one that starts with s?
    reply: stone
  - prompt: |
      Another, please.
    reply: |
      sugar
verify: builtin:text/five-letter-word
-- workspace/answer.txt --
-- solution/answer.txt --
bread
`

func textCorpus(t testing.TB, text string) *tasks.Corpus {
	t.Helper()
	file := filepath.Join(t.TempDir(), "word.txtar")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := tasks.Load(file, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAnswerFile: whatever a solver leaves in the place of its answer is judged
// and never followed, waited for or read without end.
func TestAnswerFile(t *testing.T) {
	word := textCorpus(t, wordTask).Tasks[0]
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("bread\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	write := func(text string) func(dir, file string) error {
		return func(_, file string) error { return os.WriteFile(file, []byte(text), 0o644) }
	}
	place := func(put func(dir, file string) error) func(dir, file string) error {
		return func(dir, file string) error {
			if err := os.Remove(file); err != nil {
				return err
			}
			return put(dir, file)
		}
	}
	for _, c := range []struct {
		name string
		do   func(dir, file string) error
		want string // the output; "" for a pass
	}{
		{"right", write("bread"), ""},
		{"right, with other line ends", write("\ufeffbread\r\n\r\n"), ""},
		{"wrong", write("table"), "the word \"table\" does not start with \"b\"\n"},
		{"two problems", write("banana bread"), "want one word and nothing else, got \"banana bread\"\n"},
		{"untouched", func(string, string) error { return nil }, "the answer is empty\n"},
		{"not UTF-8", write("br\xe9ad"), "the answer is not UTF-8 text\n"},
		{"too large", write(strings.Repeat("a", checkers.MaxAnswer+1)), checkers.TooLarge + "\n"},
		{"without end", func(_, file string) error { return os.Truncate(file, 1<<40) }, checkers.TooLarge + "\n"},
		{"removed", place(func(string, string) error { return nil }), missing + "\n"},
		{"a folder", place(func(_, file string) error { return os.Mkdir(file, 0o755) }), folder + "\n"},
		{"a symlink to a right answer", place(func(_, file string) error { return os.Symlink(outside, file) }), symlink + "\n"},
		{"a symlink inside", place(func(dir, file string) error {
			if err := os.WriteFile(filepath.Join(dir, "b"), []byte("bread"), 0o644); err != nil {
				return err
			}
			return os.Symlink("b", file)
		}), symlink + "\n"},
		{"a pipe", place(func(_, file string) error { return syscall.Mkfifo(file, 0o644) }), special + "\n"},
		{"no tree at all", func(dir, _ string) error { return os.RemoveAll(dir) }, missing + "\n"},
		{"a file in the tree's place", func(dir, _ string) error {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			return os.WriteFile(dir, []byte("bread"), 0o644)
		}, missing + "\n"},
		{"a symlink in the tree's place", func(dir, _ string) error {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			return os.Symlink(filepath.Dir(outside), dir)
		}, missing + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := Grader{Root: t.TempDir()}
			m, err := loadMaterial(word)
			if err != nil {
				t.Fatal(err)
			}
			w, err := workspace.Open(t.Context(), m.pristine, g.Root)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if err := c.do(w.Dir, filepath.Join(w.Dir, checkers.AnswerFile)); err != nil {
				t.Fatal(err)
			}
			v, err := g.verify(t.Context(), w, word)
			if err != nil || v.Output != c.want || v.Passed != (c.want == "") || v.Passed != (v.ExitCode == 0) || v.TimedOut || v.Failing != nil {
				t.Errorf("%+v, %v, want %q", v, err, c.want)
			}
		})
	}
}

func TestAnswerFileThatIsClosed(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads every file")
	}
	word := textCorpus(t, wordTask).Tasks[0]
	m, err := loadMaterial(word)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		mode fs.FileMode
	}{{checkers.AnswerFile, 0}, {".", 0}, {".", 0o400}, {".", 0o200}} {
		w, err := workspace.Open(t.Context(), m.pristine, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(w.Dir, c.path), c.mode); err != nil {
			t.Fatal(err)
		}
		v, err := (Grader{}).verify(t.Context(), w, word)
		if err != nil || v.Passed || v.Output != closed+"\n" {
			t.Errorf("%s with mode %o: %+v, %v", c.path, c.mode, v, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// unsearchable is a tree that can be listed, of whose files nothing else is to be
// known, as a folder of mode 0400 is.
type unsearchable struct{ fs.FS }

func (unsearchable) Lstat(name string) (fs.FileInfo, error) {
	return nil, &fs.PathError{Op: "lstat", Path: name, Err: syscall.EACCES}
}

func (unsearchable) ReadLink(name string) (string, error) {
	return "", &fs.PathError{Op: "readlink", Path: name, Err: syscall.EACCES}
}

func TestAnswerInATreeThatIsNotSearched(t *testing.T) {
	if answer, problem, err := readAnswer(unsearchable{os.DirFS(t.TempDir())}); answer != "" || problem != closed || err != nil {
		t.Errorf("%q, %q, %v", answer, problem, err)
	}
}

// TestJudgeTextTasks: without a workspace, verify and score are judged as with
// one; hidden files are laid over the tree for the score.
func TestJudgeTextTasks(t *testing.T) {
	scored := strings.Replace(wordTask, "five-letter-word\n", "five-letter-word\nscore: builtin:text/upper-case\n", 1)
	mixed := strings.Replace(wordTask, "five-letter-word\n", "five-letter-word\nscore: grep -q ea answer.txt\n", 1)
	for _, c := range []struct {
		name, text                string
		verify, solvedVerify      bool
		hasScore, score, solScore bool
	}{
		{"verify alone", wordTask, false, true, false, false, false},
		{"both", scored, false, true, true, false, false},
		{"hidden answer", scored + "-- hidden/answer.txt --\nWINTER\n", false, true, true, true, true},
		{"solution elsewhere", strings.Replace(wordTask, "solution/answer.txt", "solution/other.txt", 1), false, false, false, false, false},
		{"a shell command too", mixed, false, true, true, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			task := textCorpus(t, c.text).Tasks[0]
			for solved, want := range map[bool][2]bool{false: {c.verify, c.score}, true: {c.solvedVerify, c.solScore}} {
				verify, score, err := Grader{Root: t.TempDir(), Sandbox: workspace.None}.Judge(t.Context(), task, solved)
				if err != nil || verify.Passed != want[0] || (score != nil) != c.hasScore || score != nil && score.Passed != want[1] {
					t.Errorf("solved %v: %+v, %+v, %v", solved, verify, score, err)
				}
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := (Grader{}).Judge(ctx, textCorpus(t, wordTask).Tasks[0], true); err == nil || !strings.Contains(err.Error(), "builtin:text/five-letter-word") {
		t.Errorf("judged after the end: %v", err)
	}
}

// TestEveryTextTask: the corpus needs no program and no sandbox, and each task's
// solution passes where its untouched workspace does not.
func TestEveryTextTask(t *testing.T) {
	c, err := tasks.Load("builtin:text", "")
	if err != nil {
		t.Fatal(err)
	}
	if list := programs(c.Tasks); len(list) > 0 {
		t.Errorf("tasks need %v", list)
	}
	tools, err := FindToolchain(t.Context(), c.Tasks)
	if err != nil || tools.Go || tools.Python != "" || tools.Env != nil {
		t.Errorf("toolchain %+v, %v", tools, err)
	}
	found, err := tasks.Certify(t.Context(), c.Tasks, Grader{Sandbox: workspace.Bubblewrap}.Judge, tasks.CertifyOptions{Repeats: 2, Parallel: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if len(f.Faults)+len(f.Warnings) > 0 {
			t.Errorf("%s: %v %v", f.Task, f.Faults, f.Warnings)
		}
	}
}

// TestTextRun: in a run the examples are turns before the request in every arm
// and at every attempt, the request is the instruction, and only what the arm
// adds differs.
func TestTextRun(t *testing.T) {
	plan := parsePlan(t, textCorpus(t, wordTask), "replicates: 1\nattempts: 3\n"+fourArms)
	m := mustRun(t, plan, newScripted(plan, func(_ context.Context, s scene) (solver.Reply, error) {
		if s.attempt == 3 && s.arm() == "last-verdict" {
			return answer("bread"), nil
		}
		return answer("table%d", s.attempt), nil
	}), options{})
	want := []arms.Message{
		{Role: "user", Content: "And one that starts with s?"}, {Role: "assistant", Content: "stone"},
		{Role: "user", Content: "Another, please."}, {Role: "assistant", Content: "sugar"},
		{Role: "user", Content: "Write one word of exactly five letters that starts with the letter b.\n"},
	}
	without := map[string]bool{}
	for id, a := range m.attempts {
		var sent []arms.Message
		if err := json.Unmarshal([]byte(m.prompt(t, id)), &sent); err != nil || len(sent) != len(want) {
			t.Fatalf("%s: %d messages, %v", id, len(sent), err)
		}
		added, ok := strings.CutPrefix(sent[4].Content, want[4].Content)
		if !slices.Equal(sent[:4], want[:4]) || !ok || (added == "") != (a.AddedSHA == nil) {
			t.Errorf("%s was sent %q", id, sent)
		}
		without[*a.PromptWithoutSHA] = true
	}
	if sha := arms.SHA(arms.Prompt{Examples: want[:4], Base: want[4].Content}.JSON()); len(without) != 1 || !without[sha] {
		t.Errorf("prompts without what arms added: %v, want %s", without, sha)
	}
	if p := m.trials["word/0/last-verdict"].Passed; p == nil || !*p {
		t.Errorf("trial %s", detail(m.trials))
	}
	for _, e := range m.events(results.KindPromptComposed) {
		if e.Attempt == 1 && *e.PromptChars != int64(len("And one that starts with s?stoneAnother, please.sugar")+len(want[4].Content)) {
			t.Errorf("the draft's prompt has %d characters", *e.PromptChars)
		}
	}
	for _, e := range m.events(results.KindVerdict) {
		want := fmt.Sprintf("want one word and nothing else, got \"table%d\"\n", e.Attempt)
		if e.Passed != nil && !*e.Passed && (string(m.log.Blobs[*e.OutputSHA].Data) != want || *e.ExitCode != 1) {
			t.Errorf("attempt %d: output %q, exit code %d", e.Attempt, m.log.Blobs[*e.OutputSHA].Data, *e.ExitCode)
		}
	}
}
