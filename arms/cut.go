package arms

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Unit is what caps count.
type Unit string

// What caps count.
const (
	UnitCharacters Unit = "characters" // runes
	UnitTokens     Unit = "tokens"     // as the TokenCounter counts them
)

// TokenCounter says how many tokens a text is for the model that will read it.
// It must be a function of the text alone, and count no more for a text's start
// or end than for the whole, give or take a token or two.
type TokenCounter func(text string) int

// ErrNoTokenCounter says that an arm's caps count tokens and nobody can.
var ErrNoTokenCounter = errors.New("caps are in tokens, and there is no token counter")

// NeedsTokens says whether the arm's caps count tokens: [State.Count] must be
// set then.
func (a Arm) NeedsTokens() bool { return a.ShowsHistory() && a.Caps.Unit == UnitTokens }

// Ready returns ErrNoTokenCounter, wrapped, for an arm that needs a counter and
// has none. A caller asks it before the first attempt.
func (a Arm) Ready(count TokenCounter) error {
	if a.NeedsTokens() && count == nil {
		return fmt.Errorf("arm %q: %w", a.Name, ErrNoTokenCounter)
	}
	return nil
}

// cutter cuts parts of records to their caps. A nil count counts runes.
type cutter struct{ count TokenCounter }

// size is a text's size in the cutter's unit.
func (c cutter) size(text string) int {
	if c.count != nil {
		return c.count(text)
	}
	return utf8.RuneCountInString(text)
}

// marker stands on a line of its own where a cap cut n characters or tokens
// away (step 4).
func (c cutter) marker(n int) string {
	if c.count != nil {
		return fmt.Sprintf("[... %d tokens cut ...]", n)
	}
	return fmt.Sprintf("[... %d characters cut ...]", n)
}

// lines keeps of a patch the longest run of whole lines from its start that
// fits into limit, then the marker. Headers that would be left without a line
// of their hunk are cut too, so that the cut is at a line of a hunk. It returns
// what was cut, "" for a text that fits.
func (c cutter) lines(text string, limit int) (kept, cut string) {
	if c.size(text) <= limit {
		return text, ""
	}
	ends := []int{0} // of the first n lines
	for at := 0; at < len(text); {
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			at += i + 1
		} else {
			at = len(text)
		}
		ends = append(ends, at)
	}
	n := c.longest(len(ends)-1, limit, func(n int) string { return text[:append([]int{0}, ends[:n]...)[n]] })
	for ; n > 0; n-- {
		start := 0
		if n > 1 {
			start = ends[n-2]
		}
		if !patchHeader(text[start:ends[n-1]]) {
			break
		}
	}
	end := 0
	if n > 0 {
		end = ends[n-1]
	}
	return text[:end] + c.marker(c.size(text[end:])) + "\n", text[end:]
}

// patchHeader says whether a line of a patch stands above the lines of a hunk.
func patchHeader(line string) bool {
	for _, head := range []string{"@@ ", "diff ", "index ", "--- ", "+++ ", "new file mode ", "deleted file mode ", "old mode ", "new mode ", "similarity index ", "rename ", "copy "} {
		if strings.HasPrefix(line, head) {
			return true
		}
	}
	return false
}

// longest is the largest n up to most for which text(n) fits into limit. Where
// a counter is not quite monotone it may be one that is a little smaller.
func (c cutter) longest(most, limit int, text func(n int) string) int {
	n := sort.Search(most+1, func(n int) bool { return n > 0 && c.size(text(n)) > limit }) - 1
	for n > 0 && c.size(text(n)) > limit {
		n--
	}
	return max(0, n)
}

// middle keeps the first third and the last two thirds of limit, with the
// marker between: a verifier's summary stands at its end. It cuts between
// grapheme clusters, so that no letter loses its accent and no emoji its parts.
// It returns what was cut, "" for a text that fits.
func (c cutter) middle(text string, limit int) (kept, cut string) {
	if c.size(text) <= limit {
		return text, ""
	}
	head := c.head(text, limit/3)
	tail := max(head, c.tail(text, limit-limit/3))
	before, after := text[:head], text[tail:]
	cut = text[head:tail]
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	if !strings.HasPrefix(after, "\n") {
		after = "\n" + after
	}
	return before + c.marker(c.size(cut)) + after, cut
}

// head is the length in bytes of the longest start of text that fits into limit
// and ends between grapheme clusters.
func (c cutter) head(text string, limit int) int {
	end := runesIn(text, limit)
	if c.count != nil {
		// A token is at least a byte, and rarely more than a few dozen of them.
		n := c.longest(min(len(text), limit*64), limit, func(n int) string { return text[:n] })
		end = n
	}
	return clusterStart(text, end, false)
}

// tail is where the longest end of text begins that fits into limit and starts
// between grapheme clusters.
func (c cutter) tail(text string, limit int) int {
	start := len(text)
	if c.count != nil {
		start -= c.longest(min(len(text), limit*64), limit, func(n int) string { return text[len(text)-n:] })
	} else {
		for range limit {
			_, n := utf8.DecodeLastRuneInString(text[:start])
			start -= n
		}
	}
	return clusterStart(text, start, true)
}

// runesIn is the length in bytes of text's first n runes.
func runesIn(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// clusterStart is the boundary between grapheme clusters at i, or the nearest
// one before it, or with after the nearest one behind it.
func clusterStart(text string, i int, after bool) int {
	at := anchor(text, i)
	state := -1
	for at < i {
		cluster, _, _, next := uniseg.FirstGraphemeClusterInString(text[at:], state)
		if at+len(cluster) > i {
			if after {
				return at + len(cluster)
			}
			return at
		}
		at, state = at+len(cluster), next
	}
	return at
}

// anchor is a boundary between grapheme clusters at i or before it that can be
// told from its neighbours alone: between two ASCII characters that are not CR
// and LF, or the start.
func anchor(text string, i int) int {
	for ; i > 0; i-- {
		if i < len(text) && text[i-1] < utf8.RuneSelf && text[i] < utf8.RuneSelf && !(text[i-1] == '\r' && text[i] == '\n') {
			return i
		}
	}
	return 0
}
