package strict

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// locate finds the first node that does not fit v, or returns nil.
func locate(file string, node ast.Node, v any) *Error {
	w := walker{file: file}
	w.walk("", node, reflect.TypeOf(v).Elem())
	return w.found
}

// walker goes over a syntax tree and a Go type side by side, in the file's
// order, until it has found a fault.
type walker struct {
	file  string
	found *Error
}

// fault keeps the first fault. path is the key's, "" for the whole file.
func (w *walker) fault(path string, node ast.Node, message string) {
	if w.found != nil {
		return
	}
	if path != "" {
		message = path + ": " + message
	}
	w.found = &Error{File: w.file, Line: lineOf(node), Message: message}
}

func (w *walker) walk(path string, node ast.Node, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n := node.(type) {
	case nil, *ast.NullNode, *ast.AliasNode, *ast.CommentGroupNode:
		return // fits everything, or is looked at where its anchor is
	case *ast.AnchorNode:
		w.walk(path, n.Value, t)
		return
	}
	if w.found != nil {
		return
	}
	switch {
	case isUnmarshaler(t):
		w.leaf(path, node, t)
	case t.Kind() == reflect.Struct:
		w.structFields(path, node, t)
	case t.Kind() == reflect.Map:
		w.mapping(path, node, t, func(string) (reflect.Type, bool) { return t.Elem(), true })
	case t.Kind() == reflect.Slice:
		list, ok := node.(*ast.SequenceNode)
		if !ok {
			w.leaf(path, node, t)
			return
		}
		for i, item := range list.Values {
			w.walk(fmt.Sprintf("%s[%d]", path, i), item, t.Elem())
		}
	default:
		w.leaf(path, node, t)
	}
}

func (w *walker) structFields(path string, node ast.Node, t reflect.Type) {
	fields := map[string]reflect.Type{}
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name != "" && name != "-" && f.IsExported() {
			fields[name] = f.Type
			names = append(names, name)
		}
	}
	w.mapping(path, node, t, func(key string) (reflect.Type, bool) {
		t, ok := fields[key]
		return t, ok
	}, slices.Sorted(slices.Values(names))...)
}

// mapping walks the pairs of a mapping. field gives a key's type; a key that
// has none is a fault, explained with the valid names.
func (w *walker) mapping(path string, node ast.Node, t reflect.Type, field func(key string) (reflect.Type, bool), names ...string) {
	m, ok := node.(ast.MapNode)
	if !ok {
		w.fault(path, node, fmt.Sprintf("want %s, got %s", want(t), got(node)))
		return
	}
	for pairs := m.MapRange(); pairs.Next(); {
		key := pairs.Key()
		if key.IsMergeKey() {
			continue
		}
		name := fmt.Sprint(key.GetToken().Value)
		inner := name
		if path != "" {
			inner = path + "." + name
		}
		ft, ok := field(name)
		if !ok {
			w.fault(path, key, Unknown("key", name, names))
			return
		}
		w.walk(inner, pairs.Value(), ft)
	}
}

// leaf decodes a node on its own, to see whether it fits.
func (w *walker) leaf(path string, node ast.Node, t reflect.Type) {
	v := reflect.New(t)
	err := convert(node, v.Interface())
	if err == nil {
		if bent(node, v.Elem()) {
			w.fault(path, node, fmt.Sprintf("want %s, got %s", want(t), got(node)))
		}
		return
	}
	var known *Error
	var mismatch *yaml.TypeError
	var ye yaml.Error
	switch {
	case errors.As(err, &known):
		w.fault(path, node, known.Message)
	case errors.As(err, &mismatch) && isUnmarshaler(t):
		w.fault(path, node, fmt.Sprintf("want %s, got %s", want(mismatch.DstType), got(node)))
	case errors.As(err, &ye):
		w.fault(path, node, fmt.Sprintf("want %s, got %s", want(t), got(node)))
	default: // the type's own words
		w.fault(path, node, strings.Join(strings.Fields(err.Error()), " "))
	}
}

// bent says whether the library took a value for what it is not: a fraction for
// a whole number, or no number for a number.
func bent(node ast.Node, v reflect.Value) bool {
	switch {
	case v.CanInt(), v.CanUint():
		// 2.5, 010 (octal) and 1_0 are taken for something else than people
		// mean, and what does not fit is bent to what does.
		tok := node.GetToken()
		return !isUnmarshaler(v.Type()) && tok != nil && fmt.Sprint(v.Interface()) != tok.Value && fmt.Sprintf("%#x", v.Interface()) != tok.Value
	case v.CanFloat():
		return math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)
	}
	return false
}

func isUnmarshaler(t reflect.Type) bool {
	switch reflect.New(t).Interface().(type) {
	case yaml.NodeUnmarshaler, yaml.BytesUnmarshaler, yaml.InterfaceUnmarshaler:
		return true
	}
	return false
}

// want says in plain words what a Go type holds.
func want(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0 up"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Slice, reflect.Array:
		return "a list"
	default:
		return "keys with values"
	}
}

// got says what stands in the file instead.
func got(node ast.Node) string {
	switch n := node.(type) {
	case *ast.SequenceNode:
		return "a list"
	case ast.MapNode:
		return "keys with values"
	case *ast.StringNode:
		return quote(n.Value)
	case *ast.LiteralNode:
		return quote(n.Value.Value)
	case *ast.TagNode:
		return "the tag " + n.Start.Value
	default:
		return node.String()
	}
}

// quote shortens a word that is no word.
func quote(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
