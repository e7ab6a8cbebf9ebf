package tasks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// sound is a task with nothing wrong with it.
const sound = `a comment above the files
-- task.yaml --
id: add-one
tags: [python, easy]
instruction: |
  Mend add.
editable: [add.py]
verify: sh check.sh
score: sh hidden.sh
timeout: 7s
protect: [check.sh]
-- workspace/add.py --
def add(x): return x
-- workspace/check.sh --
grep -q 'x + 1' add.py
-- workspace/lib/deep/util.py --
pass
-- hidden/hidden.sh --
true
-- solution/add.py --
def add(x): return x + 1
`

// unpack writes an archive's files below dir.
func unpack(t *testing.T, dir, archive string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		p := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, spec string) *Corpus {
	t.Helper()
	c, err := Load(spec, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// files lists what a tree holds, path and content.
func files(t *testing.T, tree fs.FS) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, p)
		out = append(out, p+"="+string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFolderAndArchiveAreTheSameTask(t *testing.T) {
	dir := t.TempDir()
	unpack(t, filepath.Join(dir, "f", "some-folder"), sound)
	a := load(t, write(t, filepath.Join(dir, "one.txtar"), sound)).Tasks[0]
	b := load(t, filepath.Join(dir, "f", "some-folder")).Tasks[0]
	c := load(t, filepath.Join(dir, "f")).Tasks[0]
	for _, other := range []*Task{b, c} {
		if a.Hash != other.Hash || len(a.Hash) != 64 {
			t.Errorf("hashes %s and %s", a.Hash, other.Hash)
		}
		for _, trees := range [][2]fs.FS{{a.Workspace, other.Workspace}, {a.Hidden, other.Hidden}, {a.Solution, other.Solution}} {
			if x, y := files(t, trees[0]), files(t, trees[1]); !slices.Equal(x, y) {
				t.Errorf("trees %q and %q", x, y)
			}
		}
		if a.ID != other.ID || a.Verify != other.Verify || a.Score != other.Score || a.Instruction != other.Instruction ||
			!slices.Equal(a.Editable, other.Editable) || !slices.Equal(a.Protect, other.Protect) || !slices.Equal(a.Tags, other.Tags) {
			t.Errorf("fields\n%+v\n%+v", a, other)
		}
	}
	if a.Timeout != 7*time.Second || a.Group != "add-one" || a.Instruction != "Mend add." || !a.HasScore() {
		t.Errorf("fields %+v", a)
	}
	shown, err := a.EditableFiles()
	if err != nil || len(shown) != 1 || shown[0] != (File{"add.py", "def add(x): return x\n"}) {
		t.Errorf("editable files %q, %v", shown, err)
	}
}

// Every byte of a task, and the executable bit, is under its hash; what lies
// beside it is not.
func TestHash(t *testing.T) {
	hashOf := func(change func(dir string)) string {
		dir := filepath.Join(t.TempDir(), "task")
		unpack(t, dir, sound)
		change(dir)
		return load(t, dir).Tasks[0].Hash
	}
	same := func(dir string) { write(t, filepath.Join(dir, "NOTES.md"), "beside") }
	plain := hashOf(func(string) {})
	if got := hashOf(same); got != plain {
		t.Errorf("a file beside the task changes its hash")
	}
	seen := map[string]string{plain: "plain"}
	for name, change := range map[string]func(dir string){
		"content":  func(dir string) { write(t, filepath.Join(dir, "hidden", "hidden.sh"), "false\n") },
		"new file": func(dir string) { write(t, filepath.Join(dir, "solution", "b.py"), "") },
		"moved": func(dir string) {
			os.Rename(filepath.Join(dir, "workspace", "lib"), filepath.Join(dir, "workspace", "lob"))
		},
		"mode":   func(dir string) { os.Chmod(filepath.Join(dir, "workspace", "check.sh"), 0o755) },
		"folder": func(dir string) { os.Mkdir(filepath.Join(dir, "workspace", "empty"), 0o755) },
		"link":   func(dir string) { os.Symlink("add.py", filepath.Join(dir, "workspace", "l.py")) },
		"yaml":   func(dir string) { write(t, filepath.Join(dir, "task.yaml"), "id: a\ninstruction: b\nverify: c\n") },
	} {
		got := hashOf(change)
		if other, clash := seen[got]; clash {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[got] = name
	}
}

func TestCorpusOrderAndSkips(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"c-task", "a-task", "b.task"} {
		text := strings.ReplaceAll(sound, "add-one", id)
		if id == "a-task" {
			unpack(t, filepath.Join(dir, "zz"), text) // the id orders, not the name
			continue
		}
		write(t, filepath.Join(dir, "x"+id+".txtar"), text)
	}
	write(t, filepath.Join(dir, "README.md"), "not a task")
	unpack(t, filepath.Join(dir, ".hidden"), sound)
	unpack(t, filepath.Join(dir, "notes"), "-- some.txt --\nx\n")
	elsewhere := filepath.Join(t.TempDir(), "linked")
	unpack(t, elsewhere, strings.ReplaceAll(sound, "add-one", "d-task"))
	if err := os.Symlink(elsewhere, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, k := range load(t, dir).Tasks {
		ids = append(ids, k.ID)
	}
	if want := []string{"a-task", "b.task", "c-task", "d-task"}; !slices.Equal(ids, want) {
		t.Errorf("ids %v, want %v", ids, want)
	}
}

// TestFirstFault: of several faulty tasks the first in the order of names is
// told, each time, and the sound ones keep their order.
func TestFirstFault(t *testing.T) {
	dir := t.TempDir()
	for i := range 200 {
		text := strings.ReplaceAll(sound, "add-one", fmt.Sprintf("t-%03d", i))
		write(t, filepath.Join(dir, fmt.Sprintf("%03d.txtar", i)), text)
	}
	c := load(t, dir)
	for i, k := range c.Tasks {
		if want := fmt.Sprintf("t-%03d", i); k.ID != want || k.Source != dir+fmt.Sprintf("/%03d.txtar", i) {
			t.Fatalf("task %d is %s of %s", i, k.ID, k.Source)
		}
	}
	for _, first := range []int{0, 57, 199} {
		write(t, filepath.Join(dir, fmt.Sprintf("%03d.txtar", first)), "no task")
		for i := first + 1; i < 200; i += 3 {
			write(t, filepath.Join(dir, fmt.Sprintf("%03d.txtar", i)), "no task either")
		}
		for range 20 {
			if _, err := Load(dir, ""); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("%s/%03d.txtar: it has no file", dir, first)) {
				t.Fatalf("with %d as the first: %v", first, err)
			}
		}
		for i := first; i < 200; i++ {
			write(t, filepath.Join(dir, fmt.Sprintf("%03d.txtar", i)), strings.ReplaceAll(sound, "add-one", fmt.Sprintf("t-%03d", i)))
		}
	}
}

func TestRelativeToBase(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "one.txtar"), sound)
	for _, spec := range []string{"one.txtar", ".", filepath.Join(dir, "one.txtar")} {
		if c, err := Load(spec, dir); err != nil || len(c.Tasks) != 1 || c.BuiltIn || c.Name != spec {
			t.Errorf("Load(%s): %+v, %v", spec, c, err)
		}
	}
}

