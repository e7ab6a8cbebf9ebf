package text

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// words lists a text's words, in lower case.
func words(s string) []string {
	var out []string
	for _, w := range strings.Fields(strings.ReplaceAll(s, "’", "'")) {
		w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if w != "" {
			out = append(out, strings.ToLower(w))
		}
	}
	return out
}

var sentenceEnd = regexp.MustCompile(`[.!?]+["'”’)\]]*(\s+|$)`)

// sentences lists a text's sentences, and what stands behind the last one.
func sentences(s string) (list []string, rest string) {
	start := 0
	for _, m := range sentenceEnd.FindAllStringIndex(s, -1) {
		list = append(list, strings.TrimSpace(s[start:m[1]]))
		start = m[1]
	}
	return list, strings.TrimSpace(s[start:])
}

var blankLines = regexp.MustCompile(`\n(?:[ \t]*\n)+`)

func paragraphs(s string) []string { return blankLines.Split(s, -1) }

// lettersOf lists a text's letters, in lower case.
func lettersOf(s string) []rune {
	var out []rune
	for _, r := range strings.ToLower(s) {
		if unicode.IsLetter(r) {
			out = append(out, r)
		}
	}
	return out
}

func wordCount(lo, hi int) check {
	return func(a answer) []string { return wants(len(words(a.text)), lo, hi, "word") }
}

// sentenceCount wants n sentences, and nothing behind the last one.
func sentenceCount(n int) check {
	return func(a answer) []string {
		list, rest := sentences(a.text)
		if rest != "" {
			return []string{fmt.Sprintf("%s does not end with . ! or ?", quote(rest))}
		}
		return wants(len(list), n, n, "sentence")
	}
}

// oneSentence wants one line that is one sentence.
var oneSentence = then(oneLine, sentenceCount(1))

func paragraphCount(n int) check {
	return func(a answer) []string { return wants(len(paragraphs(a.text)), n, n, "paragraph") }
}

// uses wants each of the words at least once.
func uses(list ...string) check {
	return func(a answer) (problems []string) {
		got := words(a.text)
		for _, w := range list {
			if !slices.Contains(got, w) {
				problems = append(problems, fmt.Sprintf("the word %q is missing", w))
			}
		}
		return problems
	}
}

// begins wants the first word to be this one.
func begins(word string) check {
	return func(a answer) []string {
		if list := words(a.text); len(list) == 0 || list[0] != word {
			return []string{fmt.Sprintf("the first word is not %q", word)}
		}
		return nil
	}
}

func avoids(list ...string) check {
	return func(a answer) (problems []string) {
		got := words(a.text)
		for _, w := range list {
			if slices.Contains(got, w) {
				problems = append(problems, fmt.Sprintf("the word %q must not be used", w))
			}
		}
		return problems
	}
}

// avoidsLetter names the words that hold the letter.
func avoidsLetter(letter rune) check {
	return func(a answer) (problems []string) {
		for _, w := range words(a.text) {
			if strings.ContainsRune(w, letter) && len(problems) <= MaxProblems {
				problems = append(problems, fmt.Sprintf("the word %s has the letter %q in it", quote(w), string(letter)))
			}
		}
		return problems
	}
}

func letterTimes(letter rune, n int) check {
	return func(a answer) []string {
		got := strings.Count(string(lettersOf(a.text)), string(letter))
		if got == n {
			return nil
		}
		return []string{fmt.Sprintf("the letter %q stands %s, want %d", string(letter), counted(got, "time"), n)}
	}
}

func letterCount(lo, hi int) check {
	return func(a answer) []string { return wants(len(lettersOf(a.text)), lo, hi, "letter") }
}

// wordsStart wants every word to begin with the letter.
func wordsStart(letter rune) check {
	return func(a answer) (problems []string) {
		for _, w := range words(a.text) {
			if r, _ := utf8.DecodeRuneInString(w); r != letter && len(problems) <= MaxProblems {
				problems = append(problems, fmt.Sprintf("the word %s does not start with %q", quote(w), string(letter)))
			}
		}
		return problems
	}
}

// wordLengths wants as many words as numbers, the n-th with that many letters.
func wordLengths(lengths ...int) check {
	return func(a answer) []string {
		list := words(a.text)
		problems := wants(len(list), len(lengths), len(lengths), "word")
		for i, w := range list[:min(len(list), len(lengths))] {
			if n := len(lettersOf(w)); n != lengths[i] {
				problems = append(problems, fmt.Sprintf("word %d, %s, has %s, want %d", i+1, quote(w), counted(n, "letter"), lengths[i]))
			}
		}
		return problems
	}
}

// distinctWords wants no word twice.
func distinctWords(a answer) (problems []string) {
	seen := map[string]int{}
	for _, w := range words(a.text) {
		if seen[w]++; seen[w] == 2 && len(problems) <= MaxProblems {
			problems = append(problems, fmt.Sprintf("the word %s is used more than once", quote(w)))
		}
	}
	return problems
}

// pangram wants every letter from a to z.
func pangram(a answer) []string {
	got := string(lettersOf(a.text))
	var missing []string
	for r := 'a'; r <= 'z'; r++ {
		if !strings.ContainsRune(got, r) {
			missing = append(missing, string(r))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []string{"letters that are missing: " + strings.Join(missing, " ")}
}

// spells wants the letters that pick takes, one of each part, to be word's.
func spells(noun, word string, parts func(a answer) []string, pick func(letters []rune) rune) check {
	want := []rune(word)
	return func(a answer) []string {
		list := parts(a)
		problems := wants(len(list), len(want), len(want), noun)
		for i, p := range list[:min(len(list), len(want))] {
			letters := lettersOf(p)
			switch {
			case len(letters) == 0:
				problems = append(problems, fmt.Sprintf("%s %d has no letter", noun, i+1))
			case pick(letters) != want[i]:
				problems = append(problems, fmt.Sprintf("%s %d, %s: its letter %q should be %q", noun, i+1, quote(p), string(pick(letters)), string(want[i])))
			}
		}
		return problems
	}
}

func firstLetter(letters []rune) rune { return letters[0] }
func lastLetter(letters []rune) rune  { return letters[len(letters)-1] }

// allLines and allWords are what spells may look at.
func allLines(a answer) []string { return a.lines }
func allWords(a answer) []string { return words(a.text) }

// onlyVowel wants the vowel, and no other.
func onlyVowel(vowel rune) check {
	return func(a answer) []string {
		got := string(lettersOf(a.text))
		if !strings.ContainsRune(got, vowel) {
			return []string{fmt.Sprintf("%s has no %q", quote(a.text), string(vowel))}
		}
		for _, r := range "aeiou" {
			if r != vowel && strings.ContainsRune(got, r) {
				return []string{fmt.Sprintf("%s has the vowel %q", quote(a.text), string(r))}
			}
		}
		return nil
	}
}
