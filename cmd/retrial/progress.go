package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"retrial/arms"
	"retrial/harness"
	"retrial/harness/solver"
)

// plainEvery is how often progress is told where there is no terminal.
const plainEvery = 10 * time.Second

// progress tells how far a run has come: a bar on a terminal, a line every so
// often elsewhere, a line for every attempt and trial when verbose, nothing
// when quiet. Nothing is coloured, with or without NO_COLOR.
type progress struct {
	out     io.Writer
	quiet   bool
	verbose bool
	bar     *progressbar.ProgressBar // nil for lines
	start   time.Time
	stop    chan struct{} // closed by finish

	mu   sync.Mutex
	last harness.Progress
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func newProgress(env *environment, quiet, verbose bool, trials int) *progress {
	p := &progress{out: env.stderr, quiet: quiet, verbose: verbose, start: time.Now(), stop: make(chan struct{})}
	p.last.Trials = trials
	if env.terminal && !quiet && !verbose {
		p.bar = progressbar.NewOptions(trials, progressbar.OptionSetWriter(env.stderr),
			progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	if p.bar == nil && !quiet {
		go p.tell()
	}
	return p
}

// tell says how far the run is every so often, also while one attempt takes
// long.
func (p *progress) tell() {
	tick := time.NewTicker(plainEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.mu.Lock()
			p.line()
			p.mu.Unlock()
		case <-p.stop:
			return
		}
	}
}

// update is called after every attempt and trial.
func (p *progress) update(now harness.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	trialDone := now.TrialsDone > p.last.TrialsDone
	p.last = now
	switch {
	case p.bar != nil:
		p.bar.Describe(counts(now))
		p.bar.Set(now.TrialsDone)
	case p.verbose && trialDone:
		p.line()
	}
}

func (p *progress) line() {
	fmt.Fprintf(p.out, "%d/%d trials, %s, %s left\n", p.last.TrialsDone, p.last.Trials, counts(p.last), p.left(p.last))
}

func counts(p harness.Progress) string {
	return fmt.Sprintf("attempts: %d passed verify, %d failed; %d trials without a result", p.Passed, p.Failed, p.Faults)
}

// left extrapolates from the trials done so far.
func (p *progress) left(now harness.Progress) string {
	if now.TrialsDone == 0 {
		return "?"
	}
	per := time.Since(p.start) / time.Duration(now.TrialsDone)
	return (per * time.Duration(now.Trials-now.TrialsDone)).Round(time.Second).String()
}

func (p *progress) finish() {
	close(p.stop)
	if p.bar != nil {
		p.bar.Finish()
	}
}

// narrator is a solver that says, in one line each, what another one did.
type narrator struct {
	solver.Solver
	out   io.Writer
	names map[uint64]string // task and replicate, by trial seed
}

func newNarrator(s solver.Solver, p *harness.Plan, out io.Writer) *narrator {
	n := &narrator{Solver: s, out: out, names: map[uint64]string{}}
	for _, key := range p.Trials() {
		id := p.Tasks[key.Task].ID
		n.names[arms.TrialSeed(p.Design.Seed, id, key.Replicate)] = fmt.Sprintf("%s/%d", id, key.Replicate)
	}
	return n
}

// Solve passes the request on and tells of the reply, before it is verified.
func (n *narrator) Solve(ctx context.Context, req solver.Request) (solver.Reply, error) {
	reply, err := n.Solver.Solve(ctx, req)
	what := "edited nothing"
	switch {
	case err != nil:
		what = oneLine(err.Error())
	case reply.Outcome != "":
		what = string(reply.Outcome)
	case len(reply.Files) > 0:
		what = "edited " + strings.Join(slices.Sorted(maps.Keys(reply.Files)), " ")
	}
	fmt.Fprintf(n.out, "%s attempt %d: %s, %s\n", n.names[req.TrialSeed], req.Attempt, what, plural(reply.VerifyRuns, "verify run"))
	return reply, err
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
