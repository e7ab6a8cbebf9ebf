package tasks

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// An Importer reads the tasks of a source in another format; it yields all of
// them or an error. A source that is not there is an [ErrNoCorpus].
type Importer func(source string) ([]*Task, error)

var importers = map[string]Importer{}

// RegisterImporter lets [Load] read "kind:SOURCE" through f. It is for init
// functions; a kind that is registered twice is a defect of the program.
func RegisterImporter(kind string, f Importer) {
	if importers[kind] != nil || kind == "builtin" {
		panic(fmt.Sprintf("importer %q is registered twice", kind))
	}
	importers[kind] = f
}

// Importers lists the registered kinds, sorted.
func Importers() []string { return slices.Sorted(maps.Keys(importers)) }

// Parse reads one task folder: task.yaml and its trees, as [Load] does. name
// stands for the task in messages and is its Source.
func Parse(fsys fs.FS, name string) (*Task, error) { return parse(fsys, name) }

// loadForeign reads spec where it is "KIND:SOURCE" of a registered kind.
func loadForeign(spec, base string) (list []*Task, ok bool, err error) {
	kind, source, _ := strings.Cut(spec, ":")
	read := importers[kind]
	if read == nil {
		return nil, false, nil
	}
	if base != "" && !filepath.IsAbs(source) {
		source = filepath.Join(base, source)
	}
	list, err = read(source)
	return list, true, err
}
