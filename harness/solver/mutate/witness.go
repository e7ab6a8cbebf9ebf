package mutate

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// A WitnessRequest asks for one mutant of a program that the visible tests let
// pass and the hidden ones reject.
type WitnessRequest struct {
	Dir, ScoreDir string // workspaces without and with the hidden tests; they hold the program
	Files         []File // editable files, as they are there
	VerifyCommand string
	ScoreCommand  string
	Sound         bool   // the program should pass both commands; where it does not, nothing is tried
	Seed          uint64 // of the order in which mutants are tried
	Tries         int    // most mutants to try
	// Confirm has the last word on what looks like a witness, such as by running
	// the commands themselves; nil: none is asked.
	Confirm func(ctx context.Context, m Mutant, result string) (bool, error)
}

// A Witness is what a search came to.
type Witness struct {
	Mutant  *Mutant // nil where none was found
	Mutants int     // of the program
	Tried   int     // of these
	Passed  int     // of those tried, the ones that pass the visible tests; the witness among them
	Unsound bool    // the program does not pass the commands here, as it should
}

// Witness tries the mutants of a program one by one, the likely ones first, and
// stops at the first witness. A mutant is the likelier to slip through the
// visible tests the fewer of them execute its statement: it is drawn with its
// prior weight over the square of one more than their number. The answer depends
// on the request alone. Nothing is kept between requests.
func (e *Engine) Witness(ctx context.Context, req WitnessRequest) (Witness, error) {
	visible, err := parseCommand(req.VerifyCommand)
	if err != nil {
		return Witness{}, err
	}
	hidden, err := parseCommand(req.ScoreCommand)
	if err != nil {
		return Witness{}, err
	}
	if !req.Sound {
		hidden.Free = hiddenWork
	}
	v, h := e.open(req.Dir, "", req.Files, visible), e.open(req.ScoreDir, "", req.Files, hidden)
	defer v.close()
	defer h.close()
	for _, s := range []*session{v, h} {
		if _, err := s.analyse(ctx); err != nil {
			return Witness{}, err
		}
		s.close()
		if req.Sound && !s.facts.Passed {
			return Witness{Mutants: len(v.facts.Mutants), Unsound: true}, nil
		}
	}
	return seek(ctx, req, v, h)
}

// seek tries the candidates in their order. The visible tests' session gives its
// interpreter back before the hidden tests' takes it: one serves both.
func seek(ctx context.Context, req WitnessRequest, v, h *session) (Witness, error) {
	w := Witness{Mutants: len(v.facts.Mutants)}
	for _, c := range likely(v.facts, req.Seed) {
		if w.Tried == req.Tries {
			break
		}
		if _, ok := h.files[c.Path]; !ok {
			continue // a test of the score command: no part of the program
		}
		w.Tried++
		first, err := v.try(ctx, c)
		v.close()
		if err != nil {
			return w, err
		}
		if !first.Passed {
			continue
		}
		w.Passed++
		second, err := h.try(ctx, c)
		h.close()
		if err != nil {
			return w, err
		}
		if second.Passed {
			continue
		}
		found, err := confirm(ctx, req, c.Mutant)
		if err != nil {
			return w, err
		}
		if found {
			w.Mutant = &c.Mutant
			return w, nil
		}
	}
	return w, nil
}

func confirm(ctx context.Context, req WitnessRequest, m Mutant) (bool, error) {
	if req.Confirm == nil {
		return true, nil
	}
	at := slices.IndexFunc(req.Files, func(f File) bool { return f.Path == m.Path })
	text, err := m.apply(req.Files[at].Text)
	if err != nil {
		return false, err
	}
	return req.Confirm(ctx, m, text)
}

// likely orders the mutants of a program by a draw without replacement, in which
// each has the weight that Witness tells of.
func likely(f *facts, seed uint64) []candidate {
	covering := map[place]int{}
	for _, l := range f.Lines {
		covering[place{l.Path, l.Stmt}] = l.Failing + l.Passing
	}
	out := make([]candidate, len(f.Mutants))
	for i, m := range f.Mutants {
		tests := float64(covering[place{m.Path, m.Stmt}])
		score := math.Log(m.Weight) - 2*math.Log1p(tests) + gumbel(seed, "witness", f.ids[i][:])
		out[i] = candidate{Mutant: m, id: f.ids[i], score: score}
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), slices.Compare(a.id[:], b.id[:]))
	})
	return out
}
