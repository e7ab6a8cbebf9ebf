package text

import (
	"fmt"
	"regexp"
)

// all tells the problems of every check, in order.
func all(checks ...check) check {
	return func(a answer) (problems []string) {
		for _, c := range checks {
			problems = append(problems, c(a)...)
		}
		return problems
	}
}

// then tells the problems of the first check that finds any: for checks that
// make sense only where those before them are satisfied.
func then(checks ...check) check {
	return func(a answer) []string {
		for _, c := range checks {
			if problems := c(a); len(problems) > 0 {
				return problems
			}
		}
		return nil
	}
}

// each makes c of every part, and tells its problems behind the part's name.
func each(noun string, parts []string, c check) (problems []string) {
	for i, p := range parts {
		problems = append(problems, at(noun, i+1, c(newAnswer(p)))...)
		if len(problems) > MaxProblems {
			break
		}
	}
	return problems
}

func at(noun string, n int, problems []string) []string {
	out := make([]string, len(problems))
	for i, p := range problems {
		out[i] = fmt.Sprintf("%s %d: %s", noun, n, p)
	}
	return out
}

func eachLine(c check) check { return func(a answer) []string { return each("line", a.lines, c) } }

// line makes c of line n, from 1. A line that is not there is no problem of
// this check: lineCount tells it.
func line(n int, c check) check {
	return func(a answer) []string {
		if n > len(a.lines) {
			return nil
		}
		return at("line", n, c(newAnswer(a.lines[n-1])))
	}
}

// lineWise makes the n-th check of the n-th line, after the number of lines.
func lineWise(checks ...check) check {
	return func(a answer) []string {
		problems := lineCount(len(checks), len(checks))(a)
		for i, c := range checks {
			problems = append(problems, line(i+1, c)(a)...)
		}
		return problems
	}
}

func eachSentence(c check) check {
	return func(a answer) []string {
		list, _ := sentences(a.text)
		return each("sentence", list, c)
	}
}

func eachParagraph(c check) check {
	return func(a answer) []string { return each("paragraph", paragraphs(a.text), c) }
}

// part makes c of the first group of re, where the answer matches, and tells
// its problems behind name; elsewhere another check tells.
func part(re, name string, c check) check {
	pattern := regexp.MustCompile(re)
	return func(a answer) []string {
		m := pattern.FindStringSubmatch(a.text)
		if m == nil {
			return nil
		}
		problems := c(newAnswer(m[1]))
		for i := range problems {
			problems[i] = name + problems[i]
		}
		return problems
	}
}

// shape wants the whole text to match re; like says how that looks.
func shape(re, like string) check {
	pattern := regexp.MustCompile(`\A(?:` + re + `)\z`)
	return func(a answer) []string {
		if pattern.MatchString(a.text) {
			return nil
		}
		return []string{fmt.Sprintf("want %s, got %s", like, quote(a.text))}
	}
}

// oneLine wants the answer to be a single line.
func oneLine(a answer) []string {
	if len(a.lines) > 1 {
		return []string{fmt.Sprintf("%d lines, want one", len(a.lines))}
	}
	return nil
}

// lineCount wants lo to hi lines, none of them blank.
func lineCount(lo, hi int) check {
	return func(a answer) []string {
		for i, l := range a.lines {
			if l == "" {
				return []string{fmt.Sprintf("line %d is blank", i+1)}
			}
		}
		return wants(len(a.lines), lo, hi, "line")
	}
}

// exactly wants one text, and says only from where on the answer differs.
func exactly(want string) check {
	w := newAnswer(want)
	return func(a answer) []string {
		if len(a.lines) != len(w.lines) {
			return wants(len(a.lines), len(w.lines), len(w.lines), "line")
		}
		var problems []string
		for i, l := range a.lines {
			if n := firstDifference(l, w.lines[i]); n > 0 {
				problems = append(problems, differs(i+1, n, l, len(w.lines) > 1))
			}
		}
		return problems
	}
}

// firstDifference is the 1-based character from where on two texts differ, 0
// where they are equal.
func firstDifference(got, want string) int {
	g, w := []rune(got), []rune(want)
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			return i + 1
		}
	}
	return 0
}

func differs(n, from int, l string, many bool) string {
	where := ""
	if many {
		where = fmt.Sprintf("line %d: ", n)
	}
	r := []rune(l)
	if from > len(r) {
		return fmt.Sprintf("%s%s is not all: it breaks off too early", where, quote(l))
	}
	return fmt.Sprintf("%swrong from character %d on: %s", where, from, quote(string(r[from-1:])))
}
