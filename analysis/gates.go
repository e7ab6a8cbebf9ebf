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
		d.wireLive(injected), d.controlClean(injected), d.isolation(), d.forkIntegrity(), d.floor(), d.recovery(), d.flakes(),
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
// event, and the prompt that was sent holds, at its end, exactly the history
// that its records compose to.
func (d *Data) wireLive(injected map[string]*results.Event) Gate {
	g := Gate{Gate: "wire_live", Threshold: "all"}
	live, checked := d.eachRetry(&g, arms.Arm.ShowsHistory, func(a *results.Attempt, block string) string {
		if e := injected[a.AttemptID]; e == nil || e.AddedSHA == nil || *e.AddedSHA != arms.SHA([]byte(block)) {
			return "its injection event is missing, or tells of another history"
		}
		return d.promptFault(a, block)
	})
	return g.rate(live, checked, live == checked, "retries of history arms were sent the history that the log recomposes")
}

// controlClean: no injection in an arm that shows no history, and its prompts
// hold what the arm says (nothing, or its notice) and no more.
func (d *Data) controlClean(injected map[string]*results.Event) Gate {
	g := Gate{Gate: "control_clean", Threshold: "0"}
	showsNone := func(a arms.Arm) bool { return !a.ShowsHistory() }
	clean, checked := d.eachRetry(&g, showsNone, func(a *results.Attempt, block string) string {
		if injected[a.AttemptID] != nil {
			return "history was injected"
		}
		return d.promptFault(a, block)
	})
	return g.count(checked-clean, checked, "retries of arms without history were sent more or less than their arm says")
}

// eachRetry looks at every attempt past the draft of the chosen arms: fault is
// told the attempt and the block that the arm composes from the records before
// it, and says what is wrong, or "". It returns how many were good, of how many,
// and puts the first fault into the gate's message.
func (d *Data) eachRetry(g *Gate, chosen func(arms.Arm) bool, fault func(*results.Attempt, string) string) (good, checked int) {
	records := d.records()
	for _, arm := range d.Design.Resolved {
		if !chosen(arm) {
			continue
		}
		for _, key := range d.keys {
			t := d.byArm[arm.Name][key]
			if t == nil {
				continue
			}
			var history []arms.Record
			for n, a := range d.attempts(t) {
				if n > 0 {
					checked++
					block, _ := arm.Compose(history)
					if wrong := fault(a, block); wrong == "" {
						good++
					} else if g.Message == "" {
						g.Message = fmt.Sprintf("attempt %s in %s: %s", a.AttemptID, arm.Name, wrong)
					}
				}
				history = append(history, records[a.AttemptID])
			}
		}
	}
	return good, checked
}

// promptFault says what is wrong with the prompt that an attempt was sent, read
// from the blob and not from its hashes: it must end in block, and what stands
// before it must hash to the prompt without what the arm added.
func (d *Data) promptFault(a *results.Attempt, block string) string {
	rest, ok := d.sentWithout(a, block)
	switch {
	case !ok:
		return "the prompt sent does not end in what its arm composes"
	case a.PromptWithoutSHA == nil || *a.PromptWithoutSHA != rest:
		return "the prompt sent, less what the arm added, is not the one that is recorded"
	case block == "" && a.AddedSHA != nil, block != "" && (a.AddedSHA == nil || *a.AddedSHA != arms.SHA([]byte(block))):
		return "what the arm added is not what is recorded"
	}
	return ""
}

// sentWithout is the hash of an attempt's prompt less block, from its blob.
func (d *Data) sentWithout(a *results.Attempt, block string) (sha string, ok bool) {
	rest, ok := arms.SentWithout([]byte(d.text(a.PromptSHA)), block)
	return arms.SHA(rest.JSON()), ok
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

// text returns a blob's text, "" for none.
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

// isolation: attempt 2's prompt, less what the arm added, is the same in all
// arms of a fork.
func (d *Data) isolation() Gate {
	g := Gate{Gate: "isolation", Threshold: "1 prompt per fork"}
	return d.perFork(g, "forks have one attempt-2 prompt, less what each arm added", func(key TrialKey) []string {
		var seen []string
		for _, arm := range d.Design.ArmNames() {
			if t := d.byArm[arm][key]; t != nil {
				if attempts := d.attempts(t); len(attempts) >= 2 {
					sha, ok := d.sentWithout(attempts[1], d.text(attempts[1].AddedSHA))
					if !ok {
						sha = "unreadable " + arm // equal to nothing, another arm's unreadable prompt included
					}
					seen = append(seen, sha)
				}
			}
		}
		return seen
	})
}

// forkIntegrity: the arms of a fork have one draft, with one patch.
func (d *Data) forkIntegrity() Gate {
	g := Gate{Gate: "fork_integrity", Threshold: "1 draft per fork"}
	return d.perFork(g, "forks have one draft for all arms", func(key TrialKey) []string {
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
				if t.ForkID != nil {
					break // arms of a fork share the draft
				}
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

// flakes: the certified flake rate of the tasks, weighted by their trials, is
// low. Its interval is exact (Clopper-Pearson) for tasks of equal weight, on the
// runs that certified them; a run of uncertified tasks has nothing to check.
func (d *Data) flakes() Gate {
	g := Gate{Gate: "flakes"}
	trials := map[string]float64{}
	for _, key := range d.keys {
		trials[key.Task]++
	}
	var rate, weight, runs float64
	var flaky []string
	for _, t := range d.Info.Tasks {
		if t.Certificate == nil || t.Certificate.Runs == 0 {
			continue
		}
		n, bad := float64(t.Certificate.Runs), t.Certificate.Disagreeing
		runs, weight, rate = runs+n, weight+trials[t.ID], rate+trials[t.ID]*float64(bad)/n
		if bad > 0 {
			flaky = append(flaky, fmt.Sprintf("%s in %d of %d runs", t.ID, bad, t.Certificate.Runs))
		}
	}
	limit := d.threshold("flakes_max")
	g.Threshold = fmt.Sprintf("at most %.3g%%", 100*limit)
	if weight == 0 {
		g.Message = "nothing to check"
		return g
	}
	rate /= weight
	g.Passed, g.Seen = ptr(paired.ClopperPearson(rate*runs, runs, gateLevel).Low <= limit), number(rate)
	g.Warning = len(flaky) > 0
	g.Message = fmt.Sprintf("certified flake rate %.2g%%, weighted by trials, over %.0f runs of solutions", 100*rate, runs)
	if len(flaky) > 0 {
		g.Message += ": " + strings.Join(flaky, ", ")
	}
	return g
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

// within finishes a gate on a share of trials. It fails only when the exact interval of
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
	if *g.Passed && g.Warning {
		g.Message += "; beyond the bounds, on too few trials to be sure"
	}
	return g
}
