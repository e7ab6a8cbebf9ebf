package mutate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os/exec"
	"sync"
)

// Memory says what a solver does with the history in its prompt.
type Memory string

// The memories. Empty means Heed.
const (
	// Heed leaves out shown patches, avoids the lines they touched and prefers
	// lines that a shown traceback names.
	Heed Memory = "heed"
	// Ignore does not look at the history.
	Ignore Memory = "ignore"
	// Fixate stays within a line of the last shown patch.
	Fixate Memory = "fixate"
)

var (
	// ErrUnsupported is returned for a verify command that is not a plain
	// python3 -m unittest.
	ErrUnsupported = errors.New("mutate needs a python3 -m unittest verify command")
	// ErrPrompt is returned for a prompt that shows no file.
	ErrPrompt = errors.New("mutate found no file in the prompt")
)

// Options of an Engine. The zero value of each field means its default.
type Options struct {
	Python string                       // interpreter; default python3 from PATH
	Wrap   func(argv []string) []string // puts a sandbox command before the interpreter's; default none
	NoMemo bool                         // keep no verdicts and no analyses between requests
	Alpha  float64                      // Heed: factor of a line that a shown patch touched; default 0.1
	Rho    float64                      // share of the noise that is the trial's and not the attempt's, in (0, 1]; default 0.6
	Lines  int                          // lines tried by an attempt; default 2
	// Sharpness is the power of the evidence about lines against the noise;
	// default 2.5, the factor in the package comment's formula.
	Sharpness float64
	Workers   int // idle interpreters kept; default 16
}

func (o Options) withDefaults() (Options, error) {
	if o.Python == "" {
		o.Python = "python3"
	}
	if o.Alpha == 0 {
		o.Alpha = 0.1
	}
	if o.Rho == 0 {
		o.Rho = 0.6
	}
	if o.Sharpness == 0 {
		o.Sharpness = 2.5
	}
	if o.Lines == 0 {
		o.Lines = 2
	}
	if o.Workers == 0 {
		o.Workers = 16
	}
	if !(o.Alpha > 0) || !(o.Sharpness > 0) || !(o.Rho > 0 && o.Rho <= 1) || o.Lines < 0 || o.Workers < 0 {
		return o, fmt.Errorf("check options of mutate: alpha %g, sharpness %g, lines %d and workers %d must be above 0, rho %g in (0, 1]",
			o.Alpha, o.Sharpness, o.Lines, o.Workers, o.Rho)
	}
	return o, nil
}

// A Request is one attempt.
type Request struct {
	Prompt        string // the composed prompt, all messages joined: all that may be known of the task
	Dir           string // workspace to import the program and the visible tests from, when they are run
	VerifyCommand string // such as "python3 -m unittest -q test_visible"
	TaskKey       string // content hash of the task, tests included; verdicts are kept under it, none if empty
	TrialSeed     uint64 // seed of the noise that all attempts of a trial share
	AttemptSeed   uint64 // seed of the noise of this attempt
	VerifyRuns    int    // most verify runs, the unmodified program's included; 0 means 64
	Memory        Memory // what to do with the history; empty means Heed
	Lines         int    // lines tried; 0 means the engine's
}

// A Reply is what an attempt submits.
type Reply struct {
	Files       map[string]string // edited files by path; empty if no mutation was left to submit
	Description string            // one sentence, such as "intervals.py:14: `<` becomes `<=`"
	VerifyRuns  int               // verify runs used; a verdict already known counts too
	Passed      bool              // the visible tests pass, by the solver's own reckoning
	TestsPassed int               // of the submitted candidate; 0 if it was not tried
	TestsTotal  int               // visible tests found in the unmodified program
}

// An Engine solves requests. It is safe for concurrent use.
type Engine struct {
	opts Options
	argv []string

	mu     sync.Mutex
	idle   []*worker
	closed bool

	memo memo
}

// New finds the interpreter and returns an engine. Interpreters start when first
// needed; Close ends them.
func New(opts Options) (*Engine, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	python, err := exec.LookPath(opts.Python)
	if err != nil {
		return nil, fmt.Errorf("find %s (install Python 3.8 or later, such as the package python3): %w", opts.Python, err)
	}
	env, err := exec.LookPath("env")
	if err != nil {
		return nil, fmt.Errorf("find the command env (package coreutils): %w", err)
	}
	// The order of sets of strings depends on the hash seed, and -E or a sandbox
	// that clears the environment would let it vary: it is set on the command line.
	argv := []string{env, "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1", python, "-S", "-s", "-c", boot}
	if opts.Wrap != nil {
		argv = opts.Wrap(argv)
	}
	return &Engine{opts: opts, argv: argv}, nil
}

