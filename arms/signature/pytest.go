package signature

import (
	"regexp"
	"strings"
)

var (
	pytestBanner  = regexp.MustCompile(`^=+ (test session starts|FAILURES|ERRORS|short test summary info) =+$`)
	pytestCounts  = regexp.MustCompile(`^(?:=+ )?\d+ (?:failed|passed|errors?|skipped|deselected|xfailed|xpassed|warnings?)\b.* in \d+\.\d+s(?: \([\d:]+\))?(?: =+)?$`)
	pytestHead    = regexp.MustCompile(`^_{2,} (.+?) _{2,}$`)
	pytestSection = regexp.MustCompile(`^=+ .+ =+$`)
	pytestShort   = regexp.MustCompile(`^(FAILED|ERROR) (\S.*)$`)
	pytestMark    = regexp.MustCompile(`^ERROR (?:at (?:setup|teardown) of|collecting) `)
	pytestE       = regexp.MustCompile(`^E(?:   (.*))?$`)
	pytestWhere   = regexp.MustCompile(`^(\S.*?):\d+: ?(.*)$`)
	pytestIn      = regexp.MustCompile(`^in (.+)$`)
	pytestDef     = regexp.MustCompile(`^[> ]\s+(?:async )?def (\w+)\(`)
	pytestFrames  = regexp.MustCompile(`^_ (?:_ )+_?$`)
	// A line of progress: a file and a sign for each of its tests, or the signs alone.
	pytestProgress = regexp.MustCompile(`^(?:(\S+\.py)(?: |$))?[.FEsxX]*(?:\s+\[ *\d+%\])?$`)
	pytestOutput   = regexp.MustCompile(`^-+ (?:Captured .+|live log .+|generated .+) -+$`)
)

func isPytest(lines []string) bool {
	for _, l := range lines {
		if l != "" && (l[0] == '=' && pytestBanner.MatchString(l) || (l[0] == '=' || l[0] <= '9' && l[0] >= '0') && pytestCounts.MatchString(l)) {
			return true
		}
	}
	return false
}

// parsePytest reads pytest: the failing tests from its short summary, which
// names them in full, their errors from the sections above it. Workers of
// pytest-xdist only add lines to these.
func parsePytest(lines []string) (r Report) {
	sections := pytestSections(lines)
	waiting := map[string][]int{} // heading → its sections that no id has taken
	for i, s := range sections {
		waiting[s.ID] = append(waiting[s.ID], i)
	}
	named := map[string]bool{} // headings of the tests listed
	for _, id := range pytestSummary(lines) {
		t := Test{ID: id}
		for _, heading := range pytestHeadings(id) {
			named[heading] = true
			if list := waiting[heading]; len(list) > 0 && t.Error == "" {
				waiting[heading] = list[1:]
				t = sections[list[0]]
				t.ID = id
			}
		}
		r.Tests = append(r.Tests, t)
	}
	for _, s := range sections {
		if !named[s.ID] { // else it is the error of a teardown whose test failed
			r.Tests = append(r.Tests, s)
		}
	}
	if len(r.Tests) == 0 {
		r.Error, r.Kind, r.Place = pytestEnd(lines)
	}
	return r
}

// pytestHeadings are the headings under which the failure of a test with this
// id may stand: "TestC.test_x[1]", a file that could not be collected, or the
// file that a worker was in when it crashed.
func pytestHeadings(id string) []string {
	file, name, found := strings.Cut(id, "::")
	if !found {
		return []string{id}
	}
	// Parameters may hold colons of their own.
	name, params, _ := strings.Cut(name, "[")
	name = strings.ReplaceAll(name, "::", ".")
	if params != "" {
		name += "[" + params
	}
	return []string{name, file}
}

// pytestEnd says how a run ended that reports no test: with an error of its
// own, or in the middle of a file.
func pytestEnd(lines []string) (err, kind, where string) {
	for i := len(lines) - 1; i >= 0; i-- {
		switch l := lines[i]; {
		case pytestCounts.MatchString(l):
			return "", "", ""
		case strings.HasPrefix(l, "ERROR: "):
			return l, "", ""
		case strings.HasPrefix(l, "INTERNALERROR> ") && pyError.MatchString(l[len("INTERNALERROR> "):]):
			return l, "", ""
		}
	}
	if err, kind, where = anyError(lines); err != "" {
		return err, kind, where
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if m := pytestProgress.FindStringSubmatch(lines[i]); m != nil {
			return lines[i], "ended early", place(m[1], "")
		}
	}
	return "", "", ""
}

