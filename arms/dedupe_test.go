package arms_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"retrial/arms"
)

// judged is a record of a verifier whose words vary and that names no test.
func judged(attempt int, output string) arms.Record {
	return arms.Record{Attempt: attempt, Outcome: arms.Failed, VerifyOutput: output, Signature: arms.Sign(arms.Failed, output).Signature}
}

var (
	judge1 = "The reply names the capital of France, but the question was about the capital of Spain. Score 2.\n"
	judge2 = "This reply names the capital of France, but the question was about the capital of Spain! Score 3.\n"
	judge3 = "The table has no header row. Score 1.\n"
)

func TestFuzzyMergesOutputsThatAreAlike(t *testing.T) {
	records := []arms.Record{judged(1, judge1), judged(2, judge3), judged(3, judge2), judged(4, judge3)}
	for _, c := range []struct {
		dedupe arms.Dedupe
		keep   arms.Keep
		shown  []int
		merges string
		first  int // of the newest's earlier sightings, 0 for none
	}{
		{arms.DedupeOff, arms.KeepFirst, []int{1, 2, 3, 4}, "[]", 2},
		{arms.DedupeExact, arms.KeepFirst, []int{1, 2, 3}, "[{2 [4]}]", 2},
		{arms.DedupeExact, arms.KeepLast, []int{1, 3, 4}, "[{4 [2]}]", 2},
		{arms.Fuzzy(0.7), arms.KeepFirst, []int{1, 2}, "[{1 [3]} {2 [4]}]", 2},
		{arms.Fuzzy(0.7), arms.KeepLast, []int{3, 4}, "[{3 [1]} {4 [2]}]", 2},
		{arms.Fuzzy(1), arms.KeepFirst, []int{1, 2, 3}, "[{2 [4]}]", 2},
		{arms.Fuzzy(0.01), arms.KeepFirst, []int{1}, "[{1 [2 3 4]}]", 1},
		{arms.Fuzzy(0.01), arms.KeepLast, []int{4}, "[{4 [1 2 3]}]", 1},
	} {
		a := arm(t, "diff-feedback")
		a.Dedupe, a.DedupeKeep = c.dedupe, c.keep
		block, inj := a.Compose(records)
		if !slices.Equal(inj.Shown, c.shown) || fmt.Sprint(inj.Merges) != c.merges {
			t.Errorf("%s, %s: shows %v, merges %v, want %v, %s", c.dedupe, c.keep, inj.Shown, inj.Merges, c.shown, c.merges)
		}
		for _, m := range inj.Merges {
			word := "again"
			if c.keep == arms.KeepLast {
				word = "before"
			}
			if want := fmt.Sprintf("This failure was seen %d times: %s in attempt", len(m.Also)+1, word); !strings.Contains(block, want) {
				t.Errorf("%s, %s: %q does not stand in\n%s", c.dedupe, c.keep, want, block)
			}
		}
		first, repeated := a.Repeat(records)
		if first != c.first || repeated != (c.first > 0) {
			t.Errorf("%s: the newest repeats attempt %d, %v, want %d", c.dedupe, first, repeated, c.first)
		}
	}
	a := arm(t, "diff-feedback")
	a.Dedupe = arms.Fuzzy(0.7)
	if first, repeated := a.Repeat(records[:3]); first != 1 || !repeated {
		t.Errorf("a reworded failure repeats attempt %d, %v", first, repeated)
	}
	if first, repeated := a.Repeat(records[:2]); repeated {
		t.Errorf("another failure repeats attempt %d", first)
	}
	if _, repeated := a.Repeat(nil); repeated {
		t.Error("nothing repeats something")
	}
}

