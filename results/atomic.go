package results

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// stagedName is where the content of path waits for publish. The name is fixed,
// so that a crash leaves at most one stale file, which the next try overwrites.
func stagedName(path string) string { return path + ".tmp" }

// stage writes the content of path beside it and makes it durable; publish
// then renames. On an error nothing is left behind.
func stage(path string, write func(*os.File) error) (err error) {
	file, err := os.Create(stagedName(path))
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(stagedName(path))
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if err = write(file); err != nil {
		return err
	}
	if err = file.Sync(); err != nil {
		return err
	}
	return file.Close()
}

// buffered adapts what writes a stream to stage.
func buffered(write func(io.Writer) error) func(*os.File) error {
	return func(file *os.File) error {
		buf := bufio.NewWriterSize(file, 1<<18)
		if err := write(buf); err != nil {
			return err
		}
		return buf.Flush()
	}
}

// publish renames staged files into place, each atomically and in this order,
// and syncs their folder, which must be the same for all.
func publish(paths ...string) error {
	for _, path := range paths {
		if err := os.Rename(stagedName(path), path); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return syncDir(filepath.Dir(paths[0]))
}

// syncDir makes the names in a folder durable. Folders that may not be opened
// for reading, and file systems that cannot sync folders, are passed over.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}
