package seed

import (
	"context"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// goProgramText holds a place for each operator of the Go mutator.
const goProgramText = `package p

import "strings"

type span struct{ low, high int }

func clip(v, low, high int) int {
	if v < low {
		return low
	}
	for i := 0; i <= high; i++ {
		if i == v && v != 3 {
			break
		}
		v -= 2
	}
	mask := v & 6
	low = mask
	return v * high
}

func (s *span) set(low, high int, ok bool) (bool, error) {
	s.low = low
	s.high = high - low
	if !ok {
		return false, nil
	}
	report(low, high)
	return strings.HasPrefix("a", "b"), nil
}

func report(a, b int) {
	_ = max(a, b)
}

func other(a, b int) {}
`

// TestGoMutants: for each operator, some of what it makes of a line.
func TestGoMutants(t *testing.T) {
	list, err := Go{}.Mutants(context.Background(), map[string]string{"p.go": goProgramText})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(goProgramText, "\n")
	seen := map[string]bool{}
	for _, c := range []struct{ operator, before, after string }{
		{"boundary", "	if v < low {", "	if v <= low {"},
		{"boundary", "	for i := 0; i <= high; i++ {", "	for i := 0; i < high; i++ {"},
		{"compare", "	if v < low {", "	if v > low {"},
		{"negate", "	if v < low {", "	if v >= low {"},
		{"negate", "	if !ok {", "	if ok {"},
		{"negate", "		if i == v && v != 3 {", "		if !(i == v && v != 3) {"},
		{"boolean", "		if i == v && v != 3 {", "		if i == v || v != 3 {"},
		{"constant", "		if i == v && v != 3 {", "		if i == v && v != 4 {"},
		{"constant", "		return false, nil", "		return true, nil"},
		{"arithmetic", "		v -= 2", "		v += 2"},
		{"arithmetic", "		v -= 2", "		v = 2"},
		{"arithmetic", "	for i := 0; i <= high; i++ {", "	for i := 0; i <= high; i-- {"},
		{"arithmetic", "	return v * high", "	return v + high"},
		{"bitwise", "	mask := v & 6", "	mask := v | 6"},
		{"append", "	return v * high", "	return v * high + 1"},
		{"append", "	if v < low {", "	if v < low - 1 {"},
		{"name", "		return low", "		return high"},
		{"name", "	report(low, high)", "	other(low, high)"},
		{"target", "	low = mask", "	high = mask"},
		{"target", "	s.low = low", "	s.high = low"},
		{"swap", "	s.high = high - low", "	s.high = low - high"},
		{"swap", "	report(low, high)", "	report(high, low)"},
		{"sibling", `	return strings.HasPrefix("a", "b"), nil`, `	return strings.HasSuffix("a", "b"), nil`},
		{"sibling", "	_ = max(a, b)", "	_ = min(a, b)"},
		{"jump", "			break", "			continue"},
		{"delete", "	s.low = low\n", ""},
		{"delete", "	if !ok {\n		return false, nil\n	}\n", ""},
		{"move", "		v -= 2", ""},
		{"return", "	return v * high", "	return 0"},
		{"attribute", "", ""},
	} {
		seen[c.operator] = true
		if c.operator == "move" || c.operator == "attribute" {
			continue // below
		}
		want := strings.Replace(goProgramText, c.before, c.after, 1)
		if !slices.ContainsFunc(list, func(m Mutant) bool { return m.Operator == c.operator && m.apply(goProgramText) == want }) {
			t.Errorf("no %s makes %q of %q", c.operator, c.after, c.before)
		}
	}
	for _, name := range (Go{}).Operators() {
		if !seen[name] {
			t.Errorf("operator %s has no case here", name)
		}
	}
	for _, m := range list {
		if !slices.Contains(Go{}.Operators(), m.Operator) || m.Weight <= 0 || m.Path != "p.go" {
			t.Errorf("a mutant of no known kind: %+v", m)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", m.apply(goProgramText), 0); err != nil {
			t.Errorf("%s on line %d (%s) does not parse: %v", m.Operator, m.Line, lines[m.Line-1], err)
		}
	}
}

// TestGoMoves: statements change places where that can matter, fields where one
// has another's type.
func TestGoMoves(t *testing.T) {
	for _, c := range []struct{ operator, body, want string }{
		{"move", "a = b\n\tb = a\n", "b = a\n\ta = b\n"},
		{"move", "println(a)\n\tprintln(b)\n", "println(b)\n\tprintln(a)\n"},
		{"attribute", "println(s.x)\n", "println(s.y)\n"},
	} {
		text := "package p\n\nvar s struct{ x, y int; z string }\n\nfunc f(a, b int) {\n\t" + c.body + "}\n"
		want := strings.Replace(text, c.body, c.want, 1)
		list, err := Go{}.Mutants(context.Background(), map[string]string{"p.go": text})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(list, func(m Mutant) bool { return m.Operator == c.operator && m.apply(text) == want }) {
			t.Errorf("no %s makes %q of %q", c.operator, c.want, c.body)
		}
	}
	// Two that commute stay; so does the field of another type.
	text := "package p\n\nvar s struct{ x int; z string }\n\nfunc f(a, b, c int) {\n\ta = c\n\tb = c\n\tprintln(s.x)\n}\n"
	list, err := Go{}.Mutants(context.Background(), map[string]string{"p.go": text})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.Operator == "move" && m.Line == 6 && m.End-m.Start == len("\ta = c\n\tb = c\n") || m.Operator == "attribute" {
			t.Errorf("%s makes %q", m.Operator, m.apply(text))
		}
	}
}

// TestGoCompiles: what the types forbid is told from what they allow, and types
// of other modules are no obstacle.
func TestGoCompiles(t *testing.T) {
	files := map[string]string{
		"a.go":       "package a\n\nimport \"os\"\nimport \"m/inner\"\n\nfunc f(n int) int {\n\tuse(os.Args)\n\tx := n\n\treturn inner.Twice(x)\n}\n\nfunc use(v any) {}\n",
		"inner/b.go": "package inner\n\nfunc Twice(n int) int { return 2 * n }\n",
	}
	at := func(path, old, new string) Mutant {
		i := strings.Index(files[path], old)
		return Mutant{Path: path, Start: i, End: i + len(old), Text: new}
	}
	for _, c := range []struct {
		m    Mutant
		want bool
	}{
		{at("a.go", "Twice(x)", "Twice(n)"), false}, // x is not used any more
		{at("a.go", "x := n", "x := n + 1"), true},
		{at("a.go", "	use(os.Args)\n", ""), false}, // the import is not used
		{at("a.go", "Twice(x)", "Twice(nil)"), false},
		{at("a.go", "os.Args", "os.Environ"), true}, // not known, so not denied
		{at("inner/b.go", "2 * n", "2 + n"), true},
		{at("inner/b.go", "2 * n", "\"\""), false},
		{at("inner/b.go", "2 * n", "2 *"), false},
	} {
		if got := (Go{}).Compiles(files, c.m); got != c.want {
			t.Errorf("%q in %s compiles: %v, want %v", c.m.Text, c.m.Path, got, c.want)
		}
	}
	if list, err := (Go{}).Mutants(context.Background(), map[string]string{"g.go": "// Code generated by hand. DO NOT EDIT.\npackage g\n\nvar x = 1\n", "broken.go": "package g\nfunc {"}); err != nil || len(list) > 0 {
		t.Errorf("generated or broken files have mutants: %v, %v", list, err)
	}
}
