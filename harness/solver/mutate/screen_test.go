package mutate

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// The rule by which a corpus is screened; [screening.faults] and [TestScreen]
// apply it.
const (
	// An accidental pass ends a trial as a failure that no history can mend.
	// Where such passes outweigh the right ones, a task tells how its visible
	// tests mislead and nothing about the loop. Half of the weight is where they
	// do; the prior weight counts, and not the number, because it is what a
	// mutant is drawn by.
	mostAccidental = 0.5
	// A task that no first attempt solves, or every one, tells nothing about
	// retries. Tasks that need more than one mutation are solved by none: they
	// are the floor that a corpus may have under it.
	drafts         = 20 // first attempts at the default dials, each with seeds of its own
	mostAlways     = 3  // tasks of a corpus that every draft solves
	mostUnreached  = 0.15
	leastSuccess   = 0.35 // of all drafts
	highestSuccess = 0.65
)

// screening is what the whole table of a task's mutants comes to, and what its
// drafts do.
type screening struct {
	task                   corpusTask
	mutants                int
	right, accidental      []Row   // of those that pass the visible tests: by the hidden ones
	rightWeight, accWeight float64 // the same by prior weight
	visible, success       int     // drafts that pass the visible tests, and the hidden ones too
}

// share is the part of the visible passes that is accidental, by weight; 0 where
// nothing passes.
func (s screening) share() float64 {
	if len(s.accidental) == 0 {
		return 0
	}
	return s.accWeight / (s.rightWeight + s.accWeight)
}

// faults says what screens the task out.
func (s screening) faults() []string {
	var out []string
	if s.share() > mostAccidental {
		out = append(out, "accidental passes dominate")
	}
	if len(s.right) > 0 && s.success == 0 {
		out = append(out, "no draft succeeds")
	}
	return out
}

func screen(t *testing.T, e *Engine, task corpusTask) screening {
	rows, err := e.Table(context.Background(), TableRequest{Dir: task.dir, Files: task.files,
		VerifyCommand: task.verify, ScoreCommand: task.score, TaskKey: task.id, Jobs: 2})
	if err != nil {
		t.Fatalf("%s: %v", task.id, err)
	}
	s := screening{task: task, mutants: len(rows)}
	for _, r := range rows {
		switch {
		case !r.Visible.Passed:
		case r.Hidden.Passed:
			s.right, s.rightWeight = append(s.right, r), s.rightWeight+r.Weight
		default:
			s.accidental, s.accWeight = append(s.accidental, r), s.accWeight+r.Weight
		}
	}
	right := judgeReplies(t, e, task)
	for replicate := range drafts {
		draft := solver(t, e, task, replicate)(1, Heed, "")
		if !draft.Passed {
			continue
		}
		s.visible++
		if right(draft) {
			s.success++
		}
	}
	return s
}

// log prints the task's row and, below, the mutants that pass by accident.
func (s screening) log(t *testing.T) {
	lines := 0
	for _, f := range s.task.files {
		lines += strings.Count(f.Text, "\n")
	}
	t.Logf("%-20s %5d %5d %6d %5.2f %7d %7d %5d %5d  %s", s.task.id, s.mutants, len(s.right), len(s.accidental), s.share(), s.visible, s.success,
		len(s.task.files), lines, strings.Join(s.faults(), "; "))
	for _, r := range s.accidental {
		t.Logf("%20s accidental, weight %.2f: %s", "", r.Weight, r.Mutant)
	}
}

// TestScreen runs all mutants of every task of a folder and the first attempts
// at the default dials. It prints a row a task and fails where a task is to be
// screened out or the corpus is too easy, too hard or too uneven.
func TestScreen(t *testing.T) {
	tasks := corpus(t)
	e := newEngine(t, Options{})
	began := time.Now()
	t.Logf("%-20s %5s %5s %6s %5s %7s %7s %5s %5s", "task", "all", "right", "accid.", "share", "visible", "success", "files", "lines")
	histogram := map[int]int{}
	sum, unreached, several := 0, 0, 0
	for _, task := range tasks {
		s := screen(t, e, task)
		s.log(t)
		for _, fault := range s.faults() {
			t.Errorf("%s: %s", task.id, fault)
		}
		sum += s.success
		if len(task.files) > 1 {
			several++
		}
		if len(s.right) == 0 {
			unreached++
		} else {
			histogram[s.success]++
		}
	}
	rate, floor := float64(sum)/float64(len(tasks)*drafts), float64(unreached)/float64(len(tasks))
	t.Logf("%d tasks, %d of several files, %d out of reach of one mutation; %.1f%% of drafts succeed; %.0f s",
		len(tasks), several, unreached, 100*rate, time.Since(began).Seconds())
	for _, n := range slices.Sorted(maps.Keys(histogram)) {
		t.Logf("%2d of %d drafts succeed: %2d tasks within reach %s", n, drafts, histogram[n], strings.Repeat("#", histogram[n]))
	}
	if rate < leastSuccess || rate > highestSuccess || floor > mostUnreached || histogram[drafts] > mostAlways {
		t.Errorf("%.1f%% of drafts succeed, %.1f%% of tasks are out of reach, %d tasks are always solved", 100*rate, 100*floor, histogram[drafts])
	}
}
