package harness

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"retrial/arms"
	"retrial/harness/workspace"
	"retrial/tasks"
	checkers "retrial/tasks/text"
)

// checkAnswer runs a built-in checker on the workspace's answer file, in this
// process: no shell, no sandbox. A tree that the solver removed, or closed to
// reading, has no answer.
func checkAnswer(ctx context.Context, w *workspace.Workspace, t *tasks.Task, name string) (tasks.Verdict, error) {
	info, err := os.Lstat(w.Dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return judgeAnswer(ctx, embed.FS{}, t, name)
	}
	var root *os.Root
	if err == nil {
		root, err = os.OpenRoot(w.Dir)
	}
	if errors.Is(err, fs.ErrPermission) {
		return failed(closed), nil
	}
	if err != nil {
		return tasks.Verdict{}, fmt.Errorf("run %q of task %s: %w", checkers.Prefix+name, t.ID, err)
	}
	defer root.Close()
	return judgeAnswer(ctx, root.FS(), t, name)
}

// judgeAnswer runs a built-in checker on the answer file of a tree. The output
// is its problems, one a line, and the exit code 1 where there are any. An answer
// file that is missing, no regular file, too large or closed to reading is the
// attempt's doing, and so a problem.
func judgeAnswer(ctx context.Context, tree fs.FS, t *tasks.Task, name string) (v tasks.Verdict, err error) {
	start := time.Now()
	answer, problem, err := readAnswer(tree)
	problems := []string{problem}
	if err == nil && problem == "" {
		problems, err = checkers.Check(name, answer)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return v, fmt.Errorf("run %q of task %s: %w", checkers.Prefix+name, t.ID, err)
	}
	v = tasks.Verdict{Passed: true}
	if len(problems) > 0 {
		v = failed(problems...)
	}
	v.Duration = time.Since(start)
	return v, nil
}

func failed(problems ...string) tasks.Verdict {
	return tasks.Verdict{ExitCode: 1, Output: arms.NormaliseOutput(strings.Join(problems, "\n")+"\n", workspace.ShownDir)}
}

// Problems of an answer file.
const (
	missing = checkers.AnswerFile + " is missing"
	symlink = checkers.AnswerFile + " is a symlink, want a regular file"
	folder  = checkers.AnswerFile + " is a folder, want a regular file"
	special = checkers.AnswerFile + " is not a regular file"
	closed  = checkers.AnswerFile + " cannot be read: its mode forbids it"
)

// readAnswer reads the answer file of a tree: a regular file, of which no more
// is read than tells that it is too large. problem says that it is none.
func readAnswer(tree fs.FS) (answer, problem string, err error) {
	info, err := fs.Lstat(tree, checkers.AnswerFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", missing, nil
	case errors.Is(err, fs.ErrPermission): // the tree can be listed, and not searched
		return "", closed, nil
	case err != nil:
		return "", "", err
	case info.Mode()&fs.ModeSymlink != 0:
		return "", symlink, nil
	case info.IsDir():
		return "", folder, nil
	case !info.Mode().IsRegular():
		return "", special, nil
	}
	f, err := tree.Open(checkers.AnswerFile)
	if errors.Is(err, fs.ErrPermission) {
		return "", closed, nil
	}
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, checkers.MaxAnswer+1))
	return string(data), "", err
}

// judgeText is Judge for a task whose commands are all built-in checkers: their
// answers are read where they lie, and no workspace is made. ok is false for
// every other task.
func judgeText(ctx context.Context, t *tasks.Task, solved bool) (verify tasks.Verdict, score *tasks.Verdict, ok bool, err error) {
	name, ok := checkers.Name(t.Verify)
	strict, alsoScore := checkers.Name(t.Score)
	if !ok || t.HasScore() && !alsoScore {
		return verify, nil, false, nil
	}
	tree := t.Workspace
	if solved {
		if _, err := fs.Lstat(t.Solution, checkers.AnswerFile); err == nil {
			tree = t.Solution
		}
	}
	if verify, err = judgeAnswer(ctx, tree, t, name); err != nil || !alsoScore {
		return verify, nil, true, err
	}
	if _, err := fs.Lstat(t.Hidden, checkers.AnswerFile); err == nil {
		tree = t.Hidden // laid over the tree, as for every score
	}
	s, err := judgeAnswer(ctx, tree, t, strict)
	return verify, &s, true, err
}
