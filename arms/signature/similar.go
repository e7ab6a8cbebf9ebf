package signature

import "strings"

// textBytes is how much of an output is compared: a quarter from its start, the
// rest from its end.
const textBytes = 64 << 10

// Text is an output made ready to be compared with others.
type Text struct {
	words map[string]int
	total int
	tests bool
}

// NewText reads an output: whether a runner named failing tests in it, and its
// words, masked, in lower case, with how often each stands there.
func NewText(output string) *Text {
	t := &Text{words: map[string]int{}, tests: len(Read(output).Tests) > 0}
	if len(output) > textBytes {
		output = output[:textBytes/4] + "\n" + output[len(output)-textBytes*3/4:]
	}
	for _, line := range readLines(output) {
		for _, word := range strings.FieldsFunc(strings.ToLower(mask(line)), notOfWord) {
			t.words[word]++
			t.total++
		}
	}
	return t
}

// notOfWord splits at all but letters, digits, and the signs of masks.
func notOfWord(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '<' || r == '>' || r >= 0x80)
}

// NamesTests says whether a runner named failing tests in the output.
func (t *Text) NamesTests() bool { return t.tests }

// Similarity is the weighted Jaccard index of two outputs' words: what both
// have of each word over what either has, from 0 to 1. Values, paths, times and
// the like are masked first and so are alike; the order of words does not
// count. Two outputs without words have similarity 0: nothing says that they
// are alike.
func Similarity(a, b *Text) float64 {
	both := 0
	for word, n := range a.words {
		both += min(n, b.words[word])
	}
	if either := a.total + b.total - both; either > 0 {
		return float64(both) / float64(either)
	}
	return 0
}
