package strict

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"pgregory.net/rapid"
)

// span has an UnmarshalYAML of its own, whose errors know no line.
type span time.Duration

func (s *span) UnmarshalYAML(node ast.Node) error {
	var text string
	if err := yaml.NodeToValue(node, &text); err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is not a span such as 10m", text)
	}
	*s = span(d)
	return nil
}

type sample struct {
	Name   string             `yaml:"name"`
	Count  int                `yaml:"count"`
	Seed   uint64             `yaml:"seed"`
	Tags   []string           `yaml:"tags"`
	Gates  map[string]float64 `yaml:"gates"`
	On     bool               `yaml:"on"`
	Solver struct {
		Kind   string `yaml:"kind"`
		Memory string `yaml:"memory"`
	} `yaml:"solver"`
	Limits struct {
		Attempt span `yaml:"attempt"`
	} `yaml:"limits"`
	Steps []struct {
		Size int `yaml:"size"`
	} `yaml:"steps"`
	Hidden string `yaml:"-"`
}

func TestDecodeFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "f.yaml: the file is empty"},
		{"# only this\n\n", "f.yaml: the file is empty"},
		{"count: many", `f.yaml:1: count: want a whole number, got "many"`},
		{"name: a\n\n# note\ncount: many\n", `f.yaml:4: count: want a whole number, got "many"`},
		{"count: 3.5", "f.yaml:1: count: want a whole number, got 3.5"},
		{"count: 99999999999999999999", `f.yaml:1: count: want a whole number, got "99999999999999999999"`},
		{"count: [1]", "f.yaml:1: count: want a whole number, got a list"},
		{"count: &a b", `f.yaml:1: count: want a whole number, got "b"`},
		{"seed: 18446744073709551616", `f.yaml:1: seed: want a whole number from 0 up, got "18446744073709551616"`},
		{"count: 010", "f.yaml:1: count: want a whole number, got 010"},
		{"count: 1_0", "f.yaml:1: count: want a whole number, got 1_0"},
		{"count: 5.0", "f.yaml:1: count: want a whole number, got 5.0"},
		{"seed: -1", "f.yaml:1: seed: want a whole number from 0 up, got -1"},
		{"name: [a]", "f.yaml:1: name: want text, got a list"},
		{"name:\n  a: b\n", "f.yaml:2: name: want text, got keys with values"},
		{"tags: python", `f.yaml:1: tags: want a list, got "python"`},
		{"tags:\n- a\n- [b]\n", "f.yaml:3: tags[1]: want text, got a list"},
		{"on: yes", `f.yaml:1: on: want true or false, got "yes"`},
		{"gates: 5", "f.yaml:1: gates: want keys with values, got 5"},
		{"gates:\n  low: 0.1\n  high: x\n", `f.yaml:3: gates.high: want a number, got "x"`},
		{"gates: {low: .nan}", "f.yaml:1: gates.low: want a number, got .nan"},
		{"gates: {low: .inf}", "f.yaml:1: gates.low: want a number, got .inf"},
		{"solver: mutate", `f.yaml:1: solver: want keys with values, got "mutate"`},
		{"steps: [{size: 1}, {size: big}]", `f.yaml:1: steps[1].size: want a whole number, got "big"`},
		{"name: a\nlimits:\n  attempt: 5x\n", `f.yaml:3: limits.attempt: "5x" is not a span such as 10m`},
		{"limits:\n  attempt: [5m]\n", "f.yaml:2: limits.attempt: want text, got a list"},
		{"hello", `f.yaml:1: want keys with values, got "hello"`},
		{"- a", "f.yaml:1: want keys with values, got a list"},
		{"nmae: a", `f.yaml:1: unknown key "nmae" (did you mean "name"?)`},
		{"solver: {memry: heed}", `f.yaml:1: solver: unknown key "memry" (did you mean "memory"?)`},
		{"solver: {flavour: x}", `f.yaml:1: solver: unknown key "flavour" (valid: kind, memory)`},
		{"Hidden: x", `f.yaml:1: unknown key "Hidden" (valid: count, gates, limits, name, on, seed, solver, steps, tags)`},
		{"zz: 1\nyy: 2\nxx: 3\n", `f.yaml:1: unknown key "zz" (valid: count, gates, limits, name, on, seed, solver, steps, tags)`},
		{"name: a\ncount: 1\nname: b\n", `f.yaml:3: key "name" stands twice, first on line 1`},
		{"name: a\n---\nname: b\n", "f.yaml:3: a second document: want one, without ---"},
		{"name: a\nname2: b\xff\n", "f.yaml:2: the file is not UTF-8 text"},
		{"name: a\r\ntags: q\r\n", `f.yaml:2: tags: want a list, got "q"`},
		{"name: *nope", `f.yaml:1: could not find alias "nope"`},
		{"name: [a", "f.yaml:1: sequence end token ']' not found"},
	} {
		for range 5 { // the same words every time
			err := Decode("f.yaml", []byte(c.text), &sample{})
			var fault *Error
			if !errors.As(err, &fault) {
				t.Fatalf("%q: error %v (%T), want an *Error", c.text, err, err)
			}
			if err.Error() != c.want {
				t.Errorf("%q:\n got %s\nwant %s", c.text, err, c.want)
			}
		}
	}
}

