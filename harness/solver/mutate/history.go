package mutate

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// place is a line of a shown file.
type place struct {
	path string
	line int
}

// recollection is what a memory takes from the history.
type recollection struct {
	patches map[[32]byte]bool // shown whole; keyed by patchID of the resulting file
	touched map[place]bool    // base lines that a shown patch touched
	named   map[place]bool    // lines that a shown traceback names
	barred  map[place]bool    // lines that a shown plan says to leave alone
	near    map[place]bool    // Fixate: lines within 1 of the last shown patch
	doubled bool              // told only that attempts failed: the attempt's noise is doubled
}

var (
	attemptPattern   = regexp.MustCompile(`(?i)\b(attempts?|tries|tried)\b`)
	failedPattern    = regexp.MustCompile(`(?i)\b(fail(ed|s|ure|ures|ing)?|unsuccessful|did not pass|not passed)\b`)
	numberedPattern  = regexp.MustCompile(`(?i)\battempt\s+#?(\d+)`)
	barredPattern    = regexp.MustCompile(`(?m)^- (\S+):(\d+)$`)
	tracebackPattern = regexp.MustCompile(`File "([^"\n]+)", line (\d+)`)
)

// recall reads the history of a prompt as the memory does.
func recall(memory Memory, p Prompt) (recollection, error) {
	switch memory {
	case Ignore:
		return recollection{}, nil
	case Heed, "":
		return heed(p), nil
	case Fixate:
		return fixate(p), nil
	}
	return recollection{}, fmt.Errorf("unknown memory %q: heed, ignore or fixate", memory)
}

func heed(p Prompt) recollection {
	r := recollection{patches: map[[32]byte]bool{}, touched: map[place]bool{}, named: map[place]bool{}, barred: map[place]bool{}}
	texts := map[string]string{}
	for _, f := range p.Files {
		texts[f.Path] = f.Text
	}
	shown, said := false, strings.Builder{}
	for _, b := range p.History {
		if b.Kind == Fence {
			shown = true
		} else {
			said.WriteString(b.Text + "\n")
		}
		if b.Kind == Fence && strings.HasPrefix(b.Text, planOpening) {
			for _, m := range barredPattern.FindAllStringSubmatch(b.Text, -1) {
				if line, err := strconv.Atoi(m[2]); err == nil {
					r.barred[place{m[1], line}] = true
				}
			}
			continue
		}
		if isDiff(b) {
			d := readDiff(b.Text, texts)
			for _, at := range d.touched {
				r.touched[at] = true
			}
			if d.whole {
				r.patches[patchID(d.path, normalise(d.result))] = true
			}
			continue
		}
		for _, m := range tracebackPattern.FindAllStringSubmatch(b.Text, -1) {
			line, err := strconv.Atoi(m[2])
			if path := shownPath(m[1], p.Files); err == nil && path != "" {
				r.named[place{path, line}] = true
				shown = true
			}
		}
	}
	r.doubled = !shown && attemptPattern.MatchString(said.String()) && failedPattern.MatchString(said.String())
	return r
}

// shownPath maps a path of a traceback to the shown file it ends in, or "".
func shownPath(path string, files []File) string {
	best := ""
	for _, f := range files {
		if (path == f.Path || strings.HasSuffix(path, "/"+f.Path)) && len(f.Path) > len(best) {
			best = f.Path
		}
	}
	return best
}

// fixate finds the last shown patch: the one of the highest attempt number, and
// of equals the one shown last.
func fixate(p Prompt) recollection {
	texts := map[string]string{}
	for _, f := range p.Files {
		texts[f.Path] = f.Text
	}
	var last []place
	number, lastNumber := 0, -1
	for _, b := range p.History {
		if m := numberedPattern.FindStringSubmatch(b.Text); b.Kind != Fence && m != nil {
			number, _ = strconv.Atoi(m[1])
		}
		if !isDiff(b) {
			continue
		}
		if d := readDiff(b.Text, texts); len(d.touched) > 0 && number >= lastNumber {
			last, lastNumber = d.touched, number
		}
	}
	r := recollection{near: map[place]bool{}}
	for _, at := range last {
		for d := -1; d <= 1; d++ {
			r.near[place{at.path, at.line + d}] = true
		}
	}
	return r
}

// planOpening is how a plan begins.
const planOpening = "Change another line than these, at which every change so far failed:\n"

// Plan replies to a planner's prompt: it names the lines that the patches in it
// touched, for [Heed] to leave alone.
func Plan(prompt string) (string, error) {
	p, err := ParsePrompt(prompt)
	if err != nil {
		return "", err
	}
	touched := slices.SortedFunc(maps.Keys(heed(p).touched), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line))
	})
	var b strings.Builder
	b.WriteString(planOpening)
	for _, at := range touched {
		fmt.Fprintf(&b, "- %s:%d\n", at.path, at.line)
	}
	return b.String(), nil
}
