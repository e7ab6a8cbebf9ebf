package arms_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"retrial/arms"
)

// wordsProblem is a problem of which the whole reply is the answer.
var wordsProblem = arms.Problem{
	ID: "words", Instruction: "\nWrite six words.\n\nNothing else.\n", Verify: "builtin:text/x", Answer: "answer.txt",
	Files:    []arms.File{{Path: "answer.txt"}},
	Examples: []arms.Example{{Prompt: "Write two words.", Reply: "one two"}, {Prompt: "Write one word.", Reply: "one"}},
}

// TestExamplesAreTurns: worked examples stand before the request in every arm
// and attempt, are no part of what an arm added, and count as part of the
// prompt.
func TestExamplesAreTurns(t *testing.T) {
	_, records := trial(t)
	turns := []arms.Message{{Role: "user", Content: "Write two words."}, {Role: "assistant", Content: "one two"},
		{Role: "user", Content: "Write one word."}, {Role: "assistant", Content: "one"}}
	const request = "Write six words.\n\nNothing else.\n"
	for _, a := range arms.Presets() {
		for n := range 3 {
			d := a.Next(arms.State{Problem: wordsProblem, Budget: 4, Records: records[:n]})
			sent := d.Prompt.Messages()
			last := request
			if d.Prompt.Added != "" {
				last += "\n" + d.Prompt.Added
			}
			if want := append(slices.Clone(turns), arms.Message{Role: "user", Content: last}); !slices.Equal(sent, want) {
				t.Errorf("%s, attempt %d: %q\nwant %q", a.Name, d.Attempt, sent, want)
			}
			if without := d.Prompt.Without().Messages(); !slices.Equal(without[:4], turns) || without[4].Content != request {
				t.Errorf("%s, attempt %d, without what was added: %q", a.Name, d.Attempt, without)
			}
			rest, ok := arms.SentWithout(d.Prompt.JSON(), d.Prompt.Added)
			if !ok || !reflect.DeepEqual(rest, d.Prompt.Without()) {
				t.Errorf("%s, attempt %d: read back %q, %v", a.Name, d.Attempt, rest, ok)
			}
			if n == 0 && d.Prompt.Chars() != len("Write two words.one twoWrite one word.one"+request) {
				t.Errorf("%d characters", d.Prompt.Chars())
			}
		}
	}
	const text = "[user]\nWrite two words.\n\n[assistant]\none two\n\n[user]\nWrite one word.\n\n[assistant]\none\n\n[user]\n" + request
	if got := arms.Presets()[0].Next(arms.State{Problem: wordsProblem, Budget: 1}).Prompt.Text(); got != text {
		t.Errorf("as one text: %q", got)
	}
}

// TestExamplesAreNotShared: who spoils the messages of a prompt does not spoil
// the prompt.
func TestExamplesAreNotShared(t *testing.T) {
	p := arms.Presets()[0].Next(arms.State{Problem: wordsProblem, Budget: 1}).Prompt
	before := string(p.JSON())
	m := p.Messages()
	m[0].Content, m[4].Content = "x", "x"
	_ = append(p.Messages()[:1], arms.Message{})
	if string(p.JSON()) != before {
		t.Errorf("%s", p.JSON())
	}
}

// TestSentWithout: what was sent, less what was added, is what it was added to;
// a block that the prompt does not end in is told.
func TestSentWithout(t *testing.T) {
	text := rapid.StringMatching(`[a-c\n"é]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		p := arms.Prompt{Base: text.Draw(t, "base"), Added: text.Draw(t, "added")}
		for range rapid.IntRange(0, 2).Draw(t, "examples") {
			p.Examples = append(p.Examples, arms.Message{Role: "user", Content: text.Draw(t, "prompt")}, arms.Message{Role: "assistant", Content: text.Draw(t, "reply")})
		}
		rest, ok := arms.SentWithout(p.JSON(), p.Added)
		if !ok || string(rest.JSON()) != string(p.Without().JSON()) {
			t.Fatalf("%q, %v", rest, ok)
		}
		if _, ok := arms.SentWithout(p.JSON(), p.Added+"#"); ok {
			t.Fatal("it ends in a block that is not there")
		}
	})
	assistantLast, err := json.Marshal([]arms.Message{{Role: "user", Content: "a"}, {Role: "assistant", Content: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"", "[]", "{}", "null", `"a"`, string(assistantLast)} {
		if p, ok := arms.SentWithout([]byte(data), ""); ok {
			t.Errorf("%s is read as a prompt: %q", data, p)
		}
	}
}
