package harness

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retrial/arms"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// loopCase is one trial, played: what each turn brings back, by
// "attempt first-arm", "failed" where it says nothing.
type loopCase struct {
	name    string
	heading string // what the transcript shows, above it
	design  string
	play    map[string]string // "passed", "failed long" (its patch is), or "missing REASON"
}

var loopCases = []loopCase{
	{
		name: "four-arms",
		heading: `One draft; then the arms go their own ways, for nothing that they add is alike.

    draft --+-- blind ---------- blind
            +-- notice --------- notice
            +-- last-verdict --- last-verdict
            '-- diff-feedback -- diff-feedback
`,
		design: fourArms,
	},
	{
		name: "sharing-goes-on",
		heading: `full differs from short by nothing until a patch is longer than the cap: they
share attempt 2, and part at attempt 3.

    draft --+-- full, short --+-- full
            |                 '-- short
            '-- blind ------- blind
`,
		design: "arms: [{name: full, base: diff-feedback}, blind, {name: short, base: diff-feedback, caps: {diff: 60, output: 2000, first_error: 500, description: 1000}}]\nprimary: {treatment: full, control: blind}\n",
		play:   map[string]string{"2 full": "failed long"},
	},
	{
		name: "never-rejoined",
		heading: `The draft's patch is longer than short's cap: the arms part. Their second attempts
bring the same, and so do their third requests ask for the same: but their
records are other attempts, and they stay apart.

    full, short --+-- full --- full
                  '-- short -- short
`,
		design: "arms: [{name: full, base: diff-feedback, memory: last}, {name: short, base: diff-feedback, memory: last, caps: {diff: 60, output: 2000, first_error: 500, description: 1000}}]\n",
		play:   map[string]string{"1 full": "failed long"},
	},
	{
		name: "first-try",
		heading: `The draft passes: the trial is over in every arm.
`,
		design: fourArms,
		play:   map[string]string{"1 blind": "passed"},
	},
	{
		name: "passed-and-missing",
		heading: `notice has no attempt 2 and is missing from then on, last-verdict passes at it;
the others go on.
`,
		design: fourArms,
		play:   map[string]string{"2 notice": "missing infra: the machine broke", "2 last-verdict": "passed"},
	},
	{
		name: "no-draft",
		heading: `The draft could not be made: the trial is missing in every arm.
`,
		design: fourArms,
		play:   map[string]string{"1 blind": "missing infra: the machine broke"},
	},
	{
		name: "independent",
		heading: `Every arm draws its own attempts, the first one too: nothing is shared, though
attempt 1 and both blind arms ask for the same.
`,
		design: "fork: independent\narms: [blind, {name: blind-too, base: blind}, diff-feedback]\n",
		play:   map[string]string{"1 blind": "passed"},
	},
}

func TestLoop(t *testing.T) {
	for _, c := range loopCases {
		t.Run(c.name, func(t *testing.T) {
			got := strings.TrimRight(c.heading, "\n") + "\n\n" + c.transcript(t)
			golden := filepath.Join("testdata", "loop", c.name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs (go test ./harness -run TestLoop -update rewrites it):\n%s", golden, got)
			}
		})
	}
}

// transcript plays the trial and tells what Loop asked for, in its order.
func (c loopCase) transcript(t *testing.T) string {
	d, err := arms.ParseDesign("design.yaml", []byte("name: test\ncorpus: tests\nattempts: 3\nseed: 7\n"+c.design))
	if err != nil {
		t.Fatal(err)
	}
	lanes := (&Plan{Design: d}).lanes(arms.Problem{ID: "task", Instruction: "Do it.", Verify: "check"}, TrialKey{})
	var out strings.Builder
	rnd := newRand(orderSeed(d.Seed, "task", 0))
	shuffle := func(turns []Turn) {
		fmt.Fprintf(&out, "attempt %d: %d of %d arms\n", turns[0].Attempt, countLanes(turns), len(lanes))
		rnd.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	}
	err = Loop(lanes, shuffle, func(turn Turn) (Result, error) {
		first := turn.Lanes[0]
		played := c.play[fmt.Sprintf("%d %s", turn.Attempt, first.Arm.Name)]
		fmt.Fprintf(&out, "  %s %s, slot %d, behind it [%s]\n", turn.Action, strings.Join(turn.Arms(), " + "), turn.Slot, strings.Join(first.IDs, " "))
		if turn.Injection != nil {
			fmt.Fprintf(&out, "    shown: attempts %v, %d parts cut, %d merged\n", turn.Injection.Shown, len(turn.Injection.Cuts), len(turn.Injection.Merges))
		} else if turn.Prompt.Added != "" {
			out.WriteString("    shown: a notice\n")
		}
		res := playedResult(turn, played)
		if res.Missing != "" {
			fmt.Fprintf(&out, "    -> missing: %s\n", res.Missing)
		} else {
			fmt.Fprintf(&out, "    -> %s %s\n", res.ID, res.Record.Outcome)
		}
		return res, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lanes {
		fmt.Fprintf(&out, "%s: [%s] finished %v, missing %q\n", l.Arm.Name, strings.Join(l.IDs, " "), l.State.Finished, l.Missing)
	}
	return out.String()
}

func countLanes(turns []Turn) int {
	n := 0
	for _, turn := range turns {
		n += len(turn.Lanes)
	}
	return n
}

func playedResult(turn Turn, played string) Result {
	if reason, ok := strings.CutPrefix(played, "missing "); ok {
		return Result{Missing: reason}
	}
	r := Result{ID: fmt.Sprintf("%d/%s", turn.Attempt, turn.Lanes[0].Arm.Name), Record: arms.Record{
		Attempt: turn.Attempt, Outcome: arms.Failed, VerifyOutput: "it fails\n", Patch: "+x\n", Signature: fmt.Sprint("s", turn.Attempt),
	}}
	switch {
	case played == "passed":
		r.Verified, r.Record.Outcome, r.Record.Signature = true, arms.Passed, ""
	case strings.HasSuffix(played, " long"):
		r.Record.Patch = strings.Repeat("+a line of a long patch\n", 10)
	}
	return r
}

// TestLoopStopsAtAnError: an error ends the trial at once.
func TestLoopStopsAtAnError(t *testing.T) {
	d, err := arms.ParseDesign("design.yaml", []byte("name: test\ncorpus: tests\n"+fourArms))
	if err != nil {
		t.Fatal(err)
	}
	lanes := (&Plan{Design: d}).lanes(arms.Problem{ID: "task", Instruction: "Do it.", Verify: "check"}, TrialKey{})
	taken := 0
	err = Loop(lanes, func([]Turn) {}, func(turn Turn) (Result, error) {
		if taken++; taken == 3 {
			return Result{}, errBroken
		}
		return playedResult(turn, ""), nil
	})
	if !errors.Is(err, errBroken) || taken != 3 {
		t.Errorf("%d turns taken, %v", taken, err)
	}
	if len(lanes[3].IDs) != 1 || lanes[3].Missing != "" {
		t.Errorf("the last lane is at %v", lanes[3].IDs)
	}
}