func TestDecodeFillsAndKeeps(t *testing.T) {
	v := sample{Count: 7, Hidden: "kept"}
	text := "\ufeff---\r\nname: &n merge\r\nseed: 0x10\r\ntags: [*n, b]\r\ngates: {low: 1e-3}\r\non: true\r\nsolver: {kind: m}\r\nlimits: {attempt: 5m}\r\nsteps:\r\n- {size: 2}\r\n"
	if err := Decode("f.yaml", []byte(text), &v); err != nil {
		t.Fatal(err)
	}
	if v.Name != "merge" || v.Count != 7 || v.Seed != 16 || strings.Join(v.Tags, "+") != "merge+b" || v.Gates["low"] != 0.001 ||
		!v.On || v.Solver.Kind != "m" || v.Limits.Attempt != span(5*time.Minute) || v.Steps[0].Size != 2 || v.Hidden != "kept" {
		t.Errorf("decoded %+v", v)
	}
}

// Whatever stands in a file, the outcome is a value or one line of text.
func TestDecodeNeverPanics(t *testing.T) {
	valid := "name: a\ncount: 3\ntags: [x, y]\ngates:\n  low: 0.1\nsolver: {kind: m, memory: h}\nlimits:\n  attempt: 5m\nsteps:\n- size: 1\n- size: 2\n"
	pieces := []string{":", "- ", "[", "]", "{", "}", "&a ", "*a", "<<: ", "!!int ", "!x ", "|\n", ">", "?", "'", "\"", "#", "\t", "\n", "  ", "---\n", "...\n", "~", "%YAML 1.2\n", "\x00", "\xff", "é", ",", "\r"}
	rapid.Check(t, func(t *rapid.T) {
		text := valid
		for range rapid.IntRange(1, 6).Draw(t, "edits") {
			at := rapid.IntRange(0, len(text)).Draw(t, "at")
			cut := rapid.IntRange(0, min(4, len(text)-at)).Draw(t, "cut")
			text = text[:at] + rapid.SampledFrom(pieces).Draw(t, "piece") + text[at+cut:]
		}
		err := Decode("f.yaml", []byte(text), &sample{})
		if err == nil {
			return
		}
		var fault *Error
		if !errors.As(err, &fault) || strings.ContainsAny(err.Error(), "\n\r") {
			t.Fatalf("%q: error %q (%T), want an *Error of one line", text, err, err)
		}
	})
}

func TestNearest(t *testing.T) {
	arms := []string{"blind", "notice", "last-verdict", "diff-feedback"}
	for _, c := range []struct {
		word  string
		valid []string
		want  string
	}{
		{"blnd", arms, "blind"},
		{"BLIND", arms, "blind"},
		{"notcie", arms, "notice"},
		{"diff-fedback", arms, "diff-feedback"},
		{"diff", arms, "diff-feedback"},
		{"verdict", arms, "last-verdict"},
		{"diff-feedback-v2", arms, "diff-feedback"},
		{"simulated-annealing", arms, ""},
		{"x", arms, ""},
		{"", arms, ""},
		{"ab", []string{"cd", "ef"}, ""},
		{"heede", []string{"heed", "ignore"}, "heed"},
		{"ist", []string{"list", "last"}, "list"},
		{"run", nil, ""},
		{"naïf", []string{"naïve"}, "naïve"},
		{"task", []string{"task-a", "task-b"}, "task-a"},
		{"tas", []string{"a-task-of-old", "b-task-of-old"}, ""},
	} {
		if got := Nearest(c.word, c.valid); got != c.want {
			t.Errorf("Nearest(%q, %v) = %q, want %q", c.word, c.valid, got, c.want)
		}
	}
}

func TestUnknown(t *testing.T) {
	for word, want := range map[string]string{
		"notcie": `unknown arm "notcie" (did you mean "notice"?)`,
		"zebra":  `unknown arm "zebra" (valid: blind, notice)`,
	} {
		if got := Unknown("arm", word, []string{"blind", "notice"}); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

func TestLine(t *testing.T) {
	text := "name: a\nsolver:\n  kind: m\narms:\n- blind\n- {name: x}\n- name: y\n  base: z\n"
	for path, want := range map[string]int{
		"$.name": 1, "$.solver": 3, "$.solver.kind": 3, "$.arms[0]": 5, "$.arms[1]": 6, "$.arms[2]": 7, "$.arms[2].base": 8,
		"$.nothing": 0, "$.arms[9]": 0, "not a path": 0,
	} {
		if got := Line([]byte(text), path); got != want {
			t.Errorf("Line(%s) = %d, want %d", path, got, want)
		}
	}
	if got := Line([]byte("["), "$.name"); got != 0 {
		t.Errorf("Line of broken text = %d, want 0", got)
	}
}
