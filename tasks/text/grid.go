package text

import (
	"encoding/csv"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// gridReader takes an answer apart into rows of cells, the header first.
type gridReader func(a answer) (rows [][]string, problems []string)

// asCSV reads comma-separated values with quotes (RFC 4180).
func asCSV(a answer) ([][]string, []string) {
	r := csv.NewReader(strings.NewReader(a.text))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	var fault *csv.ParseError
	if errors.As(err, &fault) {
		return nil, []string{fmt.Sprintf("line %d: this is not CSV: %s", fault.Line, strings.TrimPrefix(fault.Err.Error(), "csv: "))}
	}
	return rows, nil
}

var ruleCell = regexp.MustCompile(`^:?-+:?$`)

// asMarkdown reads a table of lines that begin and end with |, the second of
// which is the rule.
func asMarkdown(a answer) (rows [][]string, problems []string) {
	for i, l := range a.lines {
		if len(l) < 2 || !strings.HasPrefix(l, "|") || !strings.HasSuffix(l, "|") {
			return nil, []string{fmt.Sprintf("line %d: want a table row between | and |, got %s", i+1, quote(l))}
		}
		cells := strings.Split(l[1:len(l)-1], "|")
		for j := range cells {
			cells[j] = strings.TrimSpace(cells[j])
		}
		rows = append(rows, cells)
	}
	if len(rows) < 2 || slices.ContainsFunc(rows[1], func(c string) bool { return !ruleCell.MatchString(c) }) {
		return nil, []string{"line 2: want the rule under the header, such as |---|---|"}
	}
	if len(rows[1]) != len(rows[0]) {
		return nil, []string{fmt.Sprintf("line 2: the rule has %s, the header has %d", counted(len(rows[1]), "column"), len(rows[0]))}
	}
	return slices.Delete(rows, 1, 2), nil
}

// grid wants this header and n rows under it, and makes cell of each row's
// cells, column by column; nil for a column that may hold anything.
func (read gridReader) grid(header []string, n int, cells ...check) check {
	return func(a answer) []string {
		rows, problems := read.rows(a, header, n)
		for i, row := range rows {
			for j, c := range cells {
				if c == nil || j >= len(row) {
					continue
				}
				for _, p := range c(newAnswer(row[j])) {
					problems = append(problems, fmt.Sprintf("row %d, column %q: %s", i+1, header[j], p))
				}
			}
		}
		return problems
	}
}

// table wants these rows, header first, and names the cells that are wrong.
func (read gridReader) table(want ...[]string) check {
	return func(a answer) []string {
		rows, problems := read.rows(a, want[0], len(want)-1)
		for i, row := range rows {
			for j, cell := range row {
				if cell != want[i+1][j] {
					problems = append(problems, fmt.Sprintf("row %d, column %q is wrong: %s", i+1, want[0][j], quote(cell)))
				}
			}
		}
		return problems
	}
}

// records wants these rows, and does not say what the header is either.
func (read gridReader) records(want ...[]string) check {
	return func(a answer) []string {
		rows, problems := read(a)
		if len(problems) > 0 {
			return problems
		}
		problems = wants(len(rows), len(want), len(want), "row")
		for i, row := range rows[:min(len(rows), len(want))] {
			if len(row) != len(want[i]) {
				problems = append(problems, fmt.Sprintf("row %d has %s, want %d", i+1, counted(len(row), "field"), len(want[i])))
				continue
			}
			for j, cell := range row {
				if cell != want[i][j] {
					problems = append(problems, fmt.Sprintf("row %d, field %d is wrong: %s", i+1, j+1, quote(cell)))
				}
			}
		}
		return problems
	}
}

// rows checks the header and the sizes; rows without the header come back only
// where those are right.
func (read gridReader) rows(a answer, header []string, n int) (rows [][]string, problems []string) {
	all, problems := read(a)
	if len(problems) > 0 {
		return nil, problems
	}
	if !slices.Equal(all[0], header) {
		return nil, []string{fmt.Sprintf("the header is %s, want %q", quote(strings.Join(all[0], ",")), strings.Join(header, ","))}
	}
	for i, row := range all[1:] {
		if len(row) != len(header) && len(problems) <= MaxProblems {
			problems = append(problems, fmt.Sprintf("row %d has %s, want %d", i+1, counted(len(row), "column"), len(header)))
		}
	}
	problems = append(problems, wants(len(all)-1, n, n, "row")...)
	if len(problems) > 0 {
		return nil, problems
	}
	return all[1:], nil
}

// wholeNumber wants digits and nothing else.
var wholeNumber = shape(`\d{1,15}`, "a whole number in plain digits")

// filled wants something to stand there.
func filled(a answer) []string {
	if a.text == "" {
		return []string{"it is empty"}
	}
	return nil
}
