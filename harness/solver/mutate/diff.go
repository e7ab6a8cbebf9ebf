package mutate

import (
	"regexp"
	"strconv"
	"strings"
)

// diff is what can be read of a unified diff against the shown files.
type diff struct {
	touched []place // base lines removed, or those before an insertion
	whole   bool    // nothing is cut, it fits, and it changes one file
	path    string  // that file
	result  string  // its text after the patch
}

var (
	hunkPattern = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@`)
	cutPattern  = regexp.MustCompile(`\[\.\.\.?.*\bcut\b.*\]|\[…[^\]]*\]`)
)

// isDiff reports whether a block is a fenced unified diff.
func isDiff(b Block) bool {
	if b.Kind != Fence {
		return false
	}
	return strings.HasPrefix(b.Info, "diff") || strings.HasPrefix(b.Info, "patch") ||
		strings.HasPrefix(b.Text, "diff --git ") || strings.HasPrefix(b.Text, "--- ")
}

// normalise makes texts comparable that differ only in line ends and the last
// newline, which a fenced block does not show faithfully.
func normalise(text string) string {
	return strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n") + "\n"
}

// hunk is one hunk as far as it could be read.
type hunk struct {
	path           string
	start          int // first base line; the line before an insertion if olds is 0
	olds, news     int // lines that the header promises
	lines          []string
	cut            bool
	seenOld, seenN int
}

// readDiff reads the hunks that are there. A hunk that does not fit the shown
// files is not about them and is passed over.
func readDiff(text string, files map[string]string) diff {
	hunks, cut := readHunks(text)
	d := diff{whole: !cut && len(hunks) > 0}
	base := map[string][]string{}
	for path, t := range files {
		base[path] = strings.Split(strings.TrimSuffix(normalise(t), "\n"), "\n")
	}
	var out []string
	next := 0 // first base line, from 0, that is not yet in out
	for _, h := range hunks {
		lines, ok := base[h.path]
		touched, result, end, fits := h.fit(lines)
		if !ok || !fits {
			d.whole = false
			continue
		}
		d.touched = append(d.touched, touched...)
		first := h.start - 1
		if h.olds == 0 {
			first = h.start
		}
		if h.cut || h.seenOld != h.olds || h.seenN != h.news || d.path != "" && d.path != h.path || first < next {
			d.whole = false
			continue
		}
		d.path = h.path
		out = append(append(out, lines[next:first]...), result...)
		next = end
	}
	if d.whole {
		d.result = strings.Join(append(out, base[d.path][next:]...), "\n") + "\n"
	}
	return d
}

// readHunks splits a diff into hunks; cut says that a marker was seen anywhere.
func readHunks(text string) (hunks []hunk, cut bool) {
	path := ""
	var h *hunk
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if at := cutPattern.FindStringIndex(line); at != nil {
			cut = true
			if h != nil {
				h.cut = true
				// What stands before the marker is the beginning of a real line.
				if at[0] > 1 {
					h.lines = append(h.lines, line[:at[0]])
				}
			}
			h = nil
			continue
		}
		inside := h != nil && (h.seenOld < h.olds || h.seenN < h.news)
		switch m := hunkPattern.FindStringSubmatch(line); {
		case !inside && m != nil:
			hunks = append(hunks, hunk{path: path, start: number(m[1], 0), olds: number(m[2], 1), news: number(m[3], 1)})
			h = &hunks[len(hunks)-1]
		case inside:
			h.add(line)
		case strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "--- /dev/null"):
			path, h = trimSide(line[4:], "a/"), nil
		case strings.HasPrefix(line, "+++ ") && !strings.HasPrefix(line, "+++ /dev/null"):
			path, h = trimSide(line[4:], "b/"), nil
		case strings.HasPrefix(line, "diff --git "):
			path, h = "", nil
		}
	}
	return hunks, cut
}

func number(digits string, missing int) int {
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	return missing
}

func trimSide(path, side string) string {
	path, _, _ = strings.Cut(path, "\t")
	return strings.TrimPrefix(strings.Trim(path, `"`), side)
}

// add takes a line of the hunk's body.
func (h *hunk) add(line string) {
	if line == "" {
		line = " "
	}
	switch line[0] {
	case ' ':
		h.seenOld++
		h.seenN++
	case '-':
		h.seenOld++
	case '+':
		h.seenN++
	default: // "\ No newline at end of file"
		return
	}
	h.lines = append(h.lines, line)
}

// fit compares the hunk with the base and returns the lines it touched, the lines
// that replace its range, and the end of that range, from 0.
func (h *hunk) fit(base []string) (touched []place, result []string, end int, ok bool) {
	at := h.start - 1
	if h.olds == 0 {
		at = h.start
	}
	removed := false
	for i, line := range h.lines {
		partial := h.cut && i == len(h.lines)-1
		if line[0] == '+' {
			result = append(result, line[1:])
			if !removed && len(touched) == 0 {
				touched = append(touched, place{h.path, max(at, 1)})
			}
			continue
		}
		if at < 0 || at >= len(base) || base[at] != line[1:] && !(partial && strings.HasPrefix(base[at], line[1:])) {
			return nil, nil, 0, false
		}
		at++
		if line[0] == '-' {
			if !removed {
				touched, removed = nil, true
			}
			touched = append(touched, place{h.path, at})
		} else {
			result = append(result, line[1:])
		}
	}
	return touched, result, at, true
}
