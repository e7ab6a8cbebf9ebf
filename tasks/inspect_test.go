package tasks

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const answer = "def add_one(value):\n    return value + 1\n"

// faultsOf inspects a task made of a head and files.
func faultsOf(t *testing.T, instruction string, files ...string) []string {
	t.Helper()
	text := "-- task.yaml --\nid: x\ninstruction: |\n  " + instruction + "\nverify: sh test.sh\neditable: [a.py]\n-- workspace/a.py --\nbroken = True\n" +
		"-- solution/a.py --\n" + answer + "-- hidden/test.sh --\necho this is the hidden test\n"
	for i := 0; i < len(files); i += 2 {
		text += "-- " + files[i] + " --\n" + files[i+1]
	}
	faults, err := inspect(load(t, write(t, filepath.Join(t.TempDir(), "x.txtar"), text)).Tasks[0])
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

func TestInspectFindsAnswers(t *testing.T) {
	loose := ".git/objects/ab/" + strings.Repeat("0", 38)
	for _, c := range []struct {
		name  string
		files []string
		want  string // "" for no fault
	}{
		{"nothing", nil, ""},
		{"solution under another name", []string{"workspace/docs/old.txt", answer}, "solution/a.py can be read in the workspace, as docs/old.txt"},
		{"with other line ends", []string{"workspace/old.py", strings.ReplaceAll(answer, "\n", "\r\n")}, "solution/a.py can be read in the workspace, as old.py"},
		{"hidden test", []string{"workspace/test.sh", "echo this is the hidden test\n"}, "hidden/test.sh can be read in the workspace, as test.sh"},
		{"too small to tell", []string{"workspace/b", "\n\n", "hidden/c", "\n"}, ""},
		{"unchanged file in solution", []string{"workspace/same.py", answer + "# same\n", "solution/same.py", answer + "# same\n"}, ""},
		{"loose object", []string{"workspace/" + loose, "x"}, "cannot be certified: workspace/" + loose + " is part of a git repository's history"},
		{"pack", []string{"workspace/lib/.git/objects/pack/pack-1.pack", "x"}, "cannot be certified: workspace/lib/.git/objects/pack/pack-1.pack is part of"},
		{"bare", []string{"workspace/repo/objects/pack/pack-1.pack", "x"}, "cannot be certified"},
		{"elsewhere", []string{"workspace/.git", "gitdir: ../x\n"}, "cannot be certified: workspace/.git is a pointer to a git repository elsewhere"},
		{"bundle", []string{"workspace/all.bundle", "x"}, "is a git bundle"},
		{"git without objects", []string{"workspace/.git/HEAD", "ref: refs/heads/main\n"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			faults := faultsOf(t, "mend it", c.files...)
			if c.want == "" && len(faults) > 0 || c.want != "" && (len(faults) != 1 || !strings.Contains(faults[0], c.want)) {
				t.Errorf("faults %q, want %q", faults, c.want)
			}
		})
	}
}

// long is a text of n different lines, each begun with word.
func long(word string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "    %s(%d)\n", word, i)
	}
	return b.String()
}