func TestBuiltIn(t *testing.T) {
	if !slices.Contains(BuiltIn(), "builtin:py-bugs") {
		t.Fatalf("built in: %v", BuiltIn())
	}
	c := load(t, "builtin:py-bugs")
	if !c.BuiltIn || len(c.Tasks) < 24 {
		t.Errorf("%d tasks, built in %t", len(c.Tasks), c.BuiltIn)
	}
	for _, k := range c.Tasks {
		if !k.HasScore() || !k.HasFiles(k.Solution) || !k.HasFiles(k.Hidden) || len(k.Protect) == 0 || k.Source != "builtin:py-bugs/"+k.ID+".txtar" {
			t.Errorf("task %s from %s lacks a part", k.ID, k.Source)
		}
	}
}

func TestDefaultEditable(t *testing.T) {
	text := strings.Replace(strings.Replace(sound, "editable: [add.py]\n", "", 1), "[check.sh]", "['*.sh', lib]", 1)
	dir := t.TempDir()
	unpack(t, dir, text)
	write(t, filepath.Join(dir, "workspace", "logo.png"), "\x89PNG\xff")
	write(t, filepath.Join(dir, "workspace", "zoo.py"), "")
	if err := os.Symlink("zoo.py", filepath.Join(dir, "workspace", "alias.py")); err != nil {
		t.Fatal(err)
	}
	if got := load(t, dir).Tasks[0].Editable; !slices.Equal(got, []string{"add.py", "zoo.py"}) {
		t.Errorf("editable %v: want the text files that nothing protects", got)
	}
}

