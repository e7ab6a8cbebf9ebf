package importers

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"retrial/tasks"
)

// git runs git on dir as nobody in particular, at a fixed time.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "init.defaultBranch=main", "-c", "gc.auto=0", "-c", "core.autocrlf=false", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, said.String())
	}
	return out.String()
}

func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here: it makes the repository of this test")
	}
}

// ledger is a repository before and after a change.
var ledger = struct{ before, after map[string]string }{
	before: map[string]string{
		"ledger/__init__.py":      "",
		"ledger/balance.py":       "def balance(entries):\n    total = 0\n    for amount in entries:\n        total -= amount\n    return total\n",
		"ledger/old.py":           "OLD = True\n",
		"tests/__init__.py":       "",
		"tests/test_balance.py":   "import unittest\nfrom ledger.balance import balance\n\n\nclass BalanceTest(unittest.TestCase):\n    def test_empty(self):\n        self.assertEqual(balance([]), 0)\n",
		"tests/test_gone.py":      "import unittest\n",
		"conftest.py":             "",
		"README.md":               "A ledger.\n",
		"docs/deep/er/notes.txt":  strings.Repeat("a line that is there many times\n", 400),
		"tests/data/old/name.txt": "kept\n",
	},
	after: map[string]string{
		"ledger/balance.py":       "def balance(entries):\n    total = 0\n    for amount in entries:\n        total += amount\n    return total\n",
		"ledger/extra.py":         "EXTRA = 1\n",
		"ledger/old.py":           "",
		"tests/test_balance.py":   "import unittest\nfrom ledger.balance import balance\n\n\nclass BalanceTest(unittest.TestCase):\n    def test_empty(self):\n        self.assertEqual(balance([]), 0)\n\n    def test_two(self):\n        self.assertEqual(balance([1, 2]), 3)\n",
		"tests/test_gone.py":      "",
		"tests/data/old/name.txt": "",
		"tests/data/new/name.txt": "kept\n",
	},
}

// project is a repository in a folder of mirrors, and the row of its change.
type project struct {
	mirrors, dir string
	row          map[string]any
}

