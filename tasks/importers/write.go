package importers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// Output is a folder that imported tasks are written to. Nothing outside it is
// ever written, and nothing in it is ever replaced.
type Output struct{ root *os.Root }

// CreateOutput makes dir, with the folders that lead to it. One that is there
// must be empty.
func CreateOutput(dir string) (*Output, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make output folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open output folder: %w", err)
	}
	inside, err := fs.ReadDir(root.FS(), ".")
	if err == nil && len(inside) > 0 {
		err = fmt.Errorf("it holds %q, and nothing is overwritten: choose another", inside[0].Name())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("use output folder %s: %w", dir, err), root.Close())
	}
	return &Output{root}, nil
}

// Write adds one task folder, named by its id. A folder that is not whole never
// has that name.
func (o *Output) Write(f Folder) error {
	partial := ".partial-" + f.Task.ID
	for _, p := range f.Files() {
		if err := o.writeFile(path.Join(partial, p), f.tree[p].Data, f.tree[p].Mode); err != nil {
			return errors.Join(fmt.Errorf("write task %s: %w", f.Task.ID, err), o.root.RemoveAll(partial))
		}
	}
	if _, err := o.root.Lstat(f.Task.ID); err == nil {
		return errors.Join(fmt.Errorf("write task %s: it is there already", f.Task.ID), o.root.RemoveAll(partial))
	}
	if err := o.root.Rename(partial, f.Task.ID); err != nil {
		return fmt.Errorf("write task %s: %w", f.Task.ID, err)
	}
	return nil
}

func (o *Output) writeFile(name string, data []byte, mode fs.FileMode) error {
	if err := o.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if mode&fs.ModeSymlink != 0 {
		return o.root.Symlink(string(data), name)
	}
	file, err := o.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm())
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// Close ends the use of the folder.
func (o *Output) Close() error { return o.root.Close() }
