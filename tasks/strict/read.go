package strict

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Limits of the files that people write, in bytes.
const (
	MaxYAML = 1 << 20  // a design, a task.yaml
	MaxFile = 64 << 20 // a txtar archive, one file of a task
)

// ReadFile reads a regular file of at most limit bytes. What is neither (a
// pipe, a device, a file without end) is refused before it is opened.
func ReadFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory", name)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than %d MiB", name, limit>>20)
	}
	return data, nil
}

// ReadPath is ReadFile for a path of this machine.
func ReadPath(path string, limit int64) ([]byte, error) {
	return ReadFile(os.DirFS(filepath.Dir(path)), filepath.Base(path), limit)
}

// maxDepth is how deep lists and mappings may stand in each other: far more
// than any design needs, far less than what takes the parser long.
const maxDepth = 100

// tooDeep says whether brackets are nested beyond maxDepth. It counts those in
// text too: more than that many left open are not seen in any.
func tooDeep(data []byte) bool {
	depth := 0
	for _, b := range data {
		switch b {
		case '[', '{':
			if depth++; depth > maxDepth {
				return true
			}
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return false
}
