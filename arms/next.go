package arms

// Action is what a decision asks the caller to do.
type Action string

const (
	ActionDraft Action = "draft" // attempt 1
	ActionRetry Action = "retry" // a later attempt
	ActionStop  Action = "stop"  // the trial is over in this arm
)

// State is all that an arm decides on: the task as the prompt shows it, the
// attempts so far, and how many there may be. A trial's whole state is its
// records, since each attempt starts from the pristine tree.
type State struct {
	Problem  Problem
	Budget   int // attempts allowed, the draft included
	Records  []Record
	Finished bool // verify passed: nothing is left to do
}

// Decision is what to do next.
type Decision struct {
	Action    Action
	Attempt   int // number of the attempt asked for
	Prompt    Prompt
	Injection *Injection // what of the history the prompt holds; nil where none
}

// Next decides what arm a does after these records. It is a pure function.
func (a Arm) Next(s State) Decision {
	if s.Finished || len(s.Records) >= s.Budget {
		return Decision{Action: ActionStop}
	}
	d := Decision{Action: ActionDraft, Attempt: len(s.Records) + 1, Prompt: s.Problem.prompt()}
	if d.Attempt > 1 {
		d.Action = ActionRetry
		d.Prompt.Added, d.Injection = a.Compose(s.Records)
	}
	return d
}
