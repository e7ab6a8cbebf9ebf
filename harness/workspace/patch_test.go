package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestApplyInvertsCompare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := randomTree(t)
		to := successor(t, from)
		patch := Compare(from, to)
		got, err := Apply(from, patch.Text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, patch.Text)
		}
		if g, w := describe(got), describe(to); g != w {
			t.Fatalf("got:\n%s\nwant:\n%s\npatch:\n%s", g, w, patch.Text)
		}
		if patch.Empty() != (from.Hash() == to.Hash()) || patch.Empty() != (len(patch.Text) == 0) {
			t.Fatalf("Empty() = %v for\n%s", patch.Empty(), patch.Text)
		}
		if again := Compare(from, to); !bytes.Equal(again.Text, patch.Text) {
			t.Fatal("the same trees gave two patches")
		}
		checkCounts(t, patch)
	})
}

// checkCounts counts the lines of the text a second way.
func checkCounts(t *rapid.T, patch Patch) {
	added, removed := 0, 0
	for _, f := range patch.Files {
		added += f.LinesAdded
		removed += f.LinesRemoved
	}
	inHunk, binary := false, false
	for line := range strings.SplitSeq(string(patch.Text), "\n") {
		switch {
		case strings.HasPrefix(line, gitHeader):
			inHunk, binary = false, false
		case strings.HasPrefix(line, "GIT binary"):
			binary = true
		case binary:
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
		case inHunk && strings.HasPrefix(line, "+"):
			added--
		case inHunk && strings.HasPrefix(line, "-"):
			removed--
		}
	}
	if added != 0 || removed != 0 {
		t.Fatalf("counts are off by %d added and %d removed lines", added, removed)
	}
}

// TestGitApplies asks git for a second opinion on the patches.
func TestGitApplies(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	scratch := t.TempDir()
	n := 0
	check := func(t *rapid.T) {
		from := gitTree(t, randomTree(t))
		to := gitTree(t, successor(t, from))
		patch := Compare(from, to)
		if patch.Empty() {
			return
		}
		n++
		dir := filepath.Join(scratch, fmt.Sprint(n))
		if err := from.Write(dir); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sh", "-c", "umask 022; exec git apply --whitespace=nowarn -")
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader(patch.Text)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + scratch, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_CEILING_DIRECTORIES=" + scratch, "LC_ALL=C"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git apply: %v: %s in\n%s\nfrom:\n%s\nto:\n%s", err, out, patch.Text, describe(from), describe(to))
		}
		got, err := ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if g, w := describe(got), describe(to); g != w {
			t.Fatalf("git made:\n%s\nwant:\n%s\npatch:\n%s", g, w, patch.Text)
		}
	}
	seed := rand.Uint64() % 1_000_000
	t.Logf("examples from %d on", seed)
	gen := rapid.Custom(func(t *rapid.T) bool { check(t); return true })
	for i := range 150 {
		gen.Example(int(seed) + i)
	}
}

