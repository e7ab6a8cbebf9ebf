package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// ErrConflict marks a patch that does not fit the tree it is applied to.
var ErrConflict = errors.New("patch does not apply")

// Apply returns the tree that results from a patch, for which
//
//	Apply(from, Compare(from, to).Text)
//
// equals to, but for what [Patch] says that it cannot carry: a directory that
// is left without files goes, a new one has mode 0755, an empty one stays. All
// sections are read against t, then applied at once: a file may take the place
// of one that another section deletes. A patch that does not fit fails with
// [ErrConflict], one with unusable paths with [ErrInvalidPath].
func Apply(t *Tree, patch []byte) (*Tree, error) {
	files, err := parsePatch(patch)
	if err != nil {
		return nil, fmt.Errorf("read patch: %w", err)
	}
	gone := map[string]bool{}
	for _, f := range files {
		if f.IsDelete || f.IsRename {
			if gone[f.OldName] {
				return nil, fmt.Errorf("%w: %s is removed twice", ErrConflict, f.OldName)
			}
			gone[f.OldName] = true
		}
	}
	made := map[string]*Entry{}
	for _, f := range files {
		e, err := applyFile(t, f, gone)
		if err != nil {
			return nil, err
		}
		if e == nil {
			continue
		}
		if made[e.Path] != nil {
			return nil, fmt.Errorf("%w: %s is changed twice", ErrConflict, e.Path)
		}
		made[e.Path] = e
	}
	return assemble(t, gone, made)
}

// applyFile returns the entry that a section makes, nil where it deletes.
func applyFile(t *Tree, f *gitdiff.File, gone map[string]bool) (*Entry, error) {
	var old *Entry
	if !f.IsNew {
		old = t.lookup(f.OldName)
		if old == nil || old.Mode.IsDir() {
			return nil, fmt.Errorf("%w: %s is not in the tree", ErrConflict, f.OldName)
		}
		if old.Omitted {
			return nil, fmt.Errorf("%w: %s has no content in the tree", ErrConflict, f.OldName)
		}
	}
	if f.IsNew || f.IsRename || f.IsCopy {
		there := t.lookup(f.NewName)
		if there != nil && !there.Mode.IsDir() && !gone[f.NewName] {
			return nil, fmt.Errorf("%w: %s is in the tree already", ErrConflict, f.NewName)
		}
	}
	cur := &Entry{Path: f.NewName, Mode: 0o644}
	var before []byte
	if old != nil {
		cur.Mode, before = old.Mode, old.content()
	}
	if f.NewMode != 0 {
		cur.Mode = fileMode(uint32(f.NewMode))
	}
	after, err := applyContent(f, before)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrConflict, f.OldName+f.NewName, err)
	}
	if f.IsDelete {
		if len(after) > 0 {
			return nil, fmt.Errorf("%w: %s has content beyond what is deleted", ErrConflict, f.OldName)
		}
		return nil, nil
	}
	if cur.Mode&fs.ModeSymlink != 0 {
		cur.LinkTarget = string(after)
	} else {
		cur.Data = after
	}
	return cur, nil
}

func applyContent(f *gitdiff.File, before []byte) ([]byte, error) {
	if len(f.TextFragments) == 0 && !f.IsBinary {
		return before, nil
	}
	var after bytes.Buffer
	if err := gitdiff.Apply(&after, bytes.NewReader(before), f); err != nil {
		return nil, err
	}
	return after.Bytes(), nil
}

// fileMode is the inverse of gitMode.
func fileMode(mode uint32) fs.FileMode {
	if mode&0o170000 == 0o120000 {
		return fs.ModeSymlink | 0o777
	}
	m := fs.FileMode(mode & 0o777)
	for i, special := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if mode&(0o1000<<i) != 0 {
			m |= special
		}
	}
	return m
}

// assemble puts the new tree together and drops directories that lost their
// last file.
func assemble(t *Tree, gone map[string]bool, made map[string]*Entry) (*Tree, error) {
	had, has := map[string]bool{}, map[string]bool{}
	mark := func(dirs map[string]bool, p string) {
		for dir, _ := splitPath(p); dir != "" && !dirs[dir]; dir, _ = splitPath(dir) {
			dirs[dir] = true
		}
	}
	var entries []Entry
	for _, e := range t.entries {
		if e.Mode.IsDir() {
			continue
		}
		mark(had, e.Path)
		if !gone[e.Path] && made[e.Path] == nil {
			mark(has, e.Path)
			entries = append(entries, e)
		}
	}
	for _, e := range made {
		mark(has, e.Path)
		entries = append(entries, *e)
	}
	for _, e := range t.entries {
		if e.Mode.IsDir() && (has[e.Path] || !had[e.Path]) && made[e.Path] == nil {
			entries = append(entries, e)
		}
	}
	next, err := NewTree(entries)
	if err != nil {
		return nil, fmt.Errorf("apply patch: %w", err)
	}
	return next, nil
}

const gitHeader = "diff --git "

// parsePatch reads the sections of a patch. Text before the first is skipped.
func parsePatch(patch []byte) ([]*gitdiff.File, error) {
	text := string(patch)
	var files []*gitdiff.File
	start := strings.Index("\n"+text, "\n"+gitHeader)
	if start < 0 {
		if strings.TrimSpace(text) == "" {
			return nil, nil
		}
		files, _, err := gitdiff.Parse(strings.NewReader(text))
		if err == nil && len(files) == 0 {
			err = errors.New("no changes in it")
		}
		return files, err
	}
	// No line of a hunk starts like a header, so the cut is safe.
	for rest := text[start:]; rest != ""; {
		end := len(rest)
		if i := strings.Index(rest, "\n"+gitHeader); i >= 0 {
			end = i + 1
		}
		parsed, _, err := gitdiff.Parse(strings.NewReader(mendHeader(rest[:end])))
		if err != nil {
			return nil, err
		}
		files = append(files, parsed...)
		rest = rest[end:]
	}
	return files, nil
}

// mendHeader writes the backslashes of quoted names as \134. gitdiff v0.9.0
// takes the quote after an escaped backslash for an escaped quote.
func mendHeader(section string) string {
	end := len(section)
	for _, mark := range []string{"\n@@ -", "\nGIT binary patch\n"} {
		if i := strings.Index(section[:end], mark); i >= 0 {
			end = i
		}
	}
	head := section[:end]
	if !strings.Contains(head, `\\`) {
		return section
	}
	var b strings.Builder
	for line := range strings.SplitAfterSeq(head, "\n") {
		if strings.Contains(line, `"`) {
			line = strings.ReplaceAll(line, `\\`, `\134`)
		}
		b.WriteString(line)
	}
	return b.String() + section[end:]
}
