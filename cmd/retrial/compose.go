package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"retrial/arms"
	"retrial/tasks/strict"
)

type composeOptions struct {
	arm       string
	design    string
	records   string
	donors    string
	prompt    string
	plan      string
	format    string
	replicate int
	rungs     int
}

func composeCommand() command {
	return command{
		name: "compose", args: "--arm NAME --records FILE [flags]", brief: "write what an arm sends to a retry",
		long: `Reads the records of failed attempts, JSON Lines, oldest first, and writes exactly
what the arm adds to the next prompt, so that any agent loop can use it:

  {"attempt": 1, "outcome": "failed", "verify_output": "…", "patch": "…",
   "first_error": "…", "description": "…", "signature": "…"}

All but attempt and outcome may be left out; the signature is then computed.
Without --prompt the text is to be put behind the agent's own prompt, after a blank
line; with it, the whole messages are written. An arm that replans first writes what
its planner is to be asked (action plan); with the reply in --plan, the retry.`,
		setup: func(fs *pflag.FlagSet) runFunc {
			o := &composeOptions{}
			fs.StringVar(&o.arm, "arm", "", "a preset, or an arm of --design")
			fs.StringVar(&o.design, "design", "", "design file that has the arm")
			fs.StringVar(&o.records, "records", "", "records, JSON Lines; - for standard input")
			fs.StringVar(&o.donors, "donors", "", "records of other tasks, for an arm that shows those")
			fs.StringVar(&o.prompt, "prompt", "", "file with the prompt that is added to")
			fs.StringVar(&o.plan, "plan", "", "file with the planner's reply")
			fs.StringVar(&o.format, "format", "text", "text|json")
			fs.IntVar(&o.replicate, "replicate", 0, "replicate, from 0: an arm with several wordings rotates them by it")
			fs.IntVar(&o.rungs, "rungs", 1, "rungs of the ladder above the first, for an arm that escalates")
			return o.run
		},
	}
}

func (o *composeOptions) run(_ context.Context, env *environment, args []string) error {
	formats := []string{"text", "json"}
	switch {
	case len(args) > 0:
		return usagef("compose takes no arguments: name the file with --records")
	case o.arm == "":
		return usagef("compose needs --arm: one of %v, or one of a --design", arms.PresetNames())
	case o.records == "":
		return usagef("compose needs --records: a file of JSON Lines, or - for standard input")
	case !slices.Contains(formats, o.format):
		return usagef("%s", strict.Unknown("format", o.format, formats))
	case o.replicate < 0 || o.rungs < 0:
		return usagef("--replicate and --rungs must not be negative")
	}
	arm, err := o.readArm()
	if err != nil {
		return err
	}
	state, err := o.readState()
	if err != nil {
		return err
	}
	add := arm.Add(state)
	if add.Action == arms.ActionMissing {
		return usagef("arm %s cannot go on: %s (--donors FILE)", arm.Name, add.Missing)
	}
	base, err := readText(o.prompt)
	if err != nil {
		return err
	}
	return o.write(env, arms.Prompt{Base: base, Added: add.Block, Turns: add.Turns, Files: add.Files}, add, len(state.Records)+1)
}

func (o *composeOptions) readArm() (arms.Arm, error) {
	if o.design == "" {
		return presetArm(o.arm)
	}
	data, err := strict.ReadPath(o.design, strict.MaxYAML)
	if err != nil {
		return arms.Arm{}, usagef("read design: %w", err)
	}
	d, err := arms.ParseDesign(o.design, data)
	if err != nil {
		return arms.Arm{}, err
	}
	i := slices.Index(d.ArmNames(), o.arm)
	if i < 0 {
		return arms.Arm{}, usagef("%s", strict.Unknown("arm", o.arm, d.ArmNames()))
	}
	return d.Resolved[i], nil
}

func (o *composeOptions) readState() (s arms.State, err error) {
	s = arms.State{Replicate: o.replicate, Rungs: o.rungs}
	if s.Records, err = readRecords(o.records); err != nil {
		return s, err
	}
	if o.donors != "" {
		if s.Donors, err = readRecords(o.donors); err != nil {
			return s, err
		}
	}
	if o.plan != "" {
		plan, err := readText(o.plan)
		if err != nil {
			return s, err
		}
		s.Plans = []arms.Plan{{After: len(s.Records), Text: plan}}
	}
	return s, nil
}

func readRecords(path string) ([]arms.Record, error) {
	data, err := readAll(path)
	if err != nil {
		return nil, err
	}
	return arms.ParseRecords(path, data)
}

// readText reads a file, "" for none.
func readText(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	data, err := readAll(path)
	return string(data), err
}

// maxInput is how much compose reads of a file.
const maxInput = 1 << 30

// readAll reads a file, or standard input for "-".
func readAll(path string) ([]byte, error) {
	if path == "-" {
		data, err := io.ReadAll(io.LimitReader(os.Stdin, maxInput+1))
		if err == nil && len(data) > maxInput {
			err = fmt.Errorf("is over %d bytes", maxInput)
		}
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return data, nil
	}
	data, err := strict.ReadPath(path, maxInput)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usageError{err}
	}
	return data, err
}

// composed is what compose writes as JSON.
type composed struct {
	Action    arms.Action     `json:"action"` // retry|replan|escalate|pivot, or plan: ask the planner first
	Attempt   int             `json:"attempt"`
	Rung      int             `json:"rung"`
	Messages  []arms.Message  `json:"messages"`
	Files     []arms.File     `json:"files"` // to be placed into the workspace
	Injection *arms.Injection `json:"injection"`
}

func (o *composeOptions) write(env *environment, p arms.Prompt, add arms.Addition, attempt int) error {
	messages := p.Messages()
	if o.prompt == "" {
		messages = p.Turns
		if p.Added != "" {
			messages = append([]arms.Message{{Role: "user", Content: p.Added}}, messages...)
		}
	}
	if o.format == "json" {
		return writeJSON(env.stdout, composed{add.Action, attempt, add.Rung, append([]arms.Message{}, messages...), append([]arms.File{}, p.Files...), add.Injection})
	}
	if add.Action != arms.ActionRetry {
		fmt.Fprintf(env.stderr, "action: %s\n", add.Action)
	}
	for _, m := range messages {
		if len(messages) > 1 {
			fmt.Fprintf(env.stdout, "--- %s ---\n", m.Role)
		}
		fmt.Fprint(env.stdout, m.Content)
	}
	for _, f := range p.Files {
		fmt.Fprintf(env.stdout, "--- file %s ---\n%s", f.Path, f.Content)
	}
	return nil
}
