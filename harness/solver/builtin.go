package solver

import (
	"context"
	"fmt"

	"retrial/harness/solver/mutate"
)

// Mutate is the built-in, offline repairer: it is not a language model. It
// knows its prompt and what its metered verify runs tell it.
type Mutate struct {
	engine *mutate.Engine
	memory mutate.Memory
}

// NewMutate returns the repairer; memory is heed, ignore or fixate; python is
// the interpreter, "" for python3 from PATH; wrap puts a sandbox command before
// the interpreter's, nil for none. Close ends it.
func NewMutate(memory, python string, wrap func(argv []string) []string) (*Mutate, error) {
	engine, err := mutate.New(mutate.Options{Python: python, Wrap: wrap})
	if err != nil {
		return nil, fmt.Errorf("start mutate: %w", err)
	}
	return &Mutate{engine: engine, memory: mutate.Memory(memory)}, nil
}

// Close ends the interpreters.
func (m *Mutate) Close() { m.engine.Close() }

// Supports says why the repairer cannot work with a verify command, or nil: it
// runs Python's unittest only.
func Supports(verify string) error { return mutate.Supports(verify) }

// Solve makes one attempt.
func (m *Mutate) Solve(ctx context.Context, req Request) (Reply, error) {
	r, err := m.engine.Solve(ctx, mutate.Request{
		Prompt: req.Prompt.Text(), Dir: req.Dir, VerifyCommand: req.Verify, TaskKey: req.TaskKey,
		TrialSeed: req.TrialSeed, AttemptSeed: req.AttemptSeed, VerifyRuns: req.Limits.VerifyRuns, Memory: m.memory,
	})
	if err != nil {
		return Reply{}, err
	}
	return Reply{Files: r.Files, Description: r.Description, VerifyRuns: r.VerifyRuns}, nil
}
