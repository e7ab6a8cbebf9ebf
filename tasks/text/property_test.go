package text

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// passes says whether a check finds nothing.
func passes(c check, text string) bool { return len(c(newAnswer(text))) == 0 }

var word = rapid.StringMatching(`[a-z]([a-z'-]?[a-z]){0,5}`)

// Line ends, blanks at the ends of lines and around the answer, a byte order
// mark and a fence change nothing; reading what was read changes nothing either.
func TestNormaliseForgets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[ a-c.|-]{0,4}[a-c]`), 1, 5).Draw(t, "lines")
		plain := strings.TrimSpace(strings.Join(lines, "\n"))
		blank := rapid.StringMatching(`[ \t]{0,2}`)
		dressed := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark") + rapid.StringMatching(`[ \n]{0,3}`).Draw(t, "before")
		fence := rapid.SampledFrom([]string{"", "```", "~~~"}).Draw(t, "fence")
		if fence != "" {
			dressed += fence + rapid.SampledFrom([]string{"", "json", "text", " json", "\tc++", "  text "}).Draw(t, "label") + "\n"
		}
		for _, l := range strings.Split(plain, "\n") {
			dressed += l + blank.Draw(t, "blank") + rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end")
		}
		dressed += fence + rapid.StringMatching(`[ \n]{0,3}`).Draw(t, "behind")
		got, fault := normalise(dressed)
		if got != plain || fault != "" {
			t.Fatalf("%q is read as %q, %q, want %q", dressed, got, fault, plain)
		}
		if again, _ := normalise(got); again != got {
			t.Fatalf("%q is read as %q the second time", got, again)
		}
	})
}

// No text crashes a checker, and one text always gets the same verdict: damaged
// solutions, and anything else.
func TestCheckersAreTotal(t *testing.T) {
	var seeds []string
	for _, file := range []string{"arithmetic", "json", "csv", "tables", "puzzle", "words", "code", "format"} {
		for _, w := range wrongIn(t, "testdata/"+file+".txtar") {
			seeds = append(seeds, w.answer)
		}
	}
	names := Names()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom(seeds)).Draw(t, "text")
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		text = text[:at] + rapid.StringMatching(`[\x00-\x7f]{0,3}`).Draw(t, "put in") + text[min(len(text), at+rapid.IntRange(0, 3).Draw(t, "cut")):]
		for _, name := range names {
			first, err := Check(name, text)
			second, _ := Check(name, text)
			if err != nil || !slices.Equal(first, second) || len(first) > MaxProblems+1 {
				t.Fatalf("%s: %q, then %q, %v", name, first, second, err)
			}
		}
	})
}

func TestCountsOfWordsAndSentences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SliceOfN(word, 1, 5), 1, 4).Draw(t, "sentences")
		var text []string
		total := 0
		for _, s := range list {
			total += len(s)
			mark := rapid.SampledFrom([]string{".", "!", "?", "...", ".\"", "?)"}).Draw(t, "end")
			text = append(text, strings.Join(s, rapid.SampledFrom([]string{" ", ", ", " - ", "; \"", "  "}).Draw(t, "between"))+mark)
		}
		whole := strings.Join(text, rapid.SampledFrom([]string{" ", "\n", "  "}).Draw(t, "blank"))
		if !passes(wordCount(total, total), whole) || passes(wordCount(total+1, total+3), whole) || passes(wordCount(0, total-1), whole) {
			t.Fatalf("%q: %q", whole, wordCount(total, total)(newAnswer(whole)))
		}
		if !passes(sentenceCount(len(list)), whole) || passes(sentenceCount(len(list)+1), whole) || passes(sentenceCount(len(list)), whole+" more") {
			t.Fatalf("%q: %q", whole, sentenceCount(len(list))(newAnswer(whole)))
		}
		if !slices.Equal(words(whole), slices.Concat(list...)) {
			t.Fatalf("%q has the words %q", whole, words(whole))
		}
	})
}

func TestLettersAgainstCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(word, 1, 6).Draw(t, "words")
		text := strings.Join(list, " ")
		n := strings.Count(text, "e")
		if passes(letterTimes('e', n+1), text) || !passes(letterTimes('e', n), text) || passes(avoidsLetter('e'), text) != (n == 0) {
			t.Fatalf("%q has %d e", text, n)
		}
		set := map[string]bool{}
		for _, w := range list {
			set[w] = true
		}
		if passes(distinctWords, text) != (len(set) == len(list)) {
			t.Fatalf("%q", text)
		}
		first := ""
		for _, w := range list {
			first += w[:1]
		}
		if !passes(spells("word", first, allWords, firstLetter), text) || passes(spells("word", first+"a", allWords, firstLetter), text) {
			t.Fatalf("%q starts with the letters %q", text, first)
		}
	})
}

