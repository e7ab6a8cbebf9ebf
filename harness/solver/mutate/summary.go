package mutate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	failedTestPattern = regexp.MustCompile(`(?m)^(?:FAIL|ERROR): (\w+)`)
	summaryPattern    = regexp.MustCompile(`(?m)^Attempt \d+: .*$`)
)

// told is what a summary says of one attempt.
type told struct {
	number  string
	failed  []string // tests, in the order shown
	touched []string // path:line of base lines that the shown patch touched
}

// Summarise replies to a summariser's prompt: one line for each attempt shown,
// with the tests that failed and the lines that its patch touched. Lines of an
// earlier summary are kept as they are.
func Summarise(prompt string) string {
	var out strings.Builder
	var now *told
	flush := func() {
		if now != nil {
			out.WriteString(now.line())
		}
		now = nil
	}
	for _, b := range splitBlocks(prompt) {
		m := numberedPattern.FindStringSubmatch(b.Text)
		switch {
		case b.Kind == Heading && m != nil:
			flush()
			now = &told{number: m[1]}
		case now == nil && b.Kind == Fence:
			for _, line := range summaryPattern.FindAllString(b.Text, -1) {
				out.WriteString(line + "\n")
			}
		case now == nil:
		case isDiff(b):
			hunks, _ := readHunks(b.Text)
			for _, h := range hunks {
				now.touched = append(now.touched, h.touches()...)
			}
		case b.Kind == Fence:
			for _, m := range failedTestPattern.FindAllStringSubmatch(b.Text, -1) {
				if !slices.Contains(now.failed, m[1]) {
					now.failed = append(now.failed, m[1])
				}
			}
		}
	}
	flush()
	return out.String()
}

func (t *told) line() string {
	failed, touched := "no test named", "no line shown"
	if len(t.failed) > 0 {
		failed = "failed " + strings.Join(t.failed, ", ")
	}
	if len(t.touched) > 0 {
		touched = "changed " + strings.Join(t.touched, ", ")
	}
	return fmt.Sprintf("Attempt %s: %s; %s\n", t.number, failed, touched)
}

// touches lists the base lines that the hunk removes or, where it removes none,
// the one that it inserts behind.
func (h *hunk) touches() (lines []string) {
	at := h.start - 1 // base lines passed
	if h.olds == 0 {
		at = h.start
	}
	inserted := -1
	for _, line := range h.lines {
		switch line[0] {
		case '+':
			if inserted < 0 {
				inserted = max(at, 1)
			}
			continue
		case '-':
			lines = append(lines, fmt.Sprintf("%s:%d", h.path, at+1))
		}
		at++
	}
	if len(lines) == 0 && inserted >= 0 {
		lines = append(lines, fmt.Sprintf("%s:%d", h.path, inserted))
	}
	return lines
}
