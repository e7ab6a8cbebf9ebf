package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"retrial/harness"
	"retrial/harness/workspace"
	"retrial/tasks"
)

// check runs every task's commands and prints one row a task.
func (o *tasksOptions) check(ctx context.Context, env *environment, corpus *tasks.Corpus, list []*tasks.Task) error {
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
	root, err := os.MkdirTemp("", "retrial-")
	if err != nil {
		return fmt.Errorf("make a folder for workspaces: %w", err)
	}
	defer os.RemoveAll(root)
	ctx, release := cancelOnSignal(ctx)
	defer release()
	grader := harness.Grader{Root: root, Sandbox: sandbox, Tools: tools}
	findings, err := checkAll(ctx, list, o.parallel, grader.Judge)
	if err != nil {
		return err
	}
	if o.format == "json" {
		return findingsJSON(env, findings)
	}
	return printFindings(env, findings)
}

func checkAll(ctx context.Context, list []*tasks.Task, parallel int, judge tasks.Judge) ([]tasks.Finding, error) {
	findings, errs := make([]tasks.Finding, len(list)), make([]error, len(list))
	var wg sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for i, t := range list {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			findings[i], errs[i] = tasks.Check(ctx, t, judge)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: nothing was checked to the end", errInterrupted)
	}
	return findings, errors.Join(errs...)
}

func printFindings(env *environment, findings []tasks.Finding) error {
	t := plainTable(env)
	t.Header("task", "untouched", "solution", "slowest", "sound")
	for _, f := range findings {
		if err := t.Append(f.Task, f.Untouched, f.Solved, f.Slowest.Round(time.Millisecond).String(), yesNo(len(f.Faults) == 0)); err != nil {
			return err
		}
	}
	if err := t.Render(); err != nil {
		return err
	}
	for _, f := range findings {
		if len(f.Faults) > 0 {
			fmt.Fprintf(env.stdout, "%s: %s\n", f.Task, strings.Join(f.Faults, "; "))
		}
	}
	err := unsound(findings)
	if err == nil {
		fmt.Fprintf(env.stdout, "%s checked, all sound\n", plural(len(findings), "task"))
	}
	return err
}

// unsound is the error that names the tasks with faults, nil where none has.
func unsound(findings []tasks.Finding) error {
	var bad []string
	for _, f := range findings {
		if len(f.Faults) > 0 {
			bad = append(bad, f.Task)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s not sound: %s", len(bad), plural(len(findings), "task"), strings.Join(bad, ", "))
}

func findingsJSON(env *environment, findings []tasks.Finding) error {
	type row struct {
		Task      string   `json:"task"`
		Sound     bool     `json:"sound"`
		Untouched string   `json:"untouched"`
		Solution  string   `json:"solution"`
		Slowest   float64  `json:"slowest_seconds"`
		Timeout   float64  `json:"timeout_seconds"`
		Faults    []string `json:"faults"`
	}
	rows := make([]row, len(findings))
	for i, f := range findings {
		rows[i] = row{f.Task, len(f.Faults) == 0, f.Untouched, f.Solved, f.Slowest.Seconds(), f.Timeout.Seconds(), append([]string{}, f.Faults...)}
	}
	if err := writeJSON(env.stdout, rows); err != nil {
		return err
	}
	return unsound(findings)
}
