package signature

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is read of an output: more than any report needs, and little enough
// that 50 MB of noise cost no more than this.
const (
	HeadBytes = 1 << 20 // bytes from the start
	TailBytes = 3 << 20 // bytes from the end, where summaries stand
	lineBytes = 4 << 10 // bytes of one line

	maxTests = 1000 // failing tests that are told apart
	maxBlock = 400  // lines that are read of one test's failure
)

var (
	escapes   = regexp.MustCompile(`\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])`)
	firstCell = regexp.MustCompile(`\x1b\[[01]?G`)
	cutMarker = regexp.MustCompile(`^\s*\[\.\.\. .* cut.* \.\.\.\]$`)
)

// Bound keeps the head and the tail of an output that is too long to be read
// whole: what Read looks at.
func Bound(s string) string {
	if len(s) <= HeadBytes+TailBytes {
		return s
	}
	return s[:HeadBytes] + "\n" + s[len(s)-TailBytes:]
}

// StripEscapes removes terminal escapes. One that goes back to the start of the
// line becomes the carriage return that it stands for.
func StripEscapes(s string) string {
	if !strings.Contains(s, "\x1b") {
		return s
	}
	return escapes.ReplaceAllString(firstCell.ReplaceAllString(s, "\r"), "")
}

// readLines splits an output into lines as a screen would show them: without
// escapes and characters that only steer it, of a line that was overwritten
// (CR) the last text, without spaces at its end. Lines that say that something
// was cut out are left out.
func readLines(output string) []string {
	s := StripEscapes(strings.ToValidUTF8(Bound(output), "\uFFFD"))
	lines := make([]string, 0, strings.Count(s, "\n")+1)
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		if len(line) > lineBytes {
			line = strings.ToValidUTF8(line[:lineBytes], "")
		}
		line = strings.TrimRightFunc(visible(line), unicode.IsSpace)
		if strings.HasPrefix(strings.TrimLeft(line, " "), "[...") && cutMarker.MatchString(line) {
			continue
		}
		lines = append(lines, line)
	}
	if n := len(lines); n > 0 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return lines
}

// visible drops control characters but tabs, and the format characters that
// turn or hide text.
func visible(line string) string {
	plain := true
	for i := 0; i < len(line) && plain; i++ {
		plain = line[i] >= ' ' && line[i] < utf8.RuneSelf || line[i] == '\t'
	}
	if plain {
		return line
	}
	return strings.Map(func(r rune) rune {
		if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, line)
}

// fine are lines that say of a test that it passed, and dots of progress: how
// many there are depends on the order of tests.
var fine = regexp.MustCompile(`^(?:ok \d+(?: |$)|[✓✔√] |\[       OK \] |--- PASS: |=== RUN |[.sFExX]+(?:\s*\[ *\d+%\])?$)`)

// tail returns the last n lines that are not blank, without their indents, and
// leaves out what is fine.
func tail(lines []string, n int) []string {
	var out []string
	for i := len(lines) - 1; i >= 0 && len(out) < n; i-- {
		if l := strings.TrimSpace(lines[i]); l != "" && !fine.MatchString(l) {
			out = append(out, l)
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// block is what is read of a test's lines.
func block(lines []string) []string { return lines[:min(len(lines), maxBlock)] }

// indent counts the blanks before a line's text.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// find returns the index of the first line from i on that re matches, or -1.
func find(lines []string, i int, re *regexp.Regexp) int {
	for ; i < len(lines); i++ {
		if re.MatchString(lines[i]) {
			return i
		}
	}
	return -1
}
