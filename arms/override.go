package arms

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"retrial/tasks/strict"
)

// Override writes "key=value" settings into a design file's text, in order, and
// returns the new text: "seed=9", "solver.memory=ignore", "arms=[blind, notice]".
// The new text holds the same values and no comments, one key a line.
// The value is YAML; mappings on the way to the key are made where there are
// none. Errors: a setting without "=" or with an empty key, a value that is not
// one YAML value, a key inside something that is not a mapping, and the design's
// own faults. Whether the key exists is found when the result is parsed.
func Override(file string, data []byte, settings []string) ([]byte, error) {
	if len(settings) == 0 {
		return data, nil
	}
	if err := strict.Decode(file, data, new(Design)); err != nil {
		return nil, err
	}
	var doc yaml.MapSlice
	if err := decodeOrdered(data, &doc); err != nil {
		return nil, &strict.Error{File: file, Message: err.Error()}
	}
	for _, s := range settings {
		key, value, ok := strings.Cut(s, "=")
		keys := strings.Split(key, ".")
		for _, k := range keys {
			if !ok || strings.TrimSpace(k) == "" {
				return nil, fmt.Errorf("override %q is not key=value, for example seed=9 or solver.memory=heed", s)
			}
		}
		var v any
		if err := decodeOne(value, &v); err != nil {
			return nil, fmt.Errorf("override %q: the value is not YAML", s)
		}
		var err error
		if doc, err = set(doc, keys, v); err != nil {
			return nil, fmt.Errorf("override %q: %w", s, err)
		}
	}
	var out []byte
	for _, item := range doc {
		var err error
		if out, err = appendItem(out, item); err != nil {
			return nil, fmt.Errorf("override design: %w", err)
		}
		out = append(out, '\n')
	}
	return out, nil
}

// appendItem and appendValue write values as JSON, which is YAML too: the
// library's own writer loses line ends and quotes of some texts.
func appendItem(out []byte, item yaml.MapItem) ([]byte, error) {
	out, err := appendValue(out, fmt.Sprint(item.Key))
	if err != nil {
		return nil, err
	}
	return appendValue(append(out, ": "...), item.Value)
}

func appendValue(out []byte, v any) (_ []byte, err error) {
	comma := ""
	switch v := v.(type) {
	case yaml.MapSlice:
		out = append(out, '{')
		for _, item := range v {
			if out, err = appendItem(append(out, comma...), item); err != nil {
				return nil, err
			}
			comma = ", "
		}
		return append(out, '}'), nil
	case []any:
		out = append(out, '[')
		for _, item := range v {
			if out, err = appendValue(append(out, comma...), item); err != nil {
				return nil, err
			}
			comma = ", "
		}
		return append(out, ']'), nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%v has no place in a design", v)
	}
	return append(out, data...), nil
}

// decodeOne reads a text that is one YAML value.
func decodeOne(text string, v any) error {
	f, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return err
	}
	if len(f.Docs) > 1 {
		return errors.New("more than one document")
	}
	return decodeOrdered([]byte(text), v)
}

// decodeOrdered reads YAML and keeps the order of keys. The library panics on
// a few texts that its own parser lets through.
func decodeOrdered(data []byte, v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this is not YAML that can be read: %v", p)
		}
	}()
	return yaml.UnmarshalWithOptions(data, v, yaml.UseOrderedMap())
}

// set puts v at the place that keys names, making mappings on the way.
func set(doc yaml.MapSlice, keys []string, v any) (yaml.MapSlice, error) {
	at := -1
	for i, item := range doc {
		if item.Key == keys[0] {
			at = i
		}
	}
	if at < 0 {
		doc = append(doc, yaml.MapItem{Key: keys[0]})
		at = len(doc) - 1
	}
	if len(keys) == 1 {
		doc[at].Value = v
		return doc, nil
	}
	inner, isMap := doc[at].Value.(yaml.MapSlice)
	if !isMap && doc[at].Value != nil {
		return nil, fmt.Errorf("%s is not a mapping, it has no %s", keys[0], strings.Join(keys[1:], "."))
	}
	inner, err := set(inner, keys[1:], v)
	doc[at].Value = inner
	return doc, err
}
