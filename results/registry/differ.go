package registry

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Difference is one field in which something is not what was registered. The
// values are JSON; "" stands for a field that is not there.
type Difference struct {
	Field      string // "seed", "arms[mine].caps.diff", "task add: hash"
	Registered string
	Here       string
}

// String says the difference in words, long values cut.
func (d Difference) String() string {
	switch {
	case d.Registered == "":
		return d.Field + " is not in the registration"
	case d.Here == "":
		return d.Field + " is in the registration alone"
	}
	return fmt.Sprintf("%s is %s there and %s here", d.Field, shorten(d.Registered), shorten(d.Here))
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// Nearest is the registration of the design's name that differs in the fewest
// fields, the latest of several, with the differences; nil where none has the
// name.
func (r *Registry) Nearest(f Frozen) (nearest *Registration, differences []Difference, err error) {
	for _, reg := range r.Registrations {
		if reg.Frozen.Name != f.Name {
			continue
		}
		d, err := Differ(reg.Frozen, f)
		if err != nil {
			return nil, nil, err
		}
		if nearest == nil || len(d) <= len(differences) {
			nearest, differences = reg, d
		}
	}
	return nearest, differences, nil
}

// Differ lists in which fields what is here differs from what was registered.
func Differ(registered, here Frozen) ([]Difference, error) {
	var sides [2]any
	for i, f := range []Frozen{registered, here} {
		text, err := json.Marshal(f)
		if err == nil {
			sides[i], err = decode(text)
		}
		if err != nil {
			return nil, fmt.Errorf("compare registrations: %w", err)
		}
	}
	var out []Difference
	walk("", sides[0], sides[1], true, true, func(field string, a, b any, inA, inB bool) {
		d := Difference{Field: fieldName(field)}
		if inA {
			d.Registered = asJSON(a)
		}
		if inB {
			d.Here = asJSON(b)
		}
		out = append(out, d)
	})
	return out, nil
}

// fieldName leaves out what only says where the fields stand in the file.
func fieldName(path string) string {
	path = strings.TrimPrefix(path, "design.")
	if rest, ok := strings.CutPrefix(path, "tasks["); ok {
		id, key, _ := strings.Cut(rest, "]")
		return strings.TrimSuffix("task "+id+": "+strings.TrimPrefix(key, "."), ": ")
	}
	return path
}

// walk goes over two values side by side and tells of the deepest places where
// they differ. Lists of named things are compared by name.
func walk(path string, a, b any, inA, inB bool, tell func(path string, a, b any, inA, inB bool)) {
	objA, okA := a.(map[string]any)
	objB, okB := b.(map[string]any)
	if !okA || !okB {
		listA, namedA := named(a)
		listB, namedB := named(b)
		if !namedA || !namedB {
			if inA != inB || asJSON(a) != asJSON(b) {
				tell(path, a, b, inA, inB)
			}
			return
		}
		objA, objB = listA, listB
	}
	keys := maps.Clone(objA)
	maps.Copy(keys, objB)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		va, hasA := objA[key]
		vb, hasB := objB[key]
		inner := key
		switch {
		case okA && path != "":
			inner = path + "." + key
		case !okA:
			inner = path + "[" + key + "]"
		}
		if hasA && hasB {
			walk(inner, va, vb, true, true, tell)
		} else {
			tell(inner, va, vb, hasA, hasB)
		}
	}
}

// named turns a list of objects that each have a name of their own into an
// object by name.
func named(v any) (map[string]any, bool) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, false
	}
	out := map[string]any{}
	for _, item := range list {
		object, _ := item.(map[string]any)
		name := ""
		for _, key := range []string{"id", "arm", "name"} {
			if s, ok := object[key].(string); ok && name == "" {
				name = s
			}
		}
		if _, twice := out[name]; twice || name == "" {
			return nil, false
		}
		out[name] = item
	}
	return out, true
}

func asJSON(v any) string {
	text, err := plainJSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
