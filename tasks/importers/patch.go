package importers

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// changes are files by path, as a patch leaves them; nil for one that it
// deletes.
type changes map[string]*file

// applyPatch applies a patch exactly, without looking for its lines elsewhere.
// base is left as it is.
func applyPatch(base map[string]file, patch string) (changes, error) {
	if !strings.HasSuffix(patch, "\n") {
		patch += "\n"
	}
	parsed, _, err := gitdiff.Parse(strings.NewReader(patch))
	if err != nil {
		return nil, err
	}
	if len(parsed) == 0 {
		return nil, errors.New("it holds no change of a file")
	}
	out := changes{}
	for _, d := range parsed {
		if err := out.apply(base, d); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c changes) apply(base map[string]file, d *gitdiff.File) error {
	for _, name := range []string{d.OldName, d.NewName} {
		if name != "" && (!fs.ValidPath(name) || name == "." || strings.Contains("/"+strings.ToLower(name)+"/", "/.git/")) {
			return fmt.Errorf("it names %q, which no file of a tree is called", name)
		}
	}
	before, there := base[d.OldName]
	target := d.NewName
	if d.IsDelete {
		target = d.OldName
	}
	now, changed := c[target]
	_, taken := base[target]
	arrives := d.IsNew || d.IsRename || d.IsCopy
	switch {
	case !d.IsNew && !there:
		return fmt.Errorf("%s is not there", d.OldName)
	case changed && (now != nil || !arrives):
		return fmt.Errorf("it changes %s twice", target)
	case arrives && taken && !changed:
		return fmt.Errorf("%s is there already", target)
	case d.IsBinary && d.BinaryFragment == nil && !d.IsDelete:
		return fmt.Errorf("%s is binary, and its content is left out", target)
	case d.IsBinary && !d.IsNew && d.OldOIDPrefix == "":
		return fmt.Errorf("%s is binary, and the patch does not say which content it had", d.OldName)
	case d.IsBinary && !d.IsNew && !strings.HasPrefix(hashOf(gitBlob, before.data).String(), d.OldOIDPrefix):
		return fmt.Errorf("%s has another content than the patch is for", d.OldName)
	}
	if d.IsDelete {
		c[d.OldName] = nil
		return deletes(before, d)
	}
	if d.IsRename {
		c[d.OldName] = nil
	}
	after := file{exec: before.exec, link: before.link}
	if d.NewMode != 0 {
		after.exec, after.link = d.NewMode&0o111 != 0, d.NewMode&0o170000 == 0o120000
	}
	var content bytes.Buffer
	if err := gitdiff.Apply(&content, bytes.NewReader(before.data), d); err != nil {
		return fmt.Errorf("%s: %w", d.NewName, err)
	}
	if content.Len() > maxFile {
		return fmt.Errorf("%s has %d bytes then, over the limit of %d", d.NewName, content.Len(), maxFile)
	}
	after.data = content.Bytes()
	c[d.NewName] = &after
	return nil
}

// deletes says whether a deletion takes away just what is there. The lines of a
// binary file are not in the patch: its hash was compared.
func deletes(before file, d *gitdiff.File) error {
	if d.IsBinary {
		return nil
	}
	var left bytes.Buffer
	if err := gitdiff.Apply(&left, bytes.NewReader(before.data), d); err != nil {
		return fmt.Errorf("%s: %w", d.OldName, err)
	}
	if left.Len() > 0 {
		return fmt.Errorf("%s is deleted, but %d bytes of it are not in the patch", d.OldName, left.Len())
	}
	return nil
}

// over lays the changes over a tree.
func (c changes) over(base map[string]file) map[string]file {
	out := maps.Clone(base)
	for p, f := range c {
		if f == nil {
			delete(out, p)
		} else {
			out[p] = *f
		}
	}
	return out
}
