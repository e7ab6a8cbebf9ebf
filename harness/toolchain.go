package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"retrial/tasks"
	checkers "retrial/tasks/text"
)

// Toolchain is what the tasks' commands find on this machine.
type Toolchain struct {
	Go      bool     // some task runs the go command
	Python  string   // absolute path of python3; "" where no task needs it
	Env     []string // added to the environment of every command
	Visible []string // host paths that a sandboxed command needs to read

	cache *goCache // shared by copies of the Toolchain; nil where no task needs Go
}

// FindToolchain looks up the programs that the tasks' commands start with. An
// error names the first one that is not there.
//
// python3 is resolved once to the interpreter behind it, and that one is put
// first on PATH: version managers install a shim that looks for it anew at each
// start, which takes longer than a small test.
func FindToolchain(ctx context.Context, list []*tasks.Task) (Toolchain, error) {
	var tools Toolchain
	for _, program := range programs(list) {
		if _, err := exec.LookPath(program.name); err != nil {
			return tools, fmt.Errorf("task %s needs %q, which is not on PATH: install it and start again", program.task, program.name)
		}
		if program.name != "python3" {
			continue
		}
		if err := tools.findPython(ctx); err != nil {
			return tools, fmt.Errorf("task %s needs python3: %w", program.task, err)
		}
	}
	if slices.ContainsFunc(list, func(t *tasks.Task) bool { return runsGo(t.Verify) || runsGo(t.Score) }) {
		tools.Go, tools.cache = true, &goCache{}
	}
	return tools, nil
}

// pythonProbe prints where the interpreter is, and where what it reads is: two
// places in a virtual environment.
const pythonProbe = "import sys; assert sys.version_info >= (3, 8), 'this is Python ' + sys.version.split()[0]; " +
	"print(sys.executable); print(sys.prefix); print(sys.base_prefix)"

func (tools *Toolchain) findPython(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "python3", "-c", pythonProbe)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")} // as commands have it: no PYTHON…
	cmd.WaitDelay = time.Second
	var out, said head
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("the one on PATH did not answer within %s: put one that works first on PATH", probeTime)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != 3 || !filepath.IsAbs(lines[0]) {
		message := strings.TrimSpace(string(said))
		return fmt.Errorf("the one on PATH does not serve: install Python 3.8 or later (%v: %s)", err, message[strings.LastIndexByte(message, '\n')+1:])
	}
	tools.Python = lines[0]
	tools.Env = append(tools.Env, "PATH="+filepath.Dir(lines[0])+string(os.PathListSeparator)+os.Getenv("PATH"))
	tools.Visible = append(tools.Visible, slices.Compact(lines[1:])...)
	return nil
}

// probeTime is how long python3 may take to say where it is.
const probeTime = 10 * time.Second

// head keeps the first bytes of what is written to it.
type head []byte

func (h *head) Write(p []byte) (int, error) {
	*h = append(*h, p[:min(len(p), 4096-min(len(*h), 4096))]...)
	return len(p), nil
}

type program struct{ name, task string }

// programs lists the plain program names that commands start with, each with
// the first task that needs it.
func programs(list []*tasks.Task) []program {
	var out []program
	for _, t := range list {
		for _, line := range []string{t.Verify, t.Score} {
			words := strings.Fields(line)
			if _, builtIn := checkers.Name(line); builtIn {
				continue // runs in this process
			}
			if len(words) == 0 || strings.ContainsAny(words[0], "=/$(\"'{;&|<>!.:") || slices.Contains(shellWords, words[0]) {
				continue // not a plain program name: the shell will tell
			}
			if !slices.ContainsFunc(out, func(p program) bool { return p.name == words[0] }) {
				out = append(out, program{words[0], t.ID})
			}
		}
	}
	return out
}

// shellWords are words that a POSIX shell knows without a program.
var shellWords = []string{"cd", "eval", "exec", "exit", "export", "if", "set", "ulimit", "umask", "unset", "while", "until", "for", "case", "trap"}
