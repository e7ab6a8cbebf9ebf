package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Names inside a workspace's private directory.
const (
	treeName = "tree"
	homeName = "home"
	tmpName  = "tmp"
	etcName  = "etc"
)

// A Workspace is one attempt's own copy of a tree. It is not safe for
// concurrent use; any number of workspaces may be used at the same time.
type Workspace struct {
	// Dir is the absolute path of the files, free of symbolic links.
	Dir string

	pristine *Tree
	image    *Tree       // of the whole box
	box      string      // absolute path of the private directory
	root     *os.Root    // of the box
	identity fs.FileInfo // of the box, as made
}

// Open writes t into a new private directory under root, which must exist.
// The caller decides what root is: a memory file system is fastest.
func Open(ctx context.Context, t *Tree, root string) (*Workspace, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	root, err := filepath.Abs(root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	image, err := boxImage(t)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	box := filepath.Join(root, "box-"+rand.Text())
	w := &Workspace{Dir: filepath.Join(box, treeName), pristine: t, image: image, box: box}
	if err := w.create(); err != nil {
		return nil, fmt.Errorf("open workspace: %w", errors.Join(err, w.Close()))
	}
	return w, nil
}

// boxImage is the tree of a whole private directory.
func boxImage(t *Tree) (*Tree, error) {
	entries := t.under(treeName, 0o755)
	entries = append(entries,
		Entry{Path: homeName, Mode: fs.ModeDir | 0o700},
		Entry{Path: tmpName, Mode: fs.ModeDir | 0o700},
		Entry{Path: etcName + "/passwd", Mode: 0o644, Data: []byte(sandboxPasswd)},
		Entry{Path: etcName + "/group", Mode: 0o644, Data: []byte(sandboxGroup)})
	for i := range entries {
		if entries[i].Omitted {
			return nil, fmt.Errorf("%s has no content in the tree", entries[i].Path)
		}
	}
	return NewTree(entries)
}

// create makes the box and fills it.
func (w *Workspace) create() error {
	err := os.Mkdir(w.box, 0o700)
	if err != nil {
		return err
	}
	if w.identity, err = os.Lstat(w.box); err != nil {
		return err
	}
	if w.root, err = os.OpenRoot(w.box); err != nil {
		return err
	}
	r := reconciler{want: w.image, scope: everything, overlay: true}
	return r.run(w.root)
}

// Write materialises the tree in a directory, which is made if missing, with
// exactly the tree's modes whatever the umask. What is there at an entry's
// path is replaced; everything else, and the mode of a directory that is
// already there, is left alone.
func (t *Tree) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write tree: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("write tree: %w", err)
	}
	defer root.Close()
	r := reconciler{want: t, scope: everything, overlay: true}
	if err := r.run(root); err != nil {
		return fmt.Errorf("write tree: %w", err)
	}
	return nil
}

// inTree runs do in the directory of the files. When a command has removed it,
// or put something else in its place, do is not called and found is false.
func (w *Workspace) inTree(do func(*os.Root) error) (found bool, err error) {
	if err := w.reach(); err != nil {
		return false, err
	}
	info, err := w.root.Lstat(treeName)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, within(w.root, treeName, info.Mode(), info.Mode(), do)
}

// reach makes sure that the box is still the one that Open made and that its
// owner may use it. A box that is gone is made anew, empty.
func (w *Workspace) reach() error {
	if w.root == nil {
		return errors.New("workspace is closed")
	}
	info, err := os.Lstat(w.box)
	if errors.Is(err, fs.ErrNotExist) {
		return w.remake()
	}
	if err != nil {
		return err
	}
	if !os.SameFile(info, w.identity) {
		return fmt.Errorf("%s is no longer the directory that was made", w.box)
	}
	if info.Mode()&modeMask != fs.ModeDir|0o700 {
		return os.Chmod(w.box, 0o700)
	}
	return nil
}

func (w *Workspace) remake() error {
	err := os.Mkdir(w.box, 0o700)
	if err != nil {
		return err
	}
	if w.identity, err = os.Lstat(w.box); err != nil {
		return err
	}
	root, err := os.OpenRoot(w.box)
	if err != nil {
		return err
	}
	w.root.Close()
	w.root = root
	return nil
}

// Diff takes the patch from the pristine tree to the files as they now stand.
// It changes nothing. Take it before [Workspace.Restore] and [Workspace.Add].
func (w *Workspace) Diff() (Patch, error) {
	now := &Tree{}
	_, err := w.inTree(func(d *os.Root) (err error) {
		now, err = readRoot(d, w.pristine)
		return err
	})
	if err != nil {
		return Patch{}, fmt.Errorf("diff workspace: %w", err)
	}
	return Compare(w.pristine, now), nil
}

// Add lays t over the files, as [Tree.Write] does: hidden tests before the
// score.
func (w *Workspace) Add(t *Tree) error {
	if err := w.overlay(t); err != nil {
		return fmt.Errorf("add to workspace: %w", err)
	}
	return nil
}

func (w *Workspace) overlay(t *Tree) error {
	if err := w.reach(); err != nil {
		return err
	}
	box, err := NewTree(t.under(treeName, 0o755))
	if err != nil {
		return err
	}
	r := reconciler{want: box, scope: everything, overlay: true}
	return r.run(w.root)
}

// Revert makes the files equal to the pristine tree again, byte for byte and
// mode for mode, and empties HOME and TMPDIR. Only what differs is written.
func (w *Workspace) Revert() error {
	if err := w.reach(); err != nil {
		return fmt.Errorf("revert workspace: %w", err)
	}
	r := reconciler{want: w.image, scope: everything}
	if err := r.run(w.root); err != nil {
		return fmt.Errorf("revert workspace: %w", err)
	}
	return nil
}

// Close removes the workspace. Closing twice is harmless.
func (w *Workspace) Close() error {
	if w.identity == nil {
		return nil
	}
	err := w.remove()
	if w.root != nil {
		w.root.Close()
		w.root = nil
	}
	w.identity = nil
	if err != nil {
		return fmt.Errorf("close workspace: %w", err)
	}
	return nil
}

func (w *Workspace) remove() error {
	info, err := os.Lstat(w.box)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !os.SameFile(info, w.identity) {
		return fmt.Errorf("%s is no longer the directory that was made", w.box)
	}
	dir, name := filepath.Split(w.box)
	parent, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer parent.Close()
	return removeAll(parent, name)
}

// isDirConflict reports errors that say that a path runs through something
// that is not a directory, or is too long to exist.
func isDirConflict(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
