package schematest

import (
	"encoding/json"
	"reflect"
	"testing"
)

const draft = `"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:x"`

func TestCompileRefuses(t *testing.T) {
	for _, text := range []string{"{", "[]", "true", `{"$id": "urn:x"}`, `{"$schema": "http://json-schema.org/draft-07/schema#", "$id": "urn:x"}`, `{` + draft + `, "type": "txt"}`, `{` + draft + `, "pattern": "["}`} {
		if _, err := Compile([]byte(text)); err == nil {
			t.Errorf("%s is taken for a schema", text)
		}
	}
}

func TestValidate(t *testing.T) {
	s, err := Compile([]byte(`{` + draft + `, "properties": {"n": {"type": "number", "maximum": 18446744073709551615}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, valid := range map[string]bool{
		"n: 18446744073709551615": true, "n: 1e3": true, "n: 18446744073709551616": false, "n: a": false, "n: .nan": false, "n: [": false, "n: 1\nn: 2": false, "n: \xff": false, "": true,
	} {
		if err := s.Validate([]byte(text)); (err == nil) != valid {
			t.Errorf("%q: %v, want valid %t", text, err, valid)
		}
	}
}

func TestUndocumented(t *testing.T) {
	var schema any
	if err := json.Unmarshal([]byte(`{"additionalProperties": false, "properties": {"a": {"description": "A."}, "b": {},
		"c": {"description": "C.", "items": {"anyOf": [{"properties": {"x": {}}}, {"additionalProperties": false, "properties": {"d": {}}}]}}}}`), &schema); err != nil {
		t.Fatal(err)
	}
	if got := Undocumented(schema); !reflect.DeepEqual(got, []string{"b", "c.d"}) {
		t.Errorf("undocumented %q", got)
	}
}
