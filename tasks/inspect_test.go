package tasks

import (
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
