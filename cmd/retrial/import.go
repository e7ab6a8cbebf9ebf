package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"retrial/tasks"
	"retrial/tasks/importers"
)

// importOptions are what only tasks import takes.
type importOptions struct {
	allowSkips bool
	mirror     mirrorFlag
}

// mirrorFlag is the folder of mirrors. It is kept where the importer looks, so
// that a corpus KIND:SOURCE finds it too.
type mirrorFlag struct{}

func (mirrorFlag) String() string       { return "" }
func (mirrorFlag) Type() string         { return "string" }
func (mirrorFlag) Set(dir string) error { return os.Setenv(importers.MirrorVariable, dir) }

// importHelp says what tasks import takes.
func importHelp() string {
	var b strings.Builder
	b.WriteString("\n\ntasks import KIND SOURCE -o DIR   write the tasks of another format as task folders; what\n" +
		"                         cannot be a task is listed, and the exit code is then 1.\n" +
		"                         KIND:SOURCE is a corpus too. KIND is one of:\n")
	names, briefs := importers.Kinds()
	for i, name := range names {
		fmt.Fprintf(&b, "  %-10s %s\n", name, briefs[i])
	}
	return strings.TrimRight(b.String(), "\n")
}

func (o *importOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.allowSkips, "allow-skips", false, "import: exit 0 also where something cannot be a task")
	fs.Var(&o.mirror, "mirror", "swebench: folder with clones as OWNER/NAME or OWNER__NAME, .git at their end or not (default mirrors/ beside the source)")
}

// importResult is what tasks import says, as JSON.
type importResult struct {
	Kind     string           `json:"kind"`
	Source   string           `json:"source"`
	Out      string           `json:"out"`
	Imported []string         `json:"imported"`
	Skipped  []importers.Skip `json:"skipped"`
}

func (o *importOptions) run(env *environment, args []string, dir, format string) (err error) {
	switch {
	case len(args) != 2:
		return usagef("tasks import takes a kind and a source")
	case dir == "":
		return usagef("tasks import needs -o DIR, the folder to write to")
	case format != "text" && format != "json":
		return usagef("tasks import prints text or json, not %s", format)
	}
	kind, source := args[0], args[1]
	result := importResult{Kind: kind, Source: source, Out: dir, Imported: []string{}, Skipped: []importers.Skip{}}
	var out *importers.Output // made with the first task: a bad source leaves nothing behind
	defer func() {
		if out != nil {
			err = errors.Join(err, out.Close())
		}
	}()
	ctx, release := cancelOnSignal(context.Background())
	defer release()
	skips, err := importers.Import(kind, source, func(f importers.Folder) error {
		if ctx.Err() != nil {
			return errInterrupted
		}
		if out == nil {
			var err error
			if out, err = importers.CreateOutput(dir); err != nil {
				return err
			}
		}
		if err := out.Write(f); err != nil {
			return err
		}
		result.Imported = append(result.Imported, f.Task.ID)
		return nil
	})
	if errors.Is(err, tasks.ErrNoCorpus) {
		return usageError{err}
	}
	if errors.Is(err, errInterrupted) {
		return fmt.Errorf("%w: %s written into %s, the rest is missing", errInterrupted, plural(len(result.Imported), "task"), dir)
	}
	if err != nil {
		return fmt.Errorf("import %s %s: %w", kind, source, err)
	}
	result.Skipped = append(result.Skipped, skips...)
	if err := result.print(env, format); err != nil {
		return err
	}
	return result.verdict(o.allowSkips)
}

func (r importResult) print(env *environment, format string) error {
	if format == "json" {
		return writeJSON(env.stdout, r)
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(env.stdout, "skipped %s\n", s)
	}
	fmt.Fprintf(env.stdout, "%s imported into %s, %d skipped\n", plural(len(r.Imported), "task"), r.Out, len(r.Skipped))
	return nil
}

// verdict is nil where everything was imported, or the user expects less.
func (r importResult) verdict(allowSkips bool) error {
	total := len(r.Imported) + len(r.Skipped)
	switch {
	case total == 0:
		return fmt.Errorf("%s holds nothing to import", r.Source)
	case len(r.Imported) == 0:
		return fmt.Errorf("nothing of %s can be a task, the first: %s", r.Source, r.Skipped[0])
	case len(r.Skipped) > 0 && !allowSkips:
		return fmt.Errorf("%d of %d cannot be a task, the first: %s (--allow-skips accepts that)", len(r.Skipped), total, r.Skipped[0])
	}
	return nil
}
