package harness

import (
	"context"
	"fmt"

	"retrial/arms"
	"retrial/harness/solver"
	"retrial/results"
)

// plan calls the planner for the lanes of a turn. An infrastructure fault is
// retried as an attempt's is; past maxTries the lanes have no result.
func (t *trial) plan(ctx context.Context, turn Turn) (Result, error) {
	a := t.attempt(turn)
	var fault error
	for a.try = 1; a.try <= maxTries; a.try++ {
		if err := t.r.stopped(ctx); err != nil {
			return Result{}, err
		}
		var text string
		if text, fault = a.callPlanner(ctx); fault == nil {
			return Result{Plan: text}, t.r.journal.Commit(ctx)
		}
		if err := a.logFault(ctx, fault); err != nil {
			return Result{}, err
		}
	}
	return Result{Missing: "infra: " + t.r.reason(fault)}, nil
}

// callPlanner sends the causes and logs the call and what came back.
func (a *attempt) callPlanner(ctx context.Context) (string, error) {
	p := a.turn.Prompt
	prompt, err := a.r.journal.Blob("prompt", p.JSON())
	if err != nil {
		return "", err
	}
	reply, err := a.r.solver.(solver.Planner).Plan(ctx, solver.PlanRequest{
		Prompt: p, Attempt: a.turn.Attempt, Rung: a.turn.Rung,
		TrialSeed: arms.TrialSeed(a.r.plan.Design.Seed, a.m.task.ID, a.key.Replicate), AttemptSeed: a.seed(),
	})
	if err != nil {
		return "", fmt.Errorf("plan: %w", err)
	}
	plan := text(reply.Text)
	sha, err := a.r.journal.Blob("plan", []byte(plan))
	a.log(results.KindReplanned, func(e *results.Event) {
		e.PromptSHA, e.OutputSHA = &prompt, &sha
		e.PromptWithoutSHA = results.Ptr(arms.SHA(p.Without().JSON()))
		e.PromptChars = results.Ptr(int64(p.Chars()))
		e.HistoryRecords = results.Ptr(int32(len(a.turn.Injection.Shown)))
		e.HistoryChars = results.Ptr(int64(a.turn.Injection.Chars))
	})
	return plan, err
}
