package harness

import (
	"context"
	"fmt"

	"retrial/arms"
	"retrial/harness/solver"
	"retrial/results"
)

// summarise calls the summariser for the lanes of a turn. An infrastructure fault
// is retried as an attempt's is; past maxTries the lanes have no result.
func (t *trial) summarise(ctx context.Context, turn Turn) (Result, error) {
	a := t.attempt(turn)
	var fault error
	for a.try = 1; a.try <= maxTries; a.try++ {
		if err := t.r.stopped(ctx); err != nil {
			return Result{}, err
		}
		var text string
		if text, fault = a.callSummariser(ctx); fault == nil {
			return Result{Summary: text}, t.r.journal.Commit(ctx)
		}
		if err := a.logFault(ctx, fault); err != nil {
			return Result{}, err
		}
	}
	return Result{Missing: "infra: " + t.r.reason(fault)}, nil
}

// callSummariser sends the history and logs what the call cost, before the reply
// is looked at, and what came back.
func (a *attempt) callSummariser(ctx context.Context) (string, error) {
	p := a.turn.Prompt
	prompt, err := a.r.journal.Blob("prompt", p.JSON())
	if err != nil {
		return "", err
	}
	reply, err := a.r.solver.(solver.Summariser).Summarise(ctx, solver.SummaryRequest{
		Prompt: p, Attempt: a.turn.Attempt, Rung: a.turn.Rung,
		TrialSeed: arms.TrialSeed(a.r.plan.Design.Seed, a.m.task.ID, a.key.Replicate), AttemptSeed: a.seed(),
	})
	a.logCalls(reply.Calls)
	if err != nil {
		return "", fmt.Errorf("summarise: %w", err)
	}
	summary := text(reply.Text)
	sha, err := a.r.journal.Blob("summary", []byte(summary))
	a.log(results.KindSummarised, func(e *results.Event) {
		e.PromptSHA, e.OutputSHA = &prompt, &sha
		e.PromptWithoutSHA = results.Ptr(arms.SHA(p.Without().JSON()))
		e.PromptChars = results.Ptr(int64(p.Chars()))
		e.PromptTokens = results.Ptr(int64(p.Tokens(a.r.plan.Tokens.Count)))
		e.HistoryRecords = results.Ptr(int32(len(a.turn.Injection.Shown)))
		e.HistoryChars = results.Ptr(int64(a.turn.Injection.Chars))
		e.HistoryTokens = results.Ptr(int64(p.HistoryTokens(a.r.plan.Tokens.Count)))
		e.Detail = a.tokenizer()
	})
	return summary, err
}

// logCalls logs calls of a model with what they cost.
func (a *attempt) logCalls(calls []solver.Call) {
	for _, c := range calls {
		a.log(results.KindModelCall, func(e *results.Event) {
			e.Provider, e.ModelAsked, e.ModelServed = filled(c.Provider), filled(c.ModelAsked), filled(c.ModelServed)
			e.InUncached, e.InCacheRead, e.InCacheW5m, e.InCacheW1h = c.InUncached, c.InCacheRead, c.InCacheW5m, c.InCacheW1h
			e.OutTotal, e.OutReasoning, e.USD, e.FinishReason = c.OutTotal, c.OutReasoning, c.USD, filled(c.FinishReason)
		})
	}
}

// filled is a pointer to a text, nil for none.
func filled(s string) *string {
	if s == "" {
		return nil
	}
	return results.Ptr(text(s))
}

// tokenizer is the detail that says what counted an event's tokens.
func (a *attempt) tokenizer() string {
	return detail(map[string]string{"tokenizer": a.r.plan.Tokens.Name()})
}

// logCompactions logs, for each lane of the turn whose prompt was compacted, what
// became of it: arms may share a prompt of which only some have lost a part.
func (a *attempt) logCompactions() {
	for _, l := range a.turn.distinct() {
		c := l.decision.Compaction
		if c == nil {
			continue
		}
		a.logFor(l, results.KindCompacted, func(e *results.Event) {
			e.Detail = detail(results.Compaction{
				By: results.CompactedByRetrial, Compactor: string(c.Compactor), TokensBefore: c.Before, TokensAfter: c.After,
				Lost: c.Lost, HistoryLost: c.HistoryLost, Tokenizer: a.r.plan.Tokens.Name(),
			})
		})
	}
}

// logSolverCompactions logs what the solver says it compacted of its own context
// during the attempt. It can have lost a history only where one was injected.
func (a *attempt) logSolverCompactions() {
	for _, c := range a.reply.Compactions {
		for _, l := range a.turn.distinct() {
			inj := l.decision.Injection
			a.logFor(l, results.KindCompacted, func(e *results.Event) {
				e.Detail = detail(results.Compaction{
					By: results.CompactedBySolver, TokensBefore: c.Before, TokensAfter: c.After, Lost: []int{},
					HistoryLost: c.HistoryLost && inj != nil && len(inj.Shown) > 0,
				})
			})
		}
	}
}

// exceeds ends a lane's attempts: the prompt passes the context budget and is not
// sent. The attempt is logged as one of outcome budget, which solved nothing.
func (t *trial) exceeds(ctx context.Context, turn Turn) (Result, error) {
	a := t.attempt(turn)
	a.try = 1
	if err := t.r.begin(ctx); err != nil {
		return Result{}, err
	}
	a.rec = arms.Record{Attempt: turn.Attempt, Outcome: arms.Budget}
	a.logStart()
	if err := a.logPrompt(); err != nil {
		return Result{}, err
	}
	if err := a.logVerdict(unverified, false, ""); err != nil {
		return Result{}, err
	}
	a.logFinish(0)
	t.r.attemptDone(arms.Budget)
	return Result{ID: a.id, Record: a.rec, Over: true}, t.r.journal.Commit(ctx)
}
