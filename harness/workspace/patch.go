package workspace

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"
)

// A ChangeKind says what happened to a file.
type ChangeKind string

// The kinds. Modified may include a changed mode; ModeChanged is that alone.
// A file that became a link, or a link a file, is Deleted and then Added.
const (
	Added       ChangeKind = "added"
	Deleted     ChangeKind = "deleted"
	Modified    ChangeKind = "modified"
	Renamed     ChangeKind = "renamed"
	ModeChanged ChangeKind = "mode"
)

// A FileChange is one section of a [Patch].
type FileChange struct {
	Path    string // the new path; the old one where deleted
	OldPath string // where it came from, if Renamed; else empty
	Kind    ChangeKind
	Binary  bool // content is not valid UTF-8 or holds a NUL, on either side
	// Lines of the hunks; 0 for binary content.
	LinesAdded, LinesRemoved int
}

// A Patch is the difference of two trees. The zero value is no difference.
type Patch struct {
	// Text is a git patch: unified hunks with three lines of context, extended
	// headers, binary content as "GIT binary patch". It holds every permission
	// bit, where git keeps only 100644 and 100755, so that [Apply] is exact.
	Text []byte
	// Files are the sections of Text, in its order: by path.
	Files []FileChange
	// Skipped lists, with the reason in brackets, what differs and is not in
	// Text: sockets, named pipes and devices, contents too large to keep,
	// everything below a .git directory, and, since git has no notion of them,
	// new or removed empty directories and changed modes of directories.
	Skipped []string
}

// Empty reports whether the text holds no change.
func (p Patch) Empty() bool { return len(p.Files) == 0 }

// Compare returns the patch that turns one tree into another. It is a
// function of the two trees alone.
func Compare(from, to *Tree) Patch {
	c := comparison{from: from, to: to}
	c.skipped = append(c.skipped, to.skipped...)
	c.files()
	c.directories()
	c.renames()
	var out Patch
	var text bytes.Buffer
	for _, s := range c.sections {
		out.Files = append(out.Files, s.write(&text))
	}
	out.Text = text.Bytes()
	slices.Sort(c.skipped)
	out.Skipped = slices.Compact(c.skipped)
	return out
}

// A section is a changed file: old is nil where added, cur where deleted.
type section struct{ old, cur *Entry }

func (s section) path() string {
	if s.cur != nil {
		return s.cur.Path
	}
	return s.old.Path
}

type comparison struct {
	from, to *Tree
	sections []section
	skipped  []string
}

// files pairs the entries of both trees by path.
func (c *comparison) files() {
	for i := range c.from.entries {
		if old := &c.from.entries[i]; !old.Mode.IsDir() {
			cur := c.to.lookup(old.Path)
			if cur != nil && cur.Mode.IsDir() {
				cur = nil
			}
			c.pair(old, cur)
		}
	}
	for i := range c.to.entries {
		if cur := &c.to.entries[i]; !cur.Mode.IsDir() {
			if old := c.from.lookup(cur.Path); old == nil || old.Mode.IsDir() {
				c.pair(nil, cur)
			}
		}
	}
	c.sort()
}

func (c *comparison) sort() {
	slices.SortStableFunc(c.sections, func(a, b section) int { return strings.Compare(a.path(), b.path()) })
}

func (c *comparison) pair(old, cur *Entry) {
	if old != nil && cur != nil && old.Mode == cur.Mode && old.sameContent(cur) {
		return
	}
	s := section{old, cur}
	if git, ok := gitDirectory(s.path()); ok {
		c.skipped = append(c.skipped, git+" (git metadata)")
		return
	}
	if old != nil && old.Omitted || cur != nil && cur.Omitted {
		if cur == nil {
			c.skipped = append(c.skipped, old.Path+" (deleted; too large to keep)")
		}
		return // the reader listed it
	}
	if old != nil && cur != nil && old.Mode.Type() != cur.Mode.Type() {
		c.sections = append(c.sections, section{old, nil}, section{nil, cur})
		return
	}
	c.sections = append(c.sections, s)
}

// gitDirectory finds the topmost part of a path that git keeps to itself: it
// refuses patches to such paths.
func gitDirectory(p string) (string, bool) {
	for i := 0; i <= len(p); {
		end := len(p)
		if j := strings.IndexByte(p[i:], '/'); j >= 0 {
			end = i + j
		}
		if strings.EqualFold(p[i:end], ".git") {
			return p[:end], true
		}
		i = end + 1
	}
	return "", false
}

// directories lists what differs in directories, which git cannot carry.
func (c *comparison) directories() {
	skip := func(e *Entry, why string) {
		if _, git := gitDirectory(e.Path); !git {
			c.skipped = append(c.skipped, e.Path+why)
		}
	}
	c.from.build()
	c.to.build()
	for i := range c.to.entries {
		cur := &c.to.entries[i]
		if !cur.Mode.IsDir() {
			continue
		}
		old := c.from.index[cur.Path]
		isNew := old == nil || !old.Mode.IsDir()
		empty := len(c.to.children[cur.Path]) == 0
		switch {
		case isNew && empty:
			skip(cur, " (empty directory)")
		case isNew && cur.Mode != fs.ModeDir|0o755, !isNew && cur.Mode != old.Mode:
			skip(cur, fmt.Sprintf(" (directory mode %04o)", unixMode(cur.Mode)))
		case !isNew && empty && len(c.from.children[cur.Path]) > 0:
			skip(cur, " (empty directory)")
		}
	}
	for i := range c.from.entries {
		old := &c.from.entries[i]
		if old.Mode.IsDir() && len(c.from.children[old.Path]) == 0 && c.to.index[old.Path] == nil {
			skip(old, " (empty directory, removed)")
		}
	}
}

