package workspace

import (
	"context"
	"strings"
	"testing"
)

func fiveFiles(b *testing.B) *Tree {
	return mustTree(b, map[string]string{
		"calc.py": strings.Repeat("x = 1\n", 300), "test_visible.py": strings.Repeat("y = 2\n", 200),
		"README.md": "text\n", "pkg/__init__.py": "", "pkg/core.py": strings.Repeat("z = 3\n", 100),
	})
}

func BenchmarkOpenClose(b *testing.B) {
	tree, root := fiveFiles(b), fastDir(b)
	for b.Loop() {
		w, err := Open(context.Background(), tree, root)
		mustDo(b, err, w.Close())
	}
}

func BenchmarkDiffRevert(b *testing.B) {
	w := open(b, fiveFiles(b))
	edit := map[string][]byte{"calc.py": []byte(strings.Repeat("x = 1\n", 299) + "x = 2\n")}
	for b.Loop() {
		mustDo(b, w.WriteFiles(edit))
		patch, err := w.Diff()
		mustDo(b, err, w.Revert())
		if len(patch.Files) != 1 {
			b.Fatal(string(patch.Text))
		}
	}
}

func BenchmarkRevertUntouched(b *testing.B) {
	w := open(b, fiveFiles(b))
	for b.Loop() {
		mustDo(b, w.Revert())
	}
}

func BenchmarkRun(b *testing.B) {
	w := open(b, fiveFiles(b))
	for b.Loop() {
		if r, err := w.Run(context.Background(), Command{Line: "exit 3"}); err != nil || r.ExitCode != 3 {
			b.Fatal(r, err)
		}
	}
}

func BenchmarkRunBubblewrap(b *testing.B) {
	needBubblewrap(b)
	w := open(b, fiveFiles(b))
	for b.Loop() {
		r, err := w.Run(context.Background(), Command{Line: "exit 3", Sandbox: Bubblewrap})
		if err != nil || r.ExitCode != 3 {
			b.Fatal(r, err)
		}
	}
}
