package text

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// square wants n lines of n signs with single blanks between them, each out of
// the alphabet, and makes the checks of them.
func square(n int, alphabet []string, checks ...func(rows [][]string) []string) check {
	return func(a answer) []string {
		problems := lineCount(n, n)(a)
		var rows [][]string
		for i, l := range a.lines[:min(len(a.lines), n)] {
			row := strings.Split(l, " ")
			if len(row) != n {
				problems = append(problems, fmt.Sprintf("line %d: %s with single blanks between, want %d", i+1, counted(len(row), "sign"), n))
				continue
			}
			if j := slices.IndexFunc(row, func(sign string) bool { return !slices.Contains(alphabet, sign) }); j >= 0 {
				problems = append(problems, fmt.Sprintf("line %d: sign %d, %s, is not one of: %s", i+1, j+1, quote(row[j]), strings.Join(alphabet, " ")))
			}
			rows = append(rows, row)
		}
		for _, c := range checks {
			if len(problems) > 0 {
				return problems
			}
			problems = c(rows)
		}
		return problems
	}
}

// column is one column of a square.
func column(rows [][]string, j int) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r[j])
	}
	return out
}

func repeated(list []string) (sign string, ok bool) {
	for i, s := range list {
		if slices.Contains(list[:i], s) {
			return s, true
		}
	}
	return "", false
}

// latin wants no sign twice in a row or column.
func latin(rows [][]string) (problems []string) {
	for i := range rows {
		if s, bad := repeated(rows[i]); bad {
			problems = append(problems, fmt.Sprintf("line %d has %s twice", i+1, s))
		}
	}
	for j := range rows {
		if s, bad := repeated(column(rows, j)); bad {
			problems = append(problems, fmt.Sprintf("column %d has %s twice", j+1, s))
		}
	}
	return problems
}

// boxes wants no sign twice in the 2 by 2 boxes of a 4 by 4 square.
func boxes(rows [][]string) (problems []string) {
	for b := range 4 {
		i, j := b/2*2, b%2*2
		box := []string{rows[i][j], rows[i][j+1], rows[i+1][j], rows[i+1][j+1]}
		if s, bad := repeated(box); bad {
			problems = append(problems, fmt.Sprintf("box %d has %s twice", b+1, s))
		}
	}
	return problems
}

// keeps wants the given signs to stay; "." leaves a place open.
func keeps(given ...string) func(rows [][]string) []string {
	return func(rows [][]string) (problems []string) {
		for i, l := range given {
			for j, sign := range strings.Fields(l) {
				if sign != "." && rows[i][j] != sign {
					problems = append(problems, fmt.Sprintf("line %d: sign %d was given as %s", i+1, j+1, sign))
				}
			}
		}
		return problems
	}
}

// magic wants every number once, and one sum in all rows, columns and diagonals.
func magic(sum int) func(rows [][]string) []string {
	return func(rows [][]string) (problems []string) {
		if s, bad := repeated(slices.Concat(rows...)); bad {
			return []string{s + " is used more than once"}
		}
		total := func(name string, list []string) {
			got := 0
			for _, s := range list {
				n, _ := strconv.Atoi(s) // signs are numbers: square has seen to it
				got += n
			}
			if got != sum {
				problems = append(problems, fmt.Sprintf("%s adds up to %d, want %d", name, got, sum))
			}
		}
		var down, up []string
		for i := range rows {
			total(fmt.Sprintf("line %d", i+1), rows[i])
			down, up = append(down, rows[i][i]), append(up, rows[len(rows)-1-i][i])
		}
		for j := range rows {
			total(fmt.Sprintf("column %d", j+1), column(rows, j))
		}
		total("the diagonal from top left", down)
		total("the diagonal from bottom left", up)
		return problems
	}
}

// queens wants one Q in each row, none of which attacks another.
func queens(rows [][]string) (problems []string) {
	var at []int
	for i, r := range rows {
		n := 0
		for _, s := range r {
			if s == "Q" {
				n++
			}
		}
		if n != 1 {
			problems = append(problems, fmt.Sprintf("line %d: %s, want 1", i+1, counted(n, "queen")))
		}
		at = append(at, slices.Index(r, "Q"))
	}
	for i := range at {
		for k := i + 1; k < len(at) && len(problems) == 0; k++ {
			if d := at[k] - at[i]; d == 0 || d == k-i || d == i-k {
				problems = append(problems, fmt.Sprintf("the queens of lines %d and %d attack each other", i+1, k+1))
			}
		}
	}
	return problems
}

