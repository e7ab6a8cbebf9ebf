package analysis

import (
	"encoding/json"
	"strings"

	"retrial/arms"
	"retrial/results"
)

// replayed is what the log says of the attempts, in the shapes that arms decide
// on.
type replayed struct {
	records map[string]arms.Record    // by attempt id
	plans   map[string]string         // planners' replies, by the id of the attempt planned for
	planned map[string]*results.Event // the calls that they came from
	donors  map[string][]string       // ids of the attempts shown, by the id of the attempt they were shown to

	summaries map[summaryKey]*results.Event // calls of the summariser
}

// eachRetry looks at every attempt past the draft of the chosen arms: fault is
// told the attempt and what the arm adds to its prompt, composed anew from the
// records before it, and says what is wrong, or "". What a planner was told
// before the attempt is looked at too.
func (d *Data) eachRetry(chosen func(arms.Arm) bool, fault func(*results.Attempt, arms.Addition) string) Check {
	log, c := d.replay(), Check{Faults: []Fault{}}
	for _, arm := range d.Design.Resolved {
		if !chosen(arm) {
			continue
		}
		for _, key := range d.keys {
			t := d.byArm[arm.Name][key]
			if t == nil {
				continue
			}
			state := arms.State{
				Budget: d.Design.Attempts, Replicate: int(key.Replicate), Rungs: len(d.Design.Solver.Ladder),
				Seed: arms.TrialSeed(d.Design.Seed, key.Task, int(key.Replicate)),
			}
			for n, a := range d.attempts(t) {
				if n == 0 {
					d.budget(a, &state)
				} else {
					wrong := d.summaryFault(arm, &state, log.summaries[summaryKey{arm.Name, key, a.Attempt}])
					if wrong == "" {
						wrong = d.plannerFault(arm, state, log.planned[a.AttemptID])
					}
					log.before(a, &state)
					if wrong == "" {
						wrong = fault(a, arm.Add(state))
					}
					c.saw(a.AttemptID, arm.Name, wrong)
				}
				state.Records = append(state.Records, log.records[a.AttemptID])
			}
		}
	}
	return c
}

// before puts into a trial's state what came in from outside it for an attempt:
// a plan, and donors.
func (r *replayed) before(a *results.Attempt, s *arms.State) {
	if plan, ok := r.plans[a.AttemptID]; ok {
		s.Plans = append(s.Plans, arms.Plan{After: len(s.Records), Text: plan})
	}
	if ids, ok := r.donors[a.AttemptID]; ok {
		s.Donors = nil
		for _, id := range ids {
			s.Donors = append(s.Donors, r.records[id])
		}
	}
}

// promptFault says what is wrong with the prompt that an attempt was sent, read
// from the blob and not from its hashes: it must hold what the arm adds, and
// without that it must hash to the prompt without what the arm added.
func (d *Data) promptFault(a *results.Attempt, add arms.Addition) string {
	if add.Missing != "" || add.Action == arms.ActionPlan || add.Action == arms.ActionSummarise {
		return "what its arm composes from is not in the log: " + string(add.Action)
	}
	rest, ok := d.sentWithout(a, add)
	blob := add.Blob()
	switch {
	case !ok:
		return d.sentFault(a.PromptSHA, add)
	case a.PromptWithoutSHA == nil || *a.PromptWithoutSHA != rest:
		return "the prompt sent, less what the arm added, is not the one that is recorded"
	case !sameBlob(a.AddedSHA, blob):
		return "what the arm added is not what is recorded"
	}
	return ""
}

// sentWithout is the hash of an attempt's prompt less what was added, from its
// blob.
func (d *Data) sentWithout(a *results.Attempt, add arms.Addition) (sha string, ok bool) {
	messages, files, err := arms.ParsePrompt([]byte(d.text(a.PromptSHA)))
	if err != nil {
		return "", false
	}
	without, ok := add.Strip(messages, files)
	return arms.SHA(without), ok
}

// replay rebuilds from the log every attempt's record, and what came to its
// prompt from outside the trial.
func (d *Data) replay() *replayed {
	r := &replayed{records: make(map[string]arms.Record, len(d.Attempts)), plans: map[string]string{}, planned: map[string]*results.Event{}, donors: map[string][]string{}, summaries: map[summaryKey]*results.Event{}}
	for i := range d.Events {
		e := &d.Events[i]
		switch e.Kind {
		case results.KindReplanned:
			r.plans[e.AttemptID], r.planned[e.AttemptID] = d.text(e.OutputSHA), e
		case results.KindSummarised:
			r.summarised(e)
		case results.KindHistoryInjected:
			var detail struct {
				Donors []string `json:"donors"`
			}
			if json.Unmarshal([]byte(e.Detail), &detail) == nil && detail.Donors != nil {
				r.donors[e.AttemptID] = detail.Donors
			}
		default:
			if rec, ok := d.record(r.records[e.AttemptID], e); ok {
				r.records[e.AttemptID] = rec
			}
		}
	}
	return r
}

// record adds to a record what an event tells of it; ok is false for an event
// that tells nothing.
func (d *Data) record(r arms.Record, e *results.Event) (rec arms.Record, ok bool) {
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
		return r, false
	}
	return r, true
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
