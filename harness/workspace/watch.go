package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Watch tells whether files of a workspace were opened. It sees what opens them
// by their inodes, inside a sandbox too, and not who did it: a test run that
// reads every file counts.
type Watch struct {
	notified *notifier // nil where access times have to do
	paths    []string  // absolute
}

// unread is the access time given to a file that is watched by it: any reading
// sets another, on a file system that keeps access times at all (not noatime).
var unread = time.Unix(1, 0)

// Watch begins to watch regular files of the workspace, by paths with slashes.
func (w *Workspace) Watch(paths []string) (*Watch, error) {
	look := &Watch{}
	for _, p := range paths {
		look.paths = append(look.paths, w.Dir+"/"+p)
	}
	var err error
	if look.notified, err = notify(look.paths); err == nil {
		return look, nil
	}
	for _, p := range look.paths { // as where the kernel has no watch left
		info, err := os.Lstat(p)
		if err == nil {
			err = os.Chtimes(p, unread, info.ModTime())
		}
		if err != nil {
			return nil, fmt.Errorf("watch %s: %w", p, err)
		}
	}
	return look, nil
}

// Opened ends the watch and says whether a file was opened since it began, and
// by what that was seen: "notification" or "access time".
func (w *Watch) Opened() (opened bool, by string, err error) {
	if w.notified != nil {
		opened, err = w.notified.any()
		return opened, "notification", errors.Join(err, w.notified.close())
	}
	for _, p := range w.paths {
		info, err := os.Lstat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, which needs no opening
		}
		if err != nil {
			return false, "", err
		}
		if at, ok := accessTime(info); ok && !at.Equal(unread) {
			opened = true
		}
	}
	return opened, "access time", nil
}

// RemoveAll removes a path and what lies below it, if it is there.
func (w *Workspace) RemoveAll(path string) error {
	_, err := w.inTree(func(d *os.Root) error { return removeAll(d, path) })
	if err != nil {
		return fmt.Errorf("remove %s from workspace: %w", path, err)
	}
	return nil
}