func TestCRLF(t *testing.T) {
	crlf := strings.ReplaceAll(sound, "\n", "\r\n")
	k := load(t, write(t, filepath.Join(t.TempDir(), "a.txtar"), crlf)).Tasks[0]
	if k.ID != "add-one" || k.Instruction != "Mend add." {
		t.Errorf("id %q, instruction %q", k.ID, k.Instruction)
	}
	if data, _ := fs.ReadFile(k.Workspace, "add.py"); string(data) != "def add(x): return x\r\n" {
		t.Errorf("content %q: want its line ends kept", data)
	}
}

// TestLargeFiles: a file over the limit is told by its name, and is not read.
func TestLargeFiles(t *testing.T) {
	for name, want := range map[string]string{
		"add/workspace/big.bin": "workspace/big.bin is larger than 64 MiB",
		"add/hidden/big.bin":    "hidden/big.bin is larger than 64 MiB",
		"add/task.yaml":         "add/task.yaml: task.yaml is larger than 1 MiB",
		"big.txtar":             "big.txtar is larger than 64 MiB",
	} {
		corpus := t.TempDir()
		unpack(t, filepath.Join(corpus, "add"), sound)
		p := filepath.Join(corpus, name)
		if f, err := os.OpenFile(p, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
			t.Fatal(err)
		} else if err := errors.Join(f.Truncate(100<<20), f.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(corpus, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestCRLFFolder: a checkout with CRLF line ends loads, its files as they are.
func TestCRLFFolder(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, strings.ReplaceAll(sound, "\n", "\r\n"))
	k := load(t, dir).Tasks[0]
	if k.ID != "add-one" || k.Verify != "sh check.sh" || k.Timeout != 7*time.Second || !slices.Equal(k.Editable, []string{"add.py"}) {
		t.Errorf("fields %+v", k)
	}
	if data, _ := fs.ReadFile(k.Workspace, "add.py"); string(data) != "def add(x): return x\r\n" {
		t.Errorf("content %q: want its line ends kept", data)
	}
}

func TestLinkInsideIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "add")
	unpack(t, dir, sound)
	if err := os.Symlink("../../check.sh", filepath.Join(dir, "workspace", "lib", "deep", "l")); err != nil {
		t.Fatal(err)
	}
	k := load(t, dir).Tasks[0]
	if target, err := fs.ReadLink(k.Workspace, "lib/deep/l"); err != nil || target != "../../check.sh" {
		t.Errorf("link %q, %v", target, err)
	}
}

func TestNamesThatAreNotUTF8(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux lets file names be any bytes")
	}
	for _, where := range []string{"add/workspace/h\xff.py", "add/workspace/lib/d\xfe/x", "t\xff.txtar"} {
		corpus := t.TempDir()
		unpack(t, filepath.Join(corpus, "add"), sound)
		p := filepath.Join(corpus, where)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, p, "x")
		_, err := Load(corpus, "")
		if err == nil || !strings.Contains(err.Error(), "is not UTF-8") || !strings.Contains(err.Error(), `\xf`) {
			t.Errorf("%q: error %v", where, err)
		}
	}
}

func TestCorpusFaults(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	twice := filepath.Join(dir, "twice")
	unpack(t, filepath.Join(twice, "b"), sound)
	write(t, filepath.Join(twice, "a.txtar"), sound)
	plain := write(t, filepath.Join(dir, "plain.txt"), sound)
	for _, c := range []struct {
		spec, want string
		noCorpus   bool
	}{
		{empty, "corpus " + empty + " holds no task: want folders with a task.yaml, or .txtar files", false},
		{twice, `two tasks have the id "add-one": ` + twice + "/a.txtar and " + twice + "/b", false},
		{plain, "no such corpus: " + plain + " is a file, but not a .txtar", true},
		{"builtin:py-bug", `no such corpus: unknown corpus "builtin:py-bug" (did you mean "builtin:py-bugs"?)`, true},
		{"bultin:py-bugs", `no such corpus: "bultin:py-bugs" is neither a file nor a folder (did you mean "builtin:py-bugs"?)`, true},
		{dir + "/none", `no such corpus: "` + dir + `/none" is neither a file nor a folder (built in: ` + strings.Join(BuiltIn(), ", ") + ")", true},
	} {
		_, err := Load(c.spec, "")
		if err == nil || err.Error() != c.want || errors.Is(err, ErrNoCorpus) != c.noCorpus {
			t.Errorf("Load(%s): %v\nwant %s", c.spec, err, c.want)
		}
	}
}
