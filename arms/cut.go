package arms

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// marker stands on a line of its own where a cap cut n runes away (step 4).
func marker(n int) string { return fmt.Sprintf("[... %d characters cut ...]", n) }

// cutLines keeps the longest run of whole lines from the start that fits into
// limit runes, then the marker. It returns how many runes were cut, 0 for a
// text that fits.
func cutLines(text string, limit int) (string, int) {
	total := utf8.RuneCountInString(text)
	if total <= limit {
		return text, 0
	}
	end, used := 0, 0 // of what is kept: bytes, runes
	for line := range strings.Lines(text) {
		n := utf8.RuneCountInString(line)
		if used+n > limit {
			break
		}
		end, used = end+len(line), used+n
	}
	return text[:end] + marker(total-used) + "\n", total - used
}

// cutMiddle keeps the first third and the last two thirds of limit runes, with
// the marker between: a verifier's summary stands at its end. It returns how
// many runes were cut, 0 for a text that fits.
func cutMiddle(text string, limit int) (string, int) {
	runes := []rune(text)
	if len(runes) <= limit {
		return text, 0
	}
	head := limit / 3
	cut := len(runes) - limit
	before, after := string(runes[:head]), string(runes[head+cut:])
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	if !strings.HasPrefix(after, "\n") {
		after = "\n" + after
	}
	return before + marker(cut) + after, cut
}
