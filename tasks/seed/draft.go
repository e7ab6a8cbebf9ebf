package seed

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"retrial/tasks/importers"
)

// draft is a task that is not certified yet.
type draft struct {
	folder  importers.Folder
	site    *site
	unsplit bool
}

// draft makes the task of a mutant. Its id is taken from ids.
func (p *subject) draft(c *candidate, ids map[string]bool) (draft, error) {
	m := p.made
	m.ID = freshID(fmt.Sprintf("%s-%s-%d", p.stem(c.Path), c.Operator, c.Line), ids)
	m.Tags = []string{"seeded", p.Language.Name(), c.Operator}
	if m.Group == "" {
		m.Group = c.Path
	}
	if len(m.Editable) == 0 {
		m.Editable = []string{c.Path}
	}
	m.Workspace = maps.Clone(p.files)
	m.Workspace[c.Path] = importers.File{Data: []byte(c.apply(p.source[c.Path])), Exec: p.files[c.Path].Exec}
	m.Solution = map[string]importers.File{c.Path: p.files[c.Path]}
	m.Hidden = p.hidden
	unsplit := m.Score == "" && !p.hide(&m, c)
	if unsplit {
		m.Tags = append(m.Tags, "unsplit", "tests-visible")
	}
	m.Instruction = p.instruction(c.Path, m.Score != "")
	folder, err := m.Folder(p.title + ": " + c.Path)
	if err != nil {
		return draft{}, fmt.Errorf("make task %s: %w", m.ID, err)
	}
	return draft{folder: folder, unsplit: unsplit}, nil
}

// hide leaves a part of the tests in the workspace and makes the whole of them
// the score; false where they cannot be split.
func (p *subject) hide(m *importers.Made, c *candidate) bool {
	visible, ok := split(len(p.units.Units), c.found.failing, source(p.seed, "split", m.ID))
	if !ok {
		return false
	}
	m.Protect, m.Hidden = slices.Clone(m.Protect), map[string]importers.File{}
	for f, text := range reduce(p.Language, p.units, visible, p.tests()) {
		m.Workspace[f] = importers.File{Data: []byte(text), Exec: p.files[f].Exec}
		m.Hidden[f] = p.files[f]
		if !slices.Contains(m.Protect, f) {
			m.Protect = append(m.Protect, f)
		}
	}
	slices.Sort(m.Protect)
	m.Editable = slices.DeleteFunc(slices.Clone(m.Editable), func(f string) bool { _, hidden := m.Hidden[f]; return hidden })
	m.Score = m.Verify
	return true
}

// instruction says what is wanted and not where the bug is, beyond its file.
func (p *subject) instruction(file string, scored bool) string {
	var b strings.Builder
	of := ""
	if p.Name == "" {
		of = " of " + p.title
	}
	fmt.Fprintf(&b, "The tests%s fail: one place in %s is wrong. Find it and mend it, so that they pass.", of, file)
	if scored {
		b.WriteString(" More tests than those in the workspace will be run.")
	}
	if p.request != "" {
		b.WriteString("\n\nThe program was written to this request:\n")
		for line := range strings.Lines(strings.TrimSpace(p.request)) {
			b.WriteString(strings.TrimRight("\n> "+strings.TrimSpace(line), " "))
		}
	}
	return b.String()
}

// freshID is id, with a number behind it where it is taken.
func freshID(id string, taken map[string]bool) string {
	fresh := id
	for n := 2; taken[fresh]; n++ {
		fresh = fmt.Sprintf("%s-%d", id, n)
	}
	taken[fresh] = true
	return fresh
}
