package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// rot13 moves each letter 13 places on, keeping its case.
func rot13(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case 'A' <= r && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, s)
}

func reversed(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

// reversedWords reverses the letters of each word, not the words.
func reversedWords(s string) string {
	list := strings.Fields(s)
	for i := range list {
		list[i] = reversed(list[i])
	}
	return strings.Join(list, " ")
}

// wordsBackwards reverses the words, not their letters.
func wordsBackwards(s string) string {
	list := strings.Fields(s)
	slices.Reverse(list)
	return strings.Join(list, " ")
}

// pigLatin moves the consonants before a word's first vowel (y is none) to its
// end and adds "ay"; a word that begins with a vowel gets "way".
func pigLatin(s string) string {
	list := strings.Fields(s)
	for i, w := range list {
		switch n := strings.IndexAny(w, "aeiou"); {
		case n == 0:
			list[i] = w + "way"
		case n > 0:
			list[i] = w[n:] + w[:n] + "ay"
		default:
			list[i] = w + "ay"
		}
	}
	return strings.Join(list, " ")
}

var romans = []struct {
	value int
	sign  string
}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}}

// roman writes n, from 1 to 3999.
func roman(n int) string {
	var b strings.Builder
	for _, r := range romans {
		for ; n >= r.value; n -= r.value {
			b.WriteString(r.sign)
		}
	}
	return b.String()
}

// snakeCase turns camelCase into snake_case.
func snakeCase(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// starVowels puts * for every vowel (y is none).
func starVowels(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("aeiouAEIOU", r) {
			return '*'
		}
		return r
	}, s)
}

// runLength writes each run of a character as the character and its length.
func runLength(s string) string {
	var b strings.Builder
	for r := []rune(s); len(r) > 0; {
		n := 1
		for n < len(r) && r[n] == r[0] {
			n++
		}
		fmt.Fprintf(&b, "%c%d", r[0], n)
		r = r[n:]
	}
	return b.String()
}

// binary writes n in base 2.
func binary(n int) string { return strconv.FormatInt(int64(n), 2) }

// mapped makes f of each.
func mapped[T any](f func(T) string, list ...T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// luhn is the sum of ISO/IEC 7812-1 annex B over a number's digits, check digit
// included: a multiple of 10 for a valid number.
func luhn(digits string) int {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum
}

// luhnValid wants a number that the text's own sum fits.
func luhnValid(a answer) []string {
	if sum := luhn(a.text); sum%10 != 0 {
		return []string{fmt.Sprintf("the Luhn sum is %d, want a multiple of 10", sum)}
	}
	return nil
}

// isbn13 is the last digit of an ISBN-13 that begins with these twelve.
func isbn13(twelve string) string {
	sum := 0
	for i := range len(twelve) {
		sum += int(twelve[i]-'0') * (1 + i%2*2)
	}
	return strconv.Itoa((10 - sum%10) % 10)
}

// evenParity adds the bit that makes the number of ones even.
func evenParity(bits string) string {
	return bits + strconv.Itoa(strings.Count(bits, "1")%2)
}

// digitSum wants n digits, no two alike, that add up to sum.
func digitSum(n, sum int) check {
	form := shape(fmt.Sprintf(`[1-9]\d{%d}`, n-1), fmt.Sprintf("a number of %d digits and nothing else", n))
	return then(form, func(a answer) (problems []string) {
		got := 0
		for i, r := range a.text {
			got += int(r - '0')
			if strings.Count(a.text[:i], string(r)) == 1 {
				problems = append(problems, fmt.Sprintf("the digit %c is used more than once", r))
			}
		}
		if got != sum {
			problems = append(problems, fmt.Sprintf("the digits add up to %d, want %d", got, sum))
		}
		return problems
	})
}

// divides wants a whole number that leaves rest when divided by n.
func divides(n, rest int64) check {
	return func(a answer) []string {
		if got := atoi(a.text) % n; got != rest {
			return []string{fmt.Sprintf("divided by %d it leaves %d, want %d", n, got, rest)}
		}
		return nil
	}
}
