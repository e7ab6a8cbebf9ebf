package paired

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// editDistance is the definition of the Levenshtein distance, by recursion.
func editDistance(a, b []rune) int {
	switch {
	case len(a) == 0:
		return len(b)
	case len(b) == 0:
		return len(a)
	case a[0] == b[0]:
		return editDistance(a[1:], b[1:])
	}
	return 1 + min(editDistance(a[1:], b), editDistance(a, b[1:]), editDistance(a[1:], b[1:]))
}

func drawRunes(t *rapid.T, name string, most int) []rune {
	return rapid.SliceOfN(rapid.SampledFrom([]rune("abcé日")), 0, most).Draw(t, name)
}

func TestLevenshteinAgainstRecursion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawRunes(t, "a", 6), drawRunes(t, "b", 6)
		if got, want := Levenshtein(a, b), editDistance(a, b); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
}

func TestLevenshteinIsADistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawRunes(t, "a", 30), drawRunes(t, "b", 30), drawRunes(t, "c", 30)
		ab, ba := Levenshtein(a, b), Levenshtein(b, a)
		if ab != ba || ab > max(len(a), len(b)) || (ab == 0) != slices.Equal(a, b) {
			t.Fatalf("%d one way, %d the other", ab, ba)
		}
		if ac, cb := Levenshtein(a, c), Levenshtein(c, b); ab > ac+cb {
			t.Fatalf("%d direct, %d+%d by a third", ab, ac, cb)
		}
		if s := LevenshteinSimilarity(a, b); s < 0 || s > 1 {
			t.Fatalf("similarity %g", s)
		}
	})
}

// slowJaccard compares shingles pairwise, without sets or spellings.
func slowJaccard[S comparable](a, b []S, k int) float64 {
	distinct := func(s []S) (out [][]S) {
		if 0 < len(s) && len(s) < k {
			return [][]S{s}
		}
		for i := 0; i+k <= len(s); i++ {
			if !slices.ContainsFunc(out, func(o []S) bool { return slices.Equal(o, s[i:i+k]) }) {
				out = append(out, s[i:i+k])
			}
		}
		return out
	}
	sa, sb := distinct(a), distinct(b)
	shared := 0
	for _, x := range sa {
		if slices.ContainsFunc(sb, func(o []S) bool { return slices.Equal(o, x) }) {
			shared++
		}
	}
	if len(sa)+len(sb) == 0 {
		return 1
	}
	return float64(shared) / float64(len(sa)+len(sb)-shared)
}

func TestShingleJaccardAgainstPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 4).Draw(t, "k")
		a, b := drawRunes(t, "a", 20), drawRunes(t, "b", 20)
		near(t, "runes", ShingleJaccard(a, b, k), slowJaccard(a, b, k), 1e-15)
		near(t, "other way", ShingleJaccard(b, a, k), ShingleJaccard(a, b, k), 0)
		// Tokens that would run together if they were merely concatenated.
		token := rapid.SampledFrom([]string{"", "a", "b", "ab", "ba", " "})
		x := rapid.SliceOfN(token, 0, 12).Draw(t, "x")
		y := rapid.SliceOfN(token, 0, 12).Draw(t, "y")
		near(t, "tokens", ShingleJaccard(x, y, k), slowJaccard(x, y, k), 1e-15)
	})
}

func TestSimilarityEdges(t *testing.T) {
	near(t, "two empty", ShingleJaccard[rune](nil, nil, 3), 1, 0)
	near(t, "one empty", ShingleJaccard(nil, []rune("abc"), 3), 0, 0)
	near(t, "both short and equal", ShingleJaccard([]rune("ab"), []rune("ab"), 3), 1, 0)
	near(t, "no shingle length", ShingleJaccard([]rune("ab"), []rune("ab"), 0), math.NaN(), 0)
	near(t, "two empty texts", LevenshteinSimilarity[rune](nil, nil), 1, 0)
	near(t, "one empty text", LevenshteinSimilarity(nil, []rune("abc")), 0, 0)
}