// Of all orders of the items sorted takes one, and names the first place where
// another one leaves it.
func TestSortedAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.SliceOfNDistinct(word, 1, 6, rapid.ID).Draw(t, "given")
		c := asLines.sorted(strings.Compare, given...)
		right := slices.Sorted(slices.Values(given))
		tried := rapid.Permutation(given).Draw(t, "order")
		problems := c(newAnswer(strings.Join(tried, "\n")))
		want := ""
		for i := range tried {
			if tried[i] != right[i] {
				want = fmt.Sprintf("line %d, %q, is out of order", i+1, tried[i])
				break
			}
		}
		if strings.Join(problems, "\n") != want {
			t.Fatalf("%q: %q, want %q", tried, problems, want)
		}
		if len(given) > 1 && passes(c, strings.Join(right[1:], "\n")) || passes(c, strings.Join(append(right, right[0]), "\n")) {
			t.Fatal("a list too short or too long passes")
		}
	})
}

func TestPermutesAgainstSorting(t *testing.T) {
	few := rapid.SampledFrom([]string{"a", "b", "c"})
	rapid.Check(t, func(t *rapid.T) {
		given, got := rapid.SliceOfN(few, 1, 4).Draw(t, "given"), rapid.SliceOfN(few, 1, 4).Draw(t, "got")
		same := slices.Equal(slices.Sorted(slices.Values(given)), slices.Sorted(slices.Values(got)))
		if passes(asLines.items(permutes(given...)), strings.Join(got, "\n")) != same {
			t.Fatalf("%q of %q", got, given)
		}
		if passes(asLines.items(distinct), strings.Join(got, "\n")) != (len(slices.Compact(slices.Sorted(slices.Values(got)))) == len(got)) {
			t.Fatalf("%q distinct", got)
		}
	})
}

// Of all lists of given items selected takes the right one only.
func TestSelectedAgainstFiltering(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := numbersFrom(1, rapid.IntRange(2, 9).Draw(t, "n"))
		even := func(s string) bool { return (s[0]-'0')%2 == 0 }
		c := asCommas.selected(given, even, "is odd")
		var right []string
		for _, g := range given {
			if even(g) {
				right = append(right, g)
			}
		}
		got := rapid.SliceOfN(rapid.SampledFrom(given), 1, 5).Draw(t, "got")
		for _, list := range [][]string{got, right} {
			if passes(c, strings.Join(list, ", ")) != slices.Equal(list, right) {
				t.Fatalf("%q of %q: %q", list, given, c(newAnswer(strings.Join(list, ", "))))
			}
		}
	})
}

// drawExpr draws an expression with its value, nil where it divides by 0.
func drawExpr(t *rapid.T, depth int) (text string, value *big.Rat, used []int64) {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		n := rapid.Int64Range(0, 12).Draw(t, "number")
		return strconv.FormatInt(n, 10), big.NewRat(n, 1), []int64{n}
	}
	left, a, usedA := drawExpr(t, depth-1)
	right, b, usedB := drawExpr(t, depth-1)
	op := rapid.SampledFrom([]string{"+", "-", "*", "/", " × ", " + "}).Draw(t, "op")
	text, used = "("+left+op+" "+right+")", append(usedA, usedB...)
	if a == nil || b == nil {
		return text, nil, used
	}
	value = new(big.Rat)
	switch strings.TrimSpace(op) {
	case "+":
		value.Add(a, b)
	case "-":
		value.Sub(a, b)
	case "/":
		if b.Sign() == 0 {
			return text, nil, used
		}
		value.Quo(a, b)
	default:
		value.Mul(a, b)
	}
	return text, value, used
}

func TestEvaluate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, want, numbers := drawExpr(t, 3)
		got, used, err := evaluate(text)
		if want == nil {
			if err == nil || err.Error() != "the expression divides by 0" {
				t.Fatalf("%s: %v, %v", text, got, err)
			}
			return
		}
		if err != nil || got.Cmp(want) != 0 || !slices.Equal(used, numbers) {
			t.Fatalf("%s is %v, want %v; %v, numbers %v, want %v", text, got, want, err, used, numbers)
		}
		for _, bad := range []string{text + ")", text + " 1", "(" + text, text + "+", text + "x"} {
			if _, _, err := evaluate(bad); err == nil {
				t.Fatalf("%s is read", bad)
			}
		}
	})
	for text, want := range map[string]string{"2+3*4": "14", "2*3+4": "10", "10-3-4": "3", "24/4/2": "3", " 7 ": "7", "1/3": "1/3"} {
		if got, _, err := evaluate(text); err != nil || got.RatString() != want {
			t.Errorf("%s is %v, %v, want %s", text, got, err, want)
		}
	}
}

