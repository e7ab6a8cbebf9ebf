package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func mustRun(t testing.TB, w *Workspace, c Command) Result {
	t.Helper()
	r, err := w.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// inEachSandbox runs a test plainly and, where bubblewrap works, sandboxed.
func inEachSandbox(t *testing.T, test func(t *testing.T, s Sandbox)) {
	t.Run("none", func(t *testing.T) { test(t, None) })
	t.Run("bubblewrap", func(t *testing.T) {
		needBubblewrap(t)
		test(t, Bubblewrap)
	})
}

func TestRunResults(t *testing.T) {
	inEachSandbox(t, func(t *testing.T, s Sandbox) {
		w := open(t, mustTree(t, programs))
		for name, c := range map[string]struct {
			command Command
			want    Result
		}{
			"passes":        {Command{Line: "true"}, Result{}},
			"fails":         {Command{Line: "echo out; echo err >&2; echo again; exit 3"}, Result{ExitCode: 3, Output: "out\nerr\nagain\n"}},
			"arguments":     {Command{Args: []string{"printf", "%s|", "a b", "$HOME", ""}}, Result{Output: "a b|$HOME||"}},
			"own program":   {Command{Args: []string{"./run.sh"}}, Result{}},
			"input":         {Command{Line: "cat", Stdin: []byte("given")}, Result{Output: "given"}},
			"no input":      {Command{Line: "cat"}, Result{}},
			"directory":     {Command{Line: "pwd; ls", Dir: "tests"}, Result{Output: "/ws/tests\ndata\ntest_calc.py\n"}},
			"gone":          {Command{Line: "true", Dir: "nowhere"}, Result{ExitCode: 126, Output: "no directory nowhere in the workspace\n"}},
			"own paths":     {Command{Line: `echo "$HOME" "$TMPDIR" "$PWD"`}, Result{Output: "/home/agent /tmp /ws\n"}},
			"umask":         {Command{Line: "umask"}, Result{Output: "0022\n"}},
			"umask of args": {Command{Args: []string{"sh", "-c", "umask"}}, Result{Output: "0022\n"}},
			"environment":   {Command{Line: `echo "$MINE" "$LANG"`, Env: []string{"MINE=1", "LANG=C"}}, Result{Output: "1 C\n"}},
			"no such file":  {Command{Line: "./nothing 2>/dev/null"}, Result{ExitCode: 127}},
			"exact cap":     {Command{Line: "printf 0123456789", OutputCap: 10}, Result{Output: "0123456789"}},
			"past the cap": {Command{Line: "printf 0123456789X", OutputCap: 10},
				Result{Output: "01234\n[... 1 bytes cut ...]\n6789X", Truncated: 1}},
		} {
			c.command.Sandbox = s
			got := mustRun(t, w, c.command)
			got.Duration = 0
			if got != c.want {
				t.Errorf("%s: %+v, want %+v", name, got, c.want)
			}
		}
		if got := mustRun(t, w, Command{Line: "kill -SEGV $$", Sandbox: s}); got.ExitCode != 128+int(syscall.SIGSEGV) {
			t.Errorf("a crash gave %+v", got)
		} else if s == None && got.Signal != "SIGSEGV" {
			t.Errorf("a crash gave signal %q", got.Signal)
		}
	})
}

func TestRunEnvironmentIsAnAllowList(t *testing.T) {
	t.Setenv("SECRET_API_KEY", "k")
	inEachSandbox(t, func(t *testing.T, s Sandbox) {
		w := open(t, mustTree(t, programs))
		out := mustRun(t, w, Command{Line: "env | cut -d= -f1 | sort | tr '\\n' ' '", Sandbox: s}).Output
		out = strings.ReplaceAll(strings.ReplaceAll(out, "OLDPWD ", ""), "_ ", "")
		if want := "HOME LANG PATH PWD PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONNOUSERSITE TMPDIR TZ "; out != want {
			t.Errorf("environment %q, want %q", out, want)
		}
	})
}

func TestRunErrors(t *testing.T) {
	w := open(t, mustTree(t, programs))
	for name, c := range map[string]Command{
		"nothing":         {},
		"both":            {Line: "true", Args: []string{"true"}},
		"unknown sandbox": {Line: "true", Sandbox: "chroot"},
		"bad environment": {Line: "true", Env: []string{"novalue"}},
		"leaving":         {Line: "true", Dir: "../.."},
		"absolute":        {Line: "true", Dir: "/"},
		"no program":      {Args: []string{"no-such-program-anywhere"}},
	} {
		if r, err := w.Run(context.Background(), c); err == nil {
			t.Errorf("%s: ran: %+v", name, r)
		}
	}
	if _, err := w.Run(context.Background(), Command{Args: []string{"no-such-program-anywhere"}}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("missing program: %v", err)
	}
	mustDo(t, os.Symlink("/", filepath.Join(w.Dir, "out")))
	if r := mustRun(t, w, Command{Line: "true", Dir: "out"}); r.ExitCode != 126 {
		t.Errorf("ran in a directory outside: %+v", r)
	}
}

func TestRunBoundsMemory(t *testing.T) {
	w := open(t, mustTree(t, programs))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := mustRun(t, w, Command{Line: "echo first; head -c 1000000000 /dev/zero; echo last", OutputCap: 1 << 16})
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("1 GB of output allocated %d bytes", grown)
	}
	if !strings.HasPrefix(r.Output, "first\n") || !strings.HasSuffix(r.Output, "last\n") || r.Truncated != 1e9+11-1<<16 {
		t.Errorf("kept %d bytes, cut %d", len(r.Output), r.Truncated)
	}
}

