package analysis

import (
	"fmt"
	"slices"

	"retrial/arms"
	"retrial/results"
)

// The gates on what was sent: they read the prompts, and compose anew what they
// must hold.

// injections returns the history_injected event of each attempt.
func (d *Data) injections() map[string]*results.Event {
	out := map[string]*results.Event{}
	for i := range d.Events {
		if e := &d.Events[i]; e.Kind == results.KindHistoryInjected {
			out[e.AttemptID] = e
		}
	}
	return out
}

// Check is what was seen of one thing, looked at one by one. Faults are the
// first few; Checked less Good is how many there are.
type Check struct {
	Checked int     `json:"checked"`
	Good    int     `json:"good"`
	Faults  []Fault `json:"faults"`
}

// Fault says what is wrong with one attempt's prompt, or between the arms of one
// fork, which then has its name in Attempt and no Arm.
type Fault struct {
	Attempt string `json:"attempt"`
	Arm     string `json:"arm"`
	What    string `json:"what"`
}

// maxFaults is how many faults of one kind are told.
const maxFaults = 10

// saw counts one thing that was looked at; what is "" where it is as it should be.
func (c *Check) saw(attempt, arm, what string) {
	c.Checked++
	if what == "" {
		c.Good++
	} else if len(c.Faults) < maxFaults {
		c.Faults = append(c.Faults, Fault{attempt, arm, what})
	}
}

// first is the first fault in words, "" for none.
func (c Check) first() string {
	if len(c.Faults) == 0 {
		return ""
	}
	f := c.Faults[0]
	if f.Arm == "" {
		return f.Attempt + " " + f.What
	}
	return fmt.Sprintf("attempt %s in %s: %s", f.Attempt, f.Arm, f.What)
}

// wireLive: every attempt of a history arm past the draft has its injection
// event, and the prompt that was sent holds exactly what the arm makes of its
// records: the history, or the plan or the words that it puts in its place.
func (d *Data) wireLive() Gate {
	g := Gate{Gate: "wire_live", Threshold: "all", Statistic: "share of the history arms' retries whose prompt holds what their arm composes of the records before them"}
	c := d.checkInjections()
	g.Message = c.first()
	return g.rate(c.Good, c.Checked, c.Good == c.Checked, "retries of history arms were sent the history that the log recomposes")
}

// checkInjections composes every injection anew.
func (d *Data) checkInjections() Check {
	injected := d.injections()
	return d.eachRetry(arms.Arm.ShowsHistory, func(a *results.Attempt, add arms.Addition) string {
		e := injected[a.AttemptID]
		switch {
		case add.Injection == nil && e != nil:
			return "history was injected where the arm replaces it"
		case add.Injection != nil && e == nil:
			return "its injection event is missing"
		case add.Injection != nil && !sameBlob(e.AddedSHA, add.Blob()):
			return "its injection event tells of another history: " + d.historyFault(e, add)
		case add.Injection != nil && e.HistoryRecords != nil && int(*e.HistoryRecords) != len(add.Injection.Shown):
			return fmt.Sprintf("its injection event tells of %d records, and %d are shown", *e.HistoryRecords, len(add.Injection.Shown))
		}
		return d.promptFault(a, add)
	})
}

// controlClean: no injection in an arm that shows no history, and its prompts
// hold what the arm says (nothing, or its notice) and no more.
func (d *Data) controlClean() Gate {
	g := Gate{Gate: "control_clean", Threshold: "0", Statistic: "retries of arms without history that were sent more or less than their arm says"}
	c := d.checkControl()
	g.Message = c.first()
	return g.count(c.Checked-c.Good, c.Checked, "retries of arms without history were sent more or less than their arm says")
}

// checkControl looks at every retry of the arms that show no history.
func (d *Data) checkControl() Check {
	injected := d.injections()
	showsNone := func(a arms.Arm) bool { return !a.ShowsHistory() }
	return d.eachRetry(showsNone, func(a *results.Attempt, add arms.Addition) string {
		if e := injected[a.AttemptID]; e != nil && d.toldOfControl(e) {
			return "history was injected"
		}
		return d.promptFault(a, add)
	})
}

// isolation: attempt 2's prompt, less what the arm added, is the same in all
// arms of a fork.
func (d *Data) isolation() Gate {
	g := Gate{Gate: "isolation", Threshold: "1 prompt per fork", Statistic: "share of forks whose attempt-2 prompts, less what each arm added, are byte for byte one"}
	c := d.checkIsolation()
	g.Message = c.first()
	return g.rate(c.Good, c.Checked, c.Good == c.Checked, "forks have one attempt-2 prompt, less what each arm added")
}

func (d *Data) checkIsolation() Check {
	return d.perFork(func(t *results.Trial, attempts []*results.Attempt) string {
		if len(attempts) < 2 {
			return ""
		}
		sha, ok := d.sentWithout(attempts[1], arms.ParseAdded([]byte(d.text(attempts[1].AddedSHA))))
		if !ok {
			return "unreadable " + t.Arm // equal to nothing, another arm's unreadable prompt included
		}
		return sha
	})
}

// forkIntegrity: the arms of a fork have one draft, with one patch.
func (d *Data) forkIntegrity() Gate {
	g := Gate{Gate: "fork_integrity", Threshold: "1 draft per fork", Statistic: "share of forks with one draft, and one patch of it, over their arms"}
	c := d.perFork(func(_ *results.Trial, attempts []*results.Attempt) string {
		if len(attempts) < 1 || attempts[0].PatchSHA == nil {
			return ""
		}
		return attempts[0].AttemptID + " " + *attempts[0].PatchSHA
	})
	g.Message = c.first()
	return g.rate(c.Good, c.Checked, c.Good == c.Checked, "forks have one draft for all arms")
}

// perFork checks that what of yields is the same in all arms of a fork; arms for
// which it yields nothing are passed over.
func (d *Data) perFork(of func(*results.Trial, []*results.Attempt) string) Check {
	c := Check{Faults: []Fault{}}
	for _, key := range d.keys {
		if !d.forked(key) {
			continue
		}
		var seen, named []string
		for _, arm := range d.Design.ArmNames() {
			if t := d.byArm[arm][key]; t != nil {
				if v := of(t, d.attempts(t)); v != "" {
					seen, named = append(seen, v), append(named, arm)
				}
			}
		}
		if len(seen) < 2 {
			continue
		}
		what := ""
		if i := slices.IndexFunc(seen, func(v string) bool { return v != seen[0] }); i > 0 {
			what = fmt.Sprintf("differs between arms %s and %s", named[0], named[i])
		}
		c.saw(fmt.Sprintf("task %s, replicate %d", key.Task, key.Replicate), "", what)
	}
	return c
}

func (d *Data) forked(key TrialKey) bool {
	for _, trials := range d.byArm {
		if t := trials[key]; t != nil && t.ForkID != nil {
			return true
		}
	}
	return false
}
