package text

import "strings"

var digits4 = strings.Fields("1 2 3 4")

var puzzleFamily = family{
	"latin-square": square(4, strings.Fields("A B C D"), latin),
	"magic-square": square(3, strings.Fields("1 2 3 4 5 6 7 8 9"), keeps("2 . .", ". . .", ". . ."), magic(15)),
	"sudoku-four":  square(4, digits4, keeps("1 . . 4", ". . 1 .", ". 1 . .", "4 . . 1"), func(rows [][]string) []string { return append(latin(rows), boxes(rows)...) }),
	"six-queens":   square(6, strings.Fields("Q ."), queens),
	"cold-to-warm": ladder("cold", "warm", "cold", "cord", "card", "ward", "warm", "word", "worm", "gold", "bold", "wild", "wind", "corm"),
	"brackets": then(shape(`[()\[\]]+`, "brackets ( ) [ ] and nothing else"), shape(`\(\[.*`, "it to start with (["),
		all(tells("(", 3), tells("[", 3), balanced)),
	"five-seats": seating([]string{"Ann", "Ben", "Cleo", "Dan", "Eve"},
		rule{"Ann does not sit at an end", func(at map[string]int) bool { return at["Ann"] != 0 && at["Ann"] != 4 }},
		rule{"Ben sits directly right of Eve", func(at map[string]int) bool { return at["Ben"] == at["Eve"]+1 }},
		rule{"Cleo and Dan do not sit side by side", func(at map[string]int) bool { return at["Cleo"]-at["Dan"] != 1 && at["Dan"]-at["Cleo"] != 1 }},
		rule{"Dan sits left of Ann", func(at map[string]int) bool { return at["Dan"] < at["Ann"] }}),
}

var codeFamily = family{
	"add-function":  function("add_seven", func(x int64) int64 { return x + 7 }),
	"line-function": function("line", func(x int64) int64 { return 3*x + 5 }),
	"python-list":   then(shape(`\[.*\]`, "a list between [ and ]"), jsonOf(tuple(isNum("4"), isNum("8"), isNum("15")))),
	"python-assign": shape(`count *= *12`, `an assignment such as "name = 3", of count`),
	"sql-select":    shape(`(?i)select\s+name\s+from\s+users\s*;?`, "a SELECT statement with one column and one table"),
	"regex-dates": regex([]string{"2024-01-31", "1999-12-01", "2000-06-15"},
		[]string{"2024-1-31", "24-01-31", "2024/01/31", "x2024-01-31", "2024-01-310", "2024-01-3a"}),
	"regex-no-digits": regex([]string{"hello", "Zoo", "a"}, []string{"", "h3llo", "42", "good day", "semi-final"}),
	"boolean-or":      choice("True", "True", "False"),
}
