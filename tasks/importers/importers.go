// Package importers turns tasks in other formats into task folders.
//
// [Import] reads a source of one of the [Kinds] and yields a [Folder] for each
// row or directory that a task can represent. It never guesses: everything else
// is a [Skip] with its row or path and the reason. [Write] puts folders below
// an output folder. Importing the package lets [tasks.Load] read KIND:SOURCE; a
// source of which anything is skipped is then an error, so that a corpus is
// never smaller than it looks.
package importers

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"retrial/tasks"
	"retrial/tasks/strict"
)

// kind is one format. read gives every row to the sink; its error means that
// the source as a whole cannot be read.
type kind struct {
	name, brief string
	read        func(source string, to *sink) error
}

// kinds are the formats, in the order of their names.
var kinds = []kind{
	{"exercism", "an Exercism track, or a folder with one per language (aider's polyglot benchmark)", readExercism},
	{"harbor", "a folder of Harbor task directories (Terminal-Bench 2), or one", readHarbor},
	{"humaneval", "HumanEval rows, JSONL or gzip of it", readHumanEval},
	{"mbpp", "MBPP rows, full (JSONL) or sanitized (a JSON array)", readMBPP},
	{"quixbugs", "the QuixBugs folder; its Python programs", readQuixBugs},
	{"swebench", "SWE-bench rows, JSONL, gzip of it, or Parquet; their repositories as local clones (--mirror)", readSWEBench},
}

func init() {
	for _, k := range kinds {
		tasks.RegisterImporter(k.name, func(source string) ([]*tasks.Task, error) { return load(k.name, source) })
	}
}

// Kinds lists the formats, sorted, each with what its source is.
func Kinds() (names, briefs []string) {
	for _, k := range kinds {
		names, briefs = append(names, k.name), append(briefs, k.brief)
	}
	return names, briefs
}

// Skip is a row or directory that no task can represent.
type Skip struct {
	Where  string `json:"where"` // "row 3", 1-based, or a slash path from the source, quoted where it is not UTF-8
	Reason string `json:"reason"`
}

func (s Skip) String() string { return s.Where + ": " + s.Reason }

// Import reads source and gives each task to each, in the source's order. The
// skips are in that order too. A source that is not there is a
// [tasks.ErrNoCorpus]; an error of each ends the import and is returned.
func Import(kind, source string, each func(Folder) error) ([]Skip, error) {
	for _, k := range kinds {
		if k.name == kind {
			to := &sink{kind: kind, each: each, seen: map[string]string{}}
			err := k.read(source, to)
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("%w: %w", tasks.ErrNoCorpus, err)
			}
			return to.skips, err
		}
	}
	names, _ := Kinds()
	return nil, fmt.Errorf("%w: %s", tasks.ErrNoCorpus, strict.Unknown("kind", kind, names))
}

// load is Import for [tasks.Load].
func load(kind, source string) ([]*tasks.Task, error) {
	var list []*tasks.Task
	skips, err := Import(kind, source, func(f Folder) error {
		list = append(list, f.Task)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("import %s:%s: %w", kind, source, err)
	}
	if len(skips) > 0 {
		return nil, fmt.Errorf("%s:%s has %d that cannot be imported, the first: %s; `retrial tasks import %s %s -o DIR --allow-skips` imports the rest",
			kind, source, len(skips), skips[0], kind, source)
	}
	return list, nil
}

// sink takes what an importer finds.
type sink struct {
	kind  string
	each  func(Folder) error
	seen  map[string]string // where each id was first
	skips []Skip
}

func (s *sink) skip(where string, reason error) {
	if !utf8.ValidString(where) {
		where = strconv.Quote(where)
	}
	s.skips = append(s.skips, Skip{where, strings.Join(strings.Fields(reason.Error()), " ")})
}

// add takes one task, or the fault that it has instead. Its error ends the
// import.
func (s *sink) add(where string, it item, fault error) error {
	if fault != nil {
		s.skip(where, fault)
		return nil
	}
	f, err := it.folder(s.kind + ":" + where)
	if err != nil {
		s.skip(where, err)
		return nil
	}
	if first, taken := s.seen[f.Task.ID]; taken {
		s.skip(where, fmt.Errorf("the id %q is taken by %s (ids are compared in lower case)", f.Task.ID, first))
		return nil
	}
	s.seen[f.Task.ID] = where
	return s.each(f)
}

// lowerID makes an id of name by lower case alone; what is then no id is an
// error.
func lowerID(name string) (string, error) {
	id := strings.ToLower(name)
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	}
	if id == "" || strings.ContainsFunc(id, odd) || slices.Contains([]byte("._-"), id[0]) || strings.Contains(id, "..") {
		return "", fmt.Errorf("its name %q makes no task id: want letters, digits, '.', '_' and '-', starting with a letter or digit", name)
	}
	return id, nil
}