// A file whose lines all stand in one of the workspace, one after the other, can
// be read there; one that is short, or all comments, tells nothing.
func TestInspectFindsContainedAnswers(t *testing.T) {
	body, header := long("step", telling), strings.Repeat("# One of many licences.\n", 3)+strings.ReplaceAll(long("of", telling), "    ", "# ")
	for _, c := range []struct {
		name  string
		files []string
		want  string // "" for no fault
	}{
		{"solution within another file", []string{"solution/b.py", body, "workspace/notes.txt", "before\n" + body + "after\n"}, "solution/b.py can be read in the workspace, as notes.txt"},
		{"hidden, spaced otherwise", []string{"hidden/b.py", body, "workspace/old.py", "def f():\r\n" + strings.ReplaceAll(strings.ReplaceAll(body, "    ", "\t"), "\n", "\r\n\r\n")}, "hidden/b.py can be read in the workspace, as old.py"},
		{"hidden, at its own place with more", []string{"hidden/b.py", body, "workspace/b.py", body + "more()\n"}, "hidden/b.py can be read in the workspace, as b.py"},
		{"solution, at its own place with more", []string{"solution/b.py", body, "workspace/b.py", body + "more()\n"}, ""},
		{"a line of it differs", []string{"solution/b.py", body, "workspace/b.txt", strings.Replace(body, "(5)", "(50)", 1)}, ""},
		{"not one after the other", []string{"solution/b.py", body, "workspace/b.txt", strings.Replace(body, "(5)", "(5)\nbetween", 1)}, ""},
		{"short", []string{"solution/b.py", long("step", telling-1), "workspace/b.txt", body}, ""},
		{"few different lines", []string{"solution/b.txt", strings.Repeat("0 0 0 0 0 0 0 0\n", 50), "workspace/zeros.txt", strings.Repeat("0 0 0 0 0 0 0 0\n", 99)}, ""},
		{"a header alone", []string{"hidden/__init__.py", header, "workspace/b.py", header + body}, ""},
	} {
		faults := faultsOf(t, "mend it", c.files...)
		if c.want == "" && len(faults) > 0 || c.want != "" && !slices.Equal(faults, []string{c.want}) {
			t.Errorf("%s: faults %q, want %q", c.name, faults, c.want)
		}
	}
}