// gitTree leaves only the two file modes that git knows.
func gitTree(t *rapid.T, tree *Tree) *Tree {
	entries := tree.Entries()
	for i := range entries {
		if e := &entries[i]; e.IsRegular() {
			e.Mode = 0o644 | e.Mode&0o100/0o100*0o111
		}
	}
	next, err := NewTree(entries)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func TestPatchText(t *testing.T) {
	from := mustTree(t, map[string]string{
		"crlf.txt": "a\r\nb\r\n", "gone.txt": "gone\n", "moved.txt": "moved\n", "run.sh": "x\n",
		"eof.txt": "one\ntwo", "l": "-> a", "type": "text\n", "bin": "\x00\x01",
	})
	to := mustTree(t, map[string]string{
		"crlf.txt": "a\r\nc\r\n", "dir/moved.txt*": "moved\n", "run.sh*": "x\n", "sp ace": "s\n",
		"eof.txt": "one\ntwo\n", "l": "-> b", "type": "-> text", "bin": "\x00\x02", "empty": "", `q"`: "q\n",
	})
	patch := Compare(from, to)
	got := string(patch.Text)
	for _, part := range []string{
		"diff --git a/crlf.txt b/crlf.txt\n--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n",
		"diff --git a/moved.txt b/dir/moved.txt\nold mode 100644\nnew mode 100755\nsimilarity index 100%\n" +
			"rename from moved.txt\nrename to dir/moved.txt\ndiff",
		"diff --git a/empty b/empty\nnew file mode 100644\ndiff",
		"--- a/eof.txt\n+++ b/eof.txt\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+two\n",
		"diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n",
		"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
		"diff --git \"a/q\\\"\" \"b/q\\\"\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/q\\\"\"\n@@ -0,0 +1 @@\n+q\n",
		"diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\ndiff",
		"diff --git a/sp ace b/sp ace\nnew file mode 100644\n--- /dev/null\n+++ b/sp ace\t\n",
		"diff --git a/type b/type\ndeleted file mode 100644\n--- a/type\n+++ /dev/null\n@@ -1 +0,0 @@\n-text\n" +
			"diff --git a/type b/type\nnew file mode 120000\n",
		// The names are git's: printf '\0\1' | git hash-object --stdin
		"index bdc955b7b2e610ad5a72302b139a2e6cb325519a..8835708590a9afa236e1bbad18df9d23de82ccd3\nGIT binary patch\nliteral 2\n",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("not in the patch: %q\n%s", part, got)
		}
	}
	var kinds []string
	for _, f := range patch.Files {
		kinds = append(kinds, fmt.Sprintf("%s %s %d %d", f.Kind, f.Path, f.LinesAdded, f.LinesRemoved))
	}
	wantKinds := "modified bin 0 0, modified crlf.txt 1 1, renamed dir/moved.txt 0 0, added empty 0 0, modified eof.txt 1 1, " +
		"deleted gone.txt 0 1, modified l 1 1, added q\" 1 0, mode run.sh 0 0, added sp ace 1 0, deleted type 0 1, added type 1 0"
	if s := strings.Join(kinds, ", "); s != wantKinds {
		t.Errorf("files %s\nwant  %s", s, wantKinds)
	}
}

// Six unchanged lines between two edits belong to one hunk, seven part them.
func TestHunksMerge(t *testing.T) {
	for gap, hunks := range map[int]int{0: 1, 5: 1, 6: 1, 7: 2, 20: 2} {
		same := strings.Repeat("same\n", gap)
		patch := Compare(mustTree(t, map[string]string{"f": "a\n" + same + "b\n"}), mustTree(t, map[string]string{"f": "A\n" + same + "B\n"}))
		if n := strings.Count(string(patch.Text), "\n@@ "); n != hunks {
			t.Errorf("gap of %d: %d hunks, want %d in\n%s", gap, n, hunks, patch.Text)
		}
	}
}

// A file that becomes a link is not also the source of a rename.
func TestTypeChangeIsNoRename(t *testing.T) {
	patch := Compare(mustTree(t, map[string]string{"a": "text\n"}), mustTree(t, map[string]string{"a": "-> b", "b": "text\n"}))
	var kinds []string
	for _, f := range patch.Files {
		kinds = append(kinds, string(f.Kind)+" "+f.Path)
	}
	if s := strings.Join(kinds, ", "); s != "deleted a, added a, added b" {
		t.Errorf("files %s", s)
	}
}

func TestPatchSkips(t *testing.T) {
	from := mustTree(t, map[string]string{"d/x": "1", "was/": "", ".git/config": "1", "s": "1"})
	to := from.Overlay(mustTree(t, map[string]string{"sub/.git/HEAD": "h", ".git/config": "2", "new/": "", "s": "2"}))
	entries := to.Entries()
	var kept []Entry
	for _, e := range entries {
		switch e.Path {
		case "was":
			continue
		case "d":
			e.Mode = fs.ModeDir | 0o700
		case "s":
			e.Omitted, e.Data = true, nil
		}
		kept = append(kept, e)
	}
	to, err := NewTree(kept)
	if err != nil {
		t.Fatal(err)
	}
	patch := Compare(from, to)
	want := ".git (git metadata), d (directory mode 0700), new (empty directory), sub/.git (git metadata), was (empty directory, removed)"
	if s := strings.Join(patch.Skipped, ", "); s != want {
		t.Errorf("skipped %s\nwant    %s", s, want)
	}
	if !patch.Empty() {
		t.Errorf("patch is not empty: %s", patch.Text)
	}
}

