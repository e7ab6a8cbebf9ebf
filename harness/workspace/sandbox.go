package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A Sandbox is where commands run.
type Sandbox string

const (
	// None runs commands as the harness's own user, with nothing kept from
	// them but the environment.
	None Sandbox = "none"
	// Bubblewrap runs commands in namespaces of their own, by bwrap: no
	// network, not the host's processes, no capabilities. They see the system
	// read-only (/usr, /opt, a few files of /etc, Command.Visible), nothing
	// else of the host, and can write to the workspace (/ws), HOME
	// (/home/agent), TMPDIR (/tmp) and /dev/shm only. Their user id is 1000.
	Bubblewrap Sandbox = "bubblewrap"
)

// Where a sandboxed command finds its directories.
const (
	sandboxTree = "/ws"
	sandboxHome = "/home/agent"
	sandboxTmp  = "/tmp"
)

const (
	sandboxPasswd = "root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:" + sandboxHome + ":/bin/sh\n" +
		"nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
	sandboxGroup = "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n"
)

// ErrNoSandbox marks a sandbox that the machine cannot provide.
var ErrNoSandbox = errors.New("no sandbox")

// FindBubblewrap returns the path of a bwrap that works here. The error, an
// [ErrNoSandbox], says whether it is missing or what it could not do. The
// answer is found once per process.
func FindBubblewrap() (string, error) { return findBubblewrap() }

var findBubblewrap = sync.OnceValues(func() (string, error) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return "", fmt.Errorf("%w: install bubblewrap: %w", ErrNoSandbox, err)
	}
	if bwrap, err = filepath.Abs(bwrap); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoSandbox, err)
	}
	probe := exec.Command(bwrap, append(isolation(), systemMounts()...)...)
	probe.Args = append(probe.Args, kernelMounts...)
	probe.Args = append(probe.Args, "--", "/bin/sh", "-c", ":")
	probe.Env = []string{}
	probe.WaitDelay = time.Second
	out, err := probe.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s cannot make one here: %w: %s", ErrNoSandbox, bwrap, err, bytes.TrimSpace(out))
	}
	return bwrap, nil
})

// isolation are the options that cut a command off.
func isolation() []string {
	return []string{
		"--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000",
		"--cap-drop", "ALL", "--die-with-parent", "--new-session",
	}
}

// kernelMounts are the file systems of the kernel. Where the harness runs as
// root, /proc/sys would otherwise be writable: the files belong to that user.
var kernelMounts = []string{
	"--proc", "/proc", "--ro-bind-try", "/proc/sys", "/proc/sys",
	"--ro-bind-try", "/proc/sysrq-trigger", "/proc/sysrq-trigger",
	"--dev", "/dev", "--tmpfs", "/dev/shm",
}

// systemMounts shows programs, libraries and the files of /etc that they need:
// no shadow, no keys, no host configuration.
func systemMounts() []string {
	args := []string{"--ro-bind", "/usr", "/usr", "--ro-bind-try", "/opt", "/opt", "--ro-bind-try", "/nix/store", "/nix/store"}
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		if target, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", target, dir)
		} else {
			args = append(args, "--ro-bind-try", dir, dir)
		}
	}
	for _, name := range []string{"alternatives", "ca-certificates", "java-*", "ld.so.cache", "ld.so.conf",
		"ld.so.conf.d", "localtime", "mime.types", "nsswitch.conf", "pki/tls/certs", "protocols", "python3*",
		"services", "ssl/certs", "ssl/openssl.cnf"} {
		found, _ := filepath.Glob("/etc/" + name)
		for _, file := range found {
			args = append(args, "--ro-bind-try", file, file)
		}
	}
	return args
}

var mounts = sync.OnceValue(systemMounts)

// statusFD is where bwrap reports, in the child's numbering.
const statusFD = "3"

// sandbox is the command line up to the command itself.
func (r *run) sandbox() ([]string, error) {
	bwrap, err := FindBubblewrap()
	if err != nil {
		return nil, err
	}
	argv := append([]string{bwrap, "--json-status-fd", statusFD}, isolation()...)
	argv = append(argv, mounts()...)
	in := func(name string) string { return filepath.Join(r.w.box, name) }
	argv = append(argv, kernelMounts...)
	argv = append(argv,
		"--ro-bind", in(etcName+"/passwd"), "/etc/passwd", "--ro-bind", in(etcName+"/group"), "/etc/group",
		"--bind", in(tmpName), sandboxTmp, "--bind", in(homeName), sandboxHome, "--bind", in(treeName), sandboxTree)
	for _, visible := range r.command.Visible {
		if !filepath.IsAbs(visible) {
			return nil, fmt.Errorf("visible path %q is not absolute", visible)
		}
		argv = append(argv, "--ro-bind-try", visible, visible)
	}
	return append(argv,
		"--remount-ro", "/dev", "--remount-ro", "/", // last: what is bound keeps its own mode
		"--chdir", path.Join(sandboxTree, r.dir), "--"), nil
}

// checkSandbox tells a command that failed from a sandbox that never started
// it: only the former has an exit code in bwrap's report.
func (r *run) checkSandbox(result *Result) error {
	r.status.SetReadDeadline(time.Now().Add(drainTime))
	report, err := io.ReadAll(io.LimitReader(r.status, 64<<10))
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if strings.Contains(string(report), `"exit-code"`) {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrNoSandbox, strings.TrimSpace(result.Output))
}
