package arms

import (
	"regexp"
	"slices"
	"strings"
)

// Failure is what a verifier's output says about how an attempt failed.
type Failure struct {
	Runner       string   // the test runner recognised: unittest, or text
	Signature    string   // the failure's identity: equal for the same failure, 16 hex digits; "" for Passed
	FailingTests []string // ids, sorted, each once
	FirstError   string   // first error line of the first failing test, by id, as printed
}

// Sign reads a verifier output, normalised or not.
//
// Two failures have one signature when their failing tests and their first
// error line, with numbers, quoted values, addresses, paths and durations
// masked, are the same; where tests cannot be told apart, when their masked
// last lines are. Of an assertion only its type counts: its message holds the
// expected and the observed value, and a value alone makes no new failure. A
// line number makes none either, so that an edit above the failing line does
// not hide a recurrence.
//
// Outcomes other than Failed have signatures of their own kind: two timeouts
// that name no test are one failure, whatever they printed before.
func Sign(outcome Outcome, output string) Failure {
	output = NormaliseOutput(output, "")
	f := Failure{Runner: "text"}
	if failing, ok := parseUnittest(output); ok {
		f.Runner = "unittest"
		for i, t := range failing {
			f.FailingTests = append(f.FailingTests, t.id)
			if i == 0 {
				f.FirstError = t.err
			}
		}
	} else {
		f.FirstError = tail(output, 1)
	}
	if outcome == Passed {
		return Failure{Runner: f.Runner}
	}
	key := string(outcome) + "\n"
	switch {
	case len(f.FailingTests) > 0:
		key += strings.Join(f.FailingTests, "\n") + "\n" + maskError(f.FirstError)
	case outcome == Failed:
		key += tail(mask(output), 10)
	}
	f.Signature = SHA([]byte(key))[:16]
	return f
}

var (
	// A failure's head stands under a rule of 70 signs, which tells it from a
	// line that the tested program printed. Unexpected successes have no
	// traceback and stand one under another.
	unittestHead = regexp.MustCompile(`(?m)^(?:={70}\n(?:FAIL|ERROR)|UNEXPECTED SUCCESS): (.+)$`)
	// A test's name is followed by its dotted place in brackets: "test_x (test_m.C.test_x)", before Python 3.11 "(test_m.C)".
	unittestID  = regexp.MustCompile(`^(\S+) \(([^)\s]+)\)`)
	unittestRan = regexp.MustCompile(`(?m)^Ran \d+ tests? in `)
	// Where there is no traceback: an exception's dotted name, then its message.
	errorLine = regexp.MustCompile(`(?m)^(?:[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit|Failed|Stop\w*))\b.*$`)
)

// failingTest is one test that failed, with the first error line under it.
type failingTest struct{ id, err string }

// parseUnittest reads the output of Python's unittest runner: the failing
// tests by id, each once. ok says whether that runner wrote it.
func parseUnittest(output string) (failing []failingTest, ok bool) {
	heads := unittestHead.FindAllStringSubmatchIndex(output, -1)
	if len(heads) == 0 {
		return nil, unittestRan.MatchString(output)
	}
	for i, h := range heads {
		end := len(output)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		failing = append(failing, failingTest{id: testID(output[h[2]:h[3]]), err: firstError(output[h[3]:end])})
	}
	// Stable: of a test that failed more than once (subTest), the first counts.
	slices.SortStableFunc(failing, func(a, b failingTest) int { return strings.Compare(a.id, b.id) })
	failing = slices.CompactFunc(failing, func(a, b failingTest) bool { return a.id == b.id })
	return failing, true
}

// testID turns "test_x (test_m.C.test_x)" and "test_x (test_m.C)" into
// "test_m.C.test_x"; what follows (a subTest's parameters) is left out.
func testID(head string) string {
	m := unittestID.FindStringSubmatch(head)
	if m == nil {
		return strings.TrimSpace(head)
	}
	if strings.HasSuffix(m[2], "."+m[1]) {
		return m[2]
	}
	return m[2] + "." + m[1]
}

// firstError is the line that ends the first traceback in a failure's block:
// the first one under its head that is not indented. Whatever the exception is
// called, that is where it stands; a module that cannot be imported has a
// general line above its traceback, which is not taken.
func firstError(block string) string {
	_, trace, found := strings.Cut(block, "Traceback (most recent call last):\n")
	for line := range strings.SplitSeq(trace, "\n") {
		if found && line != "" && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "[...") {
			return line
		}
	}
	return errorLine.FindString(block)
}

var masks = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`0x[0-9a-fA-F]+|0x\[address\]`), "<addr>"},
	{regexp.MustCompile(`(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")`), "<str>"},
	{regexp.MustCompile(`(?:[A-Za-z]:)?(?:[\w.~-]*[/\\])+[\w.-]+`), "<path>"},
	{regexp.MustCompile(`[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?:\s?(?:ns|µs|us|ms|s|sec|seconds?)\b)?`), "<n>"},
	{regexp.MustCompile(`[ \t]+`), " "},
}

// mask replaces what differs between two sightings of one failure.
func mask(s string) string {
	for _, m := range masks {
		s = m.re.ReplaceAllString(s, m.with)
	}
	return s
}

// maskError reduces an error line to its identity.
func maskError(line string) string {
	if strings.HasPrefix(line, "AssertionError") {
		return "AssertionError"
	}
	return mask(line)
}

// tail returns the last n lines that are not blank, without their indents.
func tail(s string, n int) string {
	var lines []string
	for l := range strings.SplitSeq(s, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
