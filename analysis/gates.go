package analysis

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"retrial/analysis/paired"
	"retrial/arms"
	"retrial/results"
)

// gateLevel is the level of the interval that has to lie wholly beyond a
// threshold before a rate gate fails.
const gateLevel = 0.99

// gates recomputes every gate from the log.
func (d *Data) gates() []Gate {
	injected := d.injections()
	return []Gate{
		d.wireLive(injected), d.controlClean(injected), d.isolation(), d.forkIntegrity(), d.floor(), d.recovery(),
	}
}

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

// wireLive: every attempt of a history arm past the draft has its injection
// event, and composing its history anew from the log gives the hash that the
// event and the attempt carry.
func (d *Data) wireLive(injected map[string]*results.Event) Gate {
	g := Gate{Gate: "wire_live", Threshold: "all"}
	records := d.records()
	checked, live := 0, 0
	for _, arm := range d.Design.Resolved {
		if !arm.ShowsHistory() {
			continue
		}
		for _, key := range d.keys {
			t := d.byArm[arm.Name][key]
			if t == nil {
				continue
			}
			attempts := d.attempts(t)
			for n := 1; n < len(attempts); n++ {
				checked++
				if fault := wireFault(arm, attempts[:n], attempts[n], injected, records); fault == "" {
					live++
				} else if g.Message == "" {
					g.Message = fmt.Sprintf("attempt %s: %s", attempts[n].AttemptID, fault)
				}
			}
		}
	}
	return g.rate(live, checked, live == checked, "retries of history arms carry the history that the log recomposes")
}

// wireFault says what is wrong with one retry's injection, or "".
func wireFault(arm arms.Arm, before []*results.Attempt, a *results.Attempt, injected map[string]*results.Event, records map[string]arms.Record) string {
	e := injected[a.AttemptID]
	if e == nil {
		return "no history was injected"
	}
	history := make([]arms.Record, len(before))
	for i, b := range before {
		history[i] = records[b.AttemptID]
	}
	block, _ := arm.Compose(history)
	want := arms.SHA([]byte(block))
	if e.AddedSHA == nil || *e.AddedSHA != want || a.AddedSHA == nil || *a.AddedSHA != want {
		return "the injected history is not what its records compose to"
	}
	return ""
}

// records rebuilds every attempt's record from the log.
func (d *Data) records() map[string]arms.Record {
	out := make(map[string]arms.Record, len(d.Attempts))
	for i := range d.Events {
		e := &d.Events[i]
		r := out[e.AttemptID]
		switch e.Kind {
		case results.KindAttemptStart:
			r = arms.Record{Attempt: int(e.Attempt)} // a new try begins anew
		case results.KindToolStep:
			if fault := detailField(e.Detail, "error"); fault != "" && r.FirstError == "" && e.Tool != nil {
				r.FirstError = *e.Tool + ": " + fault
			}
		case results.KindDiff:
			r.Patch = strings.ToValidUTF8(d.text(e.PatchSHA), "\uFFFD")
		case results.KindVerdict:
			r.VerifyOutput = d.text(e.OutputSHA)
			if e.Outcome != nil {
				r.Outcome = arms.Outcome(*e.Outcome)
			}
			if e.Signature != nil {
				r.Signature = *e.Signature
			}
		case results.KindAttemptFinish:
			r.Description = detailField(e.Detail, "description")
		default:
			continue
		}
		out[e.AttemptID] = r
	}
	return out
}

// text returns a patch or an output, "" for none.
func (d *Data) text(sha *string) string {
	if sha == nil {
		return ""
	}
	return d.texts[*sha]
}

func detailField(detail, key string) string {
	var m map[string]any
	if json.Unmarshal([]byte(detail), &m) != nil {
		return ""
	}
	s, _ := m[key].(string)
	return s
}

// controlClean: no injection in an arm that shows no history.
func (d *Data) controlClean(injected map[string]*results.Event) Gate {
	g := Gate{Gate: "control_clean", Threshold: "0 injections"}
	var clean []string
	for _, arm := range d.Design.Resolved {
		if !arm.ShowsHistory() {
			clean = append(clean, arm.Name)
		}
	}
	checked, dirty := 0, 0
	for i := range d.Attempts {
		a := &d.Attempts[i]
		if !slices.ContainsFunc(a.SharedBy, func(arm string) bool { return slices.Contains(clean, arm) }) {
			continue
		}
		checked++
		if injected[a.AttemptID] != nil {
			dirty++
			if g.Message == "" {
				g.Message = fmt.Sprintf("attempt %s was given history", a.AttemptID)
			}
		}
	}
	return g.count(dirty, checked, "attempts of arms without history were given some")
}

