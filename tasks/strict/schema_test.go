package strict_test

import (
	"encoding/json"
	"io/fs"
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"
	"pgregory.net/rapid"

	"retrial/tasks/strict"
	"retrial/tasks/strict/schematest"
)

type note struct {
	Title string   `yaml:"title" jsonschema:"required" jsonschema_description:"What it is about."`
	Size  int      `yaml:"size" jsonschema_description:"In pages, of course."`
	Kind  string   `yaml:"kind"`
	Lines []string `yaml:"lines"`
	Paper struct {
		Colour string `yaml:"colour"`
	} `yaml:"paper"`
	Sheets []struct {
		Number int `yaml:"number" jsonschema:"required"`
		Side   int `yaml:"side"`
	} `yaml:"sheets"`
	Secret string `yaml:"-" json:"secret"`
}

func noteSchema() []byte {
	return strict.Schema("urn:note", "a note", note{}, func(s *jsonschema.Schema) {
		strict.Key(s, "kind").Enum = strict.Words("short", "long")
		strict.Key(s, "paper", "colour").Pattern = strict.NotBlank
	})
}

// A schema takes what Decode takes, a key with nothing behind it too, and asks
// for what the tags require.
func TestSchema(t *testing.T) {
	schema, err := schematest.Compile(noteSchema())
	if err != nil {
		t.Fatal(err)
	}
	for text, valid := range map[string]bool{
		"title: a": true, "title: a\nsize:\nkind:\nlines:\npaper:\nsheets:\n": true, "title: a\nsize: 3\nkind: long\nlines: [a, b]\npaper: {colour: }\n": true,
		"title: a\nsheets: [{number: 1, side: }]": true, "title: a\nsheets: [{number: }]": false, "title: a\nsheets: [{side: 1}]": false, "title: a\nsheets: [~]": false,
		"title:": false, "size: 3": false, "title: a\nsize: x": false, "title: a\nkind: middling": false, "title: a\nkind: ''": false, "title: a\nlines: a": false, "title: a\nlines: [~]": false,
		"title: a\npaper: {color: red}": false, "title: a\npaper: {colour: ' '}": false, "title: a\nsecret: x": false, "title: a\nSecret: x": false, "title: a\nTitle: b": false, "[a]": false,
	} {
		if err := schema.Validate([]byte(text)); (err == nil) != valid {
			t.Errorf("%q: %v, want valid %t", text, err, valid)
		}
	}
	var got struct {
		ID         string `json:"$id"`
		Title      string
		Required   []string
		Properties map[string]struct {
			Description string
			Type        any
		}
	}
	if err := json.Unmarshal(noteSchema(), &got); err != nil {
		t.Fatal(err)
	}
	if got.ID != "urn:note" || got.Title != "a note" || !reflect.DeepEqual(got.Required, []string{"title"}) || len(got.Properties) != 6 ||
		got.Properties["size"].Description != "In pages, of course." || !reflect.DeepEqual(got.Properties["size"].Type, []any{"integer", "null"}) || got.Properties["title"].Type != "string" {
		t.Errorf("schema %+v", got)
	}
	s := strict.Reflect(note{})
	if strict.Key(s, "paper", "colour") == nil || strict.Key(s, "paper", "color") != nil || strict.Key(s, "size", "x") != nil || strict.Key(s, "no", "x") != nil {
		t.Error("Key finds what is not there, or not what is")
	}
}

// PathPattern is fs.ValidPath, but for the root.
func TestPathPattern(t *testing.T) {
	schema, err := schematest.Compile(strict.Schema("urn:path", "", note{}, func(s *jsonschema.Schema) {
		strict.Key(s, "title").Pattern = strict.PathPattern
	}))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.StringMatching(`[./x\n]{0,7}`).Draw(t, "path")
		quoted, _ := json.Marshal(p)
		if err := schema.Validate([]byte("title: " + string(quoted))); (err == nil) != (fs.ValidPath(p) && p != ".") {
			t.Fatalf("%q: %v", p, err)
		}
	})
}
