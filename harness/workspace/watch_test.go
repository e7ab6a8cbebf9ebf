package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// A placed file counts as opened when something reads it, not when its folder is
// listed, when it is looked up, or when it is removed; with notifications and
// with access times.
func TestWatch(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(path string) error
		want bool
	}{
		"nothing": {func(string) error { return nil }, false},
		"read":    {func(p string) error { _, err := os.ReadFile(p); return err }, true},
		"stat":    {func(p string) error { _, err := os.Lstat(p); return err }, false},
		"list":    {func(p string) error { _, err := os.ReadDir(filepath.Dir(p)); return err }, false},
		"remove":  {os.Remove, false},
	} {
		for _, by := range []string{"notification", "access time"} {
			t.Run(name+" by "+by, func(t *testing.T) {
				tree, err := ReadTree(fstest.MapFS{"a.txt": {Data: []byte("a")}})
				if err != nil {
					t.Fatal(err)
				}
				w, err := Open(t.Context(), tree, t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				if err := w.WriteFiles(map[string][]byte{"notes/n.md": []byte("was tried")}); err != nil {
					t.Fatal(err)
				}
				look, err := w.Watch([]string{"notes/n.md"})
				if err != nil {
					t.Fatal(err)
				}
				if by == "access time" {
					if look.notified != nil {
						look.notified.close()
					}
					look.notified = nil
					if err := os.Chtimes(look.paths[0], unread, unread.AddDate(1, 0, 0)); err != nil {
						t.Fatal(err)
					}
				}
				if err := c.do(look.paths[0]); err != nil {
					t.Fatal(err)
				}
				if by == "access time" && name == "read" {
					if info, err := os.Lstat(look.paths[0]); err != nil {
						t.Fatal(err)
					} else if at, _ := accessTime(info); at.Equal(unread) {
						t.Skip("this file system keeps no access times")
					}
				}
				opened, how, err := look.Opened()
				if err != nil || opened != c.want || look.notified == nil && how != "access time" {
					t.Errorf("opened %v by %s (%v), want %v", opened, how, err, c.want)
				}
				if err := w.RemoveAll("notes"); err != nil {
					t.Fatal(err)
				}
				if patch, err := w.Diff(); err != nil || len(patch.Files) > 0 {
					t.Errorf("the placed file is in the patch: %s (%v)", patch.Text, err)
				}
				if _, err := fs.Stat(os.DirFS(w.Dir), "a.txt"); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
