package seed

import "context"

// Mutant is one bug that could be put into a program: bytes [Start, End) of the
// file at Path become Text.
type Mutant struct {
	Path     string
	Line     int // 1-based
	Start    int
	End      int
	Text     string
	Operator string
	Function string  // that it lies in; "" at the top of the file
	Weight   float64 // how likely a person makes it, against others; above 0
}

// apply returns the file with the bug.
func (m Mutant) apply(text string) string { return text[:m.Start] + m.Text + text[m.End:] }

// Unit is a part of a test file that can be left out: bytes [Start, End) are
// dropped. Where Alone is set, a Block of the file that loses all its units
// needs Filler in their place.
type Unit struct {
	Path   string
	Name   string // "Class.method", "function", "TestName", or "assert N"
	Start  int
	End    int
	Block  string
	Alone  bool
	Filler string
}

// Tests are the units of a program's tests. Where Probe is set they are the
// asserts of one test: the files in it stand in for the test files and print
// "[unit N] Error: message" for each assert that fails, N its index in Units.
type Tests struct {
	Units []Unit
	Probe map[string]string

	modules goModules // of the program, by which go test names packages
}

// Language knows the programs of one programming language. Files are texts by
// slash path.
type Language interface {
	// Name is the language's tag, in lower case.
	Name() string
	// IsTest says whether a file holds tests or serves them; a program's other
	// files of the language are its source where IsSource says so.
	IsTest(path string) bool
	IsSource(path string) bool
	// Operators lists the names that mutants may have.
	Operators() []string
	// Mutants lists the mutants of source files, in the order of paths and lines. A
	// go.mod among the files has none: it says what the packages are called.
	Mutants(ctx context.Context, files map[string]string) ([]Mutant, error)
	// Compiles says whether a mutant may compile: false where it certainly does not.
	Compiles(files map[string]string, m Mutant) bool
	// Tests lists the units of test files that verify runs.
	Tests(ctx context.Context, files map[string]string, verify string) (Tests, error)
	// Tidy mends what a test file needs after units were left out of it.
	Tidy(before, after string) string
}
