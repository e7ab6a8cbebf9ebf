package arms_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"retrial/arms"
)

func clone(s arms.State) arms.State {
	s.Records, s.Problem.Files, s.Problem.Examples = slices.Clone(s.Records), slices.Clone(s.Problem.Files), slices.Clone(s.Problem.Examples)
	return s
}

// TestNextIsPure asks twice, keeps what went in, and spoils what came out.
func TestNextIsPure(t *testing.T) {
	problem, _ := trial(t)
	rapid.Check(t, func(t *rapid.T) {
		a := anyArm().Draw(t, "arm")
		records := anyRecords().Draw(t, "records")
		state := arms.State{Problem: problem, Budget: rapid.IntRange(0, 8).Draw(t, "budget"), Records: records, Finished: rapid.Bool().Draw(t, "finished")}
		before, show := clone(state), slices.Clone(a.Show)
		first := a.Next(state)
		kept := first.Prompt.Text()
		if inj := first.Injection; inj != nil {
			for i := range inj.Shown {
				inj.Shown[i] = -1
			}
			for i := range inj.Merges {
				inj.Merges[i].Also[0] = -1
			}
			for i := range inj.Cuts {
				inj.Cuts[i].Chars = -1
			}
		}
		second := a.Next(clone(state))
		if !reflect.DeepEqual(state, before) || !slices.Equal(a.Show, show) {
			t.Fatalf("the state was changed: %+v", state)
		}
		if second.Prompt.Text() != kept || second.Action != first.Action || second.Attempt != first.Attempt || (second.Injection == nil) != (first.Injection == nil) {
			t.Fatalf("the same state gave two decisions")
		}
		if third := a.Next(clone(state)); !reflect.DeepEqual(second, third) {
			t.Fatalf("the same state gave %+v and %+v", second, third)
		}
		stop := state.Finished || len(records) >= state.Budget
		if (first.Action == arms.ActionStop) != stop || stop && first.Prompt.Text() != "" {
			t.Fatalf("%s with %d of %d attempts, finished %v", first.Action, len(records), state.Budget, state.Finished)
		}
	})
}

// TestTheTreatmentIsTheOnlyDifference: what an arm adds is kept apart, the rest
// is the same bytes in every arm and at every attempt, and arms that show
// nothing add nothing.
func TestTheTreatmentIsTheOnlyDifference(t *testing.T) {
	draft := arm(t, "blind").Next(after(t, 0))
	for _, a := range arms.Presets() {
		for n := range 4 {
			d := a.Next(after(t, n))
			if string(d.Prompt.Without().JSON()) != string(draft.Prompt.JSON()) {
				t.Errorf("%s, attempt %d: without what the arm added the prompt differs from the draft's", a.Name, d.Attempt)
			}
			if n == 0 && (d.Action != arms.ActionDraft || !reflect.DeepEqual(d.Prompt, draft.Prompt) || d.Injection != nil) {
				t.Errorf("%s: the draft differs: %+v", a.Name, d)
			}
			if d.Prompt.Added != "" && !strings.HasSuffix(d.Prompt.Text(), "\n\n"+d.Prompt.Added) {
				t.Errorf("%s, attempt %d: the prompt does not end in a blank line and what was added", a.Name, d.Attempt)
			}
			adds, injects := n > 0 && a.Name != "blind", n > 0 && a.ShowsHistory() && d.Action != arms.ActionReplan
			if (d.Prompt.AddedBlob() != nil) != adds || (d.Injection != nil) != injects {
				t.Errorf("%s, attempt %d: adds %q, injection %v", a.Name, d.Attempt, d.Prompt.AddedBlob(), d.Injection)
			}
			if n > 0 {
				messages, files, err := arms.ParsePrompt(d.Prompt.JSON())
				without, ok := a.Add(after(t, n)).Strip(messages, files)
				if err != nil || !ok || string(without) != string(draft.Prompt.JSON()) {
					t.Errorf("%s, attempt %d: what the arm adds cannot be taken off: %v, %v, %s", a.Name, d.Attempt, err, ok, without)
				}
			}
			if n > 0 && !adds && !reflect.DeepEqual(d.Prompt, draft.Prompt) {
				t.Errorf("%s shows nothing, but changes the prompt", a.Name)
			}
		}
	}
}

// TestNoticeDoesNotDependOnTheHistory: the placebo says that attempts failed,
// and nothing about them.
func TestNoticeDoesNotDependOnTheHistory(t *testing.T) {
	_, records := trial(t)
	one, _ := arm(t, "notice").Compose(records[:1])
	three, inj := arm(t, "notice").Compose(records)
	if one != three || inj != nil || one == "" {
		t.Errorf("notice says %q, then %q", one, three)
	}
	if block, _ := (arms.Arm{Memory: arms.MemoryNone, Show: []arms.Part{arms.PartNotice}}).Compose(records); block != "" {
		t.Errorf("a notice without words adds %q", block)
	}
}

func TestPromptForms(t *testing.T) {
	p := arms.Prompt{Base: "base é\n", Added: "added\n"}
	var messages []arms.Message
	if err := json.Unmarshal(p.JSON(), &messages); err != nil {
		t.Fatal(err)
	}
	if want := []arms.Message{{Role: "user", Content: "base é\n\nadded\n"}}; !slices.Equal(messages, want) || p.Text() != want[0].Content {
		t.Errorf("messages %q, text %q", messages, p.Text())
	}
	if p.Chars() != 14 || !reflect.DeepEqual(p.Without(), arms.Prompt{Base: p.Base}) || p.Without().Text() != p.Base {
		t.Errorf("%d characters, without %q", p.Chars(), p.Without().Text())
	}
	if got := arms.SHA([]byte("abc")); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("SHA of abc is %s", got) // FIPS 180-2, appendix B.1
	}
}

// Presets are handed out as copies: a caller who changes one changes nothing
// for the next.
func TestPresetsAreCopies(t *testing.T) {
	p := arms.Presets()
	p[3].Show[0], p[3].Name = arms.PartOutput, "mine"
	q := arms.Presets()
	if q[3].Name != "diff-feedback" || q[3].Show[0] != arms.PartVerdict {
		t.Errorf("a changed copy changed the preset: %+v", q[3])
	}
	want := []string{"blind", "notice", "last-verdict", "diff-feedback", "verdicts", "diff-only", "described", "deranged", "turns", "opt-in", "opt-in-empty", "replan", "escalate", "carry-forward"}
	if !slices.Equal(arms.PresetNames(), want) {
		t.Errorf("presets %v, want %v", arms.PresetNames(), want)
	}
}
