package workspace

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// Protection says how the protected part of a workspace compares with that of a
// tree. Lines are counted in regular files that are text on both sides; a
// changed file that is not counts as one weakened line.
type Protection struct {
	// SHA is [Tree.ProtectedSHA] of the workspace as it stands.
	SHA string
	// Changed lists the tree's protected files and links that are gone, or hold
	// something else now, sorted. New files are not in it.
	Changed []string
	// Lines in the place of which nothing stands are removed, lines in the place
	// of which others stand are weakened: whether the new ones ask for as much is
	// not judged. The rest of the new lines are added.
	Added, Weakened, Removed int
}

// Protected compares the protected paths of the files as they now stand with
// those of want. Paths are those of [Workspace.Restore]. Nothing is changed.
func (w *Workspace) Protected(paths []string, want *Tree) (Protection, error) {
	protected, err := parsePatterns(paths)
	if err != nil {
		return Protection{}, fmt.Errorf("read protected files: %w", err)
	}
	scopes := protected.scopes(want)
	r := dirReader{base: want, budget: MaxTreeBytes, scope: func(p string) scope { return scopes(treeName + "/" + p) }}
	if _, err = w.inTree(func(d *os.Root) error { return r.dir(d, "") }); err != nil {
		return Protection{}, fmt.Errorf("read protected files: %w", err)
	}
	now, err := NewTree(r.entries)
	if err != nil {
		return Protection{}, fmt.Errorf("read protected files: %w", err)
	}
	before := protected.part(want)
	p := Protection{SHA: now.Hash()}
	if p.SHA != before.Hash() {
		p.compare(before, now)
	}
	return p, nil
}

// Literally is a protected path that matches p alone, whatever characters are in it.
func Literally(p string) string { return literal.Replace(p) }

var literal = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// ProtectedSHA is the SHA-256, in hexadecimal, over the paths, modes and
// contents of what is protected in t, the directories above it left out.
func (t *Tree) ProtectedSHA(paths []string) (string, error) {
	protected, err := parsePatterns(paths)
	if err != nil {
		return "", fmt.Errorf("hash protected files: %w", err)
	}
	return protected.part(t).Hash(), nil
}

// part is what of a tree the patterns protect.
func (ps patterns) part(t *Tree) *Tree {
	var entries []Entry
	for i := range t.entries {
		if ps.match(t.entries[i].Path) {
			entries = append(entries, t.entries[i])
		}
	}
	part, err := NewTree(entries)
	if err != nil {
		panic("workspace: part of a valid tree is not one: " + err.Error())
	}
	return part
}

// compare fills in what became of the files of before.
func (p *Protection) compare(before, now *Tree) {
	for i := range before.entries {
		old := &before.entries[i]
		cur := now.lookup(old.Path)
		if old.Mode.IsDir() {
			continue
		}
		switch {
		case cur == nil || cur.Mode.Type() != old.Mode.Type():
			p.Removed += max(1, len(splitLines(string(old.Data))))
		case cur.sameContent(old):
			continue
		case !text(old) || !text(cur):
			p.Weakened++
		default:
			p.count(diffLines(nil, splitLines(string(old.Data)), splitLines(string(cur.Data)), 0, 0))
		}
		p.Changed = append(p.Changed, old.Path)
	}
	for i := range now.entries {
		if e := &now.entries[i]; e.IsRegular() && before.lookup(e.Path) == nil && text(e) {
			p.Added += len(splitLines(string(e.Data)))
		}
	}
}

func (p *Protection) count(diffs []lcs.Diff) {
	for _, d := range diffs {
		gone, come := d.End-d.Start, d.ReplEnd-d.ReplStart
		p.Weakened += min(gone, come)
		p.Removed += gone - min(gone, come)
		p.Added += come - min(gone, come)
	}
}

// text says whether an entry's content is text that lines can be counted in.
func text(e *Entry) bool {
	return e.Mode.Type() == fs.FileMode(0) && !e.Omitted && utf8.Valid(e.Data) && !bytes.ContainsRune(e.Data, 0)
}
