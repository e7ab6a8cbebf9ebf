package text

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// lister takes an answer apart into items, or says why it cannot.
type lister struct {
	noun  string
	split func(a answer) (items, problems []string)
}

// items makes the checks of an answer's items, after what taking it apart finds.
func (l lister) items(checks ...func(l lister, items []string) []string) check {
	return func(a answer) []string {
		list, problems := l.split(a)
		if len(problems) > 0 {
			return problems
		}
		for _, c := range checks {
			problems = append(problems, c(l, list)...)
		}
		return problems
	}
}

// strictly is items, but tells the problems of the first check that finds any.
func (l lister) strictly(checks ...func(l lister, items []string) []string) check {
	return func(a answer) []string {
		list, problems := l.split(a)
		for i := 0; i < len(checks) && len(problems) == 0; i++ {
			problems = checks[i](l, list)
		}
		return problems
	}
}

// asLines: every line is an item.
var asLines = lister{"line", func(a answer) ([]string, []string) { return a.lines, lineCount(1, len(a.lines))(a) }}

// asCommas: items on one line, set apart by a comma and a blank.
var asCommas = lister{"item", func(a answer) ([]string, []string) {
	return strings.Split(a.text, ", "), oneLine(a)
}}

// asWords: items on one line, set apart by blanks.
var asWords = lister{"item", func(a answer) ([]string, []string) { return strings.Fields(a.text), oneLine(a) }}

// numbered: lines "1. item", counted from 1.
var numbered = lister{"item", func(a answer) (items, problems []string) {
	for i, l := range a.lines {
		item, ok := strings.CutPrefix(l, fmt.Sprintf("%d. ", i+1))
		if !ok && len(problems) <= MaxProblems {
			problems = append(problems, fmt.Sprintf("line %d: want it to start with \"%d. \", got %s", i+1, i+1, quote(l)))
		}
		items = append(items, strings.TrimSpace(item))
	}
	return items, problems
}}

// bullets: lines "- item".
var bullets = lister{"item", func(a answer) (items, problems []string) {
	for i, l := range a.lines {
		item, ok := strings.CutPrefix(l, "- ")
		if !ok && len(problems) <= MaxProblems {
			problems = append(problems, fmt.Sprintf("line %d: want it to start with \"- \", got %s", i+1, quote(l)))
		}
		items = append(items, strings.TrimSpace(item))
	}
	return items, problems
}}

func count(n int) func(lister, []string) []string {
	return func(l lister, items []string) []string { return wants(len(items), n, n, l.noun) }
}

func eachItem(c check) func(lister, []string) []string {
	return func(l lister, items []string) []string { return each(l.noun, items, c) }
}

// distinct wants no item twice, whatever its case.
func distinct(l lister, items []string) (problems []string) {
	first := map[string]int{}
	for i, item := range items {
		key := strings.ToLower(item)
		if n, seen := first[key]; seen {
			problems = append(problems, fmt.Sprintf("%s %d, %s, is the same as %s %d", l.noun, i+1, quote(item), l.noun, n))
			if len(problems) > MaxProblems {
				break
			}
			continue
		}
		first[key] = i + 1
	}
	return problems
}

// permutes wants the given items, each as often as given.
func permutes(given ...string) func(lister, []string) []string {
	return func(l lister, items []string) (problems []string) {
		left := map[string]int{}
		for _, g := range given {
			left[g]++
		}
		for i, item := range items {
			left[item]--
			switch {
			case len(problems) > MaxProblems:
			case !slices.Contains(given, item):
				problems = append(problems, fmt.Sprintf("%s %d, %s, is not one of the given ones", l.noun, i+1, quote(item)))
			case left[item] < 0:
				problems = append(problems, fmt.Sprintf("%s %d, %s, stands there too often", l.noun, i+1, quote(item)))
			}
		}
		for i, g := range given {
			if left[g] > 0 && !slices.Contains(given[:i], g) {
				problems = append(problems, fmt.Sprintf("%q is missing", g))
			}
		}
		return problems
	}
}

// ordered wants the items in this order, and names the first that is not.
func ordered(want ...string) func(lister, []string) []string {
	return func(l lister, items []string) []string {
		for i, item := range items {
			if i >= len(want) || item != want[i] {
				return []string{fmt.Sprintf("%s %d, %s, is out of order", l.noun, i+1, quote(item))}
			}
		}
		return nil
	}
}

// sorted wants the given items in the order that cmp makes.
func (l lister) sorted(cmp func(a, b string) int, given ...string) check {
	want := slices.Clone(given)
	slices.SortStableFunc(want, cmp)
	return l.strictly(permutes(given...), ordered(want...))
}

// right wants these items and says which are wrong, not what is right.
func right(want ...string) func(lister, []string) []string {
	return func(l lister, items []string) []string {
		problems := wants(len(items), len(want), len(want), l.noun)
		for i, item := range items[:min(len(items), len(want))] {
			if item != want[i] {
				problems = append(problems, fmt.Sprintf("%s %d is wrong: %s", l.noun, i+1, quote(item)))
			}
		}
		return problems
	}
}

// selected wants those of the given items that keep holds for, in their order.
// not says what is wrong with one that it does not hold for.
func (l lister) selected(given []string, keep func(item string) bool, not string) check {
	var want []string
	for _, g := range given {
		if keep(g) {
			want = append(want, g)
		}
	}
	of := func(l lister, items []string) (problems []string) {
		missing := len(want)
		for i, item := range items {
			switch {
			case len(problems) > MaxProblems:
			case !slices.Contains(given, item):
				problems = append(problems, fmt.Sprintf("%s %d, %s, is not one of the given ones", l.noun, i+1, quote(item)))
			case slices.Contains(items[:i], item):
				problems = append(problems, fmt.Sprintf("%s %d, %s, stands there twice", l.noun, i+1, quote(item)))
			case !keep(item):
				problems = append(problems, fmt.Sprintf("%s %d, %s, %s", l.noun, i+1, quote(item), not))
			default:
				missing--
			}
		}
		if missing > 0 {
			problems = append(problems, fmt.Sprintf("%s %s missing", counted(missing, l.noun), map[bool]string{true: "is", false: "are"}[missing == 1]))
		}
		return problems
	}
	return l.strictly(of, ordered(want...))
}

// oneOf wants the whole text to be one of the words.
func oneOf(list ...string) check {
	return func(a answer) []string {
		if slices.Contains(list, a.text) {
			return nil
		}
		return []string{fmt.Sprintf("%s is not one of: %s", quote(a.text), strings.Join(list, ", "))}
	}
}

// choice wants one of the options, and the right one.
func choice(right string, options ...string) check {
	return then(oneOf(options...), func(a answer) []string {
		if a.text != right {
			return []string{fmt.Sprintf("%s is not right", quote(a.text))}
		}
		return nil
	})
}

// lineKind is how one line has to look.
type lineKind struct {
	re   *regexp.Regexp
	like string
}

func kind(re, like string) lineKind { return lineKind{regexp.MustCompile(`^(?:` + re + `)$`), like} }

// outline wants lines of these kinds, in this order.
func outline(kinds ...lineKind) check {
	return func(a answer) []string {
		problems := wants(len(a.lines), len(kinds), len(kinds), "line")
		for i, l := range a.lines[:min(len(a.lines), len(kinds))] {
			if !kinds[i].re.MatchString(l) {
				problems = append(problems, fmt.Sprintf("line %d: want %s, got %s", i+1, kinds[i].like, quote(l)))
			}
		}
		return problems
	}
}
