// Package schematest validates YAML files by a JSON Schema, for tests that
// compare a schema with the parser of the same files.
package schematest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

// Schema is a compiled JSON Schema.
type Schema struct{ schema *jsonschema.Schema }

// Compile reads a schema and checks it by the metaschema that it names.
func Compile(schema []byte) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	object, ok := doc.(map[string]any)
	if !ok || object["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
		return nil, fmt.Errorf("$schema is not draft 2020-12")
	}
	id, _ := object["$id"].(string)
	c := jsonschema.NewCompiler()
	if err := c.AddResource(id, doc); err != nil {
		return nil, err
	}
	s, err := c.Compile(id)
	if err != nil {
		return nil, err
	}
	return &Schema{s}, nil
}

// Validate says what is wrong with a YAML file, as an editor sees it: turned
// into JSON, by the schema. What is not JSON is an error too.
func (s *Schema) Validate(data []byte) (err error) {
	defer func() {
		if p := recover(); p != nil { // the YAML library, on broken text
			err = fmt.Errorf("read YAML: %v", p)
		}
	}()
	var value any
	if err := yaml.Unmarshal(data, &value); err != nil {
		return fmt.Errorf("read YAML: %w", err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("turn YAML into JSON: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("turn YAML into JSON: %w", err)
	}
	return s.schema.Validate(doc)
}

// Undocumented lists the keys, as paths, that a decoded schema describes in no
// words. Where a schema sets conditions only, it has no keys of its own.
func Undocumented(schema any) []string {
	var out []string
	var walk func(path string, v any)
	walk = func(path string, v any) {
		object, _ := v.(map[string]any)
		properties, _ := object["properties"].(map[string]any)
		if object["additionalProperties"] == nil {
			properties = nil
		}
		for _, key := range slices.Sorted(maps.Keys(properties)) {
			property, _ := properties[key].(map[string]any)
			if text, _ := property["description"].(string); text == "" {
				out = append(out, path+key)
			}
			walk(path+key+".", property)
		}
		list, _ := object["anyOf"].([]any)
		for _, sub := range append(list, object["items"]) {
			if sub != nil {
				walk(path, sub)
			}
		}
	}
	walk("", schema)
	return out
}
