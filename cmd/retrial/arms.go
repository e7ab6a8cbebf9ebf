package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/pflag"

	"retrial/arms"
	"retrial/tasks/strict"
)

func armsCommand() command {
	return command{
		name: "arms", args: "list | show NAME", brief: "list the arms, or show one in full",
		long: `arms list        the preset arms, from least shown to most, and the question each answers
arms show NAME   every knob of a preset as YAML; as base: NAME in a design, any of
                 them can be changed

A design also takes {aa-twin: ARM}: the same arm again, on random draws of its own.`,
		setup: func(fs *pflag.FlagSet) runFunc {
			format := fs.String("format", "text", "text|json")
			return func(_ context.Context, env *environment, args []string) error {
				if formats := []string{"text", "json"}; !slices.Contains(formats, *format) {
					return usagef("%s", strict.Unknown("format", *format, formats))
				}
				switch {
				case len(args) == 1 && args[0] == "list":
					return listArms(env, *format)
				case len(args) == 2 && args[0] == "show":
					return showArm(env, args[1], *format)
				}
				return usagef("arms takes list, or show and the name of an arm")
			}
		},
	}
}

func listArms(env *environment, format string) error {
	if format == "json" {
		return writeJSON(env.stdout, arms.Presets())
	}
	t := plainTable(env)
	t.Header("arm", "question")
	for _, a := range arms.Presets() {
		if err := t.Append(a.Name, a.Question); err != nil {
			return err
		}
	}
	return t.Render()
}

func showArm(env *environment, name, format string) error {
	a, err := presetArm(name)
	if err != nil {
		return err
	}
	if format == "json" {
		return writeJSON(env.stdout, a)
	}
	text, err := yaml.MarshalWithOptions(a, yaml.UseLiteralStyleIfMultiline(true))
	if err != nil {
		return fmt.Errorf("write arm %s: %w", name, err)
	}
	for line := range strings.Lines(string(text)) {
		fmt.Fprintln(env.stdout, strings.TrimRight(line, " \n")) // the encoder indents empty lines too
	}
	return nil
}

// presetArm finds a preset by name.
func presetArm(name string) (arms.Arm, error) {
	for _, a := range arms.Presets() {
		if a.Name == name {
			return a, nil
		}
	}
	return arms.Arm{}, usagef("%s", strict.Unknown("arm", name, arms.PresetNames()))
}
