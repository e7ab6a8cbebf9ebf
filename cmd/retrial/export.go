package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"retrial/results"
	"retrial/tasks/strict"
)

func exportCommand() command {
	return command{
		name: "export", args: "RUN --to DIR [flags]", brief: "write a run's tables somewhere else",
		long: `Writes the tables events, attempts and trials of a run into DIR, as Parquet, CSV
or JSON Lines. A run that was killed has no Parquet files of its own: its tables
are then built from the journal and hold every attempt that was finished. Nothing
is overwritten.`,
		setup: func(fs *pflag.FlagSet) runFunc {
			to := fs.String("to", "", "folder to write into (made if missing)")
			format := fs.String("format", "parquet", "parquet|csv|jsonl")
			return func(_ context.Context, env *environment, args []string) error {
				formats := []string{"parquet", "csv", "jsonl"}
				switch {
				case len(args) != 1 || *to == "":
					return usagef("export takes one run folder and --to DIR")
				case !slices.Contains(formats, *format):
					return usagef("%s", strict.Unknown("format", *format, formats))
				}
				done, err := results.Export(args[0], *to, *format)
				if err != nil {
					return err
				}
				if done.Damaged != nil {
					fmt.Fprintf(env.stderr, "a sealed table is damaged and was not used: %s\n", oneLine(done.Damaged.Error()))
				}
				if !done.Sealed {
					fmt.Fprintf(env.stderr, "the run is not sealed: the tables were built from its journal\n")
				}
				if done.TornBytes > 0 {
					fmt.Fprintf(env.stderr, "the journal's last line was torn: its %d bytes were dropped\n", done.TornBytes)
				}
				fmt.Fprintln(env.stdout, strings.Join(done.Files, "\n"))
				return nil
			}
		},
	}
}
