package importers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"
)

// folder is a source that is a directory. Nothing outside it can be read.
type folder struct {
	root *os.Root
	fs.FS
}

func openFolder(source string) (*folder, error) {
	root, err := os.OpenRoot(source)
	if err != nil {
		return nil, fmt.Errorf("open source: %w", err)
	}
	return &folder{root, root.FS()}, nil
}

func (f *folder) Close() error { return f.root.Close() }

func (f *folder) isDir(p string) bool {
	info, err := f.root.Stat(p)
	return err == nil && info.IsDir()
}

func (f *folder) has(p string) bool {
	_, err := f.root.Lstat(p)
	return err == nil
}

// subfolders lists the folders directly inside dir, sorted; hidden ones are
// left out. A symlink to one counts where it stays inside the source.
func (f *folder) subfolders(dir string) ([]string, error) {
	entries, err := fs.ReadDir(f, dir)
	if err != nil {
		return nil, fmt.Errorf("read source: %w", err)
	}
	var out []string
	for _, e := range entries {
		link := e.Type()&fs.ModeSymlink != 0
		if !strings.HasPrefix(e.Name(), ".") && (e.IsDir() || link) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// inside says why dir is no folder of the source, or nil.
func (f *folder) inside(dir string) error {
	if f.isDir(dir) {
		return nil
	}
	return errors.New("it is a symlink that leaves the source, or leads to no folder")
}

// read reads one regular file; a symlink is followed inside the source only.
func (f *folder) read(p string) (file, error) {
	link, err := f.root.Lstat(p)
	if err != nil {
		return file{}, fmt.Errorf("it has no %s", p)
	}
	info, err := f.root.Stat(p)
	switch {
	case err != nil && link.Mode()&fs.ModeSymlink != 0:
		return file{}, fmt.Errorf("%s is a symlink that leaves the source, or leads nowhere", p)
	case err != nil:
		return file{}, err
	case !info.Mode().IsRegular():
		return file{}, fmt.Errorf("%s is not a file", p)
	case info.Size() > maxFile:
		return file{}, fmt.Errorf("%s has %d bytes, over the limit of %d", p, info.Size(), maxFile)
	}
	data, err := f.root.ReadFile(p)
	return file{data: data, exec: info.Mode()&0o111 != 0}, err
}

// text reads a file that must be UTF-8.
func (f *folder) text(p string) (string, error) {
	got, err := f.read(p)
	if err == nil && !utf8.Valid(got.data) {
		err = fmt.Errorf("%s is not UTF-8", p)
	}
	return string(got.data), err
}

// tree reads all files below dir, by path from dir, but for what drop names
// (paths from dir; a folder with all below it). Symlinks to files become what
// they lead to; symlinks to folders are an error.
func (f *folder) tree(dir string, drop func(p string) bool) (map[string]file, error) {
	out := map[string]file{}
	err := fs.WalkDir(f, dir, func(p string, d fs.DirEntry, err error) error {
		if !utf8.ValidString(p) {
			return fmt.Errorf("its file name %q is not UTF-8", p)
		}
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(p, dir), "/")
		if dir == "." {
			rel = p
		}
		switch {
		case p != dir && drop != nil && drop(rel):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		out[rel], err = f.read(p)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("it has no folder %s", path.Base(dir))
	}
	return out, err
}
