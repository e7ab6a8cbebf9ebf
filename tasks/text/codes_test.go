package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// unroman adds up a Roman numeral's signs; one before a larger sign counts
// negative.
func unroman(s string) int {
	value := map[byte]int{'I': 1, 'V': 5, 'X': 10, 'L': 50, 'C': 100, 'D': 500, 'M': 1000}
	n := 0
	for i := range len(s) {
		v := value[s[i]]
		if i+1 < len(s) && value[s[i+1]] > v {
			v = -v
		}
		n += v
	}
	return n
}

func TestRoman(t *testing.T) {
	seen := map[string]bool{}
	for n := 1; n < 4000; n++ {
		r := roman(n)
		for _, four := range []string{"IIII", "XXXX", "CCCC", "MMMM", "VV", "LL", "DD"} {
			if strings.Contains(r, four) {
				t.Errorf("%d is %s", n, r)
			}
		}
		if unroman(r) != n || seen[r] {
			t.Errorf("%d is %s, which is %d", n, r, unroman(r))
		}
		seen[r] = true
	}
}

func TestTransformationsBackwards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[A-Za-z é]{0,12}`).Draw(t, "text")
		if rot13(rot13(s)) != s || reversed(reversed(s)) != s || len(rot13(s)) != len(s) {
			t.Fatalf("%q: %q, %q", s, rot13(s), reversed(s))
		}
		if fields := strings.Join(strings.Fields(s), " "); reversedWords(reversedWords(fields)) != fields || wordsBackwards(wordsBackwards(fields)) != fields ||
			reversed(fields) != wordsBackwards(reversedWords(fields)) {
			t.Fatalf("%q: %q, %q", fields, reversedWords(fields), wordsBackwards(fields))
		}
		runs := rapid.StringMatching(`[abc]{0,12}`).Draw(t, "runs")
		var back strings.Builder
		last := rune(0)
		for rest := runLength(runs); rest != ""; {
			var c rune
			var n int
			if _, err := fmt.Sscanf(rest, "%c%d", &c, &n); err != nil || c == last || n < 1 {
				t.Fatalf("%q is written as %q: %v", runs, runLength(runs), err)
			}
			back.WriteString(strings.Repeat(string(c), n))
			rest, last = strings.TrimLeft(rest[1:], "0123456789"), c
		}
		if back.String() != runs {
			t.Fatalf("%q is written as %q", runs, runLength(runs))
		}
		camel := rapid.StringMatching(`[a-z]{1,3}([A-Z][a-z]{1,3}){0,3}`).Draw(t, "camel")
		parts := strings.Split(snakeCase(camel), "_")
		for i := range parts[1:] {
			parts[i+1] = strings.ToUpper(parts[i+1][:1]) + parts[i+1][1:]
		}
		if strings.Join(parts, "") != camel {
			t.Fatalf("%q is written as %q", camel, snakeCase(camel))
		}
		bits := rapid.StringMatching(`[01]{1,8}`).Draw(t, "bits")
		if p := evenParity(bits); strings.Count(p, "1")%2 != 0 || p[:len(bits)] != bits || len(p) != len(bits)+1 {
			t.Fatalf("%s gets the parity %s", bits, p)
		}
	})
}

func TestPigLatinAndStars(t *testing.T) {
	for word, want := range map[string]string{"string": "ingstray", "apple": "appleway", "rhythm": "rhythmay", "a cat": "away atcay"} {
		if got := pigLatin(word); got != want {
			t.Errorf("%s becomes %s, want %s", word, got, want)
		}
	}
	if got := starVowels("AEIOU aeiou yY é"); got != "***** ***** yY é" {
		t.Error(got)
	}
}

// Check digits find every wrong digit, Luhn's also neighbours that have changed
// places, but for 0 and 9.
func TestCheckDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[0-9]{12}`).Draw(t, "digits")
		full := digits
		for d := '0'; luhn(full)%10 != 0 || full == digits; d++ {
			full = digits + string(d)
		}
		i := rapid.IntRange(0, 11).Draw(t, "place")
		wrong := []byte(full)
		wrong[i] = '0' + (wrong[i]-'0'+byte(rapid.IntRange(1, 9).Draw(t, "by")))%10
		if passes(luhnValid, string(wrong)) || !passes(luhnValid, full) {
			t.Fatalf("%s for %s", wrong, full)
		}
		if isbn13(string(wrong[:12])) == isbn13(digits) {
			t.Fatalf("%s and %s have one check digit", wrong[:12], digits)
		}
		swapped := []byte(full)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		pair := string(swapped[i : i+2])
		if different := full[i] != full[i+1] && pair != "09" && pair != "90"; different == passes(luhnValid, string(swapped)) {
			t.Fatalf("%s for %s", swapped, full)
		}
	})
	// Worked examples: ISO/IEC 7812-1 annex B; the ISBN users' manual.
	if luhn("79927398713")%10 != 0 || isbn13("978030640615") != "7" {
		t.Errorf("luhn %d, isbn %s", luhn("79927398713"), isbn13("978030640615"))
	}
}

