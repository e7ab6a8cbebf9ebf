package main

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"retrial/harness/solver/mutate"
	"retrial/tasks/seed"
)

// pythonLanguage lists mutants and tests by the built-in repairer's interpreter,
// which starts when it is first asked.
type pythonLanguage struct {
	once   sync.Once
	lister *mutate.Lister
	fault  error
}

func (p *pythonLanguage) Name() string { return "python" }

func (p *pythonLanguage) IsTest(file string) bool {
	return path.Ext(file) == ".py" && seed.IsPythonTest(file)
}

func (p *pythonLanguage) IsSource(file string) bool {
	return path.Ext(file) == ".py" && !p.IsTest(file) && !slices.Contains([]string{"setup.py", "noxfile.py"}, path.Base(file))
}

func (p *pythonLanguage) Operators() []string { return mutate.Operators() }

func (p *pythonLanguage) Compiles(map[string]string, seed.Mutant) bool { return true }

func (p *pythonLanguage) Tidy(_, after string) string { return after }

func (p *pythonLanguage) open() error {
	p.once.Do(func() { p.lister, p.fault = mutate.NewLister("") })
	return p.fault
}

func (p *pythonLanguage) Close() {
	if p.lister != nil {
		p.lister.Close()
	}
}

func (p *pythonLanguage) Mutants(ctx context.Context, files map[string]string) ([]seed.Mutant, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	listed, err := p.lister.Mutants(ctx, files)
	out := make([]seed.Mutant, len(listed))
	for i, m := range listed {
		out[i] = seed.Mutant{Path: m.Path, Line: m.Line, Start: m.Start, End: m.End, Text: m.Text, Operator: m.Operator, Function: m.Function, Weight: m.Weight}
	}
	return out, err
}

// Tests leaves out functions that only pytest runs, where another runs the
// tests, and files that a command does not name that names some.
func (p *pythonLanguage) Tests(ctx context.Context, files map[string]string, verify string) (seed.Tests, error) {
	if err := p.open(); err != nil {
		return seed.Tests{}, err
	}
	files = namedFiles(files, verify)
	units, lone, err := p.lister.Tests(ctx, files)
	if err != nil {
		return seed.Tests{}, err
	}
	var out seed.Tests
	if lone != nil {
		units, out.Probe = lone.Units, map[string]string{lone.Path: lone.Probe}
	}
	for _, u := range units {
		if lone != nil || u.Method || strings.Contains(verify, "pytest") {
			out.Units = append(out.Units, seed.Unit{Path: u.Path, Name: u.Name, Start: u.Start, End: u.End, Block: u.Block, Alone: u.Alone, Filler: u.Filler})
		}
	}
	return out, nil
}

// namedFiles are the test files that a command names, all where it names none.
func namedFiles(files map[string]string, command string) map[string]string {
	named := map[string]string{}
	for f, text := range files {
		stem := strings.TrimSuffix(path.Base(f), ".py")
		for _, word := range strings.Fields(command) {
			if slices.Contains(strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("./:", r) }), stem) {
				named[f] = text
			}
		}
	}
	if len(named) == 0 {
		return files
	}
	return named
}
