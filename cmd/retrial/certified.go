package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"retrial/harness"
	"retrial/results"
	"retrial/tasks"
	"retrial/tasks/corpus"
)

// certified looks up the certificate of every task of a run. One that has none,
// or was changed since, is certified now, with one run of each tree, before
// anything is paid for. Tasks with faults are refused; flaky ones are told of, and
// their rate goes into the run, where a gate judges it. With --no-check nothing
// is run and nothing refused. It returns the certificates that there are, and
// what stands in the run's info: "no" where a task is without, or has one with
// faults.
func (o *runOptions) certified(ctx context.Context, env *environment, plan *harness.Plan, source *tasks.Corpus, grader harness.Grader) (certificates, string, error) {
	known, err := o.knownCertificates(source)
	if err != nil {
		return nil, "", err
	}
	var without []*tasks.Task
	for _, t := range plan.Tasks {
		if _, ok := known[t.Hash]; !ok {
			without = append(without, t)
		}
	}
	if o.noCheck {
		unfit := tellFlaky(env, plan, known)
		return known, yesNo(len(without)+len(unfit) == 0), nil
	}
	if len(without) > 0 {
		if env.terminal && !o.quiet {
			fmt.Fprintf(env.stderr, "checking %s without a certificate; --no-check leaves it out\n", plural(len(without), "task"))
		}
		found, err := certify(ctx, without, grader, tasks.CertifyOptions{Parallel: o.parallel, Seed: plan.Design.Seed})
		if err != nil {
			return nil, "", err
		}
		for hash, row := range byHash(found) {
			known[hash] = row
		}
	}
	return known, "yes", refuse(env, plan, known)
}

// refuse says which tasks are unfit for a run, and tells of those that flake.
func refuse(env *environment, plan *harness.Plan, known certificates) error {
	unfit := tellFlaky(env, plan, known)
	if len(unfit) == 0 {
		return nil
	}
	var ids []string
	for _, t := range unfit {
		ids = append(ids, t.ID)
	}
	return fmt.Errorf("%d of %s not sound: %s; %s: %s; `retrial tasks check` tells of all, --no-check runs them as they are",
		len(unfit), plural(len(plan.Tasks), "task"), strings.Join(ids, ", "), ids[0], strings.Join(known[unfit[0].Hash].Faults, "; "))
}

// tellFlaky warns of tasks that flake, and returns those with faults, which are
// not named here.
func tellFlaky(env *environment, plan *harness.Plan, known certificates) (unfit []*tasks.Task) {
	for _, t := range plan.Tasks {
		row := known[t.Hash]
		if len(row.Faults) > 0 {
			unfit = append(unfit, t)
		} else if row.Flaky != "" {
			fmt.Fprintf(env.stderr, "retrial: warning: %s is %s\n", t.ID, row.Flaky)
		}
	}
	return unfit
}

// knownCertificates reads the file that --certificate names, else the one that
// the corpus has: in its folder, or built in.
func (o *runOptions) knownCertificates(source *tasks.Corpus) (certificates, error) {
	switch {
	case o.certificate != "":
		known, err := readCertificates(o.certificate)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usageError{err}
		}
		return known, err
	case source.BuiltIn:
		return builtInCertificates(source.Name)
	case source.Folder == "":
		return certificates{}, nil
	}
	known, err := readCertificates(filepath.Join(source.Folder, certificateName))
	if errors.Is(err, fs.ErrNotExist) {
		return certificates{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: remove it, or renew it with `retrial tasks check %s`", err, shellQuote(source.Folder))
	}
	return known, nil
}

// builtInCertificates reads what `make certify` found of a built-in corpus.
func builtInCertificates(name string) (certificates, error) {
	path := strings.TrimPrefix(name, "builtin:") + "/" + certificateName
	data, err := corpus.FS.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	return parseCertificates(path, data)
}

// withCertificates puts into a run's info what is known of its tasks' verdicts.
func withCertificates(info results.RunInfo, known certificates) results.RunInfo {
	info.Tasks = slices.Clone(info.Tasks)
	for i, t := range info.Tasks {
		if row, ok := known[t.Hash]; ok {
			info.Tasks[i].Certificate = &results.Certificate{Runs: row.SolutionRuns, Disagreeing: row.Disagreeing}
		}
	}
	return info
}
