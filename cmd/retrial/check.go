package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"retrial/analysis/paired"
	"retrial/harness"
	"retrial/harness/workspace"
	"retrial/tasks"
)

// check certifies every task and prints one row a task.
func (o *tasksOptions) check(ctx context.Context, env *environment, corpus *tasks.Corpus, list []*tasks.Task) (err error) {
	sandbox := workspace.None
	if o.sandbox != "none" && !(o.sandbox == "auto" && corpus.BuiltIn) {
		if _, err := workspace.FindBubblewrap(); err != nil {
			return fmt.Errorf("corpus %s is checked sandboxed only: %w; or type --sandbox none", corpus.Name, err)
		}
		sandbox = workspace.Bubblewrap
	}
	if err := supported(list, sandbox); err != nil {
		return err
	}
	tools, err := harness.FindToolchain(ctx, list)
	if err != nil {
		return err
	}
	file, err := o.stage()
	if err != nil {
		return err
	}
	defer file.drop()
	found, err := certify(ctx, list, harness.Grader{Sandbox: sandbox, Tools: tools},
		tasks.CertifyOptions{Repeats: o.repeats, Parallel: o.parallel, Seed: o.seed})
	if err != nil {
		return err
	}
	if err := file.write(certificateFile{
		Schema: certificateSchema, Tool: toolVersion(), Sandbox: string(sandbox), Repeats: o.repeats, Seed: o.seed, Tasks: byHash(found),
	}); err != nil {
		return err
	}
	if o.format == "json" {
		return errors.Join(writeJSON(env.stdout, certificateRows(found)), unsound(found))
	}
	return o.printCertificates(env, found)
}

// certify runs tasks.Certify in workspaces of its own. Ctrl-C ends it.
func certify(ctx context.Context, list []*tasks.Task, grader harness.Grader, o tasks.CertifyOptions) ([]tasks.Certificate, error) {
	root, err := os.MkdirTemp("", "retrial-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for workspaces: %w", err)
	}
	defer os.RemoveAll(root)
	grader.Root = root
	ctx, release := cancelOnSignal(ctx)
	defer release()
	found, err := tasks.Certify(ctx, list, grader.Judge, o)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: nothing was checked to the end", errInterrupted)
	}
	return found, err
}

// certifyPlan checks the tasks of a run before anything is paid for. It says
// what stands in the run's info: "no" where the user typed --no-check.
func (o *runOptions) certifyPlan(ctx context.Context, env *environment, plan *harness.Plan, builtIn bool, grader harness.Grader) (string, error) {
	switch {
	case builtIn: // certified before they are built in
		return "yes", nil
	case o.noCheck:
		return "no", nil
	}
	if env.terminal && !o.quiet {
		fmt.Fprintf(env.stderr, "checking %s before the run; --no-check leaves it out\n", plural(len(plan.Tasks), "task"))
	}
	found, err := certify(ctx, plan.Tasks, grader, tasks.CertifyOptions{Parallel: o.parallel, Seed: plan.Design.Seed})
	if err != nil {
		return "", err
	}
	if err := unsound(found); err != nil {
		i := slices.IndexFunc(found, func(c tasks.Certificate) bool { return len(c.Faults) > 0 })
		return "", fmt.Errorf("%w; %s: %s; `retrial tasks check` tells of all, --no-check runs them as they are", err, found[i].Task, strings.Join(found[i].Faults, "; "))
	}
	return "yes", nil
}

func (o *tasksOptions) printCertificates(env *environment, found []tasks.Certificate) error {
	t := plainTable(env)
	t.Header("task", "untouched", "solution", "disagree", "median", "slowest", "timeout", "sound")
	for _, c := range found {
		if err := t.Append(c.Task, c.Untouched, c.Solved, fmt.Sprintf("%d/%d", c.SolvedDisagree, c.SolvedRuns), c.Median.Round(time.Millisecond).String(),
			c.Slowest.Round(time.Millisecond).String(), c.Timeout.String(), yesNo(len(c.Faults) == 0)); err != nil {
			return err
		}
	}
	if err := t.Render(); err != nil {
		return err
	}
	disagree, runs := 0, 0
	for _, c := range found {
		disagree, runs = disagree+c.SolvedDisagree, runs+c.SolvedRuns
		if len(c.Faults) > 0 {
			fmt.Fprintf(env.stdout, "%s: %s\n", c.Task, strings.Join(c.Faults, "; "))
		}
		for _, w := range c.Warnings {
			fmt.Fprintf(env.stdout, "warning, %s: %s\n", c.Task, w)
		}
	}
	fmt.Fprintf(env.stdout, "%d of %s of a solution disagree with the others of its task; a task whose %s agree may still flake in up to %.1f%% of runs; order drawn with seed %d\n",
		disagree, plural(runs, "run"), plural(o.repeats, "run"), 100*flakeUpper(0, o.repeats), o.seed)
	err := unsound(found)
	if err == nil {
		fmt.Fprintf(env.stdout, "%s checked, all sound\n", plural(len(found), "task"))
	}
	return err
}

// flakeUpper is the upper end of the exact 95% interval (Clopper-Pearson) of the
// share of runs that disagree; 1 without a run.
func flakeUpper(disagree, runs int) float64 {
	return paired.ClopperPearson(float64(disagree), float64(runs), 0.95).High
}

// unsound is the error that names the tasks with faults, nil where none has.
func unsound(found []tasks.Certificate) error {
	var bad []string
	for _, c := range found {
		if len(c.Faults) > 0 {
			bad = append(bad, c.Task)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s not sound: %s", len(bad), plural(len(found), "task"), strings.Join(bad, ", "))
}

// stagedFile is where certificates wait until they are complete. The zero value
// stands for no file.
type stagedFile struct {
	*os.File
	path string
}

// stage opens the file of certificates: a folder that cannot be written is told
// before the tasks are run.
func (o *tasksOptions) stage() (stagedFile, error) {
	if o.out == "" {
		return stagedFile{}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(o.out), filepath.Base(o.out)+".*.tmp")
	if err != nil {
		return stagedFile{}, fmt.Errorf("write certificates: %w", err)
	}
	return stagedFile{f, o.out}, nil
}

// write replaces the file.
func (s stagedFile) write(v any) error {
	if s.File == nil {
		return nil
	}
	err := errors.Join(writeJSON(s, v), s.Chmod(0o644), s.Sync(), s.Close())
	if err == nil {
		err = os.Rename(s.Name(), s.path)
	}
	if err != nil {
		return fmt.Errorf("write certificates: %w", err)
	}
	return nil
}

// drop removes what was not written to the end.
func (s stagedFile) drop() {
	if s.File != nil {
		s.Close()
		os.Remove(s.Name())
	}
}
