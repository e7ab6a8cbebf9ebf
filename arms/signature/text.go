package signature

import (
	"regexp"
	"strings"
)

var (
	javaThrow  = regexp.MustCompile(`^(?:Exception in thread "[^"]*" )?((?:[a-z_]\w*\.)+[A-Z][\w$]*)(?:: (.*))?$`)
	javaFrame  = regexp.MustCompile(`^\s+at (?:[\w.@-]+/)*([\w.$<>]+)\(([^():]*)(?::\d+)?\)`)
	jsThrow    = regexp.MustCompile(`^(?:Uncaught )?(?:[A-Z]\w*)?(?:Error|Exception)\b(?: \[\w+\])?(?:: .*)?$`)
	jsFrame    = regexp.MustCompile(`^\s*(?:at|❯) (?:(?:async |new )?(.+?) \((.*?)(?::\d+)?(?::\d+)?\)|(\S.*?)(?::\d+)(?::\d+)?)$`)
	jsLibrary  = regexp.MustCompile(`node:|node_modules|^\(?native|<anonymous>$|^internal/`)
	compileAt  = regexp.MustCompile(`^(?:\[ERROR\] )?(\S+?\.\w+)(?::\d+(?::\d+)?:|:?[(\[]\d+(?:,\d+)?[)\]]:?) (?:(?:fatal )?error(?: \w+)?: )?(.+)$`)
	compileErr = regexp.MustCompile(`^(?:\[ERROR\] )?\S+?\.\w+(?::\d+(?::\d+)?:|:?[(\[]\d+(?:,\d+)?[)\]]:?) (?:fatal )?error\b`)
	signalName = regexp.MustCompile(`\b(?:Segmentation fault|Bus error|Illegal instruction|Aborted|Killed)\b`)
	cppThrown  = regexp.MustCompile(`^terminate called after throwing an instance of '(.+)'$`)
	perlDie    = regexp.MustCompile(`^([^#\s].*) at (\S+) line \d+(?:, (?:<\w*> (?:line|chunk) \d+|near ".*"?|at EOF))?\.?$`)
	deadly     = regexp.MustCompile(`^(?:Fatal Python error: .+|terminate called after throwing .+|.*: command not found)$|\b(?:Segmentation fault|Bus error|Illegal instruction|Aborted|Killed)\b`)
)

// anyError looks for what programs in general print when they die, for outputs
// that no runner wrote and for runners that could not start: the last
// traceback or panic, else the first error of a compiler, else a death by
// signal.
func anyError(lines []string) (err, kind, where string) {
	if traces := pyTraces(lines); len(traces) > 0 {
		last := traces[len(traces)-1]
		return last.err, kindOf(last.err), last.place
	}
	if i := find(lines, 0, goPanic); i >= 0 && find(lines, i, goRunning) >= 0 {
		g := goTests{output: map[string][]string{"": lines}}
		crash := g.crash()
		return crash.Error, crash.Kind, crash.Place
	}
	if i := find(lines, 0, cargoPanic); i >= 0 && i+1 < len(lines) {
		return strings.TrimSpace(lines[i+1]), rustKind(lines[i+1]), place(cargoPanic.FindStringSubmatch(lines[i])[2], "")
	}
	if i := find(lines, 0, compileErr); i >= 0 {
		m := compileAt.FindStringSubmatch(lines[i])
		if m != nil {
			return strings.TrimSpace(lines[i]), kindOf(m[2]), place(m[1], "")
		}
	}
	for i, l := range lines {
		if !jsThrow.MatchString(l) && !javaThrow.MatchString(l) {
			continue
		}
		if where := stackPlace(lines[i+1:]); where != "" {
			return l, throwKind(l), where
		}
	}
	for i, l := range lines {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "SyntaxError: ") || strings.HasPrefix(l, "IndentationError: ") || strings.HasPrefix(l, "TabError: ") {
			where := ""
			for j := i - 1; j >= max(0, i-4) && where == ""; j-- {
				if m := pyFrame.FindStringSubmatch(lines[j]); m != nil {
					where = place(m[1], m[2])
				}
			}
			return l, kindOf(l), where
		}
	}
	if i := find(lines, 0, perlDie); i >= 0 {
		m := perlDie.FindStringSubmatch(lines[i])
		return lines[i], kindOf(m[1]), place(m[2], "")
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if deadly.MatchString(lines[i]) {
			if m := cppThrown.FindStringSubmatch(lines[i]); m != nil {
				kind := "terminated by " + m[1]
				if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  what():  ") {
					kind += ": " + mask(lines[i+1][len("  what():  "):])
				}
				return strings.TrimSpace(lines[i]), kind, ""
			}
			// A shell names the signal between a number and the command.
			return strings.TrimSpace(lines[i]), signalName.FindString(lines[i]), ""
		}
	}
	return "", "", ""
}

// throwKind is the kind of a Java or JavaScript error: its type alone where it
// is an assertion.
func throwKind(line string) string {
	line = strings.TrimSpace(line)
	if m := javaThrow.FindStringSubmatch(line); m != nil {
		return kindOf(strings.TrimSpace(m[1] + ": " + m[2]))
	}
	return kindOf(line)
}

// stackPlace reads the frames right under a Java or JavaScript error and
// returns the first that belongs to the program, "" where there are none.
func stackPlace(lines []string) string {
	frames, library := 0, ""
	for i, l := range lines {
		l = strings.TrimRight(l, " {")
		m, j := jsFrame.FindStringSubmatch(l), javaFrame.FindStringSubmatch(l)
		switch {
		case j != nil && strings.Contains(j[2], ".java") || j != nil && !strings.Contains(j[2], "/") && strings.Count(j[1], ".") > 1:
			frames++
			if !javaLibrary(j[1]) {
				return j[1]
			}
		case m != nil:
			frames++
			file, function := m[2]+m[3], m[1]
			if jsLibrary.MatchString(file) {
				library = function
				continue
			}
			return jsPlace(file, function)
		case frames > 0:
			return library
		case i > 40:
			return ""
		}
	}
	return library
}

// jsPlace names a frame. What stands before the last dot of a function is the
// class of the moment's receiver.
func jsPlace(file, function string) string {
	function = strings.TrimPrefix(strings.TrimPrefix(function, "async "), "new ")
	if i := strings.Index(function, " [as "); i >= 0 {
		function = function[:i]
	}
	if function == "<anonymous>" || strings.HasSuffix(function, ".<anonymous>") {
		function = ""
	}
	function = strings.TrimPrefix(function, "Object.")
	file, _, _ = strings.Cut(file, "?")
	file = regexp.MustCompile(`(?::\d+)+$`).ReplaceAllString(file, "")
	return place(file, function)
}

// javaLibrary says whether a method belongs to Java or a test framework.
func javaLibrary(method string) bool {
	for _, prefix := range []string{"java.", "javax.", "jdk.", "sun.", "com.sun.", "org.junit.", "junit.", "org.opentest4j.", "org.hamcrest.", "org.assertj.", "org.apache.maven.", "org.mockito.", "org.testng.", "kotlin."} {
		if strings.HasPrefix(method, prefix) {
			return true
		}
	}
	return false
}
