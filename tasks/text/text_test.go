package text

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what the checkers say into testdata")

// wrongAnswer is an answer of testdata: the checker and a number, the answer, and
// what is to be said of it.
type wrongAnswer struct{ name, answer, problems string }

// TestWrongAnswers: every checker rejects the wrong answers of its family's
// file, at least two, and says of each what stands there.
func TestWrongAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	tried := map[string]int{}
	for _, file := range files {
		for _, w := range wrongIn(t, file) {
			checker, _, _ := strings.Cut(w.name, "/")
			problems, err := Check(checker, w.answer)
			if err != nil || len(problems) == 0 {
				t.Errorf("%s: %s passes (%v):\n%s", file, w.name, err, w.answer)
				continue
			}
			tried[checker]++
			if got := strings.Join(problems, "\n") + "\n"; got != w.problems {
				t.Errorf("%s: %s:\n%sgives\n%swant\n%s", file, w.name, w.answer, got, w.problems)
			}
		}
	}
	for _, name := range Names() {
		if tried[name] < 2 {
			t.Errorf("%s: %d wrong answers are tried, want at least 2", name, tried[name])
		}
		delete(tried, name)
	}
	for name := range tried {
		t.Errorf("%s is not the name of a checker", name)
	}
}

// wrongIn reads one file: sections NAME/N with an answer, each followed by
// "NAME/N problems". With -update it writes what is said now.
func wrongIn(t *testing.T, file string) []wrongAnswer {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := txtar.Parse(data)
	var out []wrongAnswer
	for i := 0; i+1 < len(a.Files); i += 2 {
		answer, said := a.Files[i], &a.Files[i+1]
		if said.Name != answer.Name+" problems" {
			t.Fatalf("%s: %q is not followed by its problems", file, answer.Name)
		}
		if *update {
			name, _, _ := strings.Cut(answer.Name, "/")
			problems, err := Check(name, string(answer.Data))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			said.Data = []byte(strings.Join(problems, "\n") + "\n")
		}
		out = append(out, wrongAnswer{answer.Name, string(answer.Data), string(said.Data)})
	}
	if now := txtar.Format(a); *update && !bytes.Equal(now, data) {
		if err := os.WriteFile(file, now, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestAnswersThatNoCheckerSees: whatever the checker, these are one problem and
// never a crash.
func TestAnswersThatNoCheckerSees(t *testing.T) {
	for _, name := range Names() {
		for answer, want := range map[string]string{
			"": isEmpty, " \r\n\t\n": isEmpty, "\ufeff\n": isEmpty, "```\n```": isEmpty, "```json\n\n```\n": isEmpty,
			"caf\xe9": notUTF8, strings.Repeat("a", MaxAnswer+1): TooLarge, strings.Repeat("\xff", MaxAnswer+1): TooLarge,
		} {
			if got, err := Check(name, answer); err != nil || !slices.Equal(got, []string{want}) {
				t.Errorf("%s of %.20q: %q, %v, want %q", name, answer, got, err, want)
			}
		}
	}
}

// TestHugeAnswers: large answers, and one as large as may be, are rejected by
// every checker, in a bounded number of short lines.
func TestHugeAnswers(t *testing.T) {
	var huge []string
	for _, unit := range []string{
		"a", "a ", "a\n", "(", "[", `{"a":`, "x. ", "9", "1, ", "| a |\n", "1 ", "- [x] a\n", "Q\x00", "a\n\n", `"a",`, "```\n", "1 + 1 = 2\n",
	} {
		huge = append(huge, strings.Repeat(unit, 1<<13/len(unit)))
	}
	for i, name := range Names() {
		list := huge
		if i%10 == 0 {
			list = append(slices.Clip(huge), strings.Repeat("a\n", MaxAnswer/2))
		}
		for _, answer := range list {
			problems, err := Check(name, answer)
			if err != nil || len(problems) == 0 || len(problems) > MaxProblems+1 {
				t.Errorf("%s of %.12q…: %d problems, %v", name, answer, len(problems), err)
			}
			for _, p := range problems {
				if len(p) > 4*301 || strings.ContainsAny(p, "\n\x00") || p == "" {
					t.Errorf("%s of %.12q…: problem %q", name, answer, p)
				}
			}
		}
	}
}

func TestNormalise(t *testing.T) {
	for answer, want := range map[string]string{
		"a\r\nb\rc\n":                 "a\nb\nc",
		"\ufeff  a \t\n b  \n\n":      "a\n b",
		"```json\n{}\n```":            "{}",
		"~~~\n  a\n b\n~~~\n":         "a\n b",
		"```\na\n```\n```\nb\n```":    "```\na\n```\n```\nb\n```",
		"here:\n```\na\n```":          "here:\n```\na\n```",
		"```\na\n```\ndone":           "```\na\n```\ndone",
		"```":                         "```",
		"``` some words here\na\n```": "``` some words here\na\n```",
		"a\n\n\n b":                   "a\n\n\n b",
	} {
		if got, fault := normalise(answer); got != want || fault != "" {
			t.Errorf("normalise %q: %q, %q, want %q", answer, got, fault, want)
		}
	}
}

func TestUnknownChecker(t *testing.T) {
	if problems, err := Check("nope", "a"); !errors.Is(err, ErrNoChecker) || problems != nil {
		t.Errorf("%q, %v", problems, err)
	}
	for command, want := range map[string]string{" builtin:text/a b\n": "a b", "builtin:text/": ""} {
		if name, ok := Name(command); !ok || name != want {
			t.Errorf("%q names %q, %v, want %q", command, name, ok, want)
		}
	}
	if _, ok := Name("python3 -m unittest builtin:text/a"); ok {
		t.Error("a shell command names a checker")
	}
}

func TestProblemsAreLimited(t *testing.T) {
	many := slices.Repeat([]string{strings.Repeat("x", 400) + "\x00"}, MaxProblems+3)
	got := limited(many)
	if len(got) != MaxProblems+1 || got[MaxProblems] != leftOut || len(got[0]) != 300+len("…") {
		t.Errorf("%d problems, the last %q, the first of %d bytes", len(got), got[len(got)-1], len(got[0]))
	}
	if got := limited(many[:MaxProblems]); len(got) != MaxProblems || strings.Contains(got[0], "\x00") {
		t.Errorf("%q", got)
	}
}

// TestOtherRightAnswers: where more than one answer is right, others than the
// solution pass too.
func TestOtherRightAnswers(t *testing.T) {
	for name, list := range map[string][]string{
		"sentence-of-six":  {"My old cat likes warm milk!", "Where is the cat sleeping today?", "“The well-known cat sleeps,” he said."},
		"three-five-seven": {"Snow, white snow\nI don't hear a sound\nwhere the old road turns to town"},
		"growing-words":    {"I am the very first winner!"},
		"two-paragraphs":   {"A bicycle needs balance, patience and a soft meadow to fall on. My sister had all three!\n\n\nShe rode away before I could even shout. Was I proud of her that day?"},
		"five-letter-word": {"Bread", "black"},
		"three-animals":    {"Cats, Dogs, sheep", "zebra, yak, wolf"},
		"numbered-fruits":  {"1. Apples\n2. Pears\n3. Kiwi\n4. Lime\n5. Figs"},
		"make-24":          {"4 × (7 - 8 / 8)", "(7-(8/8))*4"},
		"fewest-coins":     {"2 5 10 20 50"},
		"products-of-36":   {"1 x 36 = 36\n6 × 6 = 36\n4 * 9 = 36"},
		"json-person":      {"```json\n{\n  \"city\": \"Oslo\",\n  \"age\": 29.0,\n  \"name\": \"Mira\"\n}\n```"},
		"json-order":       {`{"paid":true,"total":21.00,"items":[{"price":4.50,"qty":2,"sku":"A-1"},{"price":12.00,"qty":1,"sku":"B-7"}],"customer":"Lena"}`},
		"csv-quotes":       {"\"title\",\"note\"\r\n\"Soup, hot\",\"served in a bowl\"\r\n\"The \"\"Long\"\" Walk\",\"two hours\"\r\n\"Tea\",\"milk, sugar\"\r\n"},
		"table-animals":    {"|Animal|Legs|Flies|\n|:--|--:|:-:|\n|ant|6|no|\n|bat|2|yes|\n|cat|4|no|\n|dove|2|yes|"},
		"table-columns":    {"fig                2\nplum            1000\nlemon             33\nlime               1"},
		"acrostic-planet":  {"Purple llamas always nap every Tuesday."},
		"luhn-number":      {"37000106"},
		"digits-to-27":     {"98730", "34569"},
		"latin-square":     {"A B C D\nB A D C\nC D A B\nD C B A"},
		"magic-square":     {"2 9 4\n7 5 3\n6 1 8"},
		"six-queens":       {". . . . Q .\n. . Q . . .\nQ . . . . .\n. . . . . Q\n. . . Q . .\n. Q . . . ."},
		"sudoku-four":      {"1 3 2 4\n2 4 1 3\n3 1 4 2\n4 2 3 1"},
		"cold-to-warm":     {"cold\ncord\ncard\nward\nwarm"},
		"brackets":         {"([[[]]])()()"},
		"collatz":          {"13, 40, 20, 10, 5, 16, 8, 4, 2, 1"},
		"ini-settings":     {"[server]\nhost=localhost\nport=8080\n[log]\nlevel=debug"},
		"html-list":        {"<ul>\n<li>Gouda, old</li>\n<li>Feta</li>\n<li>Brie</li>\n</ul>"},
		"key-value":        {"colour = blue"},
		"add-function":     {"def add_seven(x): return 7 + x"},
		"line-function":    {"def line(x): return (x * 3) + 5"},
		"regex-dates":      {"^[0-9]{4}-[0-9][0-9]-[0-9][0-9]$", `\A\d\d\d\d(-\d\d){2}\z`},
		"regex-no-digits":  {"^[[:alpha:]]+$", "(?i)^[a-z]+$"},
		"sql-select":       {"select name from users", "SELECT name\nFROM users;"},
		"reduce-sum":       {"```\n19/12\n```"},
		"running-total":    {"0 + 12 = 12\r\n12 + 7 = 19\r\n19 + 25 = 44\r\n44 + 8 = 52\r\n"},
		"short-email":      {"To: a.b+c@mail.example.com\nSubject: New time\n\nDear all,\nthe Meeting is now on Friday. Please bring your notes along with you."},
		"markdown-title":   {"# The Secret Garden"},
		"words-a-to-h":     {"Ants, bees, cats, dogs, eels, foxes, goats, hens!"},
		"receipt-total":    {"23.160"},
		"weather-question": {"How's the weather today?"},
		"telestich-moon":   {"It is warm\nI go.\nSo do two\nIt shone in"},
		"table-from-text":  {"|Train|Leaves|Platform|\n|-|-|-|\n|IC 21|08:15|4|\n|R 7|08:40|2|\n|IC 55|09:05|11|"},
	} {
		for _, answer := range list {
			if problems, err := Check(name, answer); err != nil || problems != nil {
				t.Errorf("%s of %q: %q, %v", name, answer, problems, err)
			}
		}
	}
}
