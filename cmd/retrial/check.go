package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"retrial/analysis/paired"
	"retrial/harness"
	"retrial/harness/solver/mutate"
	"retrial/harness/workspace"
	"retrial/tasks"
)

// check certifies every task and prints one row a task.
func (o *tasksOptions) check(ctx context.Context, env *environment, corpus *tasks.Corpus, list []*tasks.Task) (err error) {
	sandbox := workspace.None
	if o.sandbox != "none" && !(o.sandbox == "auto" && (corpus.BuiltIn || checkedInProcess(list))) {
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
	grader := harness.Grader{Sandbox: sandbox, Tools: tools}
	options := tasks.CertifyOptions{Repeats: o.repeats, Parallel: o.parallel, Seed: o.seed}
	release, err := askStronger(grader, &options)
	if err != nil {
		return err
	}
	defer release()
	found, err := certify(ctx, list, grader, options)
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
	if err := o.printCertificates(env, found); err != nil {
		return err
	}
	if file.File != nil {
		fmt.Fprintf(env.stdout, "certificates: %s; a run reads them\n", file.path)
	}
	return nil
}

// checkedInProcess says that no task runs a command.
func checkedInProcess(list []*tasks.Task) bool {
	return !slices.ContainsFunc(list, func(t *tasks.Task) bool { return t.AnswerFile() == "" })
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

// askStronger has Certify seek, in workspaces of its own, a program that verify
// lets pass and score rejects. Call release at the end.
func askStronger(grader harness.Grader, o *tasks.CertifyOptions) (release func(), err error) {
	root, err := os.MkdirTemp("", "retrial-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for workspaces: %w", err)
	}
	grader.Root = root
	var engine *mutate.Engine // none without Python: then no task is of its kind
	if grader.Tools.Python != "" {
		engine, err = mutate.New(mutate.Options{Python: grader.Tools.Python, Wrap: workspace.Wrap(grader.Sandbox, root, grader.Tools.Visible)})
		if err != nil {
			os.RemoveAll(root)
			return nil, fmt.Errorf("start the search for changes: %w", err)
		}
	}
	seed := o.Seed
	o.Stronger = func(ctx context.Context, t *tasks.Task) (tasks.Strength, error) {
		return grader.Stronger(ctx, engine, t, seed)
	}
	return func() {
		if engine != nil {
			engine.Close()
		}
		os.RemoveAll(root)
	}, nil
}

func (o *tasksOptions) printCertificates(env *environment, found []tasks.Certificate) error {
	t := plainTable(env)
	t.Header("task", "untouched", "solution", "disagree", "median", "slowest", "timeout", "stronger", "sound")
	for _, c := range found {
		if err := t.Append(c.Task, c.Untouched, c.Solved, fmt.Sprintf("%d/%d", c.SolvedDisagree, c.SolvedRuns), c.Median.Round(time.Millisecond).String(),
			c.Slowest.Round(time.Millisecond).String(), c.Timeout.String(), strongerMark(c.Strength), yesNo(c.Sound())); err != nil {
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
	printStrengths(env, found)
	err := unsound(found)
	if err == nil {
		fmt.Fprintf(env.stdout, "%s checked, all sound\n", plural(len(found), "task"))
	}
	return err
}

// strongerMark is the column that says whether score is stronger than verify.
func strongerMark(s tasks.Strength) string {
	switch s.Verdict {
	case tasks.Stronger:
		return "yes"
	case tasks.CouldNotTell:
		return "?"
	default:
		return ""
	}
}

// printStrengths says in how many tasks score was seen to be stronger than
// verify, and why it could not be told of the others; of a single task, what
// showed it.
func printStrengths(env *environment, found []tasks.Certificate) {
	yes, byReason := 0, map[string][]string{}
	for _, c := range found {
		switch c.Strength.Verdict {
		case tasks.Stronger:
			yes++
		case tasks.CouldNotTell:
			byReason[c.Strength.Reason] = append(byReason[c.Strength.Reason], c.Task)
		}
	}
	asked := yes
	for _, ids := range byReason {
		asked += len(ids)
	}
	switch {
	case asked == 0:
		return
	case len(found) == 1:
		fmt.Fprintf(env.stdout, "score stronger than verify: %s\n", found[0].Strength)
		return
	}
	fmt.Fprintf(env.stdout, "score is stronger than verify in %d of %s: it rejects a one-token change that verify lets pass\n", yes, plural(asked, "task"))
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		ids := byReason[reason]
		said := strings.Join(ids, ", ")
		if len(ids) > mostNamed {
			said = plural(len(ids), "task")
		}
		fmt.Fprintf(env.stdout, "could not tell of %s: %s\n", said, reason)
	}
}

// mostNamed is how many tasks a line of text names; more are counted.
const mostNamed = 5

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
