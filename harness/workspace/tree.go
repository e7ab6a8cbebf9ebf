package workspace

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

// ErrInvalidPath marks a path that may not be used: absolute, with a ".."
// part, leaving the tree through a symbolic link, or in conflict with what
// stands there. When [Workspace.WriteFiles] returns it, the edit is at fault
// and not the machine.
var ErrInvalidPath = errors.New("invalid path")

// modeMask are the mode bits that a tree keeps.
const modeMask = fs.ModePerm | fs.ModeDir | fs.ModeSymlink | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// An Entry is one file, directory or symbolic link of a [Tree].
type Entry struct {
	// Path is relative to the tree's root, with slashes. It need not be UTF-8.
	Path string
	// Mode holds the permission bits, setuid, setgid and sticky, and
	// fs.ModeDir or fs.ModeSymlink. Links always have permissions 0777.
	Mode fs.FileMode
	// Data is a regular file's content. It is shared and must not be changed.
	Data []byte
	// LinkTarget is a symbolic link's target, as written.
	LinkTarget string
	// Size is a regular file's length in bytes.
	Size int64
	// Omitted says that Data was left out because the file is too large; Size
	// and the hash stand for it. Only [ReadDir] makes such entries.
	Omitted bool

	sum [sha256.Size]byte // of the content; set where Omitted
}

// IsRegular reports whether e is a regular file.
func (e *Entry) IsRegular() bool { return e.Mode.IsRegular() }

// content is what a patch carries for e: the data, or a link's target.
func (e *Entry) content() []byte {
	if e.Mode&fs.ModeSymlink != 0 {
		return []byte(e.LinkTarget)
	}
	return e.Data
}

func (e *Entry) contentSum() [sha256.Size]byte {
	if e.Omitted {
		return e.sum
	}
	return sha256.Sum256(e.content())
}

// sameContent compares contents, without hashing where it can be avoided.
func (e *Entry) sameContent(o *Entry) bool {
	if e.Omitted || o.Omitted {
		return e.Size == o.Size && e.contentSum() == o.contentSum()
	}
	return string(e.Data) == string(o.Data) && e.LinkTarget == o.LinkTarget
}

// A Tree is the immutable content of a directory. The zero value is an empty
// tree. Every parent of an entry is itself an entry; the root is not.
type Tree struct {
	entries []Entry // sorted by Path
	skipped []string

	once     sync.Once
	index    map[string]*Entry
	children map[string][]*Entry // by directory, "" is the root; sorted
}

// NewTree builds a tree. Missing parents are added with mode 0755. It fails
// with [ErrInvalidPath] on unusable paths, on two entries of one path and on
// entries below something that is not a directory. The data is not copied.
func NewTree(entries []Entry) (*Tree, error) {
	t := &Tree{entries: slices.Clone(entries)}
	byPath := make(map[string]fs.FileMode, len(entries))
	for i := range t.entries {
		e := &t.entries[i]
		if err := checkPath(e.Path); err != nil {
			return nil, err
		}
		if _, dup := byPath[e.Path]; dup {
			return nil, fmt.Errorf("%w: %q is there twice", ErrInvalidPath, e.Path)
		}
		e.Mode &= modeMask
		if e.Mode&fs.ModeSymlink != 0 {
			e.Mode = fs.ModeSymlink | 0o777
		}
		if !e.Omitted {
			e.Size = int64(len(e.Data))
		}
		byPath[e.Path] = e.Mode
	}
	for _, e := range t.entries[:len(entries):len(entries)] {
		for dir := path.Dir(e.Path); dir != "."; dir = path.Dir(dir) {
			mode, ok := byPath[dir]
			if ok && !mode.IsDir() {
				return nil, fmt.Errorf("%w: %q lies below %q, which is not a directory", ErrInvalidPath, e.Path, dir)
			}
			if ok {
				break
			}
			byPath[dir] = fs.ModeDir | 0o755
			t.entries = append(t.entries, Entry{Path: dir, Mode: fs.ModeDir | 0o755})
		}
	}
	slices.SortFunc(t.entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return t, nil
}

// checkPath accepts relative slash paths without empty, "." and ".." parts and
// without NUL. Unlike fs.ValidPath it lets names pass that are not UTF-8.
func checkPath(p string) error {
	if strings.ContainsRune(p, 0) {
		return fmt.Errorf("%w: %q holds a NUL", ErrInvalidPath, p)
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." || len(part) > 255 {
			return fmt.Errorf("%w: %q", ErrInvalidPath, p)
		}
	}
	return nil
}

