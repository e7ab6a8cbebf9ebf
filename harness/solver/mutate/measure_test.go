package mutate

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// seedOf hashes parts to a seed.
func seedOf(parts ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, parts...)
	return h.Sum64()
}

// unified writes a diff of two texts with three lines of context.
func unified(path, before, after string) string {
	a, b := strings.Split(strings.TrimSuffix(before, "\n"), "\n"), strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, to := max(head-3, 0), min(len(a)-tail+3, len(a))
	var body strings.Builder
	for _, l := range a[from:head] {
		body.WriteString(" " + l + "\n")
	}
	for _, l := range a[head : len(a)-tail] {
		body.WriteString("-" + l + "\n")
	}
	for _, l := range b[head : len(b)-tail] {
		body.WriteString("+" + l + "\n")
	}
	for _, l := range a[len(a)-tail : to] {
		body.WriteString(" " + l + "\n")
	}
	olds, news := to-from, to-from+len(b)-len(a)
	return fmt.Sprintf("diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n@@ -%d,%d +%d,%d @@\n%s",
		path, path, path, path, from+1, olds, from+1, news, body.String())
}

// historyOf renders failed replies as the diff-feedback arm does.
func historyOf(task corpusTask, failed []Reply) string {
	var b strings.Builder
	b.WriteString("\n## Earlier attempts\n\nThese attempts were already tried. Each failed and was reverted.\n")
	for i, r := range failed {
		fmt.Fprintf(&b, "\n### Attempt %d: failed\n\nPatch that was tried:\n\n```diff\n", i+1)
		for _, f := range task.files {
			if text, ok := r.Files[f.Path]; ok {
				b.WriteString(unified(f.Path, f.Text, text))
			}
		}
		b.WriteString("```\n")
	}
	return b.String()
}

const noticeText = "\n## Earlier attempts\n\nEarlier attempts at this task failed and were reverted.\n"

const replicates = 10

// armFigures counts what an arm's retries come to.
type armFigures struct{ recovered, passed, repeats, sameLine int }

// figures counts over all trials.
type figures struct {
	trials, visible, success, atRisk, runs int
	arms                                   map[string]*armFigures
}

// loopAll logs first-attempt and recovery figures of the loop over all tasks.
func loopAll(t *testing.T, e *Engine, tasks []corpusTask) {
	f := figures{arms: map[string]*armFigures{}}
	began := time.Now()
	for _, task := range tasks {
		right := judgeReplies(t, e, task)
		before := f
		for replicate := range replicates {
			loop(t, e, task, replicate, right, &f)
		}
		t.Logf("%-24s first attempt: visible %d hidden %d of %d  %s", task.id, f.visible-before.visible, f.success-before.success, replicates, task.tags)
	}
	n := float64(f.trials)
	t.Logf("tasks %d trials %d visible %.3f hidden %.3f at risk %d candidates %.1f seconds %.1f", len(tasks), f.trials,
		float64(f.visible)/n, float64(f.success)/n, f.atRisk, float64(f.runs)/n, time.Since(began).Seconds())
	for _, name := range slices.Sorted(maps.Keys(f.arms)) {
		a := f.arms[name]
		r := float64(f.atRisk)
		t.Logf("%-12s recovered %.3f visible pass %.3f repeats at attempt 2 %.3f same line %.3f", name, float64(a.recovered)/r, float64(a.passed)/r,
			float64(a.repeats)/r, float64(a.sameLine)/r)
	}
}

// judgeReplies returns a function that judges a reply by the hidden tests.
func judgeReplies(t *testing.T, e *Engine, task corpusTask) func(Reply) bool {
	hidden, err := parseCommand(task.score)
	if err != nil {
		t.Fatal(err)
	}
	hidden.Free = hiddenWork
	known := map[string]bool{}
	return func(r Reply) bool {
		key := fmt.Sprint(r.Files)
		if v, ok := known[key]; ok || !r.Passed {
			return v
		}
		s := e.open(task.dir, task.id, task.files, hidden)
		defer s.close()
		if _, err := s.analyse(context.Background()); err != nil {
			t.Fatal(err)
		}
		for path, text := range r.Files {
			m := Mutant{Path: path, Start: 0, End: len(s.files[path]), Text: text}
			v, err := s.try(context.Background(), candidate{Mutant: m, id: patchID(path, text)})
			if err != nil {
				t.Fatal(err)
			}
			known[key] = v.Passed
		}
		return known[key]
	}
}

// solver solves a task's attempt with a replicate's seeds.
func solver(t *testing.T, e *Engine, task corpusTask, replicate int) func(int, Memory, string) Reply {
	return func(attempt int, memory Memory, history string) Reply {
		r, err := e.Solve(context.Background(), Request{Prompt: compose(task, history), Dir: task.dir, VerifyCommand: task.verify,
			TaskKey: task.id, TrialSeed: seedOf(7, task.id, replicate), AttemptSeed: seedOf(7, task.id, replicate, "a", attempt), Memory: memory})
		if err != nil {
			t.Fatalf("%s: %v", task.id, err)
		}
		return r
	}
}

// loop runs one trial: a draft, then up to two retries in each arm.
func loop(t *testing.T, e *Engine, task corpusTask, replicate int, right func(Reply) bool, f *figures) {
	none := func([]Reply) string { return "" }
	notice := func([]Reply) string { return noticeText }
	patches := func(failed []Reply) string { return historyOf(task, failed) }
	attempt := solver(t, e, task, replicate)
	draft := attempt(1, Heed, "")
	f.trials++
	f.runs += draft.VerifyRuns - 1
	if draft.Passed {
		f.visible++
		if right(draft) {
			f.success++
		}
		return
	}
	f.atRisk++
	for _, arm := range []struct {
		name    string
		memory  Memory
		history func([]Reply) string
	}{{"blind", Heed, none}, {"notice", Heed, notice}, {"heed", Heed, patches}, {"ignore", Ignore, patches}, {"fixate", Fixate, patches}} {
		if f.arms[arm.name] == nil {
			f.arms[arm.name] = &armFigures{}
		}
		retries := func(n int, failed []Reply) Reply { return attempt(n, arm.memory, arm.history(failed)) }
		f.arms[arm.name].retry(draft, retries, right)
	}
}

// retry makes an arm's attempts 2 and 3 and counts what they come to.
func (a *armFigures) retry(draft Reply, attempt func(int, []Reply) Reply, right func(Reply) bool) {
	failed := []Reply{draft}
	for n := 2; n <= 3; n++ {
		r := attempt(n, failed)
		if n == 2 && fmt.Sprint(r.Files) == fmt.Sprint(draft.Files) {
			a.repeats++
		}
		if n == 2 && before(r.Description) == before(draft.Description) {
			a.sameLine++
		}
		if r.Passed {
			a.passed++
			if right(r) {
				a.recovered++
			}
			return
		}
		failed = append(failed, r)
	}
}

// before is the place in a description.
func before(description string) string {
	place, _, _ := strings.Cut(description, ": ")
	return place
}
