package tasks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"retrial/tasks/corpus"
	"retrial/tasks/strict"
)

// Corpus is a set of tasks, in its registered order: sorted by ID.
type Corpus struct {
	Name    string // the specification it was loaded from
	BuiltIn bool
	Folder  string // the folder that the tasks lie in, each by itself; "" for every other source
	Tasks   []*Task
}

// ErrNoCorpus is wrapped by Load when the specification names nothing.
var ErrNoCorpus = errors.New("no such corpus")

// Load reads the corpus that spec names: "builtin:NAME", a folder of tasks, a
// single task folder, a .txtar file, or "KIND:SOURCE" of an [Importer].
// Relative paths are taken from base ("" for the working directory). Two tasks
// with one ID, also differing only in case, are an error, as is a corpus without
// tasks.
func Load(spec, base string) (*Corpus, error) {
	c := &Corpus{Name: spec}
	var err error
	if name, ok := strings.CutPrefix(spec, "builtin:"); ok {
		c.BuiltIn = true
		c.Tasks, err = loadBuiltIn(name)
	} else if list, foreign, fault := loadForeign(spec, base); foreign {
		c.Tasks, err = list, fault
	} else {
		p := spec
		if base != "" && !filepath.IsAbs(p) {
			p = filepath.Join(base, p)
		}
		c.Tasks, err = loadPath(p)
		if info, fault := os.Stat(p); fault == nil && info.IsDir() {
			if _, fault := os.Stat(filepath.Join(p, "task.yaml")); errors.Is(fault, fs.ErrNotExist) {
				c.Folder = p
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if len(c.Tasks) == 0 {
		return nil, fmt.Errorf("corpus %s holds no task: want folders with a task.yaml, or .txtar files", spec)
	}
	slices.SortFunc(c.Tasks, func(a, b *Task) int { return strings.Compare(a.ID, b.ID) })
	for i, t := range c.Tasks[1:] {
		if prev := c.Tasks[i]; prev.ID == t.ID {
			return nil, fmt.Errorf("two tasks have the id %q: %s and %s", t.ID, prev.Source, t.Source)
		}
	}
	return c, nil
}

// BuiltIn lists the names of the built-in corpora, as "builtin:NAME".
func BuiltIn() []string {
	var names []string
	entries, err := fs.ReadDir(corpus.FS, ".")
	if err != nil {
		panic(err) // the folder is embedded in the program
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, "builtin:"+e.Name())
		}
	}
	return names
}

func loadBuiltIn(name string) ([]*Task, error) {
	if !slices.Contains(BuiltIn(), "builtin:"+name) {
		return nil, fmt.Errorf("%w: %s", ErrNoCorpus, strict.Unknown("corpus", "builtin:"+name, BuiltIn()))
	}
	sub, err := fs.Sub(corpus.FS, name)
	if err != nil {
		return nil, fmt.Errorf("read built-in corpus %s: %w", name, err)
	}
	return loadFolder(sub, "builtin:"+name)
}

func loadPath(p string) ([]*Task, error) {
	info, err := os.Stat(p)
	if errors.Is(err, fs.ErrNotExist) {
		hint := "built in: " + strings.Join(BuiltIn(), ", ")
		if near := strict.Nearest(p, BuiltIn()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return nil, fmt.Errorf("%w: %q is neither a file nor a folder (%s)", ErrNoCorpus, p, hint)
	}
	if err != nil {
		return nil, fmt.Errorf("read corpus: %w", err)
	}
	if !info.IsDir() {
		if filepath.Ext(p) != ".txtar" {
			return nil, fmt.Errorf("%w: %s is a file, but not a .txtar", ErrNoCorpus, p)
		}
		data, err := strict.ReadPath(p, strict.MaxFile)
		if err != nil {
			return nil, fmt.Errorf("read task: %w", err)
		}
		t, err := parseTxtar(data, p)
		if err != nil {
			return nil, err
		}
		return []*Task{t}, nil
	}
	return loadFolder(os.DirFS(p), p)
}

// loadFolder reads one task folder (it has a task.yaml), or every task folder
// and .txtar file directly inside.
func loadFolder(fsys fs.FS, name string) ([]*Task, error) {
	if _, err := fs.Stat(fsys, "task.yaml"); err == nil {
		t, err := parse(fsys, name)
		if err != nil {
			return nil, err
		}
		return []*Task{t}, nil
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("read corpus %s: %w", name, err)
	}
	return loadEntries(fsys, name, entries)
}

// loadEntries reads the tasks among the entries of a corpus folder, several at a
// time. Tasks keep the order of the entries, and of several faults the first in
// that order is returned: entries are taken in order, so that all before a
// faulty one are read to their end, and none after it is begun.
func loadEntries(fsys fs.FS, name string, entries []fs.DirEntry) ([]*Task, error) {
	found := make([]struct {
		task *Task
		err  error
	}, len(entries))
	var next, end atomic.Int64 // the next entry to take, and where to stop
	end.Store(int64(len(entries)))
	var wg sync.WaitGroup
	for range min(len(entries), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < end.Load(); i = next.Add(1) - 1 {
				if found[i].task, found[i].err = loadEntry(fsys, name, entries[i]); found[i].err != nil {
					lower(&end, i)
				}
			}
		})
	}
	wg.Wait()
	if i := end.Load(); i < int64(len(entries)) {
		return nil, found[i].err
	}
	var out []*Task
	for _, f := range found {
		if f.task != nil {
			out = append(out, f.task)
		}
	}
	return out, nil
}

