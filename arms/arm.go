package arms

import (
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"retrial/tasks/strict"
)

// Memory is how much of the history an arm looks at.
type Memory string

// How much of the history an arm looks at.
const (
	MemoryNone Memory = "none" // no record
	MemoryLast Memory = "last" // the newest record
	MemoryAll  Memory = "all"  // every record
)

// Part is one thing that a retry prompt can show.
type Part string

// What a retry prompt can show. A record shows its parts in an order of its
// own: description, diff, output, first error.
const (
	PartNotice      Part = "notice"      // the heading alone: that attempts failed
	PartVerdict     Part = "verdict"     // the record's outcome, in its label
	PartOutput      Part = "output"      // the verifier's output
	PartDiff        Part = "diff"        // the patch really written
	PartFirstError  Part = "first_error" // the first tool step that errored
	PartDescription Part = "description" // the solver's own description
)

// Dedupe is whether records of one signature are merged.
type Dedupe string

// Whether records are merged.
const (
	DedupeOff   Dedupe = "off"   // every record is shown
	DedupeExact Dedupe = "exact" // records of equal signature are shown once
)

// Caps bounds each shown part of one record, in characters (runes). A part
// over its cap is cut and marked; a cap of 0 leaves only the marker.
type Caps struct {
	Diff        int `yaml:"diff" json:"diff" jsonschema_description:"Characters of the patch."`
	Output      int `yaml:"output" json:"output" jsonschema_description:"Characters of the verifier's output."`
	FirstError  int `yaml:"first_error" json:"first_error" jsonschema_description:"Characters of the first tool step that errored."`
	Description int `yaml:"description" json:"description" jsonschema_description:"Characters of the solver's own description."`
}

// DefaultCaps are the caps of an arm that names none.
var DefaultCaps = Caps{Diff: 2000, Output: 2000, FirstError: 500, Description: 1000}

// Arm is a policy: what of the history goes into the retry prompt. It is data;
// two arms with equal fields behave alike.
type Arm struct {
	Name     string `yaml:"name" json:"name" jsonschema:"required" jsonschema_description:"The arm's own name: not a preset's, and not draft."`
	Base     string `yaml:"base" json:"base" jsonschema_description:"The preset that it is made from. Left out: an arm that shows nothing, to which memory and show are given."`
	Question string `yaml:"question" json:"question" jsonschema_description:"What the arm is there to answer, in one line."`
	Memory   Memory `yaml:"memory" json:"memory" jsonschema_description:"How much of the history the arm looks at: no record, the last one, or all."`
	Show     []Part `yaml:"show" json:"show" jsonschema_description:"What a retry prompt shows of each record. notice, alone and with memory none, is the heading without any record."`
	Caps     Caps   `yaml:"caps" json:"caps" jsonschema_description:"How much of each part is shown of one record; what is over is cut and marked."`
	Dedupe   Dedupe `yaml:"dedupe" json:"dedupe" jsonschema_description:"exact: records of one failure signature are shown once."`
	Heading  string `yaml:"heading" json:"heading" jsonschema_description:"Stands above the history."`
	Footer   string `yaml:"footer" json:"footer" jsonschema_description:"Stands below the history."`
}

//go:embed presets.yaml
var presetsYAML []byte

var presets = sync.OnceValue(func() []Arm {
	var file struct {
		Presets []ArmSpec `yaml:"presets"`
	}
	if err := strict.Decode("presets.yaml", presetsYAML, &file); err != nil {
		panic(err) // the file is embedded in the program
	}
	var out []Arm
	for _, spec := range file.Presets {
		a := blank()
		if err := strict.DecodeNode("presets.yaml", spec.node, &a); err != nil {
			panic(err)
		}
		out = append(out, a)
	}
	return out
})

// Presets returns the named arms, in the order of the ladder from least shown
// to most. The caller owns what it gets.
func Presets() []Arm {
	out := slices.Clone(presets())
	for i := range out {
		out[i].Show = slices.Clone(out[i].Show)
	}
	return out
}

// PresetNames lists the names of Presets.
func PresetNames() []string {
	var names []string
	for _, a := range presets() {
		names = append(names, a.Name)
	}
	return names
}

func preset(name string) (Arm, bool) {
	for _, a := range Presets() {
		if a.Name == name {
			return a, true
		}
	}
	return Arm{}, false
}

// blank is an arm that names no knob: it looks at nothing and shows nothing.
func blank() Arm {
	return Arm{Memory: MemoryNone, Show: []Part{}, Caps: DefaultCaps, Dedupe: DedupeOff}
}

// ShowsHistory says whether the arm injects records at all: whether its
// retries must carry an injection event.
func (a Arm) ShowsHistory() bool { return a.Memory != MemoryNone }

// shows says whether the arm shows part p.
func (a Arm) shows(p Part) bool { return slices.Contains(a.Show, p) }

// The words of an arm's knobs.
var (
	memories = []Memory{MemoryNone, MemoryLast, MemoryAll}
	dedupes  = []Dedupe{DedupeOff, DedupeExact}
	parts    = []Part{PartNotice, PartVerdict, PartOutput, PartDiff, PartFirstError, PartDescription}
)

func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

// validate returns the YAML key at fault and what is wrong with it, or "", "".
func (a Arm) validate() (key, fault string) {
	if !slices.Contains(memories, a.Memory) {
		return "memory", unknown("memory", string(a.Memory), words(memories))
	}
	if !slices.Contains(dedupes, a.Dedupe) {
		return "dedupe", unknown("dedupe", string(a.Dedupe), words(dedupes))
	}
	if fault := a.validateShow(); fault != "" {
		return "show", fault
	}
	if a.Caps.Diff < 0 || a.Caps.Output < 0 || a.Caps.FirstError < 0 || a.Caps.Description < 0 {
		return "caps", "must not be negative"
	}
	if a.Memory == MemoryNone && a.shows(PartNotice) && joinBlocks(a.Heading, a.Footer) == "" {
		return "heading", "is empty: the notice has nothing to say"
	}
	return "", ""
}

func (a Arm) validateShow() (fault string) {
	for i, p := range a.Show {
		switch {
		case !slices.Contains(parts, p):
			return unknown("part", string(p), words(parts))
		case slices.Contains(a.Show[:i], p):
			return fmt.Sprintf("%q stands there twice", p)
		case a.Memory == MemoryNone && p != PartNotice:
			return fmt.Sprintf("shows %q but has memory none: there is no record to show it from", p)
		case a.Memory != MemoryNone && p == PartNotice:
			return fmt.Sprintf("the notice stands for a history, and memory %s shows one: its heading is always there", a.Memory)
		}
	}
	if a.Memory != MemoryNone && len(a.Show) == 0 {
		return fmt.Sprintf("memory %s but shows nothing", a.Memory)
	}
	return ""
}
