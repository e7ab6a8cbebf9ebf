package workspace

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// Limits of what [ReadDir] keeps in memory, in bytes. A larger file, and every
// file after the total is used up, is represented by its size and hash.
const (
	MaxFileBytes = 64 << 20
	MaxTreeBytes = 256 << 20
)

// ReadDir reads a directory as it stands on disk, whatever a solver left
// there. What may not be read is made readable, read, and given its mode back.
// Sockets, named pipes and devices are left out; contents past [MaxFileBytes]
// or [MaxTreeBytes] are left out with their hash kept; both are listed by
// [Tree.Skipped]. Links are kept as written, wherever they point. A directory
// that does not exist is an error.
func ReadDir(dir string) (*Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read directory: %w", err)
	}
	defer root.Close()
	return readRoot(root, &Tree{})
}

// readRoot is ReadDir on an open directory. Contents equal to base's at the
// same path share base's memory and do not count towards the limit.
func readRoot(root *os.Root, base *Tree) (*Tree, error) {
	r := dirReader{base: base, budget: MaxTreeBytes}
	if err := r.dir(root, ""); err != nil {
		return nil, fmt.Errorf("read directory: %w", err)
	}
	t, err := NewTree(r.entries)
	if err != nil {
		return nil, fmt.Errorf("read directory: %w", err)
	}
	slices.Sort(r.skipped)
	t.skipped = r.skipped
	return t, nil
}

type dirReader struct {
	base    *Tree
	scope   func(path string) scope // what of the directory is read; nil for all
	budget  int64
	entries []Entry
	skipped []string
}

func (r *dirReader) dir(d *os.Root, dir string) error {
	names, err := list(d)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.entry(d, name, joinPath(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func (r *dirReader) entry(d *os.Root, name, p string) error {
	info, err := d.Lstat(name)
	if err != nil {
		return err
	}
	e := Entry{Path: p, Mode: info.Mode() & modeMask}
	ours := inside
	if r.scope != nil {
		ours = r.scope(p)
	}
	if ours == outside || ours != inside && !info.IsDir() {
		return nil
	}
	switch typ := info.Mode().Type(); typ {
	case fs.ModeDir:
		if ours == inside {
			r.entries = append(r.entries, e)
		}
		return within(d, name, info.Mode(), info.Mode(), func(sub *os.Root) error { return r.dir(sub, p) })
	case fs.ModeSymlink:
		if e.LinkTarget, err = d.Readlink(name); err != nil {
			return err
		}
	case 0:
		if err := r.file(d, name, info, &e); err != nil {
			return err
		}
	default:
		r.skipped = append(r.skipped, fmt.Sprintf("%s (%s)", p, typeName(typ)))
		return nil
	}
	r.entries = append(r.entries, e)
	return nil
}

func (r *dirReader) file(d *os.Root, name string, info fs.FileInfo, e *Entry) (err error) {
	if info.Mode()&0o400 == 0 {
		if err := d.Chmod(name, info.Mode()|0o400); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Chmod(name, info.Mode())) }()
	}
	f, err := openRegular(d, name)
	if err != nil {
		return err
	}
	defer f.Close()
	known := r.base.lookup(e.Path)
	if known != nil && (!known.IsRegular() || known.Omitted || known.Size != info.Size()) {
		known = nil
	}
	if size := info.Size(); size > MaxFileBytes || size > r.budget && known == nil {
		h := sha256.New()
		if e.Size, err = io.Copy(h, f); err != nil {
			return err
		}
		e.Omitted, e.sum = true, [sha256.Size]byte(h.Sum(nil))
		r.skipped = append(r.skipped, fmt.Sprintf("%s (%d bytes, sha256 %x)", e.Path, e.Size, e.sum))
		return nil
	}
	if e.Data, err = readAll(f, info.Size()); err != nil {
		return err
	}
	if known != nil && bytes.Equal(known.Data, e.Data) {
		e.Data = known.Data
		return nil
	}
	r.budget -= int64(len(e.Data))
	return nil
}

// readAll reads at most size bytes: a file that still grows is cut there.
func readAll(f *os.File, size int64) ([]byte, error) {
	data := make([]byte, size)
	n, err := io.ReadFull(f, data)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil
	}
	return data[:n], err
}

// openRegular opens a regular file for reading. It neither follows a link nor
// blocks on a pipe, should the file have been replaced.
func openRegular(d *os.Root, name string) (*os.File, error) {
	return d.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// list returns the sorted names in a directory.
func list(d *os.Root) ([]string, error) {
	f, err := d.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// within opens the directory name of d, whose mode is now have, runs do in it,
// and leaves it with mode want. Directories that their owner may not use are
// made usable in between.
func within(d *os.Root, name string, have, want fs.FileMode, do func(*os.Root) error) (err error) {
	if have&0o700 != 0o700 {
		have |= 0o700
		if err := d.Chmod(name, have); err != nil {
			return err
		}
	}
	if have&modeMask != want&modeMask {
		defer func() { err = errors.Join(err, d.Chmod(name, want)) }()
	}
	sub, err := d.OpenRoot(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	return do(sub)
}
