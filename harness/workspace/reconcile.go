package workspace

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// A scope says how far a path is a reconciler's business.
type scope int

const (
	outside scope = iota // leave it alone, and all below it
	below                // leave it alone; something below it may be ours
	parent               // a directory that something of ours needs: it must be there, with its mode
	inside               // ours, with all below it
)

// A reconciler makes a directory equal to a tree, touching only what differs.
type reconciler struct {
	want *Tree
	// scope classifies a path. A parent must be a directory of want.
	scope func(path string) scope
	// overlay adds to the directory: nothing is removed but what stands in an
	// entry's way, and directories that are there keep their modes.
	overlay bool

	changed []string // paths that differed, sorted at the end of run
}

// everything is the scope of a reconciler that owns the whole directory.
func everything(string) scope { return inside }

func (r *reconciler) run(root *os.Root) error {
	err := r.dir(root, "")
	slices.Sort(r.changed)
	r.changed = slices.Compact(r.changed)
	return err
}

func (r *reconciler) dir(d *os.Root, dir string) error {
	r.want.build()
	if !r.overlay {
		names, err := list(d)
		if err != nil {
			return err
		}
		for _, name := range names {
			if p := joinPath(dir, name); r.want.index[p] == nil {
				if err := r.extra(d, name, p); err != nil {
					return err
				}
			}
		}
	}
	for _, e := range r.want.children[dir] {
		_, name := splitPath(e.Path)
		var err error
		switch r.scope(e.Path) {
		case below:
			err = r.descend(d, name, e.Path)
		case parent, inside:
			err = r.put(d, name, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// extra handles something on disk that the tree does not have.
func (r *reconciler) extra(d *os.Root, name, p string) error {
	switch r.scope(p) {
	case inside:
		r.changed = append(r.changed, p)
		return removeAll(d, name)
	case below:
		return r.descend(d, name, p)
	}
	return nil
}

// descend looks below a path that is not ours itself, if it is a directory.
func (r *reconciler) descend(d *os.Root, name, p string) error {
	info, err := d.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !info.IsDir() {
		return err
	}
	return within(d, name, info.Mode(), info.Mode(), func(sub *os.Root) error { return r.dir(sub, p) })
}

// put makes name in d equal to e, and all below it where e is a directory.
func (r *reconciler) put(d *os.Root, name string, e *Entry) error {
	info, err := d.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		info = nil
	} else if err != nil {
		return err
	}
	if info != nil && info.Mode().Type() != e.Mode.Type() {
		r.changed = append(r.changed, e.Path)
		if err := removeAll(d, name); err != nil {
			return err
		}
		info = nil
	}
	switch {
	case e.Mode.IsDir():
		return r.putDir(d, name, e, info)
	case e.Mode&fs.ModeSymlink != 0:
		return r.putLink(d, name, e, info)
	}
	return r.putFile(d, name, e, info)
}

func (r *reconciler) putDir(d *os.Root, name string, e *Entry, info fs.FileInfo) error {
	want, have := e.Mode, fs.ModeDir|fs.FileMode(0o700)
	switch {
	case info == nil:
		r.changed = append(r.changed, e.Path)
		if err := d.Mkdir(name, 0o700); err != nil {
			return err
		}
		// Neither umask nor an inherited setgid bit may decide the mode.
		have = fs.ModeDir
	case r.overlay:
		have = info.Mode()
		want = have
	default:
		have = info.Mode()
		if have&modeMask != want {
			r.changed = append(r.changed, e.Path)
		}
	}
	return within(d, name, have, want, func(sub *os.Root) error { return r.dir(sub, e.Path) })
}

func (r *reconciler) putLink(d *os.Root, name string, e *Entry, info fs.FileInfo) error {
	if info != nil {
		target, err := d.Readlink(name)
		if err != nil {
			return err
		}
		if target == e.LinkTarget {
			return nil
		}
		if err := d.Remove(name); err != nil {
			return err
		}
	}
	r.changed = append(r.changed, e.Path)
	return d.Symlink(e.LinkTarget, name)
}

func (r *reconciler) putFile(d *os.Root, name string, e *Entry, info fs.FileInfo) error {
	if info != nil {
		// A second link may lie outside the tree: neither its content nor its
		// mode is ours to change, so such a file is replaced even if equal.
		if links(info) == 1 && info.Mode()&0o400 != 0 && info.Size() == e.Size {
			same, err := hasContent(d, name, e.Data)
			if err != nil {
				return err
			}
			if same && info.Mode()&modeMask == e.Mode {
				return nil
			}
			if same {
				r.changed = append(r.changed, e.Path)
				return d.Chmod(name, e.Mode)
			}
		}
		if err := d.Remove(name); err != nil {
			return err
		}
	}
	r.changed = append(r.changed, e.Path)
	return createFile(d, name, e.Data, e.Mode)
}

func createFile(d *os.Root, name string, data []byte, mode fs.FileMode) error {
	f, err := d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Chmod(mode), f.Close())
}

// hasContent compares a file with data in bounded memory.
func hasContent(d *os.Root, name string, data []byte) (bool, error) {
	f, err := openRegular(d, name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	buf := make([]byte, min(len(data)+1, 256<<10))
	for {
		n, err := f.Read(buf)
		if n > len(data) || !bytes.Equal(buf[:n], data[:n]) {
			return false, nil
		}
		data = data[n:]
		if err == io.EOF {
			return len(data) == 0, nil
		}
		if err != nil {
			return false, err
		}
	}
}

func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// removeAll removes name and all below it, read-only directories included.
func removeAll(d *os.Root, name string) error {
	if d.RemoveAll(name) == nil {
		return nil
	}
	if err := unlock(d, name); err != nil {
		return err
	}
	return d.RemoveAll(name)
}

// unlock lets the owner work in every directory from name down.
func unlock(d *os.Root, name string) error {
	info, err := d.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !info.IsDir() {
		return err
	}
	return within(d, name, info.Mode(), info.Mode()|0o700, func(sub *os.Root) error {
		names, err := list(sub)
		if err != nil {
			return err
		}
		for _, n := range names {
			if err := unlock(sub, n); err != nil {
				return err
			}
		}
		return nil
	})
}