// isolation: attempt 2's prompt, less what the arm added, is the same in all
// arms of a fork.
func (d *Data) isolation() Gate {
	g := Gate{Gate: "isolation", Threshold: "1 prompt per fork"}
	return d.perFork(g, "forks whose attempt-2 prompts differ only by what the arm added", func(key TrialKey) []string {
		var seen []string
		for _, arm := range d.Design.ArmNames() {
			if t := d.byArm[arm][key]; t != nil {
				if attempts := d.attempts(t); len(attempts) >= 2 && attempts[1].PromptWithoutSHA != nil {
					seen = append(seen, *attempts[1].PromptWithoutSHA)
				}
			}
		}
		return seen
	})
}

// forkIntegrity: the arms of a fork have one draft, with one patch.
func (d *Data) forkIntegrity() Gate {
	g := Gate{Gate: "fork_integrity", Threshold: "1 draft per fork"}
	return d.perFork(g, "forks whose arms share one draft", func(key TrialKey) []string {
		var seen []string
		for _, arm := range d.Design.ArmNames() {
			if t := d.byArm[arm][key]; t != nil {
				if attempts := d.attempts(t); len(attempts) >= 1 && attempts[0].PatchSHA != nil {
					seen = append(seen, attempts[0].AttemptID+" "+*attempts[0].PatchSHA)
				}
			}
		}
		return seen
	})
}

// perFork checks that what of yields over a fork's arms is all the same.
func (d *Data) perFork(g Gate, what string, of func(TrialKey) []string) Gate {
	checked, same := 0, 0
	for _, key := range d.keys {
		if !d.forked(key) {
			continue
		}
		seen := of(key)
		if len(seen) < 2 {
			continue
		}
		checked++
		if len(slices.Compact(slices.Sorted(slices.Values(seen)))) == 1 {
			same++
		} else if g.Message == "" {
			g.Message = fmt.Sprintf("task %s, replicate %d differs between arms", key.Task, key.Replicate)
		}
	}
	return g.rate(same, checked, same == checked, what)
}

func (d *Data) forked(key TrialKey) bool {
	for _, trials := range d.byArm {
		if t := trials[key]; t != nil && t.ForkID != nil {
			return true
		}
	}
	return false
}

// floor: the share of trials that are at risk leaves room for an effect.
func (d *Data) floor() Gate {
	g := Gate{Gate: "at_risk_share"}
	atRisk, trials := 0, 0
	for _, key := range d.keys {
		for _, arm := range d.Design.ArmNames() {
			if t := d.byArm[arm][key]; t != nil && t.AtRisk != nil {
				trials++
				if *t.AtRisk {
					atRisk++
				}
				break // arms of a fork share the draft
			}
		}
	}
	return g.within(atRisk, trials, d.threshold("at_risk_min"), d.threshold("at_risk_max"), "trials whose draft failed")
}

// recovery: the control neither never nor always recovers.
func (d *Data) recovery() Gate {
	control := d.Design.Primary.Control
	if control == "" {
		control = d.Design.Resolved[0].Name
	}
	row := d.armRow(control)
	g := Gate{Gate: "control_recovery"}
	return g.within(row.Recovered, row.AtRisk, d.threshold("recovery_min"), d.threshold("recovery_max"),
		fmt.Sprintf("at-risk trials that %s recovered", control))
}

func (d *Data) threshold(name string) float64 {
	if v, set := d.Design.Gates[name]; set {
		return v
	}
	return arms.GateDefaults[name]
}

// rate finishes a gate that wants every one of total to be good.
func (g Gate) rate(good, total int, passed bool, what string) Gate {
	if total == 0 {
		g.Message = "nothing to check"
		return g
	}
	g.Passed, g.Seen = &passed, number(float64(good)/float64(total))
	g.Message = strings.TrimSuffix(fmt.Sprintf("%d of %d %s; %s", good, total, what, g.Message), "; ")
	return g
}

// count finishes a gate that wants none of total to be bad.
func (g Gate) count(bad, total int, what string) Gate {
	if total == 0 {
		g.Message = "nothing to check"
		return g
	}
	g.Passed, g.Seen = ptr(bad == 0), number(float64(bad))
	g.Message = strings.TrimSuffix(fmt.Sprintf("%d of %d %s; %s", bad, total, what, g.Message), "; ")
	return g
}

// within finishes a gate on a share. It fails only when the exact interval of
// the share lies wholly beyond a threshold; it warns when the share itself does.
func (g Gate) within(k, n int, low, high float64, what string) Gate {
	g.Threshold = fmt.Sprintf("%.0f%% to %.0f%%", 100*low, 100*high)
	if n == 0 {
		g.Message = "nothing to check"
		return g
	}
	share := float64(k) / float64(n)
	ci := paired.ClopperPearson(float64(k), float64(n), gateLevel)
	g.Passed, g.Seen = ptr(ci.High >= low && ci.Low <= high), number(share)
	g.Warning = share < low || share > high
	g.Message = fmt.Sprintf("%d of %d %s", k, n, what)
	return g
}
