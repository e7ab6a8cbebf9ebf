package workspace

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Home is the HOME of the workspace's commands, as a path on this machine.
func (w *Workspace) Home() string { return filepath.Join(w.box, homeName) }

// FillHome puts a copy of the folder src, which holds folders and regular files,
// at a path below HOME. What was there is removed first: a command may have left
// it, or a link out of HOME.
func (w *Workspace) FillHome(to, src string) error {
	if err := w.fillHome(path.Join(homeName, to), src); err != nil {
		return fmt.Errorf("fill HOME: %w", err)
	}
	return nil
}

func (w *Workspace) fillHome(to, src string) error {
	if err := w.reach(); err != nil {
		return err
	}
	for dir := to; dir != "."; dir = path.Dir(dir) {
		// Every part that is not a folder goes, and the last one in any case.
		if info, err := w.root.Lstat(dir); err == nil && (dir == to || !info.IsDir()) {
			if err := removeAll(w.root, dir); err != nil {
				return err
			}
		}
	}
	return fs.WalkDir(os.DirFS(src), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return w.root.MkdirAll(path.Join(to, p), 0o700)
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file", p)
		}
		return w.copyInto(path.Join(to, p), filepath.Join(src, filepath.FromSlash(p)))
	})
}

func (w *Workspace) copyInto(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := w.root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}
