package harness

import (
	"context"
	"fmt"
	"io/fs"

	"retrial/harness/solver/mutate"
	"retrial/tasks"
)

// strongerTries is how many one-token changes of a program Stronger runs at
// most. A witness takes 5 on average among the built-in Python tasks, and never
// more than 28.
const strongerTries = 150

// Stronger seeks one program that a task's verify lets pass and its score
// rejects: among the one-token changes of the solved program, and if there is
// none among those of the untouched one. It tries up to 150 of each, in an order
// drawn from the seed, until one is found; what looks like one to the engine is
// run by the task's own commands before it counts.
//
// It knows the changes of Python programs tested by unittest alone, and needs an
// engine, which may be nil where there is no Python; it could not tell of
// others. A command that gives no verdict is an error here.
func (g Grader) Stronger(ctx context.Context, engine *mutate.Engine, t *tasks.Task, seed uint64) (tasks.Strength, error) {
	for _, line := range []string{t.Verify, t.Score} {
		if mutate.Supports(line) != nil {
			return tasks.Strength{Verdict: tasks.CouldNotTell, Reason: "only programs tested by Python's unittest can be changed"}, nil
		}
	}
	if engine == nil {
		return tasks.Strength{Verdict: tasks.CouldNotTell, Reason: "there is no Python to try changes in"}, nil
	}
	m, err := loadMaterial(t)
	if err != nil {
		return tasks.Strength{}, err
	}
	out := tasks.Strength{Verdict: tasks.CouldNotTell}
	for _, solved := range []bool{true, false} {
		found, err := g.seek(ctx, engine, m, solved, seed)
		if err != nil {
			return out, fmt.Errorf("try changes of task %s: %w", t.ID, err)
		}
		if found.Unsound {
			out.Reason = "the solution does not pass in the interpreter that tries changes"
			return out, nil
		}
		out.Changes, out.Tried, out.Passed = out.Changes+found.Mutants, out.Tried+found.Tried, out.Passed+found.Passed
		if found.Mutant != nil {
			out.Verdict, out.Witness, out.Solved = tasks.Stronger, found.Mutant.String(), solved
			return out, nil
		}
	}
	out.Reason = fmt.Sprintf("score rejects none of the %d of %d tried changes that pass verify", out.Passed, out.Tried)
	return out, nil
}

// seek looks among the changes of one program: the solved or the untouched.
func (g Grader) seek(ctx context.Context, engine *mutate.Engine, m *material, solved bool, seed uint64) (mutate.Witness, error) {
	files, err := programFiles(m.task, solved)
	if err != nil {
		return mutate.Witness{}, err
	}
	shown, err := g.lay(ctx, m, solved)
	if err != nil {
		return mutate.Witness{}, err
	}
	defer shown.Close()
	graded, err := g.lay(ctx, m, solved)
	if err != nil {
		return mutate.Witness{}, err
	}
	defer graded.Close()
	if m.hidden != nil {
		if err := graded.Add(m.hidden); err != nil {
			return mutate.Witness{}, fmt.Errorf("add hidden files: %w", err)
		}
	}
	return engine.Witness(ctx, mutate.WitnessRequest{
		Dir: shown.Dir, ScoreDir: graded.Dir, Files: files, VerifyCommand: m.task.Verify, ScoreCommand: m.task.Score,
		Sound: solved, Seed: seed, Tries: strongerTries,
		Confirm: func(ctx context.Context, change mutate.Mutant, result string) (bool, error) {
			return g.confirm(ctx, m, solved, change.Path, result)
		},
	})
}

// programFiles reads the editable files of the solved or the untouched program.
func programFiles(t *tasks.Task, solved bool) ([]mutate.File, error) {
	shown, err := t.EditableFiles()
	if err != nil {
		return nil, err
	}
	files := make([]mutate.File, len(shown))
	for i, f := range shown {
		files[i] = mutate.File{Path: f.Path, Text: f.Content}
		if !solved {
			continue
		}
		if data, err := fs.ReadFile(t.Solution, f.Path); err == nil {
			files[i].Text = string(data)
		}
	}
	return files, nil
}

// confirm runs the task's own commands on a changed program: a witness passes
// verify and fails score.
func (g Grader) confirm(ctx context.Context, m *material, solved bool, path, text string) (bool, error) {
	w, err := g.lay(ctx, m, solved)
	if err != nil {
		return false, err
	}
	defer w.Close()
	if err := w.WriteFiles(map[string][]byte{path: []byte(text)}); err != nil {
		return false, err
	}
	verify, err := g.verify(ctx, w, m.task)
	if err != nil || !verify.Passed {
		return false, err
	}
	if _, err := w.Restore(m.task.Protect); err != nil {
		return false, err
	}
	score, err := g.score(ctx, w, m)
	return err == nil && !score.Passed, err
}
