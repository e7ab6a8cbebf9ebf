package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"retrial/arms"
	"retrial/harness/solver"
	"retrial/harness/workspace"
	"retrial/results"
	"retrial/tasks"
)

// A number to be guessed: verify passes below 100, the hidden score wants 42.
// Its commands are a few lines of shell, so that a run takes milliseconds.
const guessTask = `-- task.yaml --
id: %s
instruction: Make the answer right.
editable: [answer.txt, more.txt]
verify: sh test_visible.sh
score: sh score.sh
timeout: %s
protect: [test_visible.sh]
-- workspace/answer.txt --
wrong
-- workspace/more.txt --
more
-- workspace/test_visible.sh --
. ./hook.sh
read -r answer < answer.txt
case $answer in
[0-9]|[0-9][0-9]) exit 0 ;;
esac
echo "FAIL: the answer is $answer" >&2
exit 1
-- workspace/hook.sh --
:
-- hidden/score.sh --
read -r answer < answer.txt
[ "$answer" = 42 ]
-- solution/answer.txt --
42
`

// guessCorpus is a corpus of guessing tasks with the given ids.
func guessCorpus(t testing.TB, ids ...string) *tasks.Corpus {
	t.Helper()
	dir := t.TempDir()
	for _, id := range ids {
		text := fmt.Sprintf(guessTask, id, "10s")
		if id == "slow" {
			text = fmt.Sprintf(guessTask, id, "300ms")
		}
		if err := os.WriteFile(filepath.Join(dir, id+".txtar"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := tasks.Load(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// parsePlan puts a design's text and a corpus together.
func parsePlan(t testing.TB, c *tasks.Corpus, design string) *Plan {
	t.Helper()
	d, err := arms.ParseDesign("design.yaml", []byte("name: test\ncorpus: tests\n"+design))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(d, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const fourArms = "arms: [blind, notice, last-verdict, diff-feedback]\n"

// scene is what a scripted solver is asked for.
type scene struct {
	task               string
	replicate, attempt int
	try                int // of this request, from 1: more after infrastructure faults
	req                solver.Request
}

// scripted plays a script: a function of the scene, which may act in the
// workspace too.
type scripted struct {
	play func(ctx context.Context, s scene) (solver.Reply, error)

	mu     sync.Mutex
	trials map[uint64]scene
	tries  map[string]int
	scenes []scene
}

func newScripted(p *Plan, play func(ctx context.Context, s scene) (solver.Reply, error)) *scripted {
	s := &scripted{play: play, trials: map[uint64]scene{}, tries: map[string]int{}}
	for _, key := range p.Trials() {
		id := p.Tasks[key.Task].ID
		s.trials[arms.TrialSeed(p.Design.Seed, id, key.Replicate)] = scene{task: id, replicate: key.Replicate}
	}
	return s
}

func (s *scripted) Solve(ctx context.Context, req solver.Request) (solver.Reply, error) {
	s.mu.Lock()
	now, ok := s.trials[req.TrialSeed]
	if !ok {
		s.mu.Unlock()
		return solver.Reply{}, fmt.Errorf("no trial has the seed %x", req.TrialSeed)
	}
	request := fmt.Sprintf("%d %x %s", req.Attempt, req.TrialSeed, req.Prompt.Text())
	s.tries[request]++
	now.attempt, now.try, now.req = req.Attempt, s.tries[request], req
	s.scenes = append(s.scenes, now)
	s.mu.Unlock()
	return s.play(ctx, now)
}

// answer replies with one answer.
func answer(format string, args ...any) solver.Reply {
	return solver.Reply{Files: map[string]string{"answer.txt": fmt.Sprintf(format, args...) + "\n"}}
}

// arm tells which of the four arms a retry's prompt is of, by what it shows.
func (s scene) arm() string {
	switch text := s.req.Prompt.Added; {
	case text == "":
		return "blind"
	case strings.Contains(text, "Patch that was tried"):
		return "diff-feedback"
	case strings.Contains(text, "Verifier output"):
		return "last-verdict"
	}
	return "notice"
}

// made is a run that was made, with its tables.
type made struct {
	dir      string
	err      error // what Run returned
	log      *results.Log
	attempts map[string]results.Attempt
	trials   map[string]results.Trial // by task/replicate/arm
	progress Progress
}

// options of a run in a test; the zero value is one worker and no drain.
type options struct {
	parallel int
	drain    <-chan struct{}
	progress func(Progress)
	grader   *Grader
}

// config is a run's configuration over a new folder.
func config(t testing.TB, p *Plan, s solver.Solver, o options) (Config, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	info := results.RunInfo{RunID: "r", DesignHash: p.Design.Hash(), Design: p.Design.JSON(), Arms: p.Design.ArmNames()}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := info.Write(dir); err != nil {
		t.Fatal(err)
	}
	j, err := results.CreateJournal(dir, results.Header{RunID: info.RunID, DesignHash: info.DesignHash, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	grader := Grader{Root: t.TempDir(), Sandbox: workspace.None}
	if o.grader != nil {
		grader = *o.grader
	}
	return Config{
		Plan: p, Solver: s, Grader: grader, Journal: j, Info: info, Parallel: o.parallel, Drain: o.drain, Progress: o.progress,
	}, dir
}

// makeRun runs a plan and reads back what its journal says.
func makeRun(t testing.TB, ctx context.Context, p *Plan, s solver.Solver, o options) *made {
	t.Helper()
	m := &made{}
	told := o.progress
	o.progress = func(now Progress) {
		m.progress = now
		if told != nil {
			told(now)
		}
	}
	c, dir := config(t, p, s, o)
	m.dir, m.err = dir, Run(ctx, c)
	if err := c.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(c.Grader.Root); err != nil || len(left) > 0 {
		t.Errorf("workspaces left: %v, %v", left, err)
	}
	m.read(t)
	return m
}

// mustRun is makeRun for runs that end well.
func mustRun(t testing.TB, p *Plan, s solver.Solver, o options) *made {
	t.Helper()
	m := makeRun(t, context.Background(), p, s, o)
	if m.err != nil {
		t.Fatal(m.err)
	}
	return m
}

func (m *made) read(t testing.TB) {
	t.Helper()
	var err error
	if m.log, err = results.ReadJournal(m.dir); err != nil {
		t.Fatal(err)
	}
	results.SortEvents(m.log.Events)
	m.attempts, m.trials = map[string]results.Attempt{}, map[string]results.Trial{}
	for _, a := range results.Attempts(m.log.Events) {
		m.attempts[a.AttemptID] = a
	}
	for _, r := range results.Trials(m.log.Events) {
		m.trials[fmt.Sprintf("%s/%d/%s", r.Task, r.Replicate, r.Arm)] = r
	}
}

// events returns the run's events of one kind.
func (m *made) events(kind results.Kind) []results.Event {
	var out []results.Event
	for _, e := range m.log.Events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// prompt returns the whole prompt of an attempt, as the log has it.
func (m *made) prompt(t testing.TB, id string) string {
	t.Helper()
	a, ok := m.attempts[id]
	if !ok || a.PromptSHA == nil {
		t.Fatalf("no prompt of attempt %s in %v", id, m.attempts)
	}
	return string(m.log.Blobs[*a.PromptSHA].Data)
}

// children lists the processes that this one started and that still run. Where
// there is no /proc there are none to be seen.
func children(t testing.TB) []string {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(data), ") ")
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == fmt.Sprint(os.Getpid()) && fields[0] != "Z" {
			left = append(left, string(data))
		}
	}
	return left
}
