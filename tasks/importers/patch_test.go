package importers

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDeletions: what a patch deletes has to be what is there, all of it.
func TestDeletions(t *testing.T) {
	const head = "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n"
	binary := head + "index " + hashOf(gitBlob, []byte("a\x00b")).String()[:7] + "..0000000\nBinary files a/a.txt and /dev/null differ\n"
	lines := head + "--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
	empty := head + "index " + hashOf(gitBlob, nil).String()[:7] + "..0000000\n"
	for _, c := range []struct{ name, patch, content, want string }{
		{"the same", lines, "one\ntwo\n", ""},
		{"another line", lines, "one\nthree\n", "a.txt"},
		{"a line more", lines, "one\ntwo\nthree\n", "a.txt"},
		{"a line less", lines, "one\n", "a.txt"},
		{"no end of line", lines, "one\ntwo", "a.txt"},
		{"an empty file", empty, "", ""},
		{"an empty file that is none", empty, "one\n", "4 bytes of it are not in the patch"},
		{"binary", binary, "a\x00b", ""},
		{"another binary", binary, "a\x00c", "another content than the patch is for"},
		{"binary without a hash", head + binary[strings.Index(binary, "Binary"):], "a\x00b", "does not say which content it had"},
	} {
		got, err := applyPatch(map[string]file{"a.txt": {data: []byte(c.content)}}, c.patch)
		switch {
		case c.want == "" && (err != nil || len(got) != 1 || got["a.txt"] != nil):
			t.Errorf("%s: %v, %v", c.name, got, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestBinaryPatches: git's own patches of binary files apply to what they were
// made from, and to nothing else.
func TestBinaryPatches(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	before := map[string]string{"changed": "a\x00b\n", "gone": "\x00gone\n", "moved": "\x00moved " + strings.Repeat("x", 200)}
	for name, content := range before {
		writeFile(t, filepath.Join(dir, name), content)
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "x")
	writeFile(t, filepath.Join(dir, "changed"), "other\x00bytes\n")
	writeFile(t, filepath.Join(dir, "new"), "new\x00\n")
	writeFile(t, filepath.Join(dir, "there"), before["moved"]+"y")
	for _, name := range []string{"gone", "moved"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "add", "-A")
	patch := git(t, dir, "diff", "--cached", "--binary", "-M")
	apply := func(change string) (changes, error) {
		base := map[string]file{}
		for name, content := range before {
			if name == change {
				content = strings.ToUpper(content)
			}
			base[name] = file{data: []byte(content)}
		}
		return applyPatch(base, patch)
	}
	got, err := apply("")
	if err != nil || string(got["changed"].data) != "other\x00bytes\n" || string(got["there"].data) != before["moved"]+"y" || string(got["new"].data) != "new\x00\n" ||
		got["gone"] != nil || got["moved"] != nil || !slices.Equal(slices.Sorted(maps.Keys(got)), []string{"changed", "gone", "moved", "new", "there"}) {
		t.Errorf("%v, %v", got, err)
	}
	for name := range before {
		if _, err := apply(name); err == nil || !strings.Contains(err.Error(), name+" has another content") {
			t.Errorf("another %s: %v", name, err)
		}
	}
}