func TestSandboxHidesTheHost(t *testing.T) {
	needBubblewrap(t)
	w := open(t, mustTree(t, programs))
	secret := filepath.Join(t.TempDir(), "secret")
	mustDo(t, os.WriteFile(secret, []byte("s"), 0o644))
	host, err := os.UserHomeDir()
	if err != nil {
		host = "/root"
	}
	for name, line := range map[string]string{
		"temporary files": "cat " + secret,
		"home":            "ls " + host,
		"the box":         "ls " + w.box,
		"shadow":          "cat /etc/shadow",
		"writes to /usr":  "touch /usr/x",
		"writes to /etc":  "touch /etc/x",
		"writes to /":     "touch /x",
		"writes to /dev":  "touch /dev/x",
		"kernel settings": "test -w /proc/sys/kernel/core_pattern -o -w /proc/sysrq-trigger",
		"network":         "grep -v -e lo: -e Inter -e face /proc/net/dev",
		"descriptors":     "ls /proc/self/fd | grep -v -e '^[012]$' -e '^3$'",
		"capabilities":    "grep CapEff /proc/self/status | grep -v 0000000000000000",
		"processes":       "test $(ls /proc | grep -c '^[0-9]') -gt 6",
	} {
		if r := mustRun(t, w, Command{Line: line, Sandbox: Bubblewrap}); r.ExitCode == 0 {
			t.Errorf("%s: %s", name, r.Output)
		}
	}
	r := mustRun(t, w, Command{Sandbox: Bubblewrap, Visible: []string{secret, "/no/such"},
		Line: "set -e; touch /ws/x /tmp/x ~/x /dev/shm/x; id -un; cat " + secret + "; ! echo x 2>/dev/null >" + secret})
	if r.ExitCode != 0 || r.Output != "agent\ns" {
		t.Errorf("allowed things: %+v", r)
	}
	mustDo(t, w.Revert())
	checkPristine(t, w)
}

func TestSandboxThatDoesNotStartIsAnError(t *testing.T) {
	needBubblewrap(t)
	w := open(t, mustTree(t, programs))
	mustDo(t, os.RemoveAll(filepath.Join(w.box, homeName)))
	r, err := w.Run(context.Background(), Command{Line: "true", Sandbox: Bubblewrap})
	if !errors.Is(err, ErrNoSandbox) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCaptureCutsBetweenCharacters(t *testing.T) {
	for limit := 1; limit < 30; limit++ {
		for _, chunk := range []int{1, 3, 1000} {
			text := strings.Repeat("aé🙂", 20)
			c := newCapture(limit)
			for rest := text; rest != ""; {
				n := min(chunk, len(rest))
				c.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			got, cut := c.result()
			head, tail, ok := strings.Cut(got, fmt.Sprintf("\n[... %d bytes cut ...]\n", cut))
			if !ok || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) ||
				len(head)+cut+len(tail) != len(text) || len(head)+len(tail) > limit {
				t.Fatalf("cap %d, chunks of %d: %q cut %d", limit, chunk, got, cut)
			}
			if strings.ToValidUTF8(got, "?") != got {
				t.Fatalf("cap %d: split a character: %q", limit, got)
			}
		}
	}
}

func TestMaskerFindsSplitPaths(t *testing.T) {
	const box = "/tmp/box-AAAA"
	text := box + "/tree/a.py " + box + "/tmp " + box + "/home/x " + box + "/other " + box + " /tmp/box-AAA /tmp/box-" + box + "/tre" + box
	want := "/ws/a.py /tmp /home/agent/x /box/other /box /tmp/box-AAA /tmp/box-/box/tre/box"
	for chunk := 1; chunk <= len(text); chunk++ {
		m := &masker{out: newCapture(0), box: []byte(box)}
		for rest := text; rest != ""; {
			n := min(chunk, len(rest))
			m.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		m.flush(true)
		if got, _ := m.out.result(); got != want {
			t.Fatalf("chunks of %d: %q, want %q", chunk, got, want)
		}
	}
}