// lower makes n at most to.
func lower(n *atomic.Int64, to int64) {
	for was := n.Load(); to < was && !n.CompareAndSwap(was, to); {
		was = n.Load()
	}
}

// loadEntry reads one entry of a corpus folder, or returns nil where it is not
// a task. Symlinks are followed.
func loadEntry(fsys fs.FS, name string, e fs.DirEntry) (*Task, error) {
	full := name + "/" + e.Name()
	if strings.HasPrefix(e.Name(), ".") {
		return nil, nil
	}
	if !utf8.ValidString(e.Name()) {
		return nil, &strict.Error{File: name, Message: fmt.Sprintf("file name %q is not UTF-8", e.Name())}
	}
	info, err := fs.Stat(fsys, e.Name())
	if err != nil {
		return nil, fmt.Errorf("read task: %w", err)
	}
	if !info.IsDir() {
		if path.Ext(e.Name()) != ".txtar" {
			return nil, nil
		}
		data, err := strict.ReadFile(fsys, e.Name(), strict.MaxFile)
		if err != nil {
			return nil, fmt.Errorf("read task: %w", err)
		}
		return parseTxtar(data, full)
	}
	sub, err := fs.Sub(fsys, e.Name())
	if err != nil {
		return nil, fmt.Errorf("read task %s: %w", full, err)
	}
	if _, err := fs.Stat(sub, "task.yaml"); errors.Is(err, fs.ErrNotExist) {
		if _, err := fs.Stat(sub, "workspace"); err == nil {
			return nil, &strict.Error{File: full, Message: "it has workspace/ but no task.yaml"}
		}
		return nil, nil
	}
	return parse(sub, full)
}

// parseTxtar reads one task from a txtar archive. Paths that are absolute,
// leave the archive, or stand in it twice are errors. A fault in task.yaml is
// told with the archive's name and line.
func parseTxtar(data []byte, name string) (*Task, error) {
	fsys, err := txtarFS(data)
	if err != nil {
		return nil, &strict.Error{File: name, Message: err.Error()}
	}
	if _, err := fs.Stat(fsys, "task.yaml"); err != nil {
		return nil, &strict.Error{File: name, Message: `it has no file "-- task.yaml --"`}
	}
	t, err := parse(fsys, name)
	var fault *strict.Error
	if errors.As(err, &fault) && fault.File == path.Join(name, "task.yaml") {
		if fault.Line > 0 {
			fault.Line += markerLine(data, "task.yaml")
		}
		fault.File = name
		return nil, fault
	}
	return t, err
}

// markerLine is the 1-based line of a file's marker in a txtar archive.
func markerLine(data []byte, name string) int {
	for i, line := range strings.Split(string(data), "\n") {
		if a := txtar.Parse([]byte(line)); len(a.Files) > 0 && a.Files[0].Name == name {
			return i + 1
		}
	}
	return 0
}

func txtarFS(data []byte) (fs.FS, error) {
	a := txtar.Parse(data)
	for _, f := range a.Files {
		if !fs.ValidPath(f.Name) || f.Name == "." || strings.Contains(f.Name, `\`) {
			return nil, fmt.Errorf("path %q leaves the archive or is not clean", f.Name)
		}
	}
	fsys, err := txtar.FS(a)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "cannot create fs.FS from txtar.Archive: "))
	}
	return fsys, nil
}
