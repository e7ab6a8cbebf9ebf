package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Command says what to run in a workspace. Exactly one of Line and Args must
// be set.
type Command struct {
	// Line is run by /bin/sh -c.
	Line string
	// Args is a program, looked up in PATH, and its arguments.
	Args []string
	// Dir is the working directory, relative to the workspace. Default: its root.
	Dir string
	// Stdin is the standard input. Default: empty.
	Stdin []byte
	// Env is added to the environment as KEY=value, and wins. Beside it a
	// command gets only PATH as the harness has it, private HOME and TMPDIR,
	// LANG=C.UTF-8, TZ=UTC, PYTHONDONTWRITEBYTECODE=1, PYTHONHASHSEED=0 and
	// PYTHONNOUSERSITE=1.
	Env []string
	// Timeout kills the command and all that it started. Zero: none.
	Timeout time.Duration
	// OutputCap bounds the output that is kept, in bytes, half of it head and
	// half tail. Zero or less: DefaultOutputCap.
	OutputCap int
	// Sandbox is where the command runs. The zero value is None.
	Sandbox Sandbox
	// Visible are absolute host paths, such as a toolchain outside /usr, that
	// a sandboxed command may read. Missing ones are passed over.
	Visible []string
}

// A Result is how a command ended.
type Result struct {
	// ExitCode is the command's own, or 128 plus the signal's number.
	ExitCode int
	// Output is standard output and error as they were written, interleaved.
	// Where bytes were cut it holds the line "[... N bytes cut ...]". The
	// private paths of the workspace are written as /ws, /home/agent and /tmp,
	// as they are in the sandbox.
	Output string
	// TimedOut says that Timeout ended the command.
	TimedOut bool
	// Truncated counts the bytes cut from Output.
	Truncated int
	// Duration is the wall time from start to end.
	Duration time.Duration
	// Signal names the signal that ended the command, such as "SIGSEGV".
	Signal string
}

// drainTime is how long a process that could not be found may hold the output
// open after the command has ended.
const drainTime = 500 * time.Millisecond

// Run runs a command and waits for it. When it ends, by itself, by timeout or
// because ctx is done, everything that it started is killed: its process
// group, its descendants, and on Linux processes that left both but still have
// the workspace's HOME in their environment or their working directory in it.
//
// A failing command, a timeout and a missing working directory are results.
// An error means that the command could not be run: no shell, no such program,
// no sandbox, or ctx was done (then the Result holds what there was).
//
// Files that commands make have modes by umask 022, whatever the harness's.
func (w *Workspace) Run(ctx context.Context, c Command) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("run command: %w", context.Cause(ctx))
	}
	dir, problem, err := w.workingDir(c.Dir)
	if err != nil {
		return Result{}, fmt.Errorf("run command: %w", err)
	}
	if problem != "" {
		return Result{ExitCode: 126, Output: problem}, nil
	}
	r := run{w: w, command: c, dir: dir}
	result, err := r.do(ctx)
	if err != nil {
		return result, fmt.Errorf("run command: %w", err)
	}
	return result, nil
}

// workingDir checks a command's directory. A solver may have removed it or put
// a link out of the tree in its place: that is a problem of the attempt, told
// in the output, and not an error.
func (w *Workspace) workingDir(dir string) (clean, problem string, err error) {
	clean = path.Clean("./" + dir)
	if path.IsAbs(dir) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", "", fmt.Errorf("%w: working directory %s", ErrInvalidPath, dir)
	}
	problem = "no directory " + clean + " in the workspace\n"
	_, err = w.inTree(func(d *os.Root) error {
		if info, err := d.Stat(clean); err == nil && info.IsDir() {
			problem = ""
		}
		return nil
	})
	return clean, problem, err
}

// A run is one command under way.
type run struct {
	w       *Workspace
	command Command
	dir     string // clean, relative to the tree
	status  *os.File
}

func (r *run) do(ctx context.Context) (Result, error) {
	cmd, err := r.build()
	if err != nil {
		return Result{}, err
	}
	defer r.closeFiles(cmd)
	if r.status != nil {
		defer r.status.Close()
	}
	output, inlet, err := os.Pipe()
	if err != nil {
		return Result{}, err
	}
	defer output.Close()
	cmd.Stdout, cmd.Stderr = inlet, inlet
	keepFiles()
	if r.command.Sandbox == Bubblewrap {
		// The sandbox dies with the thread that starts it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	start := time.Now()
	err = cmd.Start()
	inlet.Close()
	r.closeFiles(cmd)
	if err != nil {
		return Result{}, err
	}
	result, err := r.finish(ctx, cmd, output)
	result.Duration = time.Since(start)
	return result, err
}

// finish follows a started command to its end and collects what it leaves.
func (r *run) finish(ctx context.Context, cmd *exec.Cmd, output *os.File) (Result, error) {
	kept := newCapture(r.command.OutputCap)
	mask := &masker{out: kept, box: []byte(r.w.box)}
	drained := make(chan struct{})
	go func() {
		io.Copy(mask, output)
		close(drained)
	}()
	timedOut, cancelled := r.await(ctx, cmd.Process.Pid)
	killAll(cmd.Process.Pid, r.w.box)
	waitErr := cmd.Wait()
	output.SetReadDeadline(time.Now().Add(drainTime))
	<-drained
	mask.flush(true)
	result := Result{TimedOut: timedOut}
	result.Output, result.Truncated = kept.result()
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		return result, waitErr
	}
	result.ExitCode, result.Signal = exitStatus(cmd.ProcessState)
	if cancelled {
		return result, context.Cause(ctx)
	}
	if r.status != nil && !timedOut {
		return result, r.checkSandbox(&result)
	}
	return result, nil
}

