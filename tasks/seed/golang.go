package seed

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Go is the [Language] of Go modules. Its mutants have the names and weights
// that the built-in repairer's for Python have, where an operator fits. Types are
// worked out over the program's own packages; what comes from others is unknown,
// and left alone where an operator needs a type.
type Go struct{}

// Name is "go".
func (Go) Name() string { return "go" }

// IsTest says whether go test alone compiles the file.
func (Go) IsTest(p string) bool { return strings.HasSuffix(p, "_test.go") }

// IsSource leaves out tests, and what lies below vendor or testdata.
func (Go) IsSource(p string) bool {
	words := strings.Split(p, "/")
	return strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_test.go") &&
		!slices.ContainsFunc(words, func(w string) bool {
			return w == "vendor" || w == "testdata" || strings.HasPrefix(w, "_") || strings.HasPrefix(w, ".")
		})
}

// Operators lists the operators of Mutants.
func (Go) Operators() []string { return slices.Sorted(maps.Keys(goWeights)) }

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// Mutants lists mutants that parse; [Go.Compiles] says which of them cannot
// compile. Generated files have none.
func (Go) Mutants(ctx context.Context, files map[string]string) ([]Mutant, error) {
	prog := newGoProgram(files)
	var out []Mutant
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		pkg := prog.packageOf(p)
		if pkg == nil || pkg.files[p] == nil || generated.MatchString(files[p]) {
			continue
		}
		out = append(out, goMutants(prog, pkg, p)...)
	}
	return out, nil
}

// Compiles checks the types of the mutant's package: an error that the program
// does not have without the mutant is one that the compiler would find.
func (Go) Compiles(files map[string]string, m Mutant) bool {
	before := newGoProgram(files).packageOf(m.Path)
	changed := maps.Clone(files)
	changed[m.Path] = m.apply(files[m.Path])
	if (Go{}).Tidy(files[m.Path], changed[m.Path]) != changed[m.Path] {
		return false // an import is no longer used
	}
	after := newGoProgram(changed).packageOf(m.Path)
	if before == nil || after == nil {
		return after != nil
	}
	known := map[string]int{}
	for _, e := range before.errors {
		known[e]++
	}
	for _, e := range after.errors {
		if known[e]--; known[e] < 0 {
			return false
		}
	}
	return true
}

// Tests lists the test, fuzz and example functions.
func (Go) Tests(_ context.Context, files map[string]string, _ string) (Tests, error) {
	var t Tests
	for _, p := range slices.Sorted(maps.Keys(files)) {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, p, files[p], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue // the tests pass: it is one that is not compiled here
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !goTestName(f.Name.Name) {
				continue
			}
			from := f.Pos()
			if f.Doc != nil {
				from = f.Doc.Pos()
			}
			start, end := wholeLines(files[p], fset.Position(from).Offset, fset.Position(f.End()).Offset)
			t.Units = append(t.Units, Unit{Path: p, Name: f.Name.Name, Start: start, End: end})
		}
	}
	return t, nil
}

// goTestName says whether go test runs a function of this name.
func goTestName(name string) bool {
	for _, prefix := range []string{"Test", "Fuzz", "Example"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && name != "TestMain" {
			first, _ := utf8.DecodeRuneInString(rest)
			return rest == "" || !unicode.IsLower(first)
		}
	}
	return false
}

// wholeLines widens a span to whole lines, the last newline included, where
// nothing but blanks stands beside it.
func wholeLines(text string, start, end int) (int, int) {
	from := strings.LastIndexByte(text[:start], '\n') + 1
	to := len(text)
	if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
		to = end + i + 1
	}
	if strings.TrimSpace(text[from:start]) != "" || strings.TrimSpace(text[end:to]) != "" {
		return start, end
	}
	return from, to
}

// Tidy drops the imports that a test file no longer needs.
func (Go) Tidy(before, after string) string {
	was, _, err := goNames(before)
	if err != nil {
		return after
	}
	is, file, err := goNames(after)
	if err != nil {
		return after
	}
	for _, d := range slices.Backward(file.Decls) {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			continue
		}
		for _, spec := range slices.Backward(g.Specs) {
			if name := importName(spec.(*ast.ImportSpec)); !was[name] || is[name] {
				continue
			}
			start, end := int(spec.Pos())-1, int(spec.End())-1
			if !g.Lparen.IsValid() {
				start, end = int(g.Pos())-1, int(g.End())-1
			}
			start, end = wholeLines(after, start, end)
			after = after[:start] + after[end:]
		}
	}
	return after
}

// goNames are the names that stand before a dot in a file: those of packages
// among them.
func goNames(text string) (map[string]bool, *ast.File, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	found := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				found[x.Name] = true
			}
		}
		return true
	})
	return found, file, nil
}

var majorVersion = regexp.MustCompile(`^v\d+$`)

// importName is the name by which a file knows a package, as its path suggests.
func importName(s *ast.ImportSpec) string {
	if s.Name != nil {
		return s.Name.Name
	}
	p, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		return ""
	}
	if majorVersion.MatchString(path.Base(p)) {
		p = path.Dir(p)
	}
	return path.Base(p)
}
