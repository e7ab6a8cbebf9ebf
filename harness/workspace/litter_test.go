package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"pgregory.net/rapid"
)

// litter does something that solvers do and that is a nuisance to undo.
func litter(t *rapid.T, w *Workspace, elsewhere string) {
	var dirs, all []string
	filepath.WalkDir(w.box, func(p string, d fs.DirEntry, err error) error {
		if err == nil && p != w.box {
			all = append(all, p)
			if d.IsDir() {
				dirs = append(dirs, p)
			}
		}
		return nil
	})
	if len(dirs) == 0 {
		os.MkdirAll(w.Dir, 0o700)
		return
	}
	in := func() string {
		return filepath.Join(rapid.SampledFrom(dirs).Draw(t, "dir"), names.Draw(t, "name"))
	}
	some := rapid.SampledFrom(all)
	switch rapid.IntRange(0, 13).Draw(t, "litter") {
	case 0, 1:
		p, data, mode := in(), content(t), modes.Draw(t, "mode")
		if _, err := os.Lstat(p); err != nil {
			os.WriteFile(p, data, mode.Perm())
		}
	case 2:
		p, data := some.Draw(t, "file"), content(t)
		if ownFile(p) {
			os.WriteFile(p, data, 0o600)
		}
	case 3:
		os.RemoveAll(some.Draw(t, "gone"))
	case 4:
		p, mode := some.Draw(t, "file"), modes.Draw(t, "mode")
		if ownFile(p) {
			os.Chmod(p, mode)
		}
	case 5:
		os.Rename(some.Draw(t, "from"), in())
	case 6:
		os.Symlink(rapid.SampledFrom([]string{elsewhere, "..", "a", "/"}).Draw(t, "target"), in())
	case 7:
		p, sub := in(), names.Draw(t, "sub")
		if os.Mkdir(p, 0o777) == nil {
			os.MkdirAll(filepath.Join(p, sub, "deep"), 0o777)
		}
	case 8: // shut a directory
		os.Chmod(rapid.SampledFrom(dirs).Draw(t, "dir"), rapid.SampledFrom([]fs.FileMode{0, 0o500, 0o100, 0o555, 0o400}).Draw(t, "mode"))
	case 9:
		syscall.Mkfifo(in(), 0o600)
	case 10: // a second name for a file that is not ours
		if p := some.Draw(t, "file"); ownFile(p) {
			os.Remove(p)
			os.Link(filepath.Join(elsewhere, "precious"), p)
		}
	case 11: // nested git
		git := filepath.Join(rapid.SampledFrom(dirs).Draw(t, "dir"), ".git")
		if os.Mkdir(git, 0o755) == nil {
			os.MkdirAll(filepath.Join(git, "objects", "00"), 0o755)
			os.WriteFile(filepath.Join(git, "objects", "00", "x"), []byte("\x78\x01"), 0o444)
			os.Chmod(filepath.Join(git, "objects", "00"), 0o555)
		}
	case 12: // a directory of someone else in place of one of ours
		p := rapid.SampledFrom(dirs).Draw(t, "dir")
		if os.RemoveAll(p) == nil {
			os.Symlink(elsewhere, p)
		}
	case 13:
		os.Chmod(w.box, rapid.SampledFrom([]fs.FileMode{0, 0o777}).Draw(t, "mode"))
	}
}

// ownFile keeps the litter itself from changing what links lead to.
func ownFile(p string) bool {
	info, err := os.Lstat(p)
	return err == nil && info.Mode().IsRegular() && links(info) == 1
}
