package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"retrial/arms"
	"retrial/arms/suites"
	"retrial/tasks"
	"retrial/tasks/corpus"
	"retrial/tasks/strict/schematest"
)

func compiled(t *testing.T, schema []byte) *schematest.Schema {
	t.Helper()
	s, err := schematest.Compile(schema)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every task.yaml and every design that ships is valid by its schema. That the
// parser takes them is tested where they are loaded.
func TestSchemasTakeWhatShips(t *testing.T) {
	task, design := compiled(t, tasks.Schema()), compiled(t, arms.Schema())
	seen := 0
	archive := func(name string, data []byte) {
		for _, f := range txtar.Parse(data).Files {
			if f.Name == "task.yaml" {
				seen++
				if err := task.Validate(f.Data); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	err := fs.WalkDir(corpus.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) != ".txtar" {
			return err
		}
		data, err := fs.ReadFile(corpus.FS, p)
		archive(p, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	archive("scaffold.txtar", bytes.Replace(scaffold, []byte("id: NAME"), []byte("id: name"), 1))
	if seen < 80 {
		t.Errorf("only %d tasks were seen", seen)
	}
	designs := map[string][]byte{"starter.yaml": starter}
	for _, name := range suites.Names() {
		if designs[name], err = suites.Read(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range designs {
		if err := design.Validate(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := arms.ParseDesign(name, data); err != nil {
			t.Error(err)
		}
	}
}

// The designs at fault of a script: the schema refuses what the parser does,
// and what is at fault in the corpus only, neither.
func TestSchemaRefusesFaultsOfScript(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "script", "design_faults.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	schema, faulty := compiled(t, arms.Schema()), 0
	for _, f := range txtar.Parse(data).Files {
		if !strings.HasSuffix(f.Name, ".yaml") {
			continue
		}
		_, parser := arms.ParseDesign(f.Name, f.Data)
		if parser != nil {
			faulty++
		}
		if schemas := schema.Validate(f.Data); (parser == nil) != (schemas == nil) {
			t.Errorf("%s\nparser: %v\nschema: %v", f.Name, parser, schemas)
		}
	}
	if faulty < 7 {
		t.Errorf("only %d faulty designs were seen", faulty)
	}
}
