package seed

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// failure is one failing test as a runner prints it.
type failure struct {
	test string // id in the runner's words; "unit N" of a probe
	err  string // its first error line, and where in the test it arose
}

var (
	probeLine = regexp.MustCompile(`(?m)^\[unit (\d+)\] (.*)$`)

	unittestHead  = regexp.MustCompile(`(?m)^(?:={70}\n(?:FAIL|ERROR)|UNEXPECTED SUCCESS): (.+)$`)
	unittestID    = regexp.MustCompile(`^(\S+) \(([^)\s]+)\)`)
	unittestFrame = regexp.MustCompile(`(?m)^  File "[^"]*?([^/"]*)", line (\d+)`)

	pytestLine = regexp.MustCompile(`(?m)^(?:FAILED|ERROR) (\S+?\.py)(?:::(\S+?))?(?:\[.*?\])?(?: - (.*))?$`)

	goFail    = regexp.MustCompile(`^--- FAIL: (\S+) \(`)
	goPackage = regexp.MustCompile(`^FAIL\t(\S+)\t`)
	goPanic   = regexp.MustCompile(`^(?:panic: |fatal error: )`)
	goBroken  = regexp.MustCompile(`(?m)^FAIL\t\S+ \[(?:build|setup) failed\]`)
	goTime    = regexp.MustCompile(`\(?\d+\.\d+s\)?| \[recovered[^\]]*\]|0x[0-9a-f]+`)
)

// failures reads which tests failed in a runner's output, sorted; none where it
// is not that of unittest, pytest, go test or a probe.
func failures(output string) []failure {
	var out []failure
	for _, read := range []func(string) []failure{probeFailures, unittestFailures, pytestFailures, goFailures} {
		if out = read(output); len(out) > 0 {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b failure) int { return cmp.Or(strings.Compare(a.test, b.test), strings.Compare(a.err, b.err)) })
	return slices.Compact(out)
}

func probeFailures(output string) (out []failure) {
	for _, m := range probeLine.FindAllStringSubmatch(output, -1) {
		out = append(out, failure{"unit " + m[1], m[2]})
	}
	return out
}

func unittestFailures(output string) (out []failure) {
	heads := unittestHead.FindAllStringSubmatchIndex(output, -1)
	for i, h := range heads {
		end := len(output)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		block := output[h[3]:end]
		f := failure{test: output[h[2]:h[3]]}
		if m := unittestID.FindStringSubmatch(f.test); m != nil {
			f.test = m[2]
			if !strings.HasSuffix(m[2], "."+m[1]) {
				f.test += "." + m[1]
			}
		}
		if m := unittestFrame.FindStringSubmatch(block); m != nil {
			f.err = m[1] + ":" + m[2] + " "
		}
		_, trace, _ := strings.Cut(block, "Traceback (most recent call last):\n")
		for line := range strings.SplitSeq(trace, "\n") {
			if line != "" && !strings.HasPrefix(line, " ") {
				f.err += line
				break
			}
		}
		out = append(out, f)
	}
	return out
}

func pytestFailures(output string) (out []failure) {
	for _, m := range pytestLine.FindAllStringSubmatch(output, -1) {
		module := strings.TrimSuffix(path.Base(m[1]), ".py")
		out = append(out, failure{strings.TrimSuffix(module+"."+strings.ReplaceAll(m[2], "::", "."), "."), m[3]})
	}
	return out
}

// goFailures reads go test's output, in which a package's name stands behind its
// tests: "PACKAGE TestName".
func goFailures(output string) (out []failure) {
	from := 0
	for line := range strings.SplitSeq(output, "\n") {
		if m := goFail.FindStringSubmatch(line); m != nil {
			out = append(out, failure{test: m[1]})
			continue
		}
		if m := goPackage.FindStringSubmatch(line); m != nil {
			for i := range out[from:] {
				out[from+i].test = m[1] + " " + out[from+i].test
			}
			from = len(out)
			continue
		}
		told := strings.HasPrefix(line, "    ") || goPanic.MatchString(line)
		if told && len(out) > from && out[len(out)-1].err == "" {
			out[len(out)-1].err = goTime.ReplaceAllString(strings.TrimSpace(line), "")
		}
	}
	return out
}

// fingerprint is equal for two outputs in which the same tests fail with the same
// first error lines. Where no test can be told, the last lines count.
func fingerprint(output string) string {
	var b strings.Builder
	found := failures(output)
	for _, f := range found {
		b.WriteString(f.test + "\t" + f.err + "\n")
	}
	if len(found) == 0 {
		lines := strings.Split(strings.TrimSpace(goTime.ReplaceAllString(output, "")), "\n")
		b.WriteString(strings.Join(lines[max(0, len(lines)-20):], "\n"))
	}
	return b.String()
}

// failing lists the units that failed, by index, sorted; nil where the output
// does not tell.
func (t Tests) failing(output string) []int {
	hit := map[int]bool{}
	for _, f := range failures(output) {
		for _, i := range t.matching(f.test) {
			hit[i] = true
		}
	}
	var out []int
	for i := range t.Units {
		if hit[i] || len(hit) == 0 && t.Probe != nil { // what a probe's test needs failed before any assert
			out = append(out, i)
		}
	}
	return out
}

// matching lists the units that a test's id means: the best of what it names
// exactly, by class and method in any file, a whole class or file, or a method
// that a class has from another.
func (t Tests) matching(id string) []int {
	if n, ok := strings.CutPrefix(id, "unit "); ok {
		i, err := strconv.Atoi(n)
		if err != nil || i >= len(t.Units) {
			return nil
		}
		return []int{i}
	}
	pkg, name, isGo := strings.Cut(id, " ")
	if isGo {
		name, _, _ = strings.Cut(name, "/")
		return t.inPackage(pkg, name)
	}
	words := strings.Split(id, ".")
	last := words[len(words)-1]
	stem := func(u Unit) string { return strings.TrimSuffix(path.Base(u.Path), ".py") }
	has := func(w string) bool { return slices.Contains(words, w) }
	for _, like := range []func(Unit) bool{
		func(u Unit) bool { return has(stem(u)) && strings.HasSuffix("."+id, "."+u.Name) },
		func(u Unit) bool { return strings.HasSuffix("."+id, "."+u.Name) },
		func(u Unit) bool { return u.Block != "" && has(u.Block) && has(stem(u)) },
		func(u Unit) bool { return stem(u) == last },
		func(u Unit) bool { return u.Block != "" && strings.HasSuffix(u.Name, "."+last) },
	} {
		if found := t.where(like); len(found) > 0 {
			return found
		}
	}
	return nil
}

// inPackage lists the units that go test calls name in a package. One that is of
// no module of the program's, such as command-line-arguments, names no folder:
// then the name alone counts, if it stands in one folder only.
func (t Tests) inPackage(pkg, name string) []int {
	folder, known := t.modules.folder(pkg)
	found := t.where(func(u Unit) bool { return u.Name == name && (!known || path.Dir(u.Path) == folder) })
	for _, i := range found {
		if path.Dir(t.Units[i].Path) != path.Dir(t.Units[found[0]].Path) {
			return nil
		}
	}
	return found
}

func (t Tests) where(like func(Unit) bool) (out []int) {
	for i, u := range t.Units {
		if like(u) {
			out = append(out, i)
		}
	}
	return out
}
