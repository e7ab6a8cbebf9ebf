package workspace

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"sort"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// contextLines are the unchanged lines around a change in a hunk.
const contextLines = 3

// writeHunks prints the unified hunks that turn before into after.
func writeHunks(w *bytes.Buffer, before, after string) (added, removed int) {
	a, b := splitLines(before), splitLines(after)
	diffs := diffLines(nil, a, b, 0, 0)
	for len(diffs) > 0 {
		n := 1
		for n < len(diffs) && diffs[n].Start-diffs[n-1].End <= 2*contextLines {
			n++
		}
		writeHunk(w, a, b, diffs[:n])
		for _, d := range diffs[:n] {
			removed += d.End - d.Start
			added += d.ReplEnd - d.ReplStart
		}
		diffs = diffs[n:]
	}
	return added, removed
}

func writeHunk(w *bytes.Buffer, a, b []string, diffs []lcs.Diff) {
	first, last := diffs[0], diffs[len(diffs)-1]
	lead := min(contextLines, first.Start)
	trail := min(contextLines, len(a)-last.End)
	w.WriteString("@@ -")
	writeRange(w, first.Start-lead, last.End+trail)
	w.WriteString(" +")
	writeRange(w, first.ReplStart-lead, last.ReplEnd+trail)
	w.WriteString(" @@\n")
	at := first.Start - lead
	for _, d := range diffs {
		writeLines(w, ' ', a[at:d.Start])
		writeLines(w, '-', a[d.Start:d.End])
		writeLines(w, '+', b[d.ReplStart:d.ReplEnd])
		at = d.End
	}
	writeLines(w, ' ', a[at:last.End+trail])
}

// writeRange prints lines [start, end), counted from 0, as unified diffs do.
func writeRange(w *bytes.Buffer, start, end int) {
	switch n := end - start; n {
	case 0:
		fmt.Fprintf(w, "%d,0", start)
	case 1:
		fmt.Fprintf(w, "%d", start+1)
	default:
		fmt.Fprintf(w, "%d,%d", start+1, n)
	}
}

func writeLines(w *bytes.Buffer, op byte, lines []string) {
	for _, line := range lines {
		w.WriteByte(op)
		w.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			w.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// splitLines cuts a text after each newline. Carriage returns belong to lines.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// diffLines appends the differences of a and b, which start at line a0 and b0
// of their files. The longest-common-subsequence search gives up on optimality
// after some fifty edits, so the texts are first cut at lines that are unique
// in both (patience diff), which also keeps functions together.
func diffLines(out []lcs.Diff, a, b []string, a0, b0 int) []lcs.Diff {
	pre := 0
	for pre < len(a) && pre < len(b) && a[pre] == b[pre] {
		pre++
	}
	a, b, a0, b0 = a[pre:], b[pre:], a0+pre, b0+pre
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 && len(b) == 0 {
		return out
	}
	if len(a) == 0 || len(b) == 0 {
		return append(out, lcs.Diff{Start: a0, End: a0 + len(a), ReplStart: b0, ReplEnd: b0 + len(b)})
	}
	anchors := uniqueCommon(a, b)
	if len(anchors) == 0 {
		for _, d := range lcs.DiffLines(a, b) {
			out = append(out, lcs.Diff{Start: d.Start + a0, End: d.End + a0, ReplStart: d.ReplStart + b0, ReplEnd: d.ReplEnd + b0})
		}
		return out
	}
	i, j := 0, 0
	for _, m := range anchors {
		out = diffLines(out, a[i:m.a], b[j:m.b], a0+i, b0+j)
		i, j = m.a+1, m.b+1
	}
	return diffLines(out, a[i:], b[j:], a0+i, b0+j)
}

// An anchor is a line that stands exactly once in each text.
type anchor struct {
	a, b int // line numbers
	prev int // index of the anchor before it in the longest chain, or -1
}

// uniqueCommon returns the longest chain of anchors that is in order in both
// texts, found by patience sorting.
func uniqueCommon(a, b []string) []anchor {
	type count struct{ inA, inB, a, b int }
	counts := make(map[string]*count, len(a))
	for i, line := range a {
		c := counts[line]
		if c == nil {
			c = &count{}
			counts[line] = c
		}
		c.inA, c.a = c.inA+1, i
	}
	for j, line := range b {
		if c := counts[line]; c != nil {
			c.inB, c.b = c.inB+1, j
		}
	}
	var all []anchor
	var piles []int // index into all of the lowest end of a chain of each length
	for i, line := range a {
		c := counts[line]
		if c.inA != 1 || c.inB != 1 {
			continue
		}
		lo := sort.Search(len(piles), func(k int) bool { return all[piles[k]].b >= c.b })
		m := anchor{a: i, b: c.b, prev: -1}
		if lo > 0 {
			m.prev = piles[lo-1]
		}
		all = append(all, m)
		if lo == len(piles) {
			piles = append(piles, 0)
		}
		piles[lo] = len(all) - 1
	}
	if len(piles) == 0 {
		return nil
	}
	chain := make([]anchor, len(piles))
	for k, at := len(piles)-1, piles[len(piles)-1]; k >= 0; k-- {
		chain[k] = all[at]
		at = all[at].prev
	}
	return chain
}

// writeBinary prints a git binary patch, forward and reverse, as literals.
func writeBinary(w *bytes.Buffer, before, after []byte) {
	w.WriteString("GIT binary patch\n")
	writeLiteral(w, after)
	writeLiteral(w, before)
}

// writeLiteral prints data compressed and in git's base 85: lines of up to 52
// bytes, each behind a letter for its length, A-Z for 1-26 and a-z for 27-52.
func writeLiteral(w *bytes.Buffer, data []byte) {
	fmt.Fprintf(w, "literal %d\n", len(data))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(data)
	z.Close()
	for rest := packed.Bytes(); len(rest) > 0; {
		n := min(len(rest), 52)
		if n <= 26 {
			w.WriteByte(byte('A' + n - 1))
		} else {
			w.WriteByte(byte('a' + n - 27))
		}
		writeBase85(w, rest[:n])
		w.WriteByte('\n')
		rest = rest[n:]
	}
	w.WriteByte('\n')
}

const base85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// writeBase85 prints each four bytes, the last padded with zeros, as five
// digits, the highest first.
func writeBase85(w *bytes.Buffer, data []byte) {
	for len(data) > 0 {
		var group [4]byte
		n := copy(group[:], data)
		data = data[n:]
		v := uint32(group[0])<<24 | uint32(group[1])<<16 | uint32(group[2])<<8 | uint32(group[3])
		var digits [5]byte
		for i := 4; i >= 0; i-- {
			digits[i] = base85[v%85]
			v /= 85
		}
		w.Write(digits[:])
	}
}