// Solve makes one attempt. The reply depends on the request alone: not on earlier
// requests, on concurrent ones or on the load of the machine.
func (e *Engine) Solve(ctx context.Context, req Request) (Reply, error) {
	if req.VerifyRuns <= 0 {
		req.VerifyRuns = 64
	}
	if req.Lines <= 0 {
		req.Lines = e.opts.Lines
	}
	prompt, err := ParsePrompt(req.Prompt)
	if err != nil {
		return Reply{}, err
	}
	tests, err := parseCommand(req.VerifyCommand)
	if err != nil {
		return Reply{}, err
	}
	seen, err := recall(req.Memory, prompt)
	if err != nil {
		return Reply{}, err
	}
	s := e.open(req.Dir, req.TaskKey, prompt.Files, tests)
	defer s.close()
	facts, err := s.analyse(ctx)
	if err != nil {
		return Reply{}, err
	}
	r := ranking{facts: facts, seen: seen, alpha: e.opts.Alpha, rho: e.opts.Rho, sharpness: e.opts.Sharpness,
		trial: req.TrialSeed, attempt: req.AttemptSeed}
	return s.submit(ctx, r.candidates(req.Lines), req.VerifyRuns)
}

// submit tries candidates in order and replies with the first that passes, else
// with the one that passes most tests. The unmodified program's run is the first.
func (s *session) submit(ctx context.Context, candidates []candidate, runs int) (Reply, error) {
	reply := Reply{VerifyRuns: 1, TestsTotal: s.facts.Total}
	if len(candidates) == 0 {
		reply.Description = "no mutation of the shown files is left to try"
		return reply, nil
	}
	best, bestVerdict := candidates[0], Verdict{Count: -1}
	for _, c := range candidates {
		if reply.VerifyRuns >= runs {
			break
		}
		v, err := s.try(ctx, c)
		if err != nil {
			return Reply{}, err
		}
		reply.VerifyRuns++
		if v.Passed || v.Count > bestVerdict.Count {
			best, bestVerdict = c, v
		}
		if v.Passed {
			break
		}
	}
	text, err := best.apply(s.files[best.Path])
	if err != nil {
		return Reply{}, err
	}
	reply.Files = map[string]string{best.Path: text}
	reply.Description = best.Mutant.String()
	reply.Passed = bestVerdict.Passed
	reply.TestsPassed = max(bestVerdict.Count, 0)
	return reply, nil
}

// A Mutant is one mutation of a file.
type Mutant struct {
	Path     string  `json:"path"`
	Line     int     `json:"line"`   // 1-based line it is counted to
	Stmt     int     `json:"stmt"`   // first line of the statement that line belongs to
	Start    int     `json:"start"`  // bytes [Start, End) of the file are replaced
	End      int     `json:"end"`    //
	Text     string  `json:"text"`   // by this
	Operator string  `json:"op"`     // boundary, compare, boolean, negate, arithmetic, bitwise, constant, append, name, target, attribute, key, sibling, swap, delete, jump, move or return
	Weight   float64 `json:"weight"` // prior weight
	Before   string  `json:"before"` // the code in question, for people
	After    string  `json:"after"`  //
}

// String says in one sentence what the mutation does.
func (m Mutant) String() string {
	at := fmt.Sprintf("%s:%d: ", m.Path, m.Line)
	switch {
	case m.Operator == "delete" && m.After == "":
		return at + "`" + m.Before + "` is dropped"
	case m.Operator == "move":
		return at + "`" + m.Before + "` moves" + m.After
	}
	return at + "`" + m.Before + "` becomes `" + m.After + "`"
}

// apply returns the mutated file.
func (m Mutant) apply(text string) (string, error) {
	if m.Start < 0 || m.End < m.Start || m.End > len(text) {
		return "", fmt.Errorf("apply %s: bytes %d to %d lie outside the file", m, m.Start, m.End)
	}
	return text[:m.Start] + m.Text + text[m.End:], nil
}

// patchID is the canonical identity of a patch: the path and the resulting text.
func patchID(path, text string) [sha256.Size]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s%s", len(path), path, text)
	return [sha256.Size]byte(h.Sum(nil))
}
