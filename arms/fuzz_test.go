package arms_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/tools/txtar"

	"retrial/arms"
	"retrial/arms/suites"
	"retrial/tasks/strict"
)

// FuzzCompose: whatever a record holds, the block of an arm reads back as one
// heading for the arm and one for each record, its fences closed, its numbers
// right, and its parts as they were where no cap cuts.
func FuzzCompose(f *testing.F) {
	_, records := trial(f)
	for _, r := range records {
		f.Add(r.VerifyOutput, r.Patch, r.FirstError, string(r.Outcome), uint16(2000))
	}
	for _, s := range nasty {
		f.Add(s, s+"\n"+s, "x"+s, s, uint16(3))
	}
	f.Fuzz(func(t *testing.T, output, patch, firstError, outcome string, limit uint16) {
		r := arms.Record{Attempt: 1, Outcome: arms.Outcome(outcome), VerifyOutput: output, Patch: patch, FirstError: firstError}
		a := arm(t, "diff-feedback")
		a.Caps = arms.Caps{Diff: int(limit), Output: int(limit), FirstError: int(limit)}
		block, inj := a.Compose([]arms.Record{r, {Attempt: 2, Outcome: arms.Failed, Patch: output, VerifyOutput: patch}})
		if !utf8.ValidString(block) || inj.Chars != utf8.RuneCountInString(block) || !slices.Equal(inj.Shown, []int{1, 2}) {
			t.Fatalf("%+v for %q", inj, block)
		}
		var headings, want []string
		for _, p := range read(t, block) {
			if p.kind == "heading" {
				headings = append(headings, p.text)
			}
		}
		if len(headings) != 3 || headings[0] != "## Earlier attempts" || !strings.HasPrefix(headings[1], "### Attempt 1: ") || headings[2] != "### Attempt 2: failed" {
			t.Fatalf("headings %q", headings)
		}
		got := fences(read(t, block), "text")
		for i, s := range []string{output, firstError, patch} {
			if s == "" {
				continue
			}
			if want = append(want, endLine(asShown(s))); utf8.RuneCountInString(asShown(s)) > int(limit) {
				want[len(want)-1] = got[min(len(want), len(got))-1]
				if !shownMarker.MatchString(want[len(want)-1]) {
					t.Fatalf("part %d is cut without a marker: %q", i, got)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("fences hold %q, want %q", got, want)
		}
	})
}

// FuzzParseDesign: a design is read or is at fault, never a panic; what is read
// survives JSON and an override.
func FuzzParseDesign(f *testing.F) {
	f.Add([]byte(sound))
	f.Add([]byte(least))
	for _, name := range suites.Names() {
		data, err := suites.Read(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("name: x\ncorpus: c\narms: [&a blind, *a]\n"))
	f.Add([]byte("name: x\ncorpus: c\narms:\n - &a {name: m, base: notice}\n - {<<: *a, name: n}\n"))
	f.Add([]byte("name: x\ncorpus: |\n  a\n  b\narms: [blind, ~, ]\ngates: {'a b': 1}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := arms.ParseDesign("d.yaml", data)
		if err != nil {
			var fault *strict.Error
			if !errors.As(err, &fault) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		var back arms.Design
		if err := json.Unmarshal(d.JSON(), &back); err != nil || back.Hash() != d.Hash() {
			t.Fatalf("%v: %s\nbecomes %s", err, d.JSON(), back.JSON())
		}
		out, err := arms.Override("d.yaml", data, []string{"seed=9"})
		if err != nil {
			t.Fatalf("a design that is read cannot be overridden: %v", err)
		}
		over, err := arms.ParseDesign("d.yaml", out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if d.Seed = 9; over.Hash() != d.Hash() {
			t.Fatalf("seed=9 gives %s\nof %s", over.JSON(), d.JSON())
		}
	})
}

// FuzzSign: every output has a failure; the signature does not depend on
// whether the output was normalised, nor on where the workspace was.
func FuzzSign(f *testing.F) {
	for _, v := range pythons {
		for _, out := range unittestOutputs(f, v) {
			f.Add(out)
		}
	}
	for _, s := range nasty {
		f.Add(s)
	}
	files, err := filepath.Glob("signature/testdata/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for i := 0; i < len(ar.Files); i += 9 {
			if len(ar.Files[i].Data) < 4000 { // larger ones only slow it down
				f.Add(string(ar.Files[i].Data))
			}
		}
	}
	f.Fuzz(func(t *testing.T, output string) {
		once := arms.NormaliseOutput(output, "")
		if arms.NormaliseOutput(once, "") != once || !utf8.ValidString(once) || strings.ContainsAny(once, "\x00\x1b") {
			t.Fatalf("%q is normalised to %q", output, once)
		}
		a, b := arms.Sign(arms.Failed, output), arms.Sign(arms.Failed, once)
		if a.Signature != b.Signature || len(a.Signature) != 16 || !slices.Equal(a.FailingTests, b.FailingTests) {
			t.Fatalf("%q signs as %+v, normalised as %+v", output, a, b)
		}
		if !slices.IsSorted(a.FailingTests) || len(slices.Compact(slices.Clone(a.FailingTests))) != len(a.FailingTests) || slices.Contains(a.FailingTests, "") {
			t.Fatalf("failing tests %q", a.FailingTests)
		}
		if strings.Contains(a.FirstError, "\n") || a.Runner == "" {
			t.Fatalf("%+v", a)
		}
		if p := arms.Sign(arms.Passed, output); p.Signature != "" {
			t.Fatalf("a pass has signature %s", p.Signature)
		}
	})
}

// FuzzCut: what a cap keeps and what it cuts add up, the cut lies between
// grapheme clusters, of a patch behind a line, and the kept fits the cap.
func FuzzCut(f *testing.F) {
	for _, s := range append([]string{"a\r\nb", "e\u0301e\u0301e\u0301", "👩‍👩‍👧👩‍👩‍👧", "🇨🇭🇨🇭", "@@ -1 +1 @@\n-a\n+b\n", strings.Repeat("\u0301", 50)}, nasty...) {
		f.Add(s, uint16(3), false)
		f.Add(s+s, uint16(5), true)
	}
	f.Fuzz(func(t *testing.T, text string, limit uint16, tokens bool) {
		a := arm(t, "diff-feedback")
		a.Caps = arms.Caps{Diff: int(limit), Output: int(limit), FirstError: int(limit)}
		size, unit := utf8.RuneCountInString, "characters"
		if tokens {
			a.Caps.Unit, size, unit = arms.UnitTokens, words, "tokens"
		}
		block, inj := a.ComposeTokens([]arms.Record{{Attempt: 1, Outcome: arms.Failed, VerifyOutput: text, Patch: text}}, words)
		whole := asShown(text)
		if !utf8.ValidString(block) || (size(whole) > int(limit)) != (len(inj.Cuts) == 2) {
			t.Fatalf("%d of %d: %+v", limit, size(whole), inj.Cuts)
		}
		if len(inj.Cuts) == 0 {
			return
		}
		pieces := read(t, block)
		diff, output := fences(pieces, "diff")[0], fences(pieces, "text")[0]
		for i, shown := range []string{diff, output} {
			n, left := inj.Cuts[i].Chars, utf8.RuneCountInString(whole)-inj.Cuts[i].Chars
			if tokens {
				n = inj.Cuts[i].Tokens
			}
			marker := fmt.Sprintf("[... %d %s cut ...]", n, unit)
			at := strings.LastIndex(shown, marker)
			if at < 0 || left < 0 {
				t.Fatalf("no %q in %q", marker, shown)
			}
			before, after := shown[:at], strings.TrimPrefix(shown[at+len(marker):], "\n")
			if i == 0 && (after != "" || !strings.HasPrefix(whole, before) || before != "" && !strings.HasSuffix(before, "\n") || size(before) > int(limit)) {
				t.Fatalf("%q is not the start of %q", before, whole)
			}
			if i == 1 {
				checkClusters(t, whole, left, before, after)
			}
		}
	})
}

// checkClusters wants before and after, less a line end that was added to each,
// to be whole grapheme clusters of the text's start and end, left runes in all.
func checkClusters(t *testing.T, whole string, left int, before, after string) {
	t.Helper()
	starts := map[int]bool{0: true, len(whole): true}
	for g := uniseg.NewGraphemes(whole); g.Next(); {
		from, to := g.Positions()
		starts[from], starts[to] = true, true
	}
	for _, b := range []string{before, strings.TrimSuffix(before, "\n")} {
		for _, a := range []string{after, strings.TrimSuffix(after, "\n"), "\n" + after, "\n" + strings.TrimSuffix(after, "\n")} {
			if strings.HasPrefix(whole, b) && strings.HasSuffix(whole, a) && utf8.RuneCountInString(b)+utf8.RuneCountInString(a) == left && starts[len(b)] && starts[len(whole)-len(a)] {
				return
			}
		}
	}
	t.Fatalf("%q and %q are not whole clusters of %q, %d characters in all", before, after, whole, left)
}
