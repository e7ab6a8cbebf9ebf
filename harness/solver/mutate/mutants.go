package mutate

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

//go:embed lister.py
var listerSource string

// listerBoot reads the modules as boot does, then the lister from the command
// line, and serves its requests.
const listerBoot = `import json, os, sys, types
requests = os.fdopen(os.dup(0), "rb")
for name, text in json.loads(requests.readline().decode("utf-8")) + [["lister", sys.argv[1]]]:
    module = sys.modules["mutate_" + name] = types.ModuleType("mutate_" + name)
    exec(compile(text, "mutate/" + name + ".py", "exec"), module.__dict__)
sys.modules["mutate_lister"].main(requests)`

// A Lister lists the mutants of Python programs and the tests of Python test
// files. It parses and runs nothing of them. It is safe for concurrent use; its
// one interpreter starts when first needed, and Close ends it.
type Lister struct {
	engine *Engine

	mu     sync.Mutex
	worker *worker
}

// NewLister finds the interpreter, python3 on PATH where python is empty.
func NewLister(python string) (*Lister, error) {
	e, err := New(Options{Python: python})
	if err != nil {
		return nil, err
	}
	e.argv[len(e.argv)-1] = listerBoot
	e.argv = append(e.argv, listerSource)
	return &Lister{engine: e}, nil
}

// A ListedMutant is a mutant and the function that it lies in, by its dotted
// name; "" at the top of the file.
type ListedMutant struct {
	Mutant
	Function string `json:"function"`
}

// Mutants lists every mutant of a program's files, texts by path, in the order
// of paths and lines. Files that do not parse have none.
func (l *Lister) Mutants(ctx context.Context, files map[string]string) ([]ListedMutant, error) {
	var answer struct{ Mutants []ListedMutant }
	if err := l.ask(ctx, "mutants", files, &answer); err != nil {
		return nil, fmt.Errorf("list mutants: %w", err)
	}
	return answer.Mutants, nil
}

// A TestUnit is a part of a test file that can be left out: bytes [Start, End)
// are dropped. Units of one class have its name as Block; where Alone is set,
// a class that loses them all needs Filler in their place.
type TestUnit struct {
	Path   string `json:"path"`
	Name   string `json:"name"` // "Class.method", "function", or "assert N"
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Block  string `json:"block"`
	Alone  bool   `json:"alone"`
	Filler string `json:"filler"`
	Method bool   `json:"method"` // of a class; else a function at the top, which only pytest runs
}

// LoneTest is the inside of the only test: the asserts in it, or in the function
// that it calls. Probe is the file at Path changed so that each assert is tried
// by itself and, where it fails, prints "[unit N] Error: message", N its index.
type LoneTest struct {
	Units []TestUnit `json:"units"`
	Path  string     `json:"path"`
	Probe string     `json:"probe"`
}

// Tests lists the tests of test files, texts by path, in the order of paths and
// lines. lone is nil unless there is one test alone with at least two asserts
// that can be told apart. Files that do not parse have no tests.
func (l *Lister) Tests(ctx context.Context, files map[string]string) (units []TestUnit, lone *LoneTest, err error) {
	var answer struct {
		Tests   []TestUnit
		Asserts *LoneTest
	}
	if err := l.ask(ctx, "tests", files, &answer); err != nil {
		return nil, nil, fmt.Errorf("list tests: %w", err)
	}
	return answer.Tests, answer.Asserts, nil
}

func (l *Lister) ask(ctx context.Context, do string, files map[string]string, answer any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.worker == nil {
		w, err := l.engine.start()
		if err != nil {
			return err
		}
		l.worker = w
	}
	line, err := l.worker.exchange(ctx, call{Do: do, Files: files})
	if l.worker.broken {
		l.worker.stop()
		l.worker = nil
	}
	if err != nil {
		return err
	}
	var said struct{ Error string }
	if err := json.Unmarshal(line, &said); err != nil {
		return fmt.Errorf("read python's answer: %w", err)
	}
	if said.Error != "" {
		return errors.New("python reports " + said.Error)
	}
	if err := json.Unmarshal(line, answer); err != nil {
		return fmt.Errorf("read python's answer: %w", err)
	}
	return nil
}

// Close ends the interpreter.
func (l *Lister) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.worker != nil {
		l.worker.stop()
		l.worker = nil
	}
	l.engine.Close()
}

// Operators lists the names that mutants have, sorted.
func Operators() []string {
	return []string{"append", "arithmetic", "attribute", "bitwise", "boolean", "boundary", "compare", "constant", "delete", "jump", "key",
		"move", "name", "negate", "return", "sibling", "swap", "target"}
}
