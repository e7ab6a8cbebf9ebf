package mutate

import (
	"context"
	"fmt"
	"sync"
)

// hiddenWork is the work a hidden test may count: such tests compare with oracles
// in long loops, which the unmodified program fails early.
const hiddenWork = 1_000_000

// A TableRequest asks for the verdict on every mutant of a program.
type TableRequest struct {
	Dir           string // workspace; holds the hidden tests as well if ScoreCommand is set
	Files         []File // editable files
	VerifyCommand string
	ScoreCommand  string // judges the mutants that pass verify; empty: none
	ScoreAll      bool   // judge all mutants by it
	TaskKey       string // as in Request
	Jobs          int    // interpreters used at a time; 0 means 1
}

// A Row is one mutant and what the tests say of it.
type Row struct {
	Mutant
	Result  string // the mutated file
	Visible Verdict
	Hidden  *Verdict // nil if not judged
}

// Table judges all mutants of a program, in the order of files and lines. It
// serves to screen tasks: how many mutants are right, how many pass by accident.
func (e *Engine) Table(ctx context.Context, req TableRequest) ([]Row, error) {
	visible, err := parseCommand(req.VerifyCommand)
	if err != nil {
		return nil, err
	}
	s := e.open(req.Dir, req.TaskKey, req.Files, visible)
	defer s.close()
	known, err := s.analyse(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(known.Mutants))
	for i, m := range known.Mutants {
		rows[i].Mutant = m
		if rows[i].Result, err = m.apply(s.files[m.Path]); err != nil {
			return nil, err
		}
	}
	s.close()
	err = e.judge(ctx, req, visible, rows, func(r *Row, v Verdict) { r.Visible = v }, func(Row) bool { return true })
	if err != nil || req.ScoreCommand == "" {
		return rows, err
	}
	hidden, err := parseCommand(req.ScoreCommand)
	if err != nil {
		return nil, err
	}
	hidden.Free = hiddenWork
	return rows, e.judge(ctx, req, hidden, rows, func(r *Row, v Verdict) { r.Hidden = &v },
		func(r Row) bool { return req.ScoreAll || r.Visible.Passed })
}

// judge runs one test command on the rows that are wanted, spread over Jobs sessions.
func (e *Engine) judge(ctx context.Context, req TableRequest, t tests, rows []Row, set func(*Row, Verdict), want func(Row) bool) error {
	jobs := max(req.Jobs, 1)
	errs := make([]error, jobs)
	var wg sync.WaitGroup
	for job := range jobs {
		wg.Go(func() {
			s := e.open(req.Dir, req.TaskKey, req.Files, t)
			defer s.close()
			if _, err := s.analyse(ctx); err != nil {
				errs[job] = err
				return
			}
			for i := job; i < len(rows); i += jobs {
				if !want(rows[i]) {
					continue
				}
				c := candidate{Mutant: rows[i].Mutant, id: patchID(rows[i].Path, rows[i].Result)}
				v, err := s.try(ctx, c)
				if err != nil {
					errs[job] = err
					return
				}
				set(&rows[i], v)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("judge mutants: %w", err)
		}
	}
	return nil
}