func zipped(t *testing.T, name, text string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarred(t *testing.T, name, text string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))})
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t *testing.T, text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Archives of the workspace, by what they are and not by their names, are
// searched as its files are.
func TestInspectUnpacks(t *testing.T) {
	body := long("step", telling)
	for _, c := range []struct {
		name  string
		data  []byte
		place string // "" where nothing is found
	}{
		{"gzip", gzipped(t, body), "old (unpacked)"},
		{"zip", zipped(t, "src/b.py", "# before\n"+body), "old (src/b.py)"},
		{"tar", tarred(t, "src/b.py", body+"after()\n"), "old (src/b.py)"},
		{"tar in gzip", gzipped(t, string(tarred(t, "b.py", body))), "old (unpacked/b.py)"},
		{"zip in zip", zipped(t, "in.zip", string(zipped(t, "b.py", body))), "old (in.zip/b.py)"},
		{"cut short", gzipped(t, body)[:12], ""},
		{"something else", gzipped(t, long("other", telling)), ""},
		{"past the bound", zipped(t, "b.py", strings.Repeat("0", maxUnpacked)+body), ""},
	} {
		dir := t.TempDir()
		for name, data := range map[string][]byte{
			"task.yaml":     []byte("id: x\ninstruction: mend it\nverify: sh t\neditable: [a.py]\n"),
			"workspace/old": c.data, "workspace/a.py": []byte("broken = True\n"), "solution/a.py": []byte(body),
		} {
			full := filepath.Join(dir, "x", filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, data, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		faults, err := inspect(load(t, dir).Tasks[0])
		var want []string
		if c.place != "" {
			want = []string{"solution/a.py can be read in the workspace, as " + c.place}
		}
		if err != nil || !slices.Equal(faults, want) {
			t.Errorf("%s: faults %q, %v, want %q", c.name, faults, err, want)
		}
	}
}

// What the scaffold asks for is found wherever it is left, and nothing else is.
func TestInspectFindsScaffold(t *testing.T) {
	scaffold, err := os.ReadFile("../cmd/retrial/scaffold.txtar")
	if err != nil {
		t.Fatal(err)
	}
	todos := strings.Split(scaffoldTODOs, "\n")
	if n := strings.Count(string(scaffold), "TODO"); n != len(todos) {
		t.Errorf("the scaffold has %d TODOs, scaffoldTODOs %d", n, len(todos))
	}
	for _, todo := range todos {
		if !strings.Contains(string(scaffold), todo) {
			t.Errorf("the scaffold has no %q", todo)
		}
	}
	path := write(t, filepath.Join(t.TempDir(), "x.txtar"), strings.Replace(string(scaffold), "id: NAME", "id: x", 1))
	faults, err := inspect(load(t, path).Tasks[0])
	if err != nil || len(faults) != len(todos) {
		t.Fatalf("faults of the scaffold %q, %v", faults, err)
	}
	for i, where := range []string{"the instruction, line 1,", "workspace/program.py, line 1,", "workspace/test_visible.py, line 8,", "hidden/test_hidden.py, line 8,", "solution/program.py, line 1,"} {
		if !strings.HasPrefix(faults[i], where+" still holds what `tasks new` wrote: ") {
			t.Errorf("fault %q, want it at %s", faults[i], where)
		}
	}
	honest := []string{"workspace/todo.py", "# TODO: the program is slow\nTODO = 1  # TODO\n", "solution/b.py", "# TODO: say what is wrong here\n" + answer}
	if faults := faultsOf(t, "TODO: mend it", honest...); len(faults) > 0 {
		t.Errorf("honest TODOs: faults %q", faults)
	}
}

func TestInspectFindsMachinePaths(t *testing.T) {
	for text, want := range map[string]string{
		"see /home/ana/src/a.py":      "/home/ana",
		"see `/Users/bo.b/src`":       "/Users/bo.b",
		`run C:\Users\cy\a.exe`:       `C:\Users\cy`,
		`path "C:\\Users\\cy"`:        `C:\\Users\\cy`,
		"in /root/src":                "/root/src",
		"in /root.":                   "/root",
		"log in /tmp/xyz":             "/tmp/xyz",
		"at /private/tmp/xyz":         "/private/tmp/xyz",
		"at /var/folders/zz/q":        "/var/folders/zz",
		"see docs/home/ana":           "",
		"fetch https://x.org/home/me": "",
		"the /rooted tree":            "",
		"the /tmp folder":             "",
		"Users/ana":                   "",
	} {
		faults := faultsOf(t, text)
		if want == "" && len(faults) > 0 {
			t.Errorf("%q: faults %q", text, faults)
		}
		if said := fmt.Sprintf("the instruction names %s, a path of the machine it was made on", want); want != "" && !slices.Equal(faults, []string{said}) {
			t.Errorf("%q: faults %q, want %q", text, faults, said)
		}
	}
	list := load(t, write(t, filepath.Join(t.TempDir(), "x.txtar"),
		"-- task.yaml --\nid: x\ninstruction: x\nverify: sh t\nprotect: [t]\n-- workspace/a.py --\nopen('/home/ana/x')\n-- workspace/t --\ncd /home/bo\n")).Tasks
	if faults, err := inspect(list[0]); err != nil || len(faults) != 1 || !strings.HasPrefix(faults[0], "workspace/a.py names /home/ana") {
		t.Errorf("shown file: %q, %v", faults, err)
	}
}

// BenchmarkLoad reads and hashes a corpus of 10,000 task folders.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	for i := range 10_000 {
		task := filepath.Join(dir, fmt.Sprintf("task-%05d", i))
		for name, text := range map[string]string{
			"task.yaml":                 fmt.Sprintf("id: task-%05d\ninstruction: mend it\nverify: python3 -m unittest -q test_visible\nprotect: [test_visible.py]\n", i),
			"workspace/a.py":            strings.Repeat(answer, 20),
			"workspace/test_visible.py": strings.Repeat("# a line of a test\n", 20),
			"hidden/test_hidden.py":     strings.Repeat("# a line of a hidden test\n", 20),
			"solution/a.py":             strings.Repeat(answer, 21),
		} {
			path := filepath.Join(task, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		if c, err := Load(dir, ""); err != nil || len(c.Tasks) != 10_000 {
			b.Fatalf("%v", err)
		}
	}
}