// ladder wants a word ladder: lines from first to last, all out of the list,
// each with one letter changed.
func ladder(first, last string, list ...string) check {
	return func(a answer) (problems []string) {
		if a.lines[0] != first {
			problems = append(problems, fmt.Sprintf("line 1: want %q", first))
		}
		for i, l := range a.lines {
			switch {
			case len(problems) > MaxProblems:
			case !slices.Contains(list, l):
				problems = append(problems, fmt.Sprintf("line %d: %s is not in the list", i+1, quote(l)))
			case i > 0 && len(l) == len(a.lines[i-1]) && changed(l, a.lines[i-1]) != 1:
				problems = append(problems, fmt.Sprintf("line %d: from %q to %q changes %s, want 1", i+1, a.lines[i-1], l, counted(changed(l, a.lines[i-1]), "letter")))
			}
		}
		if n := len(a.lines); a.lines[n-1] != last {
			problems = append(problems, fmt.Sprintf("line %d: the last line has to be %q", n, last))
		}
		return problems
	}
}

// changed counts the letters in which two words of one length differ.
func changed(a, b string) int {
	n := 0
	for i := range len(a) {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// balanced wants brackets that close what was opened last.
func balanced(a answer) []string {
	var open []rune
	for i, r := range []rune(a.text) {
		switch r {
		case '(', '[':
			open = append(open, r)
			continue
		}
		want := map[rune]rune{')': '(', ']': '['}[r]
		if len(open) == 0 || open[len(open)-1] != want {
			return []string{fmt.Sprintf("the bracket at place %d closes nothing that is open", i+1)}
		}
		open = open[:len(open)-1]
	}
	if len(open) > 0 {
		return []string{counted(len(open), "bracket") + " not closed"}
	}
	return nil
}

// tells wants n of one character.
func tells(char string, n int) check {
	return func(a answer) []string {
		if got := strings.Count(a.text, char); got != n {
			return []string{fmt.Sprintf("%d of %s, want %d", got, char, n)}
		}
		return nil
	}
}

// rule is a condition on an order of names: positions from 0.
type rule struct {
	says  string
	holds func(at map[string]int) bool
}

// seating wants all the names in an order that keeps the rules.
func seating(names []string, rules ...rule) check {
	return asCommas.strictly(permutes(names...), func(_ lister, items []string) (problems []string) {
		at := map[string]int{}
		for i, n := range items {
			at[n] = i
		}
		for _, r := range rules {
			if !r.holds(at) {
				problems = append(problems, "not kept: "+r.says)
			}
		}
		return problems
	})
}

// regex wants a regular expression (RE2) that matches all of yes and none of no.
func regex(yes, no []string) check {
	return func(a answer) (problems []string) {
		if len(a.text) > 200 || len(a.lines) > 1 {
			return []string{"want one regular expression on one line, of at most 200 characters"}
		}
		re, err := regexp.Compile(a.text)
		if err != nil {
			return []string{"this is not a regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")}
		}
		for _, s := range yes {
			if !re.MatchString(s) {
				problems = append(problems, fmt.Sprintf("it does not match %q", s))
			}
		}
		for _, s := range no {
			if re.MatchString(s) {
				problems = append(problems, fmt.Sprintf("it matches %q", s))
			}
		}
		return problems
	}
}

var functionForm = regexp.MustCompile(`\Adef (\w+)\(x\): *return (.+)\z`)

// function wants a Python function of one line of arithmetic, and tries it on a
// few numbers.
func function(name string, f func(x int64) int64) check {
	return func(a answer) (problems []string) {
		m := functionForm.FindStringSubmatch(a.text)
		switch {
		case len(a.text) > 200 || m == nil:
			return []string{"want only a function on one line, such as \"def name(x): return x\", got " + quote(a.text)}
		case m[1] != name:
			return []string{fmt.Sprintf("the function is named %s, want %s", quote(m[1]), name)}
		}
		for _, x := range []int64{0, 1, 5, -3} {
			value, _, err := evaluate(strings.ReplaceAll(m[2], "x", fmt.Sprintf("(0+%d)", x)))
			if x < 0 {
				value, _, err = evaluate(strings.ReplaceAll(m[2], "x", fmt.Sprintf("(0-%d)", -x)))
			}
			if err != nil {
				return []string{fmt.Sprintf("the expression %s cannot be used: want whole numbers, x, + - * / and brackets", quote(m[2]))}
			}
			if got := value.RatString(); got != strconv.FormatInt(f(x), 10) {
				problems = append(problems, fmt.Sprintf("%s(%d) gives %s, want %d", name, x, got, f(x)))
			}
		}
		return problems
	}
}
