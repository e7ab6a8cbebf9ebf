package mutate

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// witnessRequest asks about a bundled task, solved or untouched. The hidden tests
// lie in a workspace of their own.
func witnessRequest(t *testing.T, task corpusTask, solved bool) WitnessRequest {
	t.Helper()
	req := WitnessRequest{Dir: t.TempDir(), ScoreDir: task.dir, VerifyCommand: task.verify, ScoreCommand: task.score, Sound: solved, Tries: 150}
	for _, f := range task.files {
		text, ok := task.solution[f.Path]
		if !solved || !ok {
			text = f.Text
		}
		req.Files = append(req.Files, File{f.Path, text})
		if err := os.WriteFile(filepath.Join(task.dir, f.Path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(req.Dir, os.DirFS(task.dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(req.Dir, "test_hidden.py")); err != nil {
		t.Fatal(err)
	}
	return req
}

func seekWitness(t *testing.T, e *Engine, req WitnessRequest) Witness {
	t.Helper()
	w, err := e.Witness(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A witness passes the visible tests and fails the hidden ones when they are run
// by the interpreter itself; the same request finds the same one, and another
// seed looks in another order.
func TestWitness(t *testing.T) {
	e := newEngine(t, Options{})
	task := bundled(t, "clamp")
	req := witnessRequest(t, task, true)
	found := map[string]bool{}
	for seed := range uint64(6) {
		req.Seed = seed
		w := seekWitness(t, e, req)
		if w.Mutant == nil || w.Passed < 1 || w.Tried < w.Passed || w.Mutants < w.Tried {
			t.Fatalf("seed %d: %+v", seed, w)
		}
		if again := seekWitness(t, e, req); !reflect.DeepEqual(w, again) {
			t.Errorf("seed %d: %+v, then %+v", seed, w, again)
		}
		found[w.Mutant.String()] = true
		for _, f := range req.Files {
			if f.Path != w.Mutant.Path {
				continue
			}
			text, err := w.Mutant.apply(f.Text)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(task.dir)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, f.Path), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, command := range []string{task.verify, task.score} {
				words := strings.Fields(command)
				cmd := exec.Command(words[0], words[1:]...)
				cmd.Dir = dir
				if err := cmd.Run(); (err == nil) != (command == task.verify) {
					t.Errorf("seed %d: %s: %s: %v", seed, w.Mutant, command, err)
				}
			}
		}
	}
	if len(found) < 2 {
		t.Errorf("six seeds find %v", found)
	}
}

// The number of tries is a bound; a score that runs the visible tests has no
// witness; one that is not confirmed is none, and the search goes on.
func TestWitnessNotFound(t *testing.T) {
	e := newEngine(t, Options{})
	req := witnessRequest(t, bundled(t, "clamp"), true)
	req.ScoreCommand = req.VerifyCommand
	whole := seekWitness(t, e, req)
	if whole.Mutant != nil || whole.Tried != whole.Mutants || whole.Passed == 0 || whole.Passed == whole.Tried {
		t.Errorf("score equal to verify: %+v", whole)
	}
	req.Tries = 7
	if w := seekWitness(t, e, req); w.Mutant != nil || w.Tried != 7 || w.Mutants != whole.Mutants {
		t.Errorf("7 tries: %+v", w)
	}
	req = witnessRequest(t, bundled(t, "clamp"), true)
	asked := 0
	req.Confirm = func(context.Context, Mutant, string) (bool, error) {
		asked++
		return asked == 3, nil
	}
	if w := seekWitness(t, e, req); w.Mutant == nil || asked != 3 || w.Passed < 3 {
		t.Errorf("confirmed at the third: %d asked, %+v", asked, w)
	}
}

// Where the program should pass and does not, nothing is tried; the untouched
// program's changes are tried all the same.
func TestWitnessUnsound(t *testing.T) {
	e := newEngine(t, Options{})
	req := witnessRequest(t, bundled(t, "clamp"), false)
	if w := seekWitness(t, e, req); w.Mutant != nil || w.Unsound || w.Passed != 1 {
		t.Errorf("untouched, where the right change alone passes verify: %+v", w)
	}
	weaker := req
	weaker.VerifyCommand += ".ClampTest.test_inside"
	if w := seekWitness(t, e, weaker); w.Mutant == nil || w.Unsound {
		t.Errorf("untouched: %+v", w)
	}
	req.Sound = true
	if w := seekWitness(t, e, req); w.Mutant != nil || !w.Unsound || w.Tried != 0 {
		t.Errorf("broken solution: %+v", w)
	}
}