// Where tests are named, or the outcome is another, similar words merge
// nothing; nor do records without a signature.
func TestFuzzyLeavesTheRestToTheSignature(t *testing.T) {
	one := failure("FAIL: test_x (test_m.C.test_x)", "  File \"m.py\", line 7, in test_x\n    f()\nAssertionError: 1 != 2")
	two := failure("FAIL: test_y (test_m.C.test_y)", "  File \"m.py\", line 7, in test_y\n    f()\nAssertionError: 1 != 2")
	late := judged(2, judge1)
	late.Outcome = arms.Timeout
	late.Signature = arms.Sign(arms.Timeout, judge1).Signature
	unsigned := judged(2, judge1)
	unsigned.Signature = ""
	a := arm(t, "diff-feedback")
	a.Dedupe = arms.Fuzzy(0.1)
	for name, records := range map[string][]arms.Record{
		"two tests":           {judged(1, one), judged(2, two)},
		"a test and a text":   {judged(1, one), judged(2, judge1+one[:20])},
		"another outcome":     {judged(1, judge1), late},
		"without a signature": {judged(1, judge1), unsigned},
		"without words":       {judged(1, ""), judged(2, "...\n?\n")},
	} {
		if _, inj := a.Compose(records); len(inj.Shown) != 2 {
			t.Errorf("%s: merged: %+v", name, inj)
		}
	}
}

func TestDedupeIsParsed(t *testing.T) {
	design := "name: d\ncorpus: c\narms:\n  - blind\n  - name: x\n    base: diff-feedback\n    "
	for text, want := range map[string][2]string{
		"dedupe: off": {"off", "first"}, "dedupe: exact": {"exact", "first"}, "dedupe_keep: last": {"exact", "last"},
		"dedupe: fuzzy(0.8)": {"fuzzy(0.8)", "first"}, "dedupe: fuzzy( .80 )": {"fuzzy(0.8)", "first"},
		"dedupe: 'fuzzy(1)'": {"fuzzy(1)", "first"}, "dedupe: fuzzy(1e-3)": {"fuzzy(0.001)", "first"},
	} {
		d := parse(t, design+text+"\n")
		if a := d.Resolved[1]; a.Dedupe != arms.Dedupe(want[0]) || a.DedupeKeep != arms.Keep(want[1]) {
			t.Errorf("%s: %s, %s", text, a.Dedupe, a.DedupeKeep)
		}
		if !strings.Contains(string(d.JSON()), fmt.Sprintf(`"dedupe":%q,"dedupe_keep":%q`, want[0], want[1])) {
			t.Errorf("%s: not in %s", text, d.JSON())
		}
	}
	if a, b := parse(t, design+"dedupe: fuzzy(0.80)\n"), parse(t, design+"dedupe: fuzzy(.8)\n"); a.Hash() != b.Hash() {
		t.Error("one similarity, two hashes")
	}
	if a, b := parse(t, design+"dedupe: fuzzy(0.8)\n"), parse(t, design+"dedupe: fuzzy(0.7)\n"); a.Hash() == b.Hash() {
		t.Error("two similarities, one hash")
	}
	for text, want := range map[string]string{
		"dedupe: fuzzy":         `d.yaml:7: arm "x": dedupe: unknown dedupe "fuzzy" (did you mean "fuzzy(0.8)"?)`,
		"dedupe: exat":          `d.yaml:7: arm "x": dedupe: unknown dedupe "exat" (did you mean "exact"?)`,
		"dedupe: fuzzy(0)":      `d.yaml:7: arm "x": dedupe: fuzzy(0): want a similarity that is more than 0 and at most 1, for example fuzzy(0.8)`,
		"dedupe: fuzzy(1.01)":   `d.yaml:7: arm "x": dedupe: fuzzy(1.01): want a similarity that is more than 0 and at most 1, for example fuzzy(0.8)`,
		"dedupe: fuzzy(-1)":     `d.yaml:7: arm "x": dedupe: fuzzy(-1): want a similarity that is more than 0 and at most 1, for example fuzzy(0.8)`,
		"dedupe: fuzzy(NaN)":    `d.yaml:7: arm "x": dedupe: fuzzy(NaN): want a similarity that is more than 0 and at most 1, for example fuzzy(0.8)`,
		"dedupe: fuzzy()":       `d.yaml:7: arm "x": dedupe: fuzzy(): want a similarity that is more than 0 and at most 1, for example fuzzy(0.8)`,
		"dedupe_keep: lst":      `d.yaml:7: arm "x": dedupe_keep: unknown dedupe_keep "lst" (did you mean "last"?)`,
		"caps: {unit: token}":   `d.yaml:7: arm "x": caps: unknown unit "token" (did you mean "tokens"?)`,
		"caps: {units: tokens}": `d.yaml:7: caps: unknown key "units" (did you mean "unit"?)`,
	} {
		if _, err := arms.ParseDesign("d.yaml", []byte(design+text+"\n")); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}

// words counts tokens for the tests: one for each run of letters, and one for
// each other character.
func words(text string) int {
	n, in := 0, false
	for _, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter || !in {
			n++
		}
		in = letter
	}
	return n
}

