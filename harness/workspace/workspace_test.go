package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// fastDir is a memory file system where there is one.
func fastDir(t testing.TB) string {
	if dir, err := os.MkdirTemp("/dev/shm", "workspace-test-"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}

func open(t testing.TB, tree *Tree) *Workspace {
	t.Helper()
	w, err := Open(context.Background(), tree, fastDir(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// checkPristine compares a workspace on disk with what Open made.
func checkPristine(t testing.TB, w *Workspace) {
	t.Helper()
	got, err := ReadDir(w.box)
	if err != nil {
		t.Fatal(err)
	}
	equalTrees(t, got, w.image)
}

var programs = map[string]string{
	"calc.py": "def add(a, b):\n    return a - b\n", "tests/test_calc.py": "import calc\n",
	"tests/data/one.txt": "1\n", "run.sh*": "#!/bin/sh\n", "l": "-> calc.py", "empty/": "",
}

func TestRevertUndoesEverything(t *testing.T) {
	scratch := fastDir(t)
	elsewhere := filepath.Join(scratch, "elsewhere")
	precious := mustTree(t, map[string]string{"precious": "calc", "dir/file": "kept"})
	mustDo(t, precious.Write(elsewhere), os.Mkdir(filepath.Join(scratch, "root"), 0o755))
	rapid.Check(t, func(t *rapid.T) {
		pristine := randomTree(t)
		w, err := Open(context.Background(), pristine, filepath.Join(scratch, "root"))
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 2).Draw(t, "attempts") {
			for range rapid.IntRange(1, 8).Draw(t, "litters") {
				litter(t, w, elsewhere)
			}
			os.Chmod(w.box, 0o700) // as reaching it does
			before := state(w.Dir)
			patch, err := w.Diff()
			if err != nil {
				t.Fatal(err)
			}
			if after := state(w.Dir); before != after {
				t.Fatalf("diff changed the tree from\n%s\nto\n%s", before, after)
			}
			if _, err := Apply(pristine, patch.Text); err != nil {
				t.Fatalf("%v in\n%s", err, patch.Text)
			}
			if err := w.Revert(); err != nil {
				t.Fatal(err)
			}
			got, err := ReadDir(w.box)
			if err != nil {
				t.Fatal(err)
			}
			if g, want := describe(got), describe(w.image); g != want || len(got.Skipped()) > 0 {
				t.Fatalf("got:\n%s\nwant:\n%s\nskipped %q", g, want, got.Skipped())
			}
		}
		litter(t, w, elsewhere)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
	outside, err := ReadDir(elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	equalTrees(t, outside, precious)
	if left, err := os.ReadDir(filepath.Join(scratch, "root")); err != nil || len(left) > 0 {
		t.Errorf("workspaces left behind: %v, %v", left, err)
	}
}

// state prints paths and modes, as far as they can be seen.
func state(dir string) string {
	var b strings.Builder
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if info, err := os.Lstat(p); err == nil {
			b.WriteString(info.Mode().String() + " " + p + "\n")
		}
		return nil
	})
	return b.String()
}

func TestOpenRevertClose(t *testing.T) {
	w := open(t, mustTree(t, programs))
	checkPristine(t, w)
	got, err := ReadDir(w.Dir)
	if err != nil {
		t.Fatal(err)
	}
	equalTrees(t, got, mustTree(t, programs))
	if patch, err := w.Diff(); err != nil || !patch.Empty() || len(patch.Skipped) > 0 {
		t.Errorf("diff of an untouched workspace: %+v, %v", patch, err)
	}
	mustDo(t, os.RemoveAll(w.box), w.Revert())
	checkPristine(t, w)
	mustDo(t, os.RemoveAll(w.Dir), os.WriteFile(w.Dir, []byte("in the way"), 0o600))
	if patch, err := w.Diff(); err != nil || len(patch.Files) != 5 {
		t.Errorf("diff without a tree: %+v, %v", patch, err)
	}
	mustDo(t, w.Revert())
	checkPristine(t, w)
	mustDo(t, w.Close(), w.Close())
	if _, err := os.Lstat(w.box); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("closing left %v", err)
	}
	if err := w.Revert(); err == nil {
		t.Error("reverted a closed workspace")
	}
}

// A solver may have linked a file of ours to one outside: of equal content, so
// that only its mode differs. The outer file must not be given ours.
func TestRevertLeavesHardLinksAlone(t *testing.T) {
	w := open(t, mustTree(t, programs))
	outer := filepath.Join(filepath.Dir(w.box), "outer")
	inner := filepath.Join(w.Dir, "calc.py")
	mustDo(t, os.WriteFile(outer, []byte(programs["calc.py"]), 0o600), os.Remove(inner), os.Link(outer, inner), w.Revert())
	checkPristine(t, w)
	info, err := os.Lstat(outer)
	if err != nil || info.Mode() != 0o600 || links(info) != 1 {
		t.Errorf("the outer file is now %v, %v", info, err)
	}
}

func TestRevertRefusesAnotherDirectory(t *testing.T) {
	w := open(t, mustTree(t, programs))
	aside := w.box + "-aside"
	mustDo(t, os.Rename(w.box, aside), os.Mkdir(w.box, 0o700), os.WriteFile(filepath.Join(w.box, "kept"), nil, 0o600))
	if err := w.Revert(); err == nil {
		t.Error("reverted a directory that is not the workspace")
	}
	if _, err := os.Lstat(filepath.Join(w.box, "kept")); err != nil {
		t.Error(err)
	}
	mustDo(t, os.RemoveAll(w.box), os.Rename(aside, w.box))
}

func TestWriteFiles(t *testing.T) {
	w := open(t, mustTree(t, programs))
	mustDo(t, w.WriteFiles(map[string][]byte{
		"run.sh": []byte("#!/bin/sh\nexit\n"), "new/deep/f.py": []byte("f\n"), "l": []byte("through\n"), "calc.py.bak": nil,
	}))
	got, err := ReadDir(w.Dir)
	if err != nil {
		t.Fatal(err)
	}
	equalTrees(t, got, mustTree(t, programs).Overlay(mustTree(t, map[string]string{
		"run.sh*": "#!/bin/sh\nexit\n", "new/deep/f.py": "f\n", "calc.py": "through\n", "calc.py.bak": "",
	})))
	mustDo(t, os.RemoveAll(w.Dir), w.WriteFiles(map[string][]byte{"only": []byte("1")}))
	if got, err = ReadDir(w.Dir); err != nil {
		t.Fatal(err)
	}
	equalTrees(t, got, mustTree(t, map[string]string{"only": "1"}))
}

func TestWriteFilesRejects(t *testing.T) {
	w := open(t, mustTree(t, programs))
	outside := t.TempDir()
	mustDo(t, os.Symlink(outside, filepath.Join(w.Dir, "out")), os.Symlink("../../..", filepath.Join(w.Dir, "tests/up")),
		os.Symlink("loop", filepath.Join(w.Dir, "loop")), syscall.Mkfifo(filepath.Join(w.Dir, "pipe"), 0o600))
	before := state(w.box)
	for _, bad := range []string{
		"/etc/x", "../x", "a/../../x", "", ".", "a//b", "a\x00b", "out/x", "out", "tests/up/x", "tests", "calc.py/x",
		"loop", "pipe", strings.Repeat("n", 300),
	} {
		err := w.WriteFiles(map[string][]byte{"a-good-one": []byte("1"), bad: []byte("2")})
		if !errors.Is(err, ErrInvalidPath) {
			t.Errorf("WriteFiles(%q) = %v", bad, err)
		}
	}
	if err := w.WriteFiles(map[string][]byte{"x": nil, "x/y": nil}); !errors.Is(err, ErrInvalidPath) {
		t.Errorf("wrote a file below a file: %v", err)
	}
	if after := state(w.box); after != before {
		t.Errorf("rejected edits changed\n%s\nto\n%s", before, after)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("written outside: %v, %v", left, err)
	}
}

func TestRestore(t *testing.T) {
	for name, c := range map[string]struct {
		paths   []string
		litter  func(dir string) error
		changed []string
	}{
		"untouched": {[]string{"tests"}, func(string) error { return nil }, nil},
		"changed file": {[]string{"tests/test_calc.py"}, func(dir string) error {
			return os.WriteFile(dir+"/tests/test_calc.py", []byte("pass\n"), 0o644)
		}, []string{"tests/test_calc.py"}},
		"changed mode": {[]string{"run.sh"}, func(dir string) error { return os.Chmod(dir+"/run.sh", 0) }, []string{"run.sh"}},
		"deleted directory": {[]string{"tests/"}, func(dir string) error { return os.RemoveAll(dir + "/tests") },
			[]string{"tests", "tests/data", "tests/data/one.txt", "tests/test_calc.py"}},
		"new file in it": {[]string{"tests"}, func(dir string) error {
			return os.WriteFile(dir+"/tests/conftest.py", nil, 0o644)
		}, []string{"tests/conftest.py"}},
		"pattern": {[]string{"tests/test_*.py"}, func(dir string) error {
			return errors.Join(os.Remove(dir+"/tests/test_calc.py"), os.WriteFile(dir+"/tests/test_new.py", nil, 0o644),
				os.WriteFile(dir+"/tests/mine.py", nil, 0o644))
		}, []string{"tests/test_calc.py", "tests/test_new.py"}},
		"pattern in new places": {[]string{"*/conftest.py"}, func(dir string) error {
			return errors.Join(os.WriteFile(dir+"/tests/conftest.py", nil, 0o644), os.Mkdir(dir+"/new", 0o700),
				os.WriteFile(dir+"/new/conftest.py", nil, 0o644), os.WriteFile(dir+"/new/other.py", nil, 0o644),
				os.Chmod(dir+"/new", 0o500))
		}, []string{"new/conftest.py", "tests/conftest.py"}},
		"link for the directory": {[]string{"tests/test_calc.py"}, func(dir string) error {
			return errors.Join(os.Rename(dir+"/tests", dir+"/mine"), os.Symlink("mine", dir+"/tests"))
		}, []string{"tests", "tests/test_calc.py"}},
		"shut directory": {[]string{"tests/data/one.txt"}, func(dir string) error {
			return os.Chmod(dir+"/tests", 0)
		}, []string{"tests"}},
		"file for everything": {[]string{"."}, func(dir string) error {
			return errors.Join(os.RemoveAll(dir+"/empty"), os.WriteFile(dir+"/empty", nil, 0o644))
		}, []string{"empty"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, mustTree(t, programs))
			mustDo(t, w.WriteFiles(map[string][]byte{"calc.py": []byte("mine\n"), "extra.py": []byte("mine\n")}), c.litter(w.Dir))
			changed, err := w.Restore(c.paths)
			if err != nil {
				t.Fatal(err)
			}
			want := c.changed
			if name == "file for everything" {
				want = []string{"calc.py", "empty", "extra.py"}
			}
			if !slices.Equal(changed, want) {
				t.Errorf("changed %q, want %q", changed, want)
			}
			checkRestored(t, w, c.paths)
			if again, err := w.Restore(c.paths); err != nil || len(again) > 0 {
				t.Errorf("restoring again changed %q, %v", again, err)
			}
		})
	}
}

// checkRestored compares the protected part with the pristine one, and sees
// that the solver's own files are still there.
func checkRestored(t *testing.T, w *Workspace, paths []string) {
	t.Helper()
	now, err := ReadDir(w.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var protected patterns
	for _, p := range paths {
		protected = append(protected, strings.TrimSuffix(p, "/"))
	}
	part := func(tree *Tree) *Tree {
		var entries []Entry
		for _, e := range tree.Entries() {
			if protected.match(e.Path) {
				entries = append(entries, e)
			}
		}
		kept, err := NewTree(entries)
		if err != nil {
			t.Fatal(err)
		}
		return kept
	}
	equalTrees(t, part(now), part(w.pristine))
	if e, ok := now.Lookup("extra.py"); paths[0] != "." && (!ok || string(e.Data) != "mine\n") {
		t.Error("a file outside the protected paths is gone")
	}
}

func TestRestoreRejects(t *testing.T) {
	w := open(t, mustTree(t, programs))
	for _, bad := range []string{"/etc", "..", "a/../../b"} {
		if _, err := w.Restore([]string{bad}); !errors.Is(err, ErrInvalidPath) {
			t.Errorf("Restore(%q) = %v", bad, err)
		}
	}
	if _, err := w.Restore([]string{"[a"}); err == nil {
		t.Error("accepted a bad pattern")
	}
}

func TestAdd(t *testing.T) {
	w := open(t, mustTree(t, programs))
	hidden := mustTree(t, map[string]string{"tests/test_hidden.py": "h\n", "l/in": "x\n", "calc.py": "hidden\n"})
	mustDo(t, os.Chmod(w.Dir+"/tests", 0o500), w.Add(hidden))
	got, err := ReadDir(w.Dir)
	if err != nil {
		t.Fatal(err)
	}
	want := mustTree(t, programs).Overlay(hidden).Entries()
	for i := range want {
		if want[i].Path == "tests" {
			want[i].Mode = fs.ModeDir | 0o500
		}
	}
	wantTree, err := NewTree(want)
	mustDo(t, err)
	equalTrees(t, got, wantTree)
	mustDo(t, w.Revert())
	checkPristine(t, w)
}

func needBubblewrap(t testing.TB) {
	t.Helper()
	if _, err := FindBubblewrap(); err != nil {
		t.Skip(err)
	}
}