func TestApplyKeepsDirectories(t *testing.T) {
	from, err := NewTree([]Entry{
		{Path: "private", Mode: fs.ModeDir | 0o700}, {Path: "private/x", Mode: 0o644}, {Path: "empty", Mode: fs.ModeDir | 0o750},
		{Path: "left/x", Mode: 0o644, Data: []byte("x")},
	})
	if err != nil {
		t.Fatal(err)
	}
	to := mustTree(t, map[string]string{"private/x": "1\n", "moved": "x"})
	got, err := Apply(from, Compare(from, to).Text)
	if err != nil {
		t.Fatal(err)
	}
	if d := describe(got); d != "drwxr-x--- empty \n-rw-r--r-- moved x\ndrwx------ private \n-rw-r--r-- private/x \"1\\n\"\n" {
		t.Errorf("got:\n%s", d)
	}
}

func TestApplyRejects(t *testing.T) {
	tree := mustTree(t, map[string]string{"a": "1\n2\n", "d/x": "x\n"})
	for name, c := range map[string]struct {
		patch string
		err   error
	}{
		"other content":  {"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-9\n+8\n", ErrConflict},
		"no such file":   {"diff --git a/z b/z\nold mode 100644\nnew mode 100755\n", ErrConflict},
		"already there":  {"diff --git a/a b/a\nnew file mode 100644\n", ErrConflict},
		"half a delete":  {"diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n", ErrConflict},
		"changed twice":  {"diff --git a/a b/a\nold mode 100644\nnew mode 100755\ndiff --git a/a b/a\nold mode 100644\nnew mode 100600\n", ErrConflict},
		"leaves tree":    {"diff --git a/../z b/../z\nnew file mode 100644\n", ErrInvalidPath},
		"below a file":   {"diff --git a/a/z b/a/z\nnew file mode 100644\n", ErrInvalidPath},
		"over directory": {"diff --git a/d b/d\nnew file mode 100644\n", ErrInvalidPath},
		"not a patch":    {"hello\n", nil},
		"torn hunk":      {"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-1\n", nil},
	} {
		got, err := Apply(tree, []byte(c.patch))
		if err == nil || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: Apply = %v, %v", name, got, err)
		}
	}
	same, err := Apply(tree, nil)
	if err != nil {
		t.Fatal(err)
	}
	equalTrees(t, same, tree)
}

// TestApplyReadsGit applies what git itself wrote, for a name that gitdiff
// alone misreads.
func TestApplyReadsGit(t *testing.T) {
	tree := mustTree(t, map[string]string{`back\`: "1\n"})
	got, err := Apply(tree, []byte(`diff --git "a/back\\" "b/back\\"
index d00491f..0cfbf08 100644
--- "a/back\\"
+++ "b/back\\"
@@ -1 +1 @@
-1
+2
`))
	if err != nil {
		t.Fatal(err)
	}
	equalTrees(t, got, mustTree(t, map[string]string{`back\`: "2\n"}))
}

// A long file with many scattered edits gives a patch of those edits, not of
// the whole file.
func TestManyEditsStaySmall(t *testing.T) {
	var before, after strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&before, "line %d\n", i)
		if i%10 == 0 {
			fmt.Fprintf(&after, "edit %d\n", i)
		} else {
			fmt.Fprintf(&after, "line %d\n", i)
		}
	}
	patch := Compare(mustTree(t, map[string]string{"f": before.String()}), mustTree(t, map[string]string{"f": after.String()}))
	if f := patch.Files[0]; f.LinesAdded != 200 || f.LinesRemoved != 200 {
		t.Errorf("%d added and %d removed lines, want 200 each", f.LinesAdded, f.LinesRemoved)
	}
}