// pytestSummary lists the ids behind FAILED and ERROR in the short summary.
// The message behind an id is cut to the terminal's width, and is not read.
func pytestSummary(lines []string) (ids []string) {
	in := false
	for _, l := range lines {
		if pytestSection.MatchString(l) {
			in = strings.Contains(l, " short test summary info ")
			continue
		}
		if m := pytestShort.FindStringSubmatch(l); in && m != nil && len(ids) < maxTests {
			ids = append(ids, pytestID(m[2]))
		}
	}
	return ids
}

// pytestID is the id before " - message". Parameters in brackets may hold
// anything.
func pytestID(s string) string {
	from := 0
	if open, dash := strings.IndexByte(s, '['), strings.Index(s, " - "); open >= 0 && (dash < 0 || open < dash) {
		if end := strings.Index(s, "] - "); end >= 0 {
			from = end
		} else {
			from = len(s)
		}
	}
	if i := strings.Index(s[from:], " - "); i >= 0 {
		s = s[:from+i]
	}
	return strings.TrimSpace(s)
}

// pytestSections reads what stands under FAILURES and ERRORS, test by test.
func pytestSections(lines []string) (tests []Test) {
	in, start, name := false, 0, ""
	end := func(i int) {
		if name != "" && len(tests) < maxTests {
			tests = append(tests, pytestTest(name, lines[start:min(i, start+5*maxBlock)]))
		}
		name = ""
	}
	for i, l := range lines {
		switch {
		case l == "":
		case l[0] == '=' && pytestSection.MatchString(l):
			end(i)
			in = strings.Contains(l, " FAILURES ") || strings.Contains(l, " ERRORS ")
		case in && l[0] == '_' && !pytestFrames.MatchString(l):
			if m := pytestHead.FindStringSubmatch(l); m != nil {
				end(i)
				name, start = strings.TrimSpace(pytestMark.ReplaceAllString(m[1], "")), i+1
			}
		}
	}
	end(len(lines))
	return tests
}

// pytestTest reads one section: the tracebacks of the exceptions that led to
// the failure, in the style long, short or native.
func pytestTest(name string, block []string) Test {
	for i, l := range block {
		if pytestOutput.MatchString(l) {
			block = block[:i]
			break
		}
	}
	if traces := pyTraces(block); len(traces) > 0 {
		return pyTest(name, block)
	}
	t := Test{ID: name}
	entry, def, kinds, first := "", "", []string{}, ""
	flush := func() { // ends one exception
		if first != "" {
			if t.Error == "" {
				t.Error, t.Place = first, entry
			}
			kinds = append(kinds, kindOf(first))
		}
		first, entry = "", ""
	}
	for _, l := range block {
		if m := pytestE.FindStringSubmatch(l); m != nil {
			if first == "" {
				first = pytestErrorLine(m[1])
			}
			continue
		}
		switch m := pytestWhere.FindStringSubmatch(l); {
		case strings.HasPrefix(l, "During handling of ") || strings.HasPrefix(l, "The above exception was "):
			flush()
		case pytestFrames.MatchString(l):
			def = ""
		case m != nil && !pyLibrary.MatchString(m[1]):
			function := def
			if in := pytestIn.FindStringSubmatch(m[2]); in != nil {
				function = in[1]
			}
			entry, def = place(m[1], function), ""
		case def == "":
			if m := pytestDef.FindStringSubmatch(l); m != nil {
				def = m[1]
			}
		}
	}
	flush()
	t.Kind = strings.Join(kinds, "; then ")
	if t.Error == "" {
		t = pytestBare(t, block)
	}
	return t
}

// pytestErrorLine is an exception's first line: pytest leaves the type out
// where an assert statement failed.
func pytestErrorLine(s string) string {
	s = strings.TrimSpace(s)
	if s == "assert" || strings.HasPrefix(s, "assert ") {
		return "AssertionError: " + s
	}
	return s
}

// pytestBare takes the first line of a section that has no traceback, such as
// that of a worker that crashed or, with --tb=line, the one line there is.
func pytestBare(t Test, block []string) Test {
	for _, l := range block {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "[gw") {
			t.Error = l
			return t
		}
	}
	return t
}
