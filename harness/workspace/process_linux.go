package workspace

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// awaitExit returns when a child has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// closeOnExec marks all open files but the standard three.
func closeOnExec() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, _ := os.ReadDir("/proc/self/fd") // before Linux 5.11
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// killAll kills the group of the child leader, its descendants, and the
// processes started since that belong to the box by their environment or their
// working directory, and returns when they are dead. The leader must not have
// been reaped.
func killAll(leader int, box string) {
	const rounds = 10
	h := hunt{leader: leader, box: box, killed: map[int]bool{}, ended: map[int]bool{}}
	defer h.await()
	first, ok := readProcess(leader)
	if !ok {
		return
	}
	h.since = first.start
	for range rounds {
		before := len(h.killed) + len(h.ended)
		for _, p := range h.family() {
			h.kill(p)
		}
		unix.Kill(-leader, unix.SIGKILL)
		unix.Kill(leader, unix.SIGKILL)
		if len(h.killed)+len(h.ended) == before {
			return
		}
	}
}

// A process as /proc shows it.
type process struct {
	pid, parent, group int
	start              uint64 // clock ticks since boot
	state              byte
}

func (p process) dead() bool { return p.state == 'Z' || p.state == 'X' }

func readProcess(pid int) (process, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	// The name, in brackets, may hold anything, brackets too.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 20 {
		return process{}, false
	}
	p := process{pid: pid, state: fields[0][0]}
	p.parent, _ = strconv.Atoi(fields[1])
	p.group, _ = strconv.Atoi(fields[2])
	p.start, err = strconv.ParseUint(fields[19], 10, 64)
	return p, err == nil
}

// A hunt looks for what a command started, again as long as that changes.
type hunt struct {
	leader int
	since  uint64 // when the leader started
	box    string
	killed map[int]bool
	// ended are those that died between being listed and being looked at, or
	// are not reaped: one of them may have left a child too new for the list.
	ended   map[int]bool
	handles []unix.PollFd
}

// kill kills p, and not another process that has come by its id meanwhile.
func (h *hunt) kill(p process) {
	if h.killed[p.pid] {
		return
	}
	h.killed[p.pid] = true
	fd, err := unix.PidfdOpen(p.pid, 0)
	if now, ok := readProcess(p.pid); !ok || now.start != p.start {
		if err == nil {
			unix.Close(fd)
		}
		return
	}
	if err != nil { // before Linux 5.3
		unix.Kill(p.pid, unix.SIGKILL)
		return
	}
	unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	h.handles = append(h.handles, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
}

// await returns when all that was killed is dead: a process may go on for a
// moment after the signal. One that the kernel cannot end is given up.
func (h *hunt) await() {
	deadline := time.Now().Add(drainTime)
	for i := range h.handles {
		for {
			left := int(time.Until(deadline).Milliseconds())
			if _, err := unix.Poll(h.handles[i:i+1], max(left, 0)); !errors.Is(err, unix.EINTR) {
				break
			}
		}
		unix.Close(int(h.handles[i].Fd))
	}
}

// family lists the living processes that came from the leader, itself excluded.
func (h *hunt) family() []process {
	later := h.later()
	children := map[int][]process{}
	for _, p := range later {
		children[p.parent] = append(children[p.parent], p)
	}
	var found []process
	seen := map[int]bool{}
	var add func(p process)
	add = func(p process) {
		if seen[p.pid] {
			return
		}
		seen[p.pid] = true
		found = append(found, p)
		for _, child := range children[p.pid] {
			add(child)
		}
	}
	for _, p := range later {
		if p.parent == h.leader || p.group == h.leader || !seen[p.pid] && belongs(p.pid, h.box) {
			add(p)
		}
	}
	return found
}

// later lists the living processes that are not older than the leader.
func (h *hunt) later() []process {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	names, _ := proc.Readdirnames(-1)
	proc.Close()
	var later []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == h.leader || pid == os.Getpid() {
			continue
		}
		p, ok := readProcess(pid)
		switch {
		case !ok || p.start >= h.since && p.dead():
			h.ended[pid] = true
		case p.start >= h.since:
			later = append(later, p)
		}
	}
	return later
}

// belongs reports whether a process has the box's HOME or TMPDIR, works in it,
// or is a sandbox made for it.
func belongs(pid int, box string) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	if cwd, err := os.Readlink(dir + "/cwd"); err == nil {
		if cwd == box || strings.HasPrefix(cwd, box+"/") {
			return true
		}
	}
	if env, err := os.ReadFile(dir + "/environ"); err == nil {
		env = append([]byte{0}, env...)
		for _, name := range []string{"\x00HOME=" + box + "/", "\x00TMPDIR=" + box + "/"} {
			if bytes.Contains(env, []byte(name)) {
				return true
			}
		}
	}
	line, err := os.ReadFile(dir + "/cmdline")
	if err != nil || !bytes.Contains(line, []byte(box+"/")) {
		return false
	}
	program, _, _ := bytes.Cut(line, []byte{0})
	return filepath.Base(string(program)) == "bwrap"
}
