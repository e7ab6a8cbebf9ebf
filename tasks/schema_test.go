package tasks

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"retrial/tasks/strict/schematest"
)

func taskSchema(t testing.TB) *schematest.Schema {
	t.Helper()
	s, err := schematest.Compile(Schema())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// taskFile is task.yaml of an archive, or nil.
func taskFile(archive string) []byte {
	for _, f := range txtar.Parse([]byte(archive)).Files {
		if f.Name == "task.yaml" {
			return f.Data
		}
	}
	return nil
}

// parses says what the parser says of a task.yaml beside a workspace in which
// every path that is named there exists.
func parses(yaml string, paths ...string) error {
	tree := fstest.MapFS{"task.yaml": {Data: []byte(yaml), Mode: 0o644}, "workspace/a.py": {Mode: 0o644}, "workspace/b.py": {Mode: 0o644}}
	for _, p := range paths {
		if fs.ValidPath("workspace/" + p) {
			tree["workspace/"+p] = &fstest.MapFile{Mode: 0o644}
		}
	}
	_, err := parse(tree, "t")
	return err
}

// beyondSchema are the faults of archiveFaults that are in task.yaml and that no
// schema can express: they are about the files beside it, or about two keys.
var beyondSchema = []string{
	"editable missing", "editable folder", "protect missing", "not UTF-8 editable",
	"overlap", "overlap by pattern", "overlap by folder",
}

// The schema refuses the same task.yaml as the parser does.
func TestSchemaRefusesTaskFaults(t *testing.T) {
	schema := taskSchema(t)
	if err := schema.Validate(taskFile(sound)); err != nil {
		t.Error(err)
	}
	beyond := 0
	for _, c := range archiveFaults {
		text := taskFile(strings.ReplaceAll(sound, c.old, c.new))
		if text == nil || string(text) == string(taskFile(sound)) && c.name != "not UTF-8 editable" {
			continue // the fault is in another file of the archive
		}
		listed := slices.Contains(beyondSchema, c.name)
		if listed {
			beyond++
		}
		if err := schema.Validate(text); (err == nil) != listed {
			t.Errorf("%s: the schema says %v, listed as beyond it: %t", c.name, err, listed)
		}
	}
	if beyond != len(beyondSchema) {
		t.Errorf("%d faults are beyond the schema, %d are listed", beyond, len(beyondSchema))
	}
}

func TestSchemaAgreesOnTasks(t *testing.T) {
	schema := taskSchema(t)
	const least = "id: a\ninstruction: b\nverify: c\n"
	for _, text := range []string{
		"tags:", "tags: []", "tags: [~, '']", "group:", "group: ''", "editable:", "editable: []", "editable: [a.py, b.py]", "score:", "score: ''", "score: ' '",
		"timeout:", "timeout: ''", "timeout: 10s", "timeout: +1h1.5m.5s", "timeout: 1us2µs3μs4ns", "protect:", "protect: []", "protect: ['*.py']", "protect: ['[^b].py', '[a-b].p?']",
		"editable: [answer.txt]\nscore: builtin:text/brackets", "editable: [answer.txt]\nscore: |\n  builtin:text/fizz-buzz\n", "score: echo builtin:text/x",
		"examples:", "examples: []", "examples: [{prompt: a, reply: b}, {prompt: ' x ', reply: 'y '}]", "image:", "image: ''", "image: python:3", "network:", "network: true",
	} {
		if parser, schemas := parses(least+text+"\n", "answer.txt"), schema.Validate([]byte(least+text+"\n")); parser != nil || schemas != nil {
			t.Errorf("%s\nparser: %v\nschema: %v", text, parser, schemas)
		}
	}
	for _, text := range []string{
		"", "- a", "id: a\n", least + "hidden: x\n", least + "id: b\n", strings.Replace(least, "a", "", 1), strings.Replace(least, "a", "A", 1), strings.Replace(least, "a", "_a", 1),
		strings.Replace(least, "a", "a\n\n---\nid: b", 1), strings.Replace(least, "b", "''", 1), strings.Replace(least, "verify: c", "verify: ' '", 1), strings.Replace(least, "verify: c", `verify: "\0c"`, 1),
		strings.Replace(least, "b", "[b]", 1), least + `score: "a\0"`, least + "timeout: 0", least + "timeout: 0s", least + "timeout: -5s", least + "timeout: 5", least + "timeout: s", least + "timeout: 0.0m",
		least + "tags: a", least + "tags: {a: b}", least + "editable: [~]", least + "editable: ['']", least + "editable: [.]", least + "editable: [a.py, a.py]",
		least + "protect: [~]", least + "protect: [.]", least + "protect: ['[^]']", least + "protect: [/a.py]", least + "examples: a", least + "examples: [a]", least + "examples: [~]",
		least + "examples: [{prompt: a}]", least + "examples: [{prompt: a, reply: }]", least + "examples: [{prompt: ' ', reply: b}]", least + "examples: [{prompt: a, reply: b, note: c}]",
		least + "editable: [answer.txt]\nscore: builtin:text/bracket", least + "score: ' builtin:go'", least + "editable: [a.py]\nscore: builtin:text/brackets",
		least + "editable: [answer.txt, a.py]\nscore: builtin:text/brackets", strings.Replace(least, "verify: c", "verify: builtin:text/bracket", 1),
		least + "network: yes", least + "network: 1", least + "network: ''", least + "image: [a]",
	} {
		if parser, schemas := parses(text, "answer.txt"), schema.Validate([]byte(text)); parser == nil || schemas == nil {
			t.Errorf("%s\nparser: %v\nschema: %v", text, parser, schemas)
		}
	}
	// What the parser reads as text, the schema wants as text.
	for _, text := range []string{strings.Replace(least, "a", "7", 1), strings.Replace(least, "verify: c", "verify: true", 1), least + "tags: [7]"} {
		if parser, schemas := parses(text), schema.Validate([]byte(text)); parser != nil || schemas == nil {
			t.Errorf("%s\nparser: %v\nschema: %v", text, parser, schemas)
		}
	}
}

// The patterns say what the parser's functions say, sign by sign.
func TestSchemaPatterns(t *testing.T) {
	schema := taskSchema(t)
	check := func(t *rapid.T, id, timeout, editable string) {
		text := "id: " + strconv.Quote(id) + "\ninstruction: b\nverify: c\ntimeout: " + strconv.Quote(timeout) + "\neditable: [" + editable + "]\n"
		parser := parses(text, unquote(editable))
		if schemas := schema.Validate([]byte(text)); (parser == nil) != (schemas == nil) {
			t.Fatalf("%s\nparser: %v\nschema: %v", text, parser, schemas)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.StringMatching(`[a-cZ0-9._ /-]{0,3}`).Draw(t, "id"), "", "")
		timeout := rapid.StringMatching(`[+-]?([0-9]{0,2}\.?[0-9]?(us|µs|μs|ms|s|m|h|d)?){0,3}`).Draw(t, "timeout")
		if !strings.Contains(timeout, ".") || !strings.Contains(timeout, "ns") {
			check(t, "a", timeout, "") // less than a nanosecond is nothing to the parser, and something to the schema
		}
		if p := rapid.StringMatching(`[./x\n]{1,5}`).Draw(t, "path"); p != "." && fs.ValidPath(p) {
			check(t, "a", "", strconv.Quote(p))
		} else if parser := schema.Validate([]byte("id: a\ninstruction: b\nverify: c\neditable: [" + strconv.Quote(p) + "]\n")); parser == nil {
			t.Fatalf("path %q: the schema takes it", p)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		glob := rapid.StringMatching(`[\]\[\\*?!^a/.-]{1,6}`).Draw(t, "glob")
		_, err := path.Match(glob, "")
		ok := err == nil && fs.ValidPath(glob) && glob != "."
		schemas := schema.Validate([]byte("id: a\ninstruction: b\nverify: c\nprotect: [" + strconv.Quote(glob) + "]\n"))
		if (schemas == nil) != ok {
			t.Fatalf("glob %q: %v, want %t", glob, schemas, ok)
		}
	})
}

func unquote(s string) string {
	out, err := strconv.Unquote(s)
	if err != nil {
		return s
	}
	return out
}

// Any valid task.yaml is valid for both.
func TestSchemaTakesValidTasks(t *testing.T) {
	schema := taskSchema(t)
	word := rapid.StringMatching(`[ -~é]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(key string) string { return key + ": " + strconv.Quote(word.Draw(t, key)) + "\n" }
		text := "id: " + strconv.Quote(rapid.StringMatching(`[a-z0-9][a-z0-9._-]{0,9}`).Draw(t, "id")) + "\ninstruction: " + strconv.Quote("x"+word.Draw(t, "instruction")) +
			"\nverify: " + strconv.Quote("x"+word.Draw(t, "verify")) + "\n"
		for _, key := range []string{"group", "score", "image"} {
			if rapid.Bool().Draw(t, "has "+key) {
				text += draw(key)
			}
		}
		text += "timeout: " + rapid.StringMatching(`([1-9][0-9]?(\.[0-9])?(ms|s|m|h)){1,3}`).Draw(t, "timeout") + "\n"
		text += "tags: [" + strconv.Quote(word.Draw(t, "tag")) + "]\n"
		text += rapid.SampledFrom([]string{"", "editable: [a.py]\nprotect: [b.py]\n", "editable: [a.py, b.py]\n", "protect: ['?.py', a.py]\n"}).Draw(t, "lists")
		text += rapid.SampledFrom([]string{"", "network: true\n", "network: false\n"}).Draw(t, "network")
		if parser, schemas := parses(text), schema.Validate([]byte(text)); parser != nil || schemas != nil {
			t.Fatalf("%s\nparser: %v\nschema: %v", text, parser, schemas)
		}
	})
}

func TestSchemaDocumentsEveryKey(t *testing.T) {
	var schema any
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	timeout := schema.(map[string]any)["properties"].(map[string]any)["timeout"].(map[string]any)
	if d, err := time.ParseDuration(timeout["default"].(string)); err != nil || d != DefaultTimeout {
		t.Errorf("timeout has the default %v, %v", d, err)
	}
	if keys := schematest.Undocumented(schema); len(keys) > 0 {
		t.Errorf("keys without a description: %v", keys)
	}
}
