package text

import (
	"strconv"
	"strings"
)

var jsonFamily = family{
	"json-person":  jsonOf(keys(field{"name", isText("Mira")}, field{"age", isNum("29")}, field{"city", isText("Oslo")})),
	"json-book":    jsonOf(keys(field{"title", isText("Night Train")}, field{"pages", isNum("320")})),
	"json-colours": jsonOf(tuple(isText("red"), isText("green"), isText("blue"))),
	"json-types": jsonOf(keys(field{"id", aWhole(1, 100)}, field{"title", aString}, field{"tags", array(3, aString)},
		field{"done", aBool}, field{"parent", aNull})),
	"json-order": jsonOf(keys(field{"customer", isText("Lena")},
		field{"items", tuple(
			keys(field{"sku", isText("A-1")}, field{"qty", isNum("2")}, field{"price", isNum("4.5")}),
			keys(field{"sku", isText("B-7")}, field{"qty", isNum("1")}, field{"price", isNum("12")}))},
		field{"total", isNum("21")}, field{"paid", isBool(true)})),
	"json-squares": jsonOf(tuple(squares(1, 5)...)),
	"json-repair": jsonOf(keys(field{"host", isText("example.org")}, field{"port", isNum("8080")},
		field{"paths", tuple(isText("/a"), isText("/b"))}, field{"secure", isBool(true)})),
	"json-inventory": jsonOf(tuple(
		keys(field{"item", isText("nails")}, field{"count", isNum("120")}),
		keys(field{"item", isText("hinges")}, field{"count", isNum("8")}),
		keys(field{"item", isText("screws")}, field{"count", isNum("75")}))),
}

func squares(lo, hi int) (out []value) {
	for n := lo; n <= hi; n++ {
		out = append(out, keys(field{"n", isNum(strconv.Itoa(n))}, field{"square", isNum(strconv.Itoa(n * n))}))
	}
	return out
}

var csvFamily = family{
	"csv-cities": gridReader(asCSV).grid([]string{"city", "country", "population"}, 3, filled, filled, wholeNumber),
	"csv-line":   gridReader(asCSV).records([]string{"Ben", "34", "Lima"}),
	"csv-quotes": gridReader(asCSV).table([]string{"title", "note"}, []string{"Soup, hot", "served in a bowl"},
		[]string{`The "Long" Walk`, "two hours"}, []string{"Tea", "milk, sugar"}),
	"csv-filter": gridReader(asCSV).table([]string{"part", "qty"}, []string{"bolt", "40"}, []string{"washer", "12"}, []string{"bracket", "10"}),
	"csv-line-totals": gridReader(asCSV).table([]string{"item", "qty", "price", "total"}, []string{"lamp", "3", "15", "45"},
		[]string{"rug", "2", "48", "96"}, []string{"shelf", "4", "27", "108"}),
	"csv-transpose": gridReader(asCSV).records([]string{"name", "Ann", "Bea", "Cy"}, []string{"red", "1", "4", "7"}, []string{"blue", "2", "5", "8"}),
}

var tablesFamily = family{
	"table-animals": gridReader(asMarkdown).grid([]string{"Animal", "Legs", "Flies"}, 4, filled, wholeNumber, oneOf("yes", "no")),
	"table-times": gridReader(asMarkdown).table([]string{"x", "1", "2", "3"}, []string{"1", "1", "2", "3"},
		[]string{"2", "2", "4", "6"}, []string{"3", "3", "6", "9"}),
	"table-columns": asLines.items(count(4), eachItem(all(width(20), shape(`\p{L}[\p{L}'’-]* +\d+`, "a word, blanks and a number")))),
	"table-from-text": gridReader(asMarkdown).table([]string{"Train", "Leaves", "Platform"}, []string{"IC 21", "08:15", "4"},
		[]string{"R 7", "08:40", "2"}, []string{"IC 55", "09:05", "11"}),
}

// width wants so many characters.
func width(n int) check {
	return func(a answer) []string {
		return wants(len([]rune(a.text)), n, n, "character")
	}
}

var formatFamily = family{
	"ini-settings": outline(kind(`\[server\]`, `"[server]"`), kind(`host ?= ?localhost`, `the host, as in "key = value"`), kind(`port ?= ?8080`, `the port, as in "key = value"`),
		kind(`\[log\]`, `"[log]"`), kind(`level ?= ?debug`, `the level, as in "key = value"`)),
	"markdown-page": outline(kind(`# \S.*`, `a title such as "# text"`), kind(``, "a blank line"), kind(`## \S.*`, `a heading such as "## text"`), kind(``, "a blank line"),
		kind(`[^#\s].*[.!?]`, "a sentence"), kind(``, "a blank line"), kind(`## \S.*`, `a heading such as "## text"`), kind(``, "a blank line"), kind(`[^#\s].*[.!?]`, "a sentence")),
	"html-list": outline(kind(`<ul>`, "<ul>"), kind(`\s*<li>[^<>]+</li>`, "a line such as <li>text</li>"), kind(`\s*<li>[^<>]+</li>`, "a line such as <li>text</li>"),
		kind(`\s*<li>[^<>]+</li>`, "a line such as <li>text</li>"), kind(`</ul>`, "</ul>")),
	"short-email": then(shape(`(?s)To: \S+@\S+\.\w+\nSubject: \S[^\n]*\n\n.+`, "lines \"To: …\" with an address, \"Subject: …\", a blank line and a body"),
		all(part(`\nSubject: ([^\n]*)`, "the subject: ", wordCount(2, 5)), part(`(?s)\n\n(.*)$`, "the text: ", all(wordCount(10, 25), uses("meeting"))))),
	"html-bold":      exactly("<b>fresh</b>"),
	"key-value":      shape(`(?i)colou?r ?= ?blue`, `a setting such as "size=10", for the color`),
	"markdown-title": then(oneLine, all(shape(`# \S.*`, `a title such as "# Text"`), uses("garden"), wordCount(2, 6))),
	"price-tag":      then(shape(`[A-Z][a-z]+: \$\d+\.\d{2}`, `a line such as "Chair: $45.00"`), shape(`Table: .*`, `it to start with "Table: "`)),
}

var listed = []string{"level", "paper", "radar", "table", "kayak", "civil", "noon", "peep", "mango", "rotor"}

var extractFamily = family{
	"emails-in-text":      asLines.selected(strings.Fields("ann@example.org @team desk@example.net bob@home pay@example.com"), whole, "is not a whole address"),
	"largest-number":      number("812"),
	"number-in-sentence":  number("48"),
	"initials":            exactly("GOL"),
	"animal-or-tool":      choice("tool", "animal", "tool"),
	"palindromes-in-list": asCommas.selected(listed, func(w string) bool { return w == reversed(w) }, "does not read the same backwards"),
	"last-word":           exactly("lantern"),
	"names-in-text":       asCommas.selected([]string{"Nora", "Tuesday", "Emil", "Lisbon", "Greta"}, func(w string) bool { return w != "Tuesday" && w != "Lisbon" }, "is not the name of a person"),
	"count-red":           number("4"),
}

// whole wants a name, an @ and a domain with a dot.
func whole(address string) bool {
	name, domain, ok := strings.Cut(address, "@")
	return ok && name != "" && strings.Contains(domain, ".")
}
