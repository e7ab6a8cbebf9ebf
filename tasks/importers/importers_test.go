package importers

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"retrial/tasks"
)

// goodRow is a HumanEval row with the given id.
func goodRow(id string) string {
	data, err := json.Marshal(map[string]string{
		"task_id": id, "prompt": "def twice(n):\n    \"\"\"Twice n.\"\"\"\n", "entry_point": "twice",
		"canonical_solution": "    return 2 * n\n", "test": "def check(candidate):\n    assert candidate(3) == 6\n",
	})
	if err != nil {
		panic(err)
	}
	return string(data)
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// imported is what Import yields, by id. It is written too, and nothing beside
// the output folder may change by that.
func imported(t *testing.T, kind, source string) (map[string]Folder, []Skip) {
	t.Helper()
	parent := t.TempDir()
	writeFile(t, filepath.Join(parent, "beside", "a.txt"), "as it was\n")
	dir := filepath.Join(parent, "out")
	before := snapshot(t, parent, dir)
	out, err := CreateOutput(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Folder{}
	skips, err := Import(kind, source, func(f Folder) error {
		got[f.Task.ID] = f
		return out.Write(f)
	})
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	if after := snapshot(t, parent, dir); !maps.Equal(before, after) {
		t.Errorf("beside the output folder stand %q, before %q", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
	}
	written, err := os.ReadDir(dir)
	if err != nil || len(written) != len(got) {
		t.Errorf("%d folders were written for %d tasks: %v", len(written), len(got), err)
	}
	return got, skips
}

// expect compares ids and skips ("where: part of the reason").
func expect(t *testing.T, kind, source string, ids, skips []string) map[string]Folder {
	t.Helper()
	got, skipped := imported(t, kind, source)
	if have := slices.Sorted(maps.Keys(got)); !slices.Equal(have, ids) {
		t.Errorf("imported %q, want %q", have, ids)
	}
	for i, s := range skipped {
		where, reason, _ := strings.Cut(append(skips, make([]string, len(skipped))...)[i], ": ")
		if s.Where != where || reason == "" || !strings.Contains(s.Reason, reason) {
			t.Errorf("skip %d is %q, want %s: …%s…", i, s, where, reason)
		}
	}
	if len(skipped) != len(skips) {
		t.Errorf("%d skips, want %d: %v", len(skipped), len(skips), skipped)
	}
	return got
}

func TestBadRows(t *testing.T) {
	a, b := goodRow("Invented/1"), goodRow("Invented/2")
	without := func(field string) string {
		return strings.Replace(a, `"`+field+`"`, `"other"`, 1)
	}
	with := func(field, value string) string {
		var r row
		if err := json.Unmarshal([]byte(a), &r); err != nil {
			t.Fatal(err)
		}
		r[field] = json.RawMessage(value)
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	one, both := []string{"invented-1"}, []string{"invented-1", "invented-2"}
	for name, c := range map[string]struct {
		source     string
		ids, skips []string
	}{
		"blank lines and no last newline": {a + "\n\n \n" + b, both, nil},
		"CRLF":                            {a + "\r\n" + b + "\r\n", both, nil},
		"cut off":                         {a + "\n" + b[:len(b)/2], one, []string{"row 2: it is cut off"}},
		"not JSON":                        {"{,}\n" + a, one, []string{"row 1: not a JSON object"}},
		"not an object":                   {"7\nnull\n" + a, one, []string{"row 1: not a JSON object", "row 2: not a JSON object"}},
		"no task_id":                      {without("task_id") + "\n" + b, []string{"invented-2"}, []string{`row 1: no field "task_id"`}},
		"no prompt":                       {without("prompt"), nil, []string{`row 1: no field "prompt"`}},
		"no entry_point":                  {without("entry_point"), nil, []string{`row 1: no field "entry_point"`}},
		"no solution":                     {without("canonical_solution"), nil, []string{`row 1: no field "canonical_solution"`}},
		"no test":                         {without("test"), nil, []string{`row 1: no field "test"`}},
		"field in another case":           {strings.Replace(a, `"test"`, `"Test"`, 1), nil, []string{`row 1: no field "test"`}},
		"null":                            {with("test", "null"), nil, []string{`row 1: "test" is null`}},
		"wrong type":                      {with("prompt", "[1]"), nil, []string{`row 1: "prompt" has the wrong type`}},
		"empty field":                     {with("test", `" "`), nil, []string{`row 1: "test" is empty`}},
		"NUL":                             {with("prompt", `"def twice(n):\n \u0000"`), nil, []string{"row 1: NUL"}},
		"half a surrogate":                {strings.Replace(a, "Twice n.", `\ud83d`, 1), nil, []string{"row 1: surrogate"}},
		"twice":                           {a + "\n" + b + "\n" + a, both, []string{`row 3: "invented-1" is taken by row 1`}},
		"twice but for case":              {a + "\n" + goodRow("INVENTED/1"), one, []string{"row 2: taken by row 1"}},
		"id with more slashes":            {goodRow("Invented/x/1"), nil, []string{`row 1: "Invented/x/1"`}},
		"id with dots":                    {goodRow("../1"), nil, []string{`row 1: "../1"`}},
		"id that is absolute":             {goodRow("/1"), nil, []string{`row 1: "/1"`}},
		"id with a backslash":             {goodRow(`..\1/1`), nil, []string{"row 1: is not like"}},
		"entry point that is code":        {with("entry_point", `"twice);evil("`), nil, []string{"row 1: entry_point"}},
		"entry point elsewhere":           {with("entry_point", `"thrice"`), nil, []string{"row 1: does not define the entry_point thrice"}},
		"test without check":              {with("test", `"assert twice(1) == 2"`), nil, []string{"row 1: does not define check"}},
		"not UTF-8":                       {a + "\n" + strings.Replace(b, "Twice", "Tw\xff", 1) + "\n" + goodRow("Invented/3"), []string{"invented-1", "invented-3"}, []string{"row 2: not UTF-8"}},
		"array":                           {"[" + a + ",\n" + b + "]", both, nil},
		"array cut off in a row":          {"[" + a + "," + b[:len(b)/2], one, []string{"row 2: it is cut off"}},
		"array cut off after a row":       {"[" + a + "," + b, both, []string{"row 3: it is cut off"}},
		"array with a tail":               {"[" + a + "] x", one, []string{"row 2: follows the array's end"}},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, "humaneval", writeFile(t, filepath.Join(t.TempDir(), "rows"), c.source), c.ids, c.skips)
		})
	}
}

// TestHugeRow: a row of 100 MB is told and not held, and the next one is read.
func TestHugeRow(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	fmt.Fprintln(w, goodRow("Invented/1"))
	fmt.Fprint(w, `{"task_id": "`)
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range 100 {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintf(w, "\"}\n%s\n", goodRow("Invented/3"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	source := writeFile(t, filepath.Join(t.TempDir(), "rows.gz"), zipped.String())
	expect(t, "humaneval", source, []string{"invented-1", "invented-3"}, []string{"row 2: over the limit of 16777216"})
	cut := writeFile(t, filepath.Join(t.TempDir(), "rows.gz"), zipped.String()[:zipped.Len()/2])
	expect(t, "humaneval", cut, []string{"invented-1"}, []string{"row 2: it is cut off"})
}

func TestMBPPRows(t *testing.T) {
	full := `{"task_id": %s, "text": "Find it.", "code": "def f(): return 1", "test_list": %s, "test_setup_code": "", "challenge_test_list": []}`
	source := strings.Join([]string{
		fmt.Sprintf(full, "3", `["assert f() == 1"]`),
		fmt.Sprintf(full, `"4"`, `["assert f() == 1"]`),
		fmt.Sprintf(full, "-5", `["assert f() == 1"]`),
		fmt.Sprintf(full, "6", `[]`),
		fmt.Sprintf(full, "7", `[" "]`),
		`{"task_id": 8, "code": "x"}`,
		`{"task_id": 9, "prompt": "x", "code": "x", "test_list": ["x"], "test_imports": [], "test": "x"}`,
		`{"task_id": 10, "prompt": "x", "code": "x", "test_list": ["assert x"]}`,
	}, "\n")
	got := expect(t, "mbpp", writeFile(t, filepath.Join(t.TempDir(), "rows"), source), []string{"mbpp-3"}, []string{
		`row 2: "task_id" has the wrong type`, "row 3: negative", `row 4: "test_list" is empty`, "row 5: no statement",
		`row 6: neither or both`, `row 7: MBPP+`, `row 8: no field "test_imports"`,
	})
	task := got["mbpp-3"].Task
	if !slices.Contains(task.Tags, "tests-shown") || !strings.Contains(task.Instruction, "    assert f() == 1") || task.HasScore() {
		t.Errorf("tags %q, score %q, instruction:\n%s", task.Tags, task.Score, task.Instruction)
	}
}

// quixBugs writes the folder of one sound program.
func quixBugs(t *testing.T) string {
	dir := t.TempDir()
	for _, p := range []string{"python_programs/ok.py", "correct_python_programs/ok.py", "python_testcases/test_ok.py"} {
		writeFile(t, filepath.Join(dir, p), "x = 1\n")
	}
	return dir
}

func TestBadFolders(t *testing.T) {
	dir, outside := quixBugs(t), writeFile(t, filepath.Join(t.TempDir(), "secret.py"), "secret\n")
	add := func(name string) {
		writeFile(t, filepath.Join(dir, "python_programs", name+".py"), "y\n")
		writeFile(t, filepath.Join(dir, "correct_python_programs", name+".py"), "z\n")
		writeFile(t, filepath.Join(dir, "python_testcases", "test_"+name+".py"), "x\n")
	}
	add("Zed") // the same id as zed
	add("a..b")
	add("alone")
	add("binary")
	add("huge")
	add("link")
	add("pipe")
	add("zed")
	remove := func(p string) {
		if err := os.Remove(filepath.Join(dir, p)); err != nil {
			t.Fatal(err)
		}
	}
	remove("correct_python_programs/alone.py")
	writeFile(t, filepath.Join(dir, "python_programs/binary.py"), "\xff\xfe")
	if err := os.Truncate(filepath.Join(dir, "python_programs/huge.py"), 100<<20); err != nil {
		t.Fatal(err)
	}
	remove("correct_python_programs/link.py")
	remove("python_testcases/test_pipe.py")
	if err := errors.Join(os.Symlink(outside, filepath.Join(dir, "correct_python_programs/link.py")),
		os.Symlink("ok.py", filepath.Join(dir, "python_programs/inner.py")),
		os.Symlink("ok.py", filepath.Join(dir, "correct_python_programs/inner.py")),
		os.Symlink("test_ok.py", filepath.Join(dir, "python_testcases/test_inner.py")),
		syscall.Mkfifo(filepath.Join(dir, "python_testcases/test_pipe.py"), 0o644)); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "python_programs/b\xff.py"), "x\n")
	const at = "python_programs/"
	expect(t, "quixbugs", dir, []string{"inner", "ok", "zed"}, []string{
		at + `a..b.py: "a..b"`, at + "alone.py: no correct_python_programs/alone.py", at + "binary.py: not UTF-8", `"` + at + `b\xff.py": makes no task id`,
		at + "huge.py: has 104857600 bytes", at + "link.py: symlink that leaves the source", at + "pipe.py: not a file", at + "zed.py: taken by",
	})
}

// TestOutput: nothing outside the folder is written, nothing in it replaced.
func TestOutput(t *testing.T) {
	source := writeFile(t, filepath.Join(t.TempDir(), "rows"), goodRow("Invented/1"))
	f := expect(t, "humaneval", source, []string{"invented-1"}, nil)["invented-1"]
	dir := filepath.Join(t.TempDir(), "a", "b")
	out, err := CreateOutput(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Write(f); err != nil {
		t.Fatal(err)
	}
	if err := out.Write(f); err == nil || !strings.Contains(err.Error(), "invented-1: it is there already") {
		t.Errorf("written twice: %v", err)
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, ".partial-out")); err != nil {
		t.Fatal(err)
	}
	task := *f.Task
	for _, id := range []string{"out", "../out", "x/../../../out"} {
		task.ID = id
		if err := out.Write(Folder{&task, f.tree}); err == nil {
			t.Errorf("%s was written", id)
		}
	}
	if inside, err := os.ReadDir(outside); err != nil || len(inside) > 0 {
		t.Errorf("outside stand %v, %v", inside, err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	if _, err := CreateOutput(dir); err == nil || !strings.Contains(err.Error(), "nothing is overwritten") {
		t.Errorf("a folder in use: %v", err)
	}
	c, err := tasks.Load(dir, "")
	if err != nil || len(c.Tasks) != 1 || c.Tasks[0].Hash != f.Task.Hash {
		t.Errorf("loaded %+v, %v; want the hash %s", c, err, f.Task.Hash)
	}
}

// TestYAMLCarriesText: an instruction and a tag come back as they were,
// whatever they hold, or the task is refused.
func TestYAMLCarriesText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.OneOf(rapid.String(), rapid.StringMatching("[ \t\n\r:#'\"|>{}\\[\\]&*!%@`~a-z0-9\u0085\u2028-]{0,40}"))
		it := item{id: "x", tags: []string{words.Draw(t, "tag")}, instruction: words.Draw(t, "instruction"), verify: "true", timeout: pythonTimeout,
			workspace: map[string]file{"a": text("a")}}
		f, err := it.folder("x")
		if err != nil {
			return
		}
		if f.Task.Instruction != strings.TrimSpace(it.instruction) || f.Task.Tags[0] != it.tags[0] {
			t.Fatalf("read back %q, %q", f.Task.Instruction, f.Task.Tags)
		}
	})
}

func TestSources(t *testing.T) {
	dir := t.TempDir()
	for _, kind := range tasks.Importers() {
		_, err := tasks.Load(kind+":nowhere", dir)
		if !errors.Is(err, tasks.ErrNoCorpus) || !strings.Contains(err.Error(), filepath.Join(dir, "nowhere")) {
			t.Errorf("%s: %v", kind, err)
		}
		if _, err := tasks.Load(kind+":"+dir, ""); err == nil {
			t.Errorf("%s of an empty folder is a corpus", kind)
		}
	}
	if names, briefs := Kinds(); !slices.Equal(names, tasks.Importers()) || len(briefs) != len(names) {
		t.Errorf("kinds %q, registered %q", names, tasks.Importers())
	}
}

// TestHumanEval imports the real rows, where RETRIAL_HUMANEVAL names them.
func TestHumanEval(t *testing.T) {
	source := os.Getenv("RETRIAL_HUMANEVAL")
	if source == "" {
		t.Skip("RETRIAL_HUMANEVAL does not name HumanEval.jsonl.gz")
	}
	got, skips := imported(t, "humaneval", source)
	if len(got) != 164 || len(skips) != 0 {
		t.Errorf("%d imported, skipped %v", len(got), skips)
	}
}