// parseJSON takes what encoding/json takes, and brings back what stands there.
func TestParseJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[\[\]{}":,1a ]{0,12}`).Draw(t, "text")
		if _, err := parseJSON(text); (err == nil) != json.Valid([]byte(text)) {
			t.Fatalf("%q: %v", text, err)
		}
		m := rapid.MapOfN(word, rapid.IntRange(-99, 99), 1, 4).Draw(t, "object")
		data, err := json.MarshalIndent(m, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		var fields []field
		for _, k := range slices.Sorted(maps.Keys(m)) {
			fields = append(fields, field{k, isNum(strconv.Itoa(m[k]))})
		}
		if c := jsonOf(keys(fields...)); !passes(c, string(data)) {
			t.Fatalf("%s: %q", data, c(newAnswer(string(data))))
		}
		fields[0].is = isNum(strconv.Itoa(m[fields[0].key] + 1))
		if passes(jsonOf(keys(fields...)), string(data)) || passes(jsonOf(keys(fields[1:]...)), string(data)) {
			t.Fatalf("%s passes with another number, or a key too many", data)
		}
	})
	for text, want := range map[string]string{
		`{"a": 1, "a": 1}`: `key "a" stands there twice`, `{"a": "1"}`: `key "a" is a string, want a number`, `{"a": 2}`: `key "a" is wrong: "2"`,
		`{"a": 1.0}`: "", `{"a": 10e-1}`: "", `{"a": 1e1}`: `key "a" is wrong: "1e1"`, `{"a": 1e99999999999}`: `key "a" is wrong: "1e99999999999"`, `[1]`: "the JSON value is an array, want an object", "{}\n{}": "line 2: this is not JSON: invalid character '{' after top-level value",
		strings.Repeat("[", 99) + strings.Repeat("]", 99): "this JSON cannot be read: it is nested too deep",
	} {
		if got := strings.Join(jsonOf(keys(field{"a", isNum("1")}))(newAnswer(text)), "\n"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A JSON number is what it comes to, however it is written.
func TestJSONNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form := rapid.StringMatching(`-?(0|[1-9]\d{0,3})(\.\d{1,4})?([eE][+-]?\d{1,2})?`)
		a, b := form.Draw(t, "a"), form.Draw(t, "b")
		if rapid.Bool().Draw(t, "alike") { // the same number, written otherwise
			b = fmt.Sprintf("%s%s", rat(a).FloatString(110), rapid.SampledFrom([]string{"", "e0", "E-00", "e+0"}).Draw(t, "power"))
		}
		if got, want := passes(jsonOf(isNum(a)), b), rat(a).Cmp(rat(b)) == 0; got != want {
			t.Fatalf("%s is %s: %v, want %v", b, a, got, want)
		}
		whole := rat(a).IsInt() && rat(a).Cmp(big.NewRat(-500, 1)) >= 0 && rat(a).Cmp(big.NewRat(500, 1)) <= 0
		if got := passes(jsonOf(aWhole(-500, 500)), a); got != whole {
			t.Fatalf("%s is whole, from -500 to 500: %v, want %v", a, got, whole)
		}
	})
	for _, s := range []string{"1e19", "9223372036854775808", "1e2147483648", "1e-2147483648", "1.5", "1" + strings.Repeat("0", 999), "1e99999999999999999999"} {
		if passes(jsonOf(aWhole(1, 100)), s) || passes(jsonOf(isNum("1")), s) {
			t.Errorf("%.40s is 1", s)
		}
	}
	if !passes(jsonOf(isNum("1")), "1"+strings.Repeat("0", 999)+"e-999") {
		t.Error("a long 1 is not 1")
	}
}

// The columns of table-columns hold words of any letters, and no more than words
// and numbers.
func TestColumns(t *testing.T) {
	for line, want := range map[string]bool{
		"açaí              12": true, "kiwi-fruit         7": true, "12             apple": false, "apple 3 pear      12": false,
		"apple          1,200": false, "12345             12": false, "açaí               12": false,
	} {
		text := line + strings.Repeat("\npear               7", 3)
		problems, err := Check("table-columns", text)
		if err != nil || (len(problems) == 0) != want {
			t.Errorf("%q: %q, %v", line, problems, err)
		}
	}
}

// A table passes as it was written, whatever stands in its cells, and not with
// one cell changed.
func TestTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "columns")
		cell := rapid.StringMatching(`[a-c]([ ,"\n]?[a-c]){0,2}`)
		rows := rapid.SliceOfN(rapid.SliceOfN(cell, n, n), 2, 4).Draw(t, "rows")
		var b bytes.Buffer
		if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		text, _ := normalise(b.String())
		i, j := rapid.IntRange(0, len(rows)-1).Draw(t, "row"), rapid.IntRange(0, n-1).Draw(t, "column")
		changed := slices.Clone(rows)
		changed[i] = slices.Clone(rows[i])
		changed[i][j] += "x"
		read := gridReader(asCSV)
		for _, c := range []func(...[]string) check{read.table, read.records} {
			if !passes(c(rows...), text) || passes(c(changed...), text) || passes(c(rows[:len(rows)-1]...), text) {
				t.Fatalf("%q: %q", text, c(rows...)(newAnswer(text)))
			}
		}
	})
}

func TestExactlyNamesTheFirstDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, got := rapid.StringMatching(`[ab]{1,4}`).Draw(t, "want"), rapid.StringMatching(`[ab]{1,4}`).Draw(t, "got")
		if passes(exactly(want), got) != (want == got) {
			t.Fatalf("%q for %q", got, want)
		}
		if n := firstDifference(got, want); n > 0 && got[:n-1] != want[:n-1] {
			t.Fatalf("%q and %q differ before %d", got, want, n)
		}
	})
}
