package signature

import (
	"regexp"
	"strings"
)

var (
	pyFrame = regexp.MustCompile(`^\s*File "([^"]*)", line \d+(?:, in (.+))?$`)
	// Frames that belong to no program under test.
	pyLibrary = regexp.MustCompile(`(?:^|/)(?:site-packages|dist-packages|lib/python\d[\d.]*|lib64/python\d[\d.]*|_pytest|unittest)/|^<frozen|^<string>`)
	// An exception's dotted name, then its message.
	pyError   = regexp.MustCompile(`^(?:[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit|Failed|Fault|Group|Found|Stop\w*))\b(?:$|:)`)
	traceHead = "Traceback (most recent call last):"
)

// place names a function in a file; the folders before the file say nothing.
func place(file, function string) string {
	file = strings.TrimSpace(file)
	file = file[strings.LastIndexAny(file, `/\`)+1:]
	return maskID(strings.Trim(file+" "+function, " "))
}

// pyTrace is one traceback: the line that ends it, and the last frame of the
// program under test.
type pyTrace struct{ err, place string }

// pyTraces reads the tracebacks in a block, in order. Whatever an exception is
// called, its line is the first one that stands no deeper than its head.
func pyTraces(lines []string) (out []pyTrace) {
	for i := 0; i < len(lines); i++ {
		at := strings.Index(lines[i], traceHead)
		if at < 0 || strings.Trim(lines[i][:at], " +|-0123456789") != "" && !strings.HasSuffix(strings.TrimSpace(lines[i][:at]), "Group") {
			continue
		}
		var t, library pyTrace
		for i++; i < len(lines); i++ {
			l := lines[i]
			if m := pyFrame.FindStringSubmatch(strings.TrimLeft(l, " |")); m != nil {
				if pyLibrary.MatchString(m[1]) {
					library.place = place(m[1], m[2])
				} else {
					t.place = place(m[1], m[2])
				}
			} else if text := strings.TrimLeft(l, "|"); l != "" && !strings.HasPrefix(text, " ") {
				t.err = strings.TrimSpace(text)
				break
			}
		}
		if t.place == "" {
			t.place = library.place
		}
		if t.err != "" {
			out = append(out, t)
		}
	}
	return out
}

// pyTest fills in a test's error from the tracebacks in its block. The first is
// the cause of those that follow it, whose kinds count as well.
func pyTest(id string, block []string) Test {
	t := Test{ID: id}
	traces := pyTraces(block)
	if len(traces) == 0 {
		for _, l := range block {
			if pyError.MatchString(strings.TrimSpace(l)) {
				t.Error = l
				break
			}
		}
		return t
	}
	t.Error, t.Place = traces[0].err, traces[0].place
	var kinds []string
	for _, trace := range traces {
		kinds = append(kinds, kindOf(trace.err))
	}
	t.Kind = strings.Join(kinds, "; then ")
	return t
}

var (
	// A failure's head stands under a rule of 70 signs, which tells it from a
	// line that the tested program printed. Unexpected successes have no
	// traceback and stand one under another.
	unittestRule = strings.Repeat("=", 70)
	unittestHead = regexp.MustCompile(`^(FAIL|ERROR|UNEXPECTED SUCCESS): (.+)$`)
	// A test's name is followed by its dotted place in brackets: "test_x (test_m.C.test_x)", before Python 3.11 "(test_m.C)".
	unittestID  = regexp.MustCompile(`^(\S+) \(([^)\s]+)\)`)
	unittestRan = regexp.MustCompile(`^Ran \d+ tests? in `)
)

// unittestHeadAt is the head of a failure at line i, "" if there is none.
func unittestHeadAt(lines []string, i int) string {
	m := unittestHead.FindStringSubmatch(lines[i])
	switch {
	case m == nil:
		return ""
	case m[1] == "UNEXPECTED SUCCESS", i > 0 && strings.HasSuffix(lines[i-1], unittestRule):
		return m[2]
	}
	return ""
}

func isUnittest(lines []string) bool {
	for i := range lines {
		if unittestRan.MatchString(lines[i]) || unittestHeadAt(lines, i) != "" && !strings.HasPrefix(lines[i], "U") {
			return true
		}
	}
	return false
}

// parseUnittest reads Python's own runner.
func parseUnittest(lines []string) (r Report) {
	for i := 0; i < len(lines); i++ {
		head := unittestHeadAt(lines, i)
		if head == "" {
			continue
		}
		end := i + 1
		for end < len(lines) && unittestHeadAt(lines, end) == "" && !unittestRan.MatchString(lines[end]) {
			end++
		}
		if r.Tests = append(r.Tests, pyTest(unittestName(head), lines[i+1:min(end, i+1+5*maxBlock)])); len(r.Tests) == maxTests {
			break
		}
		i = end - 1
	}
	return r
}

// unittestName turns "test_x (test_m.C.test_x)" and "test_x (test_m.C)" into
// "test_m.C.test_x", and "setUpClass (test_m.C)" likewise; what follows (a
// subTest's parameters) is left out.
func unittestName(head string) string {
	m := unittestID.FindStringSubmatch(head)
	if m == nil {
		return strings.TrimSpace(head)
	}
	if strings.HasSuffix(m[2], "."+m[1]) {
		return m[2]
	}
	return m[2] + "." + m[1]
}
