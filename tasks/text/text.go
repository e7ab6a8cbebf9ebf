package text

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// Prefix begins a verify or score command that names a checker.
	Prefix = "builtin:text/"
	// AnswerFile is the file of the workspace that holds the answer.
	AnswerFile = "answer.txt"
	// MaxAnswer is the largest answer that is looked at, in bytes.
	MaxAnswer = 1 << 20
	// MaxProblems is how many problems are told of one answer; where there are
	// more, one line more says so.
	MaxProblems = 8
)

// Problems of answers that no checker sees.
const (
	TooLarge = "the answer is larger than 1 MiB"
	notUTF8  = "the answer is not UTF-8 text"
	isEmpty  = "the answer is empty"
	leftOut  = "more problems are left out"
)

// ErrNoChecker is wrapped by Check for a name that is not one of Names.
var ErrNoChecker = errors.New("no such checker")

// answer is an answer, or a part of one, as checks read it.
type answer struct {
	text  string
	lines []string // of text; one, empty, for an empty text
}

func newAnswer(text string) answer { return answer{text, strings.Split(text, "\n")} }

// check says what is wrong with an answer, first things first: nil for nothing.
// It may stop once it has found more than MaxProblems. It never says what is
// right where only one answer is.
type check func(a answer) []string

// family is the checkers of one family of tasks, by name.
type family map[string]check

var registry = register(wordsFamily, lettersFamily, listsFamily, sortingFamily, arithmeticFamily, jsonFamily, csvFamily,
	datesFamily, transformFamily, acrosticFamily, tablesFamily, checksumFamily, puzzleFamily, sequenceFamily, formatFamily, extractFamily, codeFamily)

func register(families ...family) family {
	out := family{}
	for _, f := range families {
		for name, c := range f {
			if out[name] != nil {
				panic(fmt.Sprintf("checker %q is registered twice", name)) // the tables are part of the program
			}
			out[name] = c
		}
	}
	return out
}

// Names lists the checkers, sorted.
func Names() []string { return slices.Sorted(maps.Keys(registry)) }

// Name returns the checker's name that a verify or score command gives, known
// or not; ok is false for every other command.
func Name(command string) (name string, ok bool) {
	return strings.CutPrefix(strings.TrimSpace(command), Prefix)
}

// Check says what is wrong with an answer, in the order of the answer and of the
// task's demands, each problem in one line; none means that it is right. At most
// MaxProblems are told, with one line more where there are others. The error is
// ErrNoChecker.
func Check(name, answer string) (problems []string, err error) {
	c, ok := registry[name]
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrNoChecker, name)
	}
	text, fault := normalise(answer)
	if fault != "" {
		return []string{fault}, nil
	}
	return limited(c(newAnswer(text))), nil
}

func limited(problems []string) []string {
	for i, p := range problems[:min(len(problems), MaxProblems)] {
		problems[i] = oneLineOf(p)
	}
	if len(problems) > MaxProblems {
		problems = append(slices.Clip(problems[:MaxProblems]), leftOut)
	}
	return problems
}

// normalise reads an answer as the package comment says.
func normalise(s string) (text, fault string) {
	switch {
	case len(s) > MaxAnswer:
		return "", TooLarge
	case !utf8.ValidString(s):
		return "", notUTF8
	}
	s = strings.TrimPrefix(s, "\ufeff")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRightFunc(lines[i], unicode.IsSpace)
	}
	text = strings.TrimSpace(strings.Join(lines, "\n"))
	if text = strings.TrimSpace(unfenced(text)); text == "" {
		return "", isEmpty
	}
	return text, ""
}

// unfenced takes a code fence away that stands around the whole text, with a
// label of one word: "```json", "``` json".
func unfenced(text string) string {
	lines := strings.Split(text, "\n")
	last := len(lines) - 1
	for _, fence := range []string{"```", "~~~"} {
		label, opens := strings.CutPrefix(lines[0], fence)
		if last == 0 || lines[last] != fence || !opens || strings.ContainsAny(strings.TrimSpace(label), " \t`~") {
			continue
		}
		inner := lines[1:last]
		if !slices.ContainsFunc(inner, func(l string) bool { return strings.HasPrefix(l, fence) }) {
			return strings.Join(inner, "\n")
		}
	}
	return text
}

// oneLineOf makes a problem fit to be shown: one line, of at most 300 characters.
func oneLineOf(s string) string {
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// quote shows what the answer says: one line, shortened.
func quote(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// counted is a number with its noun: "1 word", "3 words".
func counted(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "x"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// wants is the problem of a count: nil where n lies in [lo, hi].
func wants(n, lo, hi int, noun string) []string {
	switch {
	case lo <= n && n <= hi:
		return nil
	case lo == hi:
		return []string{fmt.Sprintf("%s, want %d", counted(n, noun), lo)}
	case n < lo:
		return []string{fmt.Sprintf("%s, want at least %d", counted(n, noun), lo)}
	}
	return []string{fmt.Sprintf("%s, want at most %d", counted(n, noun), hi)}
}
