package tasks

import (
	"context"
	"errors"
	"fmt"
)

// StrengthVerdict says whether score was seen to reject what verify lets pass.
type StrengthVerdict string

// The verdicts.
const (
	NotAsked     StrengthVerdict = "not asked" // nobody looked, or the task has no score
	Stronger     StrengthVerdict = "yes"
	CouldNotTell StrengthVerdict = "could not tell" // which is not to say that score is no stronger
)

// Strength is what came of seeking a program that verify lets pass and score
// rejects. The counts say how far the search went.
type Strength struct {
	Verdict StrengthVerdict
	Reason  string // why it could not tell
	Witness string // the change that makes such a program, in words; with Stronger only
	Solved  bool   // the witness changes the solved program, not the untouched one
	Changes int    // known of the programs looked at
	Tried   int    // of these
	Passed  int    // of those tried, the ones that pass verify
}

// Program names what the witness changes: solution or workspace; "" without one.
func (s Strength) Program() string {
	switch {
	case s.Witness == "":
		return ""
	case s.Solved:
		return "solution"
	default:
		return "workspace"
	}
}

// String says it in one line.
func (s Strength) String() string {
	switch s.Verdict {
	case Stronger:
		return fmt.Sprintf("yes: the %s passes verify and fails score where %s", s.Program(), s.Witness)
	case CouldNotTell:
		return "could not tell: " + s.Reason
	default:
		return string(NotAsked)
	}
}

// strengths asks of each sound task whether its score is stronger than its
// verify. A command without a verdict leaves it open; another error ends it.
func (r *rounds) strengths(ctx context.Context, found []Certificate, ask func(context.Context, *Task) (Strength, error)) error {
	r.each(ctx, len(found), func(i int) bool {
		t, c := r.list[i], &found[i]
		switch {
		case ask == nil || !t.HasScore():
			c.Strength.Verdict = NotAsked
		case !c.Sound():
			c.Strength = Strength{Verdict: CouldNotTell, Reason: "the task is not sound"}
		default:
			var silent *NoVerdictError
			var err error
			switch c.Strength, err = ask(ctx, t); {
			case errors.As(err, &silent):
				c.Strength = Strength{Verdict: CouldNotTell, Reason: "a command gave no verdict: " + silent.Reason}
			case err != nil:
				r.fail(fmt.Errorf("ask whether the score of task %s is stronger: %w", t.ID, err))
				return false
			}
		}
		return true
	})
	return errors.Join(r.failed(), ctx.Err())
}
