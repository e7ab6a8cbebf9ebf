package mutate

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite testdata/ops")

// Every mutant compiles, also those that are not checked because they must.
func TestMutantsCompile(t *testing.T) {
	e := newEngine(t, Options{})
	check := exec.Command("python3", "-c", "import json, sys\nfor name, text in json.load(sys.stdin): compile(text, name, 'exec')")
	var texts [][2]string
	for _, task := range []string{"clamp", "hopeless"} {
		task := bundled(t, task)
		s := e.open(task.dir, task.id, task.files, tests{Names: []string{"test_visible"}})
		defer s.close()
		facts, err := s.analyse(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range facts.Mutants {
			text, err := m.apply(s.files[m.Path])
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, [2]string{m.String(), text})
		}
	}
	data, err := json.Marshal(texts)
	if err != nil || len(texts) < 80 {
		t.Fatalf("list mutants: %d, %v", len(texts), err)
	}
	check.Stdin = bytes.NewReader(data)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("compile mutants: %s", out)
	}
}

// TestOperators compares the mutants of small programs with the listed ones. Every
// mutant must also differ from the program and from every other.
func TestOperators(t *testing.T) {
	names, err := filepath.Glob("testdata/ops/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("find programs: %d, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			source := string(archive.Files[0].Data)
			s := program(t, "work.py", source, "import unittest\n")
			var got strings.Builder
			seen := map[string]bool{source: true}
			for _, m := range s.facts.Mutants {
				text, err := m.apply(source)
				if err != nil || seen[text] {
					t.Errorf("%s: gives a text that is there already (%v)", m, err)
				}
				seen[text] = true
				fmt.Fprintf(&got, "%d %s %.2f `%s` -> `%s`\n", m.Line, m.Operator, m.Weight, m.Before, m.After)
			}
			if *update {
				archive.Files[1].Data = []byte(got.String())
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(archive.Files[1].Data); got.String() != want {
				t.Errorf("got\n%s\nwant\n%s", got.String(), want)
			}
		})
	}
}
