package mutate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// lineFacts is the evidence about one statement.
type lineFacts struct {
	Path    string `json:"path"`
	Stmt    int    `json:"stmt"`
	Failing int    `json:"failing"` // failing tests that execute it
	Passing int    `json:"passing"` // passing tests that execute it
	Named   bool   `json:"named"`   // a traceback of a failing test names it
}

// facts is all that is known of a task before any seed or history.
type facts struct {
	Mutants []Mutant       `json:"mutants"`
	Lines   []lineFacts    `json:"lines"`
	Passed  bool           `json:"passed"`
	Count   int            `json:"count"`
	Total   int            `json:"total"`
	Failing int            `json:"failing"`
	Ticks   map[string]int `json:"ticks"`

	ids   [][sha256.Size]byte // patchID of each mutant
	plain [][sha256.Size]byte // patchID of each mutant's normalised text, as a shown patch has it
}

// identify works out the mutants' identities.
func (f *facts) identify(files map[string]string) error {
	f.ids = make([][sha256.Size]byte, len(f.Mutants))
	f.plain = make([][sha256.Size]byte, len(f.Mutants))
	for i, m := range f.Mutants {
		text, err := m.apply(files[m.Path])
		if err != nil {
			return err
		}
		f.ids[i], f.plain[i] = patchID(m.Path, text), patchID(m.Path, normalise(text))
	}
	return nil
}

// candidate is a mutant to try.
type candidate struct {
	Mutant
	id    [sha256.Size]byte // patchID of the mutated file
	score float64
}

// ranking orders lines and mutants for one attempt.
type ranking struct {
	facts          *facts
	seen           recollection
	alpha, rho     float64
	sharpness      float64
	trial, attempt uint64
}

// candidates returns the mutants of the highest lines, best first.
func (r ranking) candidates(lines int) []candidate {
	weights := map[place]float64{}
	byLine := map[place][]candidate{}
	stmts := map[place]place{}
	for i, m := range r.facts.Mutants {
		at := place{m.Path, m.Line}
		weights[at] += m.Weight
		stmts[at] = place{m.Path, m.Stmt}
		if r.seen.patches[r.facts.plain[i]] || r.seen.barred[at] || r.seen.barred[stmts[at]] {
			continue
		}
		id := r.facts.ids[i]
		score := math.Log(m.Weight) + r.noise("mutant", id[:])
		byLine[at] = append(byLine[at], candidate{m, id, score})
	}
	evidence := map[place]lineFacts{}
	for _, l := range r.facts.Lines {
		evidence[place{l.Path, l.Stmt}] = l
	}
	type scored struct {
		at    place
		score float64
	}
	var ranked []scored
	for at := range byLine {
		ranked = append(ranked, scored{at, r.line(at, stmts[at], evidence[stmts[at]], weights[at])})
	}
	slices.SortFunc(ranked, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at.path, b.at.path), cmp.Compare(a.at.line, b.at.line))
	})
	var out []candidate
	for _, s := range ranked[:min(lines, len(ranked))] {
		out = append(out, byLine[s.at]...)
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), slices.Compare(a.id[:], b.id[:]))
	})
	return out
}

// line scores a line; the formula stands in the package comment.
func (r ranking) line(at, stmt place, l lineFacts, weight float64) float64 {
	ochiai := 0.0
	if l.Failing > 0 && r.facts.Failing > 0 {
		ochiai = float64(l.Failing) / math.Sqrt(float64(r.facts.Failing)*float64(l.Failing+l.Passing))
	}
	named := 1.0
	if l.Named {
		named = 4
	}
	score := r.sharpness * math.Log((0.02+ochiai*ochiai*ochiai)*named*math.Sqrt(weight))
	if r.seen.touched[at] {
		score += math.Log(r.alpha)
	}
	if r.seen.named[at] || r.seen.named[stmt] {
		score += math.Log(2)
	}
	if r.seen.near[at] {
		score += math.Log(1000)
	}
	return score + r.noise("line", fmt.Appendf(nil, "%s:%d", at.path, at.line))
}

// noise is the persistent and the attempt's Gumbel noise of a line or mutant.
func (r ranking) noise(kind string, id []byte) float64 {
	fresh := math.Sqrt(1 - r.rho)
	if r.seen.doubled {
		fresh *= 2
	}
	return math.Sqrt(r.rho)*gumbel(r.trial, "trial "+kind, id) + fresh*gumbel(r.attempt, "attempt "+kind, id)
}

// gumbel draws a standard Gumbel variate that depends on its arguments alone, so
// that it is the same whatever else is drawn and in whatever order.
func gumbel(seed uint64, label string, id []byte) float64 {
	h := sha256.New()
	fmt.Fprintf(h, "%d\x00%s\x00", seed, label)
	h.Write(id)
	bits := binary.BigEndian.Uint64(h.Sum(nil)) >> 11
	return -math.Log(-math.Log((float64(bits) + 0.5) / (1 << 53)))
}
