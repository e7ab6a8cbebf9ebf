package harness

import (
	"fmt"
	"strings"

	"retrial/arms"
)

// Lane is one arm's way through a trial. Its records are its whole state.
type Lane struct {
	Arm     arms.Arm
	Slot    int // which random stream it draws from; 0 is the shared one
	State   arms.State
	IDs     []string // attempts so far, shared ones included
	Missing string   // why the arm has no result; "" while it has
}

// Turn is one attempt that some lanes of a trial are about to make: the same
// records behind them, the same request before them.
type Turn struct {
	arms.Decision
	Slot  int
	Lanes []*Lane // in design order, at least one
}

// Result is what a turn brought back.
type Result struct {
	ID       string
	Record   arms.Record
	Verified bool   // verify passed: the lanes are finished
	Missing  string // the attempt could not be made, and why; Record is then empty
}

// Loop runs one trial. Lanes go on in lockstep, attempt by attempt: each is
// asked what it wants next, equal wishes become one turn, the turns are taken
// in the order that shuffle gives them, and what came back is appended to
// every lane of the turn. It ends when no lane wants anything.
//
// take is the only thing here that does any work: the local runner passes a
// call that makes the attempt.
func Loop(lanes []*Lane, shuffle func(turns []Turn), take func(Turn) (Result, error)) error {
	for {
		turns := next(lanes)
		if len(turns) == 0 {
			return nil
		}
		shuffle(turns)
		for _, t := range turns {
			res, err := take(t)
			if err != nil {
				return err
			}
			for _, l := range t.Lanes {
				l.append(res)
			}
		}
	}
}

// next asks every lane what it wants and puts equal wishes together.
func next(lanes []*Lane) []Turn {
	var turns []Turn
	byKey := map[string]int{}
	for _, l := range lanes {
		if l.Missing != "" {
			continue
		}
		d := l.Arm.Next(l.State)
		if d.Action == arms.ActionStop {
			continue
		}
		key := fmt.Sprintf("%d\n%s\n%s\n%s", l.Slot, strings.Join(l.IDs, ";"), d.Action, d.Prompt.JSON())
		if i, ok := byKey[key]; ok {
			turns[i].Lanes = append(turns[i].Lanes, l)
			continue
		}
		byKey[key] = len(turns)
		turns = append(turns, Turn{Decision: d, Slot: l.Slot, Lanes: []*Lane{l}})
	}
	return turns
}

func (l *Lane) append(res Result) {
	if res.Missing != "" {
		l.Missing = res.Missing
		return
	}
	l.IDs = append(l.IDs, res.ID)
	l.State.Records = append(l.State.Records, res.Record)
	l.State.Finished = res.Verified
}

// Arms lists the names of the turn's arms, in design order.
func (t Turn) Arms() []string {
	names := make([]string, len(t.Lanes))
	for i, l := range t.Lanes {
		names[i] = l.Arm.Name
	}
	return names
}