func (t *Tree) build() {
	t.once.Do(func() {
		t.index = make(map[string]*Entry, len(t.entries))
		t.children = make(map[string][]*Entry)
		for i := range t.entries {
			e := &t.entries[i]
			t.index[e.Path] = e
			dir, _ := splitPath(e.Path)
			t.children[dir] = append(t.children[dir], e)
		}
	})
}

// splitPath cuts a path into its directory, "" for the root, and its name.
func splitPath(p string) (dir, name string) {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i], p[i+1:]
	}
	return "", p
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// Entries returns all entries, sorted by path. The slice is the caller's, the
// data in it is shared.
func (t *Tree) Entries() []Entry { return slices.Clone(t.entries) }

// Lookup returns the entry at a path.
func (t *Tree) Lookup(path string) (Entry, bool) {
	if e := t.lookup(path); e != nil {
		return *e, true
	}
	return Entry{}, false
}

func (t *Tree) lookup(path string) *Entry {
	t.build()
	return t.index[path]
}

// Skipped lists what [ReadDir] found and could not keep, sorted, each with the
// reason in brackets: sockets, named pipes, devices, and contents too large.
func (t *Tree) Skipped() []string { return slices.Clone(t.skipped) }

// Hash is the SHA-256, in hexadecimal, over the paths, modes and contents of
// all entries, directories included.
func (t *Tree) Hash() string {
	h := sha256.New()
	var head [12]byte
	for i := range t.entries {
		e := &t.entries[i]
		binary.BigEndian.PutUint64(head[:8], uint64(len(e.Path)))
		binary.BigEndian.PutUint32(head[8:], uint32(e.Mode))
		h.Write(head[:])
		h.Write([]byte(e.Path))
		sum := e.contentSum()
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Overlay returns t with other's entries laid over it. An entry of other
// replaces what t has at its path: a file takes the place of a whole
// directory, and a directory that of a file or link. A directory that both
// have keeps t's mode.
func (t *Tree) Overlay(other *Tree) *Tree {
	var entries []Entry
	for i := range t.entries {
		e := &t.entries[i]
		over := other.lookup(e.Path)
		if over != nil && (!over.Mode.IsDir() || !e.Mode.IsDir()) || other.replacesParent(e.Path) {
			continue
		}
		entries = append(entries, *e)
	}
	for i := range other.entries {
		e := &other.entries[i]
		if under := t.lookup(e.Path); under != nil && under.Mode.IsDir() && e.Mode.IsDir() {
			continue
		}
		entries = append(entries, *e)
	}
	merged, err := NewTree(entries)
	if err != nil {
		panic("workspace: overlay of two valid trees is not one: " + err.Error())
	}
	return merged
}

// replacesParent reports whether t holds something that is not a directory at
// one of path's parents.
func (t *Tree) replacesParent(path string) bool {
	for dir, _ := splitPath(path); dir != ""; dir, _ = splitPath(dir) {
		if e := t.lookup(dir); e != nil && !e.Mode.IsDir() {
			return true
		}
	}
	return false
}

// under returns the tree moved below the directory dir, which gets mode.
func (t *Tree) under(dir string, mode fs.FileMode) []Entry {
	entries := make([]Entry, 0, len(t.entries)+1)
	entries = append(entries, Entry{Path: dir, Mode: fs.ModeDir | mode})
	for _, e := range t.entries {
		e.Path = dir + "/" + e.Path
		entries = append(entries, e)
	}
	return entries
}
