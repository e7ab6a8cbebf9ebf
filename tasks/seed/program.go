package seed

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"retrial/tasks"
	"retrial/tasks/importers"
)

// Program is working code whose tests pass, and what its tasks take over.
type Program struct {
	Name     string   // start of its tasks' ids; "" takes each task's file's
	Language Language // of the files that get bugs
	Targets  []string // files that get bugs, sorted

	files   map[string]importers.File // the working tree
	before  map[string]importers.File // the workspace that the working tree solves; nil for a folder
	hidden  map[string]importers.File // laid over it for score; nil where verify decides alone
	made    importers.Made            // its other fields
	request string                    // what the program was written to, "" where that is not known
	title   string                    // what the program is called in an instruction
}

// Skip is a task of a corpus from which no bugs can be made.
type Skip struct {
	Task   string `json:"task"`
	Reason string `json:"reason"`
}

// FromTask takes the solved tree of a task: its workspace, with its solution
// laid over it. Its editable files in one of the languages get the bugs, the
// first language that has any. The error says why there are none.
func FromTask(t *tasks.Task, languages []Language) (*Program, error) {
	if !t.HasFiles(t.Solution) {
		return nil, errors.New("it has no solution")
	}
	p := &Program{Name: t.ID, title: t.ID}
	var err error
	if p.before, err = readTree(t.Workspace); err != nil {
		return nil, err
	}
	solution, err := readTree(t.Solution)
	if err != nil {
		return nil, err
	}
	p.files = maps.Clone(p.before)
	maps.Copy(p.files, solution)
	if t.HasScore() {
		p.hidden = map[string]importers.File{}
		if t.HasFiles(t.Hidden) {
			if p.hidden, err = readTree(t.Hidden); err != nil {
				return nil, err
			}
		}
	}
	p.made = importers.Made{
		Group: t.ID, Editable: slices.Clone(t.Editable), Verify: t.Verify, Score: t.Score, Timeout: t.Timeout,
		Protect: slices.Clone(t.Protect), Image: t.Image, Network: t.Network,
	}
	if writtenTo(t.Tags) {
		p.request = t.Instruction
	}
	for _, l := range languages {
		for _, f := range t.Editable {
			if l.IsSource(f) && utf8.Valid(p.files[f].Data) {
				p.Language, p.Targets = l, append(p.Targets, f)
			}
		}
		if p.Language != nil {
			return p, nil
		}
	}
	return nil, fmt.Errorf("none of its editable files is source in %s", names(languages))
}

// writtenTo says whether a task's instruction tells what a program should do,
// and not what is wrong with the one in its workspace.
func writtenTo(tags []string) bool {
	has := func(tag string) bool { return slices.Contains(tags, tag) }
	return (has("humaneval") || has("exercism")) && !has("tests-shown")
}

// readTree reads all files of a tree, through symlinks.
func readTree(tree fs.FS) (map[string]importers.File, error) {
	out := map[string]importers.File{}
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := fs.Stat(tree, p)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s leads to no file", p)
		}
		data, err := fs.ReadFile(tree, p)
		out[p] = importers.File{Data: data, Exec: info.Mode()&0o111 != 0}
		return err
	})
	return out, err
}

// texts are the files of the program that like picks and that are UTF-8.
func (p *Program) texts(like func(path string) bool) map[string]string {
	out := map[string]string{}
	for f, file := range p.files {
		if like(f) && utf8.Valid(file.Data) {
			out[f] = string(file.Data)
		}
	}
	return out
}

// isModule says whether a file names a module of the program's.
func (p *Program) isModule(f string) bool {
	return p.Language.Name() == "go" && path.Base(f) == goMod
}

// tests are the test files: in a corpus those that no attempt may change.
func (p *Program) tests() map[string]string {
	return p.texts(func(f string) bool { return p.Language.IsTest(f) && !slices.Contains(p.Targets, f) })
}

// tree is the working tree with some files changed, as a judge reads it.
func (p *Program) tree(changed map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for f, file := range p.files {
		mode := fs.FileMode(0o644)
		if file.Exec {
			mode = 0o755
		}
		out[f] = &fstest.MapFile{Data: file.Data, Mode: mode}
	}
	for f, text := range changed {
		out[f] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return out
}

// nothing is a tree whose root is missing.
var nothing fs.FS = missing{}

type missing struct{}

func (missing) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// task is the working tree with some files changed, as a task to be judged.
// score says whether the hidden score runs too.
func (p *Program) task(changed map[string]string, timeout time.Duration, score bool) *tasks.Task {
	t := &tasks.Task{
		ID: either(p.Name, "program"), Verify: p.made.Verify, Timeout: timeout, Protect: p.made.Protect, Image: p.made.Image, Network: p.made.Network,
		Workspace: p.tree(changed), Hidden: nothing, Solution: nothing,
	}
	if score && p.made.Score != "" {
		t.Score = p.made.Score
		if len(p.hidden) > 0 {
			t.Hidden = (&Program{files: p.hidden}).tree(nil)
		}
	}
	return t
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// stem is the start of the ids of tasks with a bug in file.
func (p *Program) stem(file string) string {
	if p.Name != "" {
		return p.Name
	}
	name := strings.TrimSuffix(file, path.Ext(file))
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	return either(strings.Trim(name, "._-"), "file")
}

func names(languages []Language) string {
	var out []string
	for _, l := range languages {
		out = append(out, l.Name())
	}
	return strings.Join(out, " or ")
}
