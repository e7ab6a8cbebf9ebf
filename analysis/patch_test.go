package analysis

import (
	"strings"
	"testing"
)

func TestPatchIdentity(t *testing.T) {
	base := diffOf("a = 1", "a = 2")
	cases := []struct {
		name  string
		other string
		same  bool
	}{
		{"itself", base, true},
		{"other offsets and context", "diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -7,1 +9,1 @@\n-a = 1\n+a = 2\n", true},
		{"other white space", diffOf("a  = 1", "a =\t2"), true},
		{"CRLF", strings.ReplaceAll(base, "\n", "\r\n"), true},
		{"another value", diffOf("a = 1", "a = 3"), false},
		{"the other way round", diffOf("a = 2", "a = 1"), false},
		{"another file", strings.ReplaceAll(base, "m.py", "n.py"), false},
		{"mode only", "diff --git a/m.py b/m.py\nold mode 100644\nnew mode 100755\n", false},
		{"nothing", "", false},
	}
	for _, c := range cases {
		if got := readPatch(base).same(readPatch(c.other)); got != c.same {
			t.Errorf("%s: same=%v, want %v", c.name, got, c.same)
		}
	}
	if !readPatch("").empty() || readPatch("diff --git a/m b/m\nold mode 100644\nnew mode 100755\n").empty() {
		t.Error("a change of mode is a change, no patch is none")
	}
}