// makeProject commits ledger's two states into MIRRORS/NAME. An empty content
// removes a file.
func makeProject(t testing.TB, name string) project {
	t.Helper()
	needGit(t)
	p := project{mirrors: t.TempDir()}
	p.dir = filepath.Join(p.mirrors, name)
	commit := func(files map[string]string, message string) string {
		for f, content := range files {
			if at := filepath.Join(p.dir, f); content != "" || strings.HasSuffix(f, "__init__.py") || f == "conftest.py" {
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if err := os.Remove(at); err != nil {
				t.Fatal(err)
			}
		}
		git(t, p.dir, "add", "-A")
		git(t, p.dir, "commit", "-q", "-m", message)
		return strings.TrimSpace(git(t, p.dir, "rev-parse", "HEAD"))
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, p.dir, "init", "-q")
	base := commit(ledger.before, "before")
	fix := commit(ledger.after, "after: the answer stands in the history")
	p.row = map[string]any{
		"instance_id": "Invented__ledger-1", "repo": "invented/ledger", "base_commit": base, "problem_statement": "A balance has the wrong sign.\n",
		"patch":      git(t, p.dir, "diff", "--binary", base, fix, "--", "ledger"),
		"test_patch": git(t, p.dir, "diff", "--binary", base, fix, "--", "tests"),
		"hints_text": "Look at the sign.", "created_at": "2020-01-01", "version": "1.0", "environment_setup_commit": fix, "image": "",
		"FAIL_TO_PASS": []string{"test_two (tests.test_balance.BalanceTest)"}, "PASS_TO_PASS": `["test_empty (tests.test_balance.BalanceTest.test_empty)"]`,
	}
	return p
}

// with is the row with other fields; nil takes one away.
func (p project) with(changes map[string]any) string {
	row := maps.Clone(p.row)
	for name, v := range changes {
		if row[name] = v; v == nil {
			delete(row, name)
		}
	}
	data, err := json.Marshal(row)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// rows writes a source.
func rows(t testing.TB, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// one imports a source of one sound row.
func (p project) one(t *testing.T, changes map[string]any) Folder {
	t.Helper()
	t.Setenv(MirrorVariable, p.mirrors)
	for _, f := range expect(t, "swebench", rows(t, p.with(changes)), []string{"invented__ledger-1"}, nil) {
		return f
	}
	t.FailNow()
	return Folder{}
}

func TestSWEBenchTask(t *testing.T) {
	p := makeProject(t, "invented/ledger")
	f := p.one(t, nil)
	want := []string{
		"hidden/.swebench/score.json", "hidden/.swebench/swebench_tests.py", "solution/ledger/balance.py", "solution/ledger/extra.py", "task.yaml",
		"workspace/README.md", "workspace/conftest.py", "workspace/docs/deep/er/notes.txt", "workspace/ledger/__init__.py", "workspace/ledger/balance.py",
		"workspace/ledger/old.py", "workspace/tests/__init__.py", "workspace/tests/data/new/name.txt", "workspace/tests/test_balance.py",
	}
	if got := f.Files(); !slices.Equal(got, want) {
		t.Errorf("files\n%q, want\n%q", got, want)
	}
	task := f.Task
	for what, c := range map[string][2]string{
		"verify":      {task.Verify, "python3 -m unittest -q tests.test_balance.BalanceTest.test_two"},
		"score":       {task.Score, "python3 .swebench/swebench_tests.py .swebench/score.json"},
		"protect":     {strings.Join(task.Protect, " "), "conftest.py tests/data/new/name.txt tests/test_balance.py"},
		"editable":    {strings.Join(task.Editable, " "), "ledger/balance.py ledger/old.py"},
		"instruction": {task.Instruction, "A balance has the wrong sign."},
		"image":       {task.Image, ""},
	} {
		if c[0] != c[1] {
			t.Errorf("%s is %q, want %q", what, c[0], c[1])
		}
	}
	for _, tag := range []string{"tests-visible", "hints-withheld", "oracle-files", "solution-keeps-deleted", "repo=invented/ledger", "version=1.0",
		"environment-setup-commit=" + p.row["environment_setup_commit"].(string)} {
		if !slices.Contains(task.Tags, tag) {
			t.Errorf("no tag %s: %q", tag, task.Tags)
		}
	}
	for _, name := range f.Files() {
		data, err := fs.ReadFile(f.tree, name)
		if err != nil || bytes.Contains(data, []byte("Look at the sign")) || bytes.Contains(data, []byte("stands in the history")) {
			t.Errorf("%s gives away what is withheld (%v)", name, err)
		}
	}
}

// TestSWEBenchForms: every form of a source, of a list and of a mirror gives the
// same task.
func TestSWEBenchForms(t *testing.T) {
	p := makeProject(t, "invented/ledger")
	want := p.one(t, nil).Task.Hash
	check := func(what, source, mirrors string) {
		t.Helper()
		t.Setenv(MirrorVariable, mirrors)
		c, err := tasks.Load("swebench:"+source, "")
		if err != nil {
			t.Errorf("%s: %v", what, err)
		} else if len(c.Tasks) != 1 || c.Tasks[0].Hash != want {
			t.Errorf("%s gives another task", what)
		}
	}
	failing, passing := p.row["FAIL_TO_PASS"].([]string), p.row["PASS_TO_PASS"].(string)
	var passed []string
	if err := json.Unmarshal([]byte(passing), &passed); err != nil {
		t.Fatal(err)
	}
	check("lists the other way", rows(t, p.with(map[string]any{"FAIL_TO_PASS": jsonText(failing), "PASS_TO_PASS": passed})), p.mirrors)
	check("an array", rows(t, "["+p.with(nil)+"]"), p.mirrors)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write([]byte(p.with(nil)))
	w.Close()
	check("gzip", writeFile(t, filepath.Join(t.TempDir(), "rows.gz"), zipped.String()), p.mirrors)
	for name, data := range parquetForms(t, p.row, failing, passed) {
		check("Parquet, "+name, writeFile(t, filepath.Join(t.TempDir(), "rows.parquet"), data), p.mirrors)
	}
	source := rows(t, p.with(nil))
	for _, name := range []string{"invented/ledger.git", "invented__ledger", "invented__ledger.git"} {
		mirrors := t.TempDir()
		git(t, p.mirrors, "clone", "-q", "--mirror", p.dir, filepath.Join(mirrors, name))
		check("a mirror as "+name, source, mirrors)
	}
	beside := filepath.Join(filepath.Dir(source), "mirrors", "invented__ledger")
	git(t, p.mirrors, "clone", "-q", "--shared", p.dir, beside)
	check("mirrors/ beside the source", source, "")
}

func jsonText(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// parquetForms writes one row as lists and as texts, with the columns in
// different orders, and with what is not read: numbers, structures, nulls.
func parquetForms(t *testing.T, row map[string]any, failing, passing []string) map[string]string {
	t.Helper()
	get := func(name string) string { return row[name].(string) }
	type lists struct {
		Assets   map[string][]string  `parquet:"image_assets"`
		Passing  []string             `parquet:"PASS_TO_PASS,list"`
		Failing  []string             `parquet:"FAIL_TO_PASS,list"`
		Problem  string               `parquet:"problem_statement"`
		Test     string               `parquet:"test_patch"`
		Patch    string               `parquet:"patch"`
		Base     string               `parquet:"base_commit"`
		Number   int64                `parquet:"issue_id"`
		Repo     string               `parquet:"repo"`
		ID       string               `parquet:"instance_id"`
		Image    *string              `parquet:"image,optional"`
		Script   *string              `parquet:"eval_script,optional"`
		Hints    string               `parquet:"hints_text"`
		Version  string               `parquet:"version"`
		Setup    string               `parquet:"environment_setup_commit"`
		Nested   []struct{ A, B int } `parquet:"nested"`
		Repeated []string             `parquet:"repeated"`
	}
	type texts struct {
		ID      string `parquet:"instance_id,dict"`
		Repo    string `parquet:"repo,snappy"`
		Base    string `parquet:"base_commit"`
		Patch   string `parquet:"patch,zstd"`
		Test    string `parquet:"test_patch"`
		Problem string `parquet:"problem_statement"`
		Hints   string `parquet:"hints_text"`
		Version string `parquet:"version"`
		Setup   string `parquet:"environment_setup_commit"`
		Failing string `parquet:"FAIL_TO_PASS"`
		Passing string `parquet:"PASS_TO_PASS"`
		Image   string `parquet:"image"`
	}
	out, none := map[string]string{}, ""
	var b bytes.Buffer
	if err := parquet.Write(&b, []lists{{map[string][]string{}, passing, failing, get("problem_statement"), get("test_patch"), get("patch"), get("base_commit"), 7,
		get("repo"), get("instance_id"), &none, nil, get("hints_text"), get("version"), get("environment_setup_commit"), []struct{ A, B int }{{1, 2}}, nil}}); err != nil {
		t.Fatal(err)
	}
	out["lists"] = b.String()
	b.Reset()
	if err := parquet.Write(&b, []texts{{get("instance_id"), get("repo"), get("base_commit"), get("patch"), get("test_patch"), get("problem_statement"),
		get("hints_text"), get("version"), get("environment_setup_commit"), jsonText(failing), jsonText(passing), ""}}); err != nil {
		t.Fatal(err)
	}
	out["texts"] = b.String()
	return out
}
