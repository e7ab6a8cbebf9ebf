package tasks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Certificate is what Certify found of one task, valid for as long as the
// task's Hash stays the same.
type Certificate struct {
	Task string
	Hash string // of the task's content

	Untouched     string   // how the untouched workspace did at first: verify, then score
	UntouchedRuns int      // runs of verify on it; the score is run once
	Failing       []string // tests that fail there, sorted; nil where verify's output names none

	Solved         string // how the solution did at first; "no solution" where there is none
	SolvedRuns     int    // runs of verify and score on it
	SolvedDisagree int    // of these, the runs whose success differs from that of most

	Median  time.Duration // of the solution's commands, verify and score each
	Slowest time.Duration // of all commands
	Timeout time.Duration // of each command

	Strength Strength // whether score is stronger than verify

	Flaky    string   // how the solution passes in some runs and fails in others; "" where all agree
	Faults   []string // what makes the task unfit for any run
	Warnings []string
}

// Sound says that the task may be relied on: it has no fault and was never seen
// to flake.
func (c Certificate) Sound() bool { return len(c.Faults) == 0 && c.Flaky == "" }

// CertifyOptions say how much Certify repeats.
type CertifyOptions struct {
	Repeats  int    // runs of each tree; 0 means 1
	Parallel int    // runs at a time; 0 means 1
	Seed     uint64 // of the order in which tasks and repeats are run

	// Stronger seeks a program that verify lets pass and score rejects. It is
	// asked once of each sound task that has a score. A NoVerdictError means that it
	// could not tell; another error ends Certify. nil: nobody is asked.
	Stronger func(ctx context.Context, t *Task) (Strength, error)
}

// NoVerdictError is wrapped by what a Judge returns where a command was run and
// gave no verdict: it was killed from outside, or said that it could not tell.
// Every other error means that the judge could not do its work, which says
// nothing of the task.
type NoVerdictError struct {
	Reason string // names nothing of the machine
	Said   string // start of the command's output; "" where that does not matter
}

func (e *NoVerdictError) Error() string {
	if e.Said == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Said
}

// Certify looks at each task's files, then runs its commands: the untouched
// workspace must fail verify and score, with the same failing tests each time,
// and the solution must pass both each time. The first run of every tree comes
// first, the repeats after, both in an order drawn from the seed.
//
// What a repeat cannot tell anything about is run once: the score of an
// untouched workspace, which no attempt ever reaches, and a tree whose commands
// timed out or could not be started. That protected paths exist is checked when
// a task is loaded.
//
// A task whose command gave no verdict ([NoVerdictError]) has that as a fault. An
// error means that nothing could be judged.
func Certify(ctx context.Context, list []*Task, judge Judge, o CertifyOptions) ([]Certificate, error) {
	r := &rounds{list: list, judge: judge, parallel: max(o.Parallel, 1), runs: map[run]outcome{}}
	random := rand.New(rand.NewPCG(o.Seed, 0))
	var jobs []run
	for i, t := range list {
		jobs = append(jobs, run{task: i})
		if t.HasFiles(t.Solution) {
			jobs = append(jobs, run{task: i, solved: true})
		}
	}
	err := r.all(ctx, jobs, random)
	var again []run
	for _, j := range jobs {
		for j.repeat = 1; j.repeat < o.Repeats && r.worthRepeating(j); j.repeat++ {
			again = append(again, j)
		}
	}
	if err == nil {
		err = r.all(ctx, again, random)
	}
	if err != nil {
		return nil, err
	}
	out := make([]Certificate, len(list))
	for i, t := range list {
		if out[i], err = r.certificate(i, t); err != nil {
			return nil, fmt.Errorf("check task %s: %w", t.ID, err)
		}
	}
	if err := r.strengths(ctx, out, o.Stronger); err != nil {
		return nil, err
	}
	return out, nil
}

// run is one run of a task's commands.
type run struct {
	task   int
	solved bool
	repeat int
}

// rounds makes runs and keeps what they came to.
type rounds struct {
	list     []*Task
	judge    Judge
	parallel int

	mu   sync.Mutex
	runs map[run]outcome
	err  error
}

// all makes runs in a random order. It starts none after the first error.
func (r *rounds) all(ctx context.Context, jobs []run, random *rand.Rand) error {
	random.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	r.each(ctx, len(jobs), func(i int) bool {
		r.one(ctx, jobs[i])
		return r.failed() == nil
	})
	return errors.Join(r.failed(), ctx.Err())
}

// each does n things, as many at a time as may be run. It starts none after one
// that returned false, or once ctx is done.
func (r *rounds) each(ctx context.Context, n int, do func(i int) bool) {
	var wg sync.WaitGroup
	var stop atomic.Bool
	slots := make(chan struct{}, r.parallel)
	for i := range n {
		slots <- struct{}{}
		if stop.Load() || ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if !do(i) {
				stop.Store(true)
			}
		})
	}
	wg.Wait()
}

// fail keeps the first error.
func (r *rounds) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

func (r *rounds) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// one makes one run. A repeat on the untouched workspace runs verify alone.
func (r *rounds) one(ctx context.Context, j run) {
	t := r.list[j.task]
	if !j.solved && j.repeat > 0 {
		verifyOnly := *t
		verifyOnly.Score = ""
		t = &verifyOnly
	}
	verify, score, err := r.judge(ctx, t, j.solved)
	o := outcome{verify: verify, score: score}
	var silent *NoVerdictError
	if errors.As(err, &silent) && ctx.Err() == nil {
		o.silent = silent.Reason
	} else if err != nil {
		r.fail(fmt.Errorf("check %s of task %s: %w", map[bool]string{false: "workspace", true: "solution"}[j.solved], t.ID, err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs[j] = o
}

// worthRepeating says whether another run of a tree can tell anything that the
// first did not.
func (r *rounds) worthRepeating(j run) bool {
	first := r.runs[run{task: j.task, solved: j.solved}]
	if !j.solved {
		first.score = nil
	}
	return first.ended()
}

// of lists what the runs of one tree came to, in the order of repeats.
func (r *rounds) of(task int, solved bool) (out []outcome) {
	for j := (run{task: task, solved: solved}); ; j.repeat++ {
		o, ok := r.runs[j]
		if !ok {
			return out
		}
		out = append(out, o)
	}
}

func (r *rounds) certificate(i int, t *Task) (Certificate, error) {
	c := Certificate{Task: t.ID, Hash: t.Hash, Timeout: t.Timeout, Solved: "no solution"}
	c.judgeUntouched(r.of(i, false))
	if solved := r.of(i, true); len(solved) > 0 {
		c.judgeSolved(solved)
	} else {
		c.fault("there is no solution/ to check the commands against")
	}
	faults, err := inspect(t)
	c.Faults = append(c.Faults, faults...)
	return c, err
}