// renames turns a deleted and an added file of equal, non-empty content into
// one section, a pair with equal names first, then in order of paths.
func (c *comparison) renames() {
	added := map[[sha256.Size]byte][]int{}
	paths := map[string]int{}
	for i, s := range c.sections {
		paths[s.path()]++
		if s.old == nil && len(s.cur.content()) > 0 {
			sum := s.cur.contentSum()
			added[sum] = append(added[sum], i)
		}
	}
	if len(added) == 0 {
		return
	}
	gone := map[int]bool{}
	for _, sameName := range []bool{true, false} {
		for i, s := range c.sections {
			if s.cur != nil || gone[i] || paths[s.path()] > 1 || len(s.old.content()) == 0 {
				continue
			}
			sum := s.old.contentSum()
			for k, j := range added[sum] {
				cur := c.sections[j].cur
				_, a := splitPath(s.old.Path)
				_, b := splitPath(cur.Path)
				if cur.Mode.Type() != s.old.Mode.Type() || paths[cur.Path] > 1 || sameName && a != b {
					continue
				}
				c.sections[j].old = s.old
				gone[i] = true
				added[sum] = slices.Delete(added[sum], k, k+1)
				break
			}
		}
	}
	var kept []section
	for i, s := range c.sections {
		if !gone[i] {
			kept = append(kept, s)
		}
	}
	c.sections = kept
	c.sort()
}

// write prints a section and says what it holds.
func (s section) write(w *bytes.Buffer) FileChange {
	ch := FileChange{Path: s.path(), Kind: Modified}
	oldPath, newPath := s.path(), s.path()
	var before, after []byte
	if s.old != nil {
		oldPath, before = s.old.Path, s.old.content()
	}
	if s.cur != nil {
		after = s.cur.content()
	}
	fmt.Fprintf(w, "diff --git %s %s\n", quote("a/"+oldPath), quote("b/"+newPath))
	switch {
	case s.old == nil:
		ch.Kind = Added
		fmt.Fprintf(w, "new file mode %s\n", gitMode(s.cur.Mode))
	case s.cur == nil:
		ch.Kind = Deleted
		fmt.Fprintf(w, "deleted file mode %s\n", gitMode(s.old.Mode))
	case s.old.Mode != s.cur.Mode:
		fmt.Fprintf(w, "old mode %s\nnew mode %s\n", gitMode(s.old.Mode), gitMode(s.cur.Mode))
	}
	if oldPath != newPath {
		ch.Kind, ch.OldPath = Renamed, oldPath
		fmt.Fprintf(w, "similarity index 100%%\nrename from %s\nrename to %s\n", quote(oldPath), quote(newPath))
	}
	ch.Binary = isBinary(before) || isBinary(after)
	if bytes.Equal(before, after) {
		if ch.Kind == Modified {
			ch.Kind = ModeChanged
		}
		return ch
	}
	if ch.Binary {
		fmt.Fprintf(w, "index %s..%s\n", blobID(s.old), blobID(s.cur))
		writeBinary(w, before, after)
		return ch
	}
	fmt.Fprintf(w, "--- %s\n", fileLine(s.old, "a/"))
	fmt.Fprintf(w, "+++ %s\n", fileLine(s.cur, "b/"))
	ch.LinesAdded, ch.LinesRemoved = writeHunks(w, string(before), string(after))
	return ch
}

// fileLine is the name in a "---" or "+++" line. As git does, a tab ends a
// name with spaces in it.
func fileLine(e *Entry, prefix string) string {
	if e == nil {
		return "/dev/null"
	}
	name := quote(prefix + e.Path)
	if name[0] != '"' && strings.Contains(name, " ") {
		name += "\t"
	}
	return name
}

func isBinary(data []byte) bool {
	return bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data)
}

// blobID is git's name for a content: zeros for none.
func blobID(e *Entry) string {
	if e == nil {
		return strings.Repeat("0", 2*sha1.Size)
	}
	data := e.content()
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// unixMode returns the permission bits as the kernel counts them.
func unixMode(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	for i, special := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if m&special != 0 {
			bits |= 0o1000 << i
		}
	}
	return bits
}

func gitMode(m fs.FileMode) string {
	if m&fs.ModeSymlink != 0 {
		return "120000"
	}
	return fmt.Sprintf("10%04o", unixMode(m))
}

// quote writes a name as git does with core.quotePath off: in double quotes,
// with C escapes, if it holds control characters, quotes or backslashes. Names
// that are not UTF-8 are quoted as well, so that the patch is text.
func quote(name string) string {
	plain := utf8.ValidString(name)
	for i := 0; i < len(name) && plain; i++ {
		c := name[i]
		plain = c >= ' ' && c != 0x7f && c != '"' && c != '\\'
	}
	if plain {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= '\a' && c <= '\r':
			b.WriteByte('\\')
			b.WriteByte("abtnvfr"[c-'\a'])
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
