package arms_test

import (
	"encoding/json"
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
	turns := []arms.Message{{Role: "user", Content: "Write two words."}, {Role: "assistant", Content: "one two"},
		{Role: "user", Content: "Write one word."}, {Role: "assistant", Content: "one"}}
	const request = "Write six words.\n\nNothing else.\n"
	for _, a := range arms.Presets() {
		for n := range 3 {
			s := after(t, n)
			s.Problem = wordsProblem
			d := a.Next(s)
			sent := d.Prompt.Messages()
			last := request
			if d.Prompt.Added != "" {
				last += "\n" + d.Prompt.Added
			}
			want := append(slices.Clone(turns), arms.Message{Role: "user", Content: last})
			if want = append(want, d.Prompt.Turns...); !slices.Equal(sent, want) {
				t.Errorf("%s, attempt %d: %q\nwant %q", a.Name, d.Attempt, sent, want)
			}
			if without := d.Prompt.Without().Messages(); !slices.Equal(without[:4], turns) || without[4].Content != request {
				t.Errorf("%s, attempt %d, without what was added: %q", a.Name, d.Attempt, without)
			}
			if rest, ok := strip(d.Prompt.JSON(), arms.ParseAdded(d.Prompt.AddedBlob())); !ok || rest != string(d.Prompt.Without().JSON()) {
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

// strip takes what was added off a prompt as it was sent.
func strip(sent []byte, add arms.Addition) (without string, ok bool) {
	messages, files, err := arms.ParsePrompt(sent)
	if err != nil {
		return "", false
	}
	left, ok := add.Strip(messages, files)
	return string(left), ok
}

// TestStrip: what was sent, less what was added, is what it was added to; what
// the prompt does not hold is told.
func TestStrip(t *testing.T) {
	text := rapid.StringMatching(`[a-c\n"é]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		message := func(role, what string) arms.Message { return arms.Message{Role: role, Content: text.Draw(t, what)} }
		p := arms.Prompt{Base: text.Draw(t, "base"), Added: text.Draw(t, "added")}
		for range rapid.IntRange(0, 2).Draw(t, "examples") {
			p.Examples = append(p.Examples, message("user", "prompt"), message("assistant", "reply"))
		}
		for range rapid.IntRange(0, 2).Draw(t, "turns") {
			p.Turns = append(p.Turns, message("assistant", "patch"), message("user", "verdict"))
		}
		if rapid.Bool().Draw(t, "placed") {
			p.Files = []arms.File{{Path: "notes", Content: text.Draw(t, "content")}}
		}
		add := arms.Addition{Block: p.Added, Turns: p.Turns, Files: p.Files}
		rest, ok := strip(p.JSON(), add)
		if !ok || rest != string(p.Without().JSON()) {
			t.Fatalf("%q, %v", rest, ok)
		}
		for _, other := range []arms.Addition{
			{Block: p.Added + "#", Turns: p.Turns, Files: p.Files}, {Block: p.Added, Files: p.Files, Turns: append(slices.Clone(p.Turns), arms.Message{Role: "user", Content: "#"})},
			{Block: p.Added, Turns: p.Turns, Files: append(slices.Clone(p.Files), arms.File{Path: "more"})},
		} {
			if _, ok := strip(p.JSON(), other); ok {
				t.Fatalf("the prompt holds what was not added: %+v", other)
			}
		}
	})
	assistantLast, err := json.Marshal([]arms.Message{{Role: "user", Content: "a"}, {Role: "assistant", Content: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"", "[]", "{}", "null", `"a"`, string(assistantLast)} {
		if p, ok := strip([]byte(data), arms.Addition{}); ok {
			t.Errorf("%s is read as a prompt: %q", data, p)
		}
	}
}