// permutations calls do with every order of n numbers from 0.
func permutations(n int, do func(order []int)) {
	order := make([]int, 0, n)
	var next func()
	next = func() {
		if len(order) == n {
			do(order)
			return
		}
		for k := range n {
			if !slices.Contains(order, k) {
				order = append(order, k)
				next()
				order = order[:len(order)-1]
			}
		}
	}
	next()
}

// Known numbers of solutions: four of six queens, eight magic squares of order
// 3, 576 Latin squares of order 4, 288 sudokus of order 4.
func TestPuzzlesByEnumeration(t *testing.T) {
	found := 0
	permutations(6, func(order []int) {
		rows := make([][]string, 6)
		for i, at := range order {
			rows[i] = strings.Split(".....", "")
			rows[i] = slices.Insert(rows[i], at, "Q")
		}
		if len(queens(rows)) == 0 {
			found++
		}
	})
	if found != 4 {
		t.Errorf("%d placings of queens", found)
	}
	found = 0
	permutations(9, func(o []int) {
		rows := make([][]string, 3)
		for i, n := range o {
			rows[i/3] = append(rows[i/3], string(rune('1'+n)))
		}
		if len(magic(15)(rows)) == 0 {
			found++
		}
	})
	if found != 8 {
		t.Errorf("%d magic squares", found)
	}
	var lines [][]string
	permutations(4, func(o []int) {
		lines = append(lines, []string{digits4[o[0]], digits4[o[1]], digits4[o[2]], digits4[o[3]]})
	})
	squares, sudokus := 0, 0
	for i := range len(lines) * len(lines) * len(lines) * len(lines) {
		n := len(lines)
		rows := [][]string{lines[i%n], lines[i/n%n], lines[i/n/n%n], lines[i/n/n/n]}
		if slices.Equal(column(rows, 0), []string{"1", "1", "1", "1"}) || len(latin(rows)) > 0 {
			continue
		}
		squares++
		if len(boxes(rows)) == 0 {
			sudokus++
		}
	}
	if squares != 576 || sudokus != 288 {
		t.Errorf("%d Latin squares, %d sudokus", squares, sudokus)
	}
}

// balanced agrees with taking pairs away until none is left.
func TestBalancedAgainstReduction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[()\[\]]{1,10}`).Draw(t, "brackets")
		rest := s
		for before := ""; before != rest; {
			before = rest
			rest = strings.ReplaceAll(strings.ReplaceAll(rest, "()", ""), "[]", "")
		}
		if passes(balanced, s) != (rest == "") {
			t.Fatalf("%s: %q", s, balanced(newAnswer(s)))
		}
	})
}

// The tasks' puzzles and selections can be solved, and few random answers do.
func TestSeatsByEnumeration(t *testing.T) {
	names := []string{"Ann", "Ben", "Cleo", "Dan", "Eve"}
	found := 0
	permutations(5, func(o []int) {
		list := make([]string, 5)
		for i, k := range o {
			list[i] = names[k]
		}
		if passes(puzzleFamily["five-seats"], strings.Join(list, ", ")) {
			found++
		}
	})
	if found < 1 || found > 12 {
		t.Errorf("%d of 120 orders are right", found)
	}
}

func TestFunctionForms(t *testing.T) {
	c := function("f", func(x int64) int64 { return 2*x + 1 })
	for text, want := range map[string]bool{
		"def f(x): return 2 * x + 1": true, "def f(x):return 1 + x*2": true, "def f(x): return x + x + 1": true, "def f(x): return (x + 1) * 2 - 1": true,
		"def f(x): return 2x + 1": false, "def f(y): return 2 * y + 1": false, "def f(x): return 3": false, "def f(x): return 1 / (x - 5)": false,
		"def f(x): return x ** 2": false, "f = 2 * x + 1": false, "def f(x): return 2 * x + 1\nprint(f(1))": false,
	} {
		if passes(c, text) != want {
			t.Errorf("%q: %q", text, c(newAnswer(text)))
		}
	}
}
