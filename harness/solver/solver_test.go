package solver

import (
	"context"
	"errors"
	"os/exec"
	"testing"

	"retrial/arms"
)

func TestFirstError(t *testing.T) {
	for _, c := range []struct {
		steps []Step
		want  string
	}{
		{nil, ""},
		{[]Step{{Tool: "ls"}, {Tool: "cat x"}}, ""},
		{[]Step{{Tool: "ls"}, {Tool: "sh -c make", Error: "exit 2"}, {Tool: "cat x", Error: "no x"}}, "sh -c make: exit 2"},
	} {
		if got := (Reply{Steps: c.steps}).FirstError(); got != c.want {
			t.Errorf("first error of %v is %q, want %q", c.steps, got, c.want)
		}
	}
}

// TestMutateErrors: what the repairer cannot work with is an error, neither pass
// nor fail; so is a context that is done.
func TestMutateErrors(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not here")
	}
	m, err := NewMutate("heed", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	done, cancel := context.WithCancel(context.Background())
	cancel()
	prompt := arms.Prompt{Base: "## Files\n\n### a.py\n\n```python\nx = 1\n```\n"}
	const verify = "python3 -m unittest -q test_a"
	for name, c := range map[string]struct {
		ctx context.Context
		req Request
	}{
		"no file":       {t.Context(), Request{Verify: verify}},
		"other command": {t.Context(), Request{Prompt: prompt, Verify: "make test"}},
		"aborted":       {done, Request{Prompt: prompt, Verify: verify, Dir: t.TempDir()}},
	} {
		if r, err := m.Solve(c.ctx, c.req); err == nil || len(r.Files) > 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		} else if name == "aborted" && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewMutate("heed", "no-such-python-here", nil); err == nil {
		t.Error("a missing interpreter is no error")
	}
}
