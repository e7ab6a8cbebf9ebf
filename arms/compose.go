package arms

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Injection tells what one retry prompt was given of the history: the data of
// one accounting event (step 7).
type Injection struct {
	Records int     // records considered, before merging
	Shown   []int   // attempt numbers shown, in the order shown
	Chars   int     // runes of the added block
	Cuts    []Cut   // parts that a cap cut, in the order shown (step 4)
	Merges  []Merge // records merged away, in the order shown (step 5)
}

// Cut is one part that a cap cut.
type Cut struct {
	Attempt int
	Part    Part
	Chars   int // runes removed, as the marker says
}

// Merge is one record that stands for others with the same signature.
type Merge struct {
	Kept int   // attempt number of the earliest
	Also []int // attempts that failed the same way, in order
}

// Compose writes the block that arm a adds to the retry prompt for these
// records, and says what went into it. The records are shown in the order
// given, which the caller keeps oldest first (step 3). An arm without history
// gets its notice, or "", and a nil Injection; so does any arm for no records.
//
// What records hold stands inside fences that it cannot close, as it is but for
// NUL and bytes that are not UTF-8, which become U+FFFD. Nothing else of a
// record reaches the block.
func (a Arm) Compose(records []Record) (block string, inj *Injection) {
	switch {
	case len(records) == 0:
		return "", nil
	case a.Memory == MemoryLast:
		records = records[len(records)-1:]
	case a.Memory != MemoryAll:
		if a.shows(PartNotice) {
			return joinBlocks(a.Heading, a.Footer), nil
		}
		return "", nil
	}
	inj = &Injection{Records: len(records)}
	parts := []string{a.Heading}
	for _, m := range a.merge(records) {
		inj.Shown = append(inj.Shown, m.Attempt)
		if len(m.also) > 0 {
			inj.Merges = append(inj.Merges, Merge{Kept: m.Attempt, Also: m.also})
		}
		text, cuts := a.composeRecord(m)
		inj.Cuts = append(inj.Cuts, cuts...)
		parts = append(parts, text)
	}
	block = joinBlocks(append(parts, a.Footer)...)
	inj.Chars = utf8.RuneCountInString(block)
	return block, inj
}

// joinBlocks joins what is not empty by blank lines and ends it with a newline.
// Nothing to join gives "".
func joinBlocks(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p = strings.Trim(p, "\n"); p != "" {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "\n\n") + "\n"
}

// merged is a record and the later attempts that it stands for.
type merged struct {
	Record
	also []int
}

// merge keeps the earliest record of each signature, in order (step 5).
// Records without a signature are never merged.
func (a Arm) merge(records []Record) []merged {
	kept := make([]merged, 0, len(records))
	first := map[string]int{} // signature → index in kept
	for _, r := range records {
		if i, seen := first[r.Signature]; seen && a.Dedupe == DedupeExact {
			kept[i].also = append(kept[i].also, r.Attempt)
			continue
		}
		if r.Signature != "" {
			first[r.Signature] = len(kept)
		}
		kept = append(kept, merged{Record: r})
	}
	return kept
}

// verdictWords say each outcome in a record's label.
var verdictWords = map[Outcome]string{
	Passed: "passed", Failed: "failed", Timeout: "timed out", OutOfMemory: "ran out of memory", Refused: "refused",
	InvalidEdit: "its edit could not be applied", Empty: "changed nothing", Budget: "reached its limit",
	Infra: "broken off by a fault of the machinery",
}

// verdict is the word for an outcome. One that this program does not know comes
// from a file that somebody wrote; quoted, it stays on its line.
func verdict(o Outcome) string {
	if word, ok := verdictWords[o]; ok {
		return word
	}
	return strconv.Quote(string(o))
}

// composeRecord writes one record under its label and notes the cuts.
func (a Arm) composeRecord(m merged) (text string, cuts []Cut) {
	label := fmt.Sprintf("### Attempt %d", m.Attempt)
	if a.shows(PartVerdict) {
		label += ": " + verdict(m.Outcome)
	}
	blocks := []string{label}
	if len(m.also) > 0 {
		blocks = append(blocks, recurrence(m.also))
	}
	if a.shows(PartDiff) && m.Patch == "" {
		blocks = append(blocks, "Patch that was tried: none, the files were left as they were.")
	}
	for _, p := range []struct {
		part         Part
		title, label string
		text         string
		limit        int
		cut          func(text string, limit int) (string, int)
	}{
		{PartDescription, "What it set out to do:", "text", m.Description, a.Caps.Description, cutMiddle},
		{PartDiff, "Patch that was tried:", "diff", m.Patch, a.Caps.Diff, cutLines},
		{PartOutput, "Verifier output:", "text", m.VerifyOutput, a.Caps.Output, cutMiddle},
		{PartFirstError, "First tool step that errored:", "text", m.FirstError, a.Caps.FirstError, cutMiddle},
	} {
		if !a.shows(p.part) || p.text == "" {
			continue
		}
		text, removed := p.cut(printable(p.text), p.limit)
		if removed > 0 {
			cuts = append(cuts, Cut{Attempt: m.Attempt, Part: p.part, Chars: removed})
		}
		blocks = append(blocks, p.title+"\n\n"+fenced(p.label, text))
	}
	return joinBlocks(blocks...), cuts
}

// recurrence is the sentence that a record carries which stands for others.
func recurrence(also []int) string {
	nums := make([]string, len(also))
	for i, n := range also {
		nums[i] = strconv.Itoa(n)
	}
	word, records := "attempt", "whose record is"
	if len(nums) > 1 {
		word, records = "attempts", "whose records are"
	}
	return fmt.Sprintf("This failure was seen %d times: again in %s %s, %s left out.", len(also)+1, word, strings.Join(nums, ", "), records)
}

// printable replaces what JSON or an endpoint would not carry: each byte that
// is not UTF-8, and NUL, by U+FFFD.
func printable(s string) string {
	return strings.ReplaceAll(string([]rune(s)), "\x00", "\uFFFD")
}
