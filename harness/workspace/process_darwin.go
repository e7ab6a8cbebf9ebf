package workspace

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// awaitExit returns when a child has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	const idIsPid = 1
	var info [128]byte // room for a siginfo_t
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idIsPid, uintptr(pid),
			uintptr(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

// closeOnExec marks the open files that a program is started with, but for the
// standard three.
func closeOnExec() {
	const most = 256
	for fd := 3; fd < most; fd++ {
		unix.CloseOnExec(fd)
	}
}

// killAll kills the group of the child leader, which must not have been reaped.
// Processes that left the group are not found on this system.
func killAll(leader int, _ string) {
	unix.Kill(-leader, unix.SIGKILL)
	unix.Kill(leader, unix.SIGKILL)
}
