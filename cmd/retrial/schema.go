package main

import (
	"context"

	"github.com/spf13/pflag"

	"retrial/arms"
	"retrial/tasks"
	"retrial/tasks/strict"
)

// schemas are the files that people write, by the names that the command takes.
var schemas = map[string]func() []byte{"task": tasks.Schema, "design": arms.Schema}

func schemaCommand() command {
	return command{
		name: "schema", args: "task|design", brief: "print the JSON Schema of task.yaml or of a design, for editors",
		long: `Prints the JSON Schema (draft 2020-12) of task.yaml, or of a design file. It knows every key, what it
means, its default and what it may hold, so that an editor completes and checks the file as it is typed:

  retrial schema design > design.schema.json

and as the first line of design.yaml, for editors with the YAML language server:

  # yaml-language-server: $schema=design.schema.json`,
		setup: func(*pflag.FlagSet) runFunc {
			return func(_ context.Context, env *environment, args []string) error {
				if len(args) != 1 {
					return usagef("schema takes one of task, design")
				}
				schema, ok := schemas[args[0]]
				if !ok {
					return usagef("%s", strict.Unknown("schema", args[0], []string{"task", "design"}))
				}
				_, err := env.stdout.Write(schema())
				return err
			}
		},
	}
}