func TestCapsCanCountTokens(t *testing.T) {
	a := arm(t, "diff-feedback")
	a.Name, a.Caps = "short", arms.Caps{Diff: 15, Output: 6, FirstError: 100, Unit: arms.UnitTokens}
	r := arms.Record{Attempt: 1, Outcome: arms.Failed, VerifyOutput: "alpha beta gamma delta epsilon zeta", Patch: "@@ -1 +1 @@\n-a\n+b\n+c\n+d\n"}
	if err := a.Ready(nil); !errors.Is(err, arms.ErrNoTokenCounter) || err.Error() != `arm "short": caps are in tokens, and there is no token counter` {
		t.Errorf("without a counter: %v", err)
	}
	if err := a.Ready(words); err != nil {
		t.Error(err)
	}
	if err := arm(t, "blind").Ready(nil); err != nil || arm(t, "diff-feedback").NeedsTokens() {
		t.Errorf("an arm that needs no counter: %v", err)
	}
	state := arms.State{Budget: 3, Records: []arms.Record{r}, Count: words}
	d := a.Next(state)
	pieces := read(t, d.Prompt.Added)
	if got := strings.Join(fences(pieces, "text"), ""); got != "alpha \n[... 5 tokens cut ...]\n epsilon zeta\n" {
		t.Errorf("output %q", got)
	}
	if got := strings.Join(fences(pieces, "diff"), ""); got != "@@ -1 +1 @@\n-a\n[... 9 tokens cut ...]\n" {
		t.Errorf("diff %q", got)
	}
	want := []arms.Cut{{Attempt: 1, Part: arms.PartDiff, Chars: 9, Tokens: 9}, {Attempt: 1, Part: arms.PartOutput, Chars: 16, Tokens: 5}}
	if !slices.Equal(d.Injection.Cuts, want) {
		t.Errorf("cuts %+v, want %+v", d.Injection.Cuts, want)
	}
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, arms.ErrNoTokenCounter) {
			t.Errorf("composed without a counter: %v", err)
		}
	}()
	a.Compose(state.Records)
}

// A patch is cut at a line of a hunk: no header is left without its lines.
func TestPatchesAreCutAtAHunkLine(t *testing.T) {
	head := "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n"
	one, two := "@@ -1,2 +1,2 @@\n one\n-two\n+2\n", "@@ -9,2 +9,2 @@\n nine\n-ten\n+10\n"
	patch := head + one + two
	for _, c := range []struct {
		limit int
		kept  string
	}{
		{len(patch), patch}, {len(patch) - 1, head + one + "@@ -9,2 +9,2 @@\n nine\n-ten\n"},
		{len(head + one + "@@ -9,2 +9,2 @@\n"), head + one}, {len(head + one), head + one},
		{len(head + "@@ -1,2 +1,2 @@\n one\n"), head + "@@ -1,2 +1,2 @@\n one\n"},
		{len(head + "@@ -1,2 +1,2 @@\n"), ""}, {len(head), ""}, {3, ""}, {0, ""},
	} {
		a := arm(t, "diff-feedback")
		a.Caps = arms.Caps{Diff: c.limit}
		block, _ := a.Compose([]arms.Record{{Attempt: 1, Outcome: arms.Failed, Patch: patch}})
		want := c.kept
		if c.kept != patch {
			want += fmt.Sprintf("[... %d characters cut ...]\n", len(patch)-len(c.kept))
		}
		if got := strings.Join(fences(read(t, block), "diff"), ""); got != want {
			t.Errorf("limit %d: %q, want %q", c.limit, got, want)
		}
	}
}