// keepFiles keeps files that the harness itself was started with from its
// children. Everything that Go opens is kept already.
var keepFiles = sync.OnceFunc(closeOnExec)

// await returns when the command has ended or has to. It does not reap it: its
// process id, and so its group's, stays taken until all of it is killed.
func (r *run) await(ctx context.Context, pid int) (timedOut, cancelled bool) {
	exited := make(chan struct{})
	go func() {
		awaitExit(pid)
		close(exited)
	}()
	var timeout <-chan time.Time
	if r.command.Timeout > 0 {
		timer := time.NewTimer(r.command.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-exited:
		return false, false
	case <-timeout:
		timedOut = true
	case <-ctx.Done():
		cancelled = true
	}
	killAll(pid, r.w.box)
	<-exited
	return timedOut, cancelled
}

func exitStatus(state *os.ProcessState) (code int, signal string) {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), unix.SignalName(ws.Signal())
	}
	return state.ExitCode(), ""
}

// build makes the process description, with its files open.
func (r *run) build() (*exec.Cmd, error) {
	argv, err := r.argv()
	if err != nil {
		return nil, err
	}
	home, tmp := filepath.Join(r.w.box, homeName), filepath.Join(r.w.box, tmpName)
	dir := filepath.Join(r.w.Dir, filepath.FromSlash(r.dir))
	var extra []*os.File
	switch r.command.Sandbox {
	case "", None:
	case Bubblewrap:
		prefix, err := r.sandbox()
		if err != nil {
			return nil, err
		}
		pr, pw, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		r.status, extra = pr, []*os.File{pw}
		argv = append(prefix, argv...)
		home, tmp, dir = sandboxHome, sandboxTmp, "/"
	default:
		return nil, fmt.Errorf("unknown sandbox %q", r.command.Sandbox)
	}
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Dir: dir, ExtraFiles: extra,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if cmd.Env, err = environment(home, tmp, r.command.Env); err != nil {
		r.closeFiles(cmd)
		return nil, err
	}
	if len(r.command.Stdin) > 0 {
		// A file and not a pipe: nobody has to wait for a reader.
		f, err := r.w.input(r.command.Stdin)
		if err != nil {
			r.closeFiles(cmd)
			return nil, err
		}
		cmd.Stdin = f
	}
	return cmd, nil
}

// closeFiles closes what the child has its own copies of.
func (r *run) closeFiles(cmd *exec.Cmd) {
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	if f, ok := cmd.Stdin.(*os.File); ok {
		f.Close()
	}
}

// argv is what runs, inside the sandbox if there is one.
func (r *run) argv() ([]string, error) {
	const shell, umask = "/bin/sh", "umask 022; "
	c := r.command
	switch {
	case (c.Line == "") == (len(c.Args) == 0):
		return nil, errors.New("exactly one of line and args must be set")
	case c.Line != "":
		return []string{shell, "-c", umask + c.Line}, nil
	case strings.Contains(c.Args[0], "/") || c.Sandbox == Bubblewrap:
		return append([]string{shell, "-c", umask + `exec "$0" "$@"`}, c.Args...), nil
	}
	program, err := exec.LookPath(c.Args[0])
	if err != nil {
		return nil, err
	}
	return append([]string{shell, "-c", umask + `exec "$0" "$@"`, program}, c.Args[1:]...), nil
}

// environment is the allow-list and what the caller adds.
func environment(home, tmp string, extra []string) ([]string, error) {
	search := os.Getenv("PATH")
	if search == "" {
		search = "/usr/local/bin:/usr/bin:/bin"
	}
	env := []string{
		"PATH=" + search, "HOME=" + home, "TMPDIR=" + tmp, "LANG=C.UTF-8", "TZ=UTC",
		"PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0", "PYTHONNOUSERSITE=1",
	}
	for _, kv := range extra {
		if i := strings.IndexByte(kv, '='); i <= 0 || strings.ContainsRune(kv, 0) {
			return nil, fmt.Errorf("environment entry %q is not KEY=value", kv)
		}
		env = append(env, kv)
	}
	return env, nil
}

// input returns data as an open file that has no name any more.
func (w *Workspace) input(data []byte) (*os.File, error) {
	const name = "stdin"
	w.root.Remove(name)
	f, err := w.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(data)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err = errors.Join(err, w.root.Remove(name)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
