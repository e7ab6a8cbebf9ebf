package main

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	file, err := o.stage(corpus)
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
		Schema: certificateSchema, Tool: toolVersion(), Sandbox: string(sandbox), Repeats: o.repeats, Seed: o.seed, Tasks: file.kept(corpus, found),
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

func (o *tasksOptions) printCertificates(env *environment, found []tasks.Certificate) error {
	t := plainTable(env)
	t.Header("task", "untouched", "solution", "disagree", "median", "slowest", "timeout", "sound")
	for _, c := range found {
		if err := t.Append(c.Task, c.Untouched, c.Solved, fmt.Sprintf("%d/%d", c.SolvedDisagree, c.SolvedRuns), c.Median.Round(time.Millisecond).String(),
			c.Slowest.Round(time.Millisecond).String(), c.Timeout.String(), yesNo(c.Sound())); err != nil {
			return err
		}
	}
	if err := t.Render(); err != nil {
		return err
	}
	disagree, runs := 0, 0
	for _, c := range found {
		disagree, runs = disagree+c.SolvedDisagree, runs+c.SolvedRuns
		if !c.Sound() {
			fmt.Fprintf(env.stdout, "%s: %s\n", c.Task, reasons(c))
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

// reasons says why a task is not sound.
func reasons(c tasks.Certificate) string {
	all := c.Faults
	if c.Flaky != "" {
		all = append([]string{c.Flaky}, all...)
	}
	return strings.Join(all, "; ")
}

// unsound is the error that names the tasks that are not sound, nil where all are.
func unsound(found []tasks.Certificate) error {
	var bad []string
	for _, c := range found {
		if !c.Sound() {
			bad = append(bad, c.Task)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s not sound: %s", len(bad), plural(len(found), "task"), strings.Join(bad, ", "))
}
