package analysis

import (
	"regexp"
	"slices"
	"strings"

	"retrial/analysis/paired"
)

// patchOf is a unified diff reduced to what identifies it: its signed changed
// lines by file, white space folded. Hunk offsets, context, file order and line
// endings do not count.
type patchOf struct {
	canonical string
	tokens    []string // of the signed changed lines, in order
}

// Tau is the similarity from which a retry counts as a variation of an earlier
// attempt. It is not calibrated yet.
const Tau = 0.5

// shingle is the length of the token runs that similarity compares.
const shingle = 3

var token = regexp.MustCompile(`[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]`)

// readPatch reads a git-style unified diff.
func readPatch(diff string) patchOf {
	byFile := map[string][]string{}
	var order []string
	var p patchOf
	file, inHunk := "", false
	note := func(line string) {
		if _, seen := byFile[file]; !seen {
			order = append(order, file)
		}
		byFile[file] = append(byFile[file], line)
	}
	for line := range strings.Lines(diff) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "diff --git "):
			file, inHunk = strings.TrimPrefix(line, "diff --git "), false
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case !inHunk && isHeader(line):
			note(line) // modes, renames and binary blocks are changes too
		case inHunk && (strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-")):
			folded := line[:1] + strings.Join(strings.Fields(line[1:]), " ")
			note(folded)
			p.tokens = append(p.tokens, line[:1])
			p.tokens = append(p.tokens, token.FindAllString(line[1:], -1)...)
		}
	}
	slices.Sort(order)
	var b strings.Builder
	for _, f := range order {
		b.WriteString(f + "\n" + strings.Join(byFile[f], "\n") + "\n")
	}
	p.canonical = b.String()
	return p
}

// isHeader says whether a line above the hunks is a change in itself.
func isHeader(line string) bool {
	for _, skip := range []string{"index ", "--- ", "+++ ", "similarity index"} {
		if strings.HasPrefix(line, skip) {
			return false
		}
	}
	return line != ""
}

// empty says whether the patch changes nothing.
func (p patchOf) empty() bool { return p.canonical == "" }

// same says whether two patches make the same change.
func (p patchOf) same(o patchOf) bool { return p.canonical == o.canonical }

// similarity is the Jaccard similarity of the token 3-grams of the signed
// changed lines, in [0, 1]; 1 for two patches without changed lines.
func (p patchOf) similarity(o patchOf) float64 {
	return paired.ShingleJaccard(p.tokens, o.tokens, shingle)
}
