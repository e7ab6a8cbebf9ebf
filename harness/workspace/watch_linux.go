package workspace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// notifier is an inotify instance.
type notifier struct{ fd int }

func notify(paths []string) (*notifier, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("start inotify: %w", err)
	}
	for _, p := range paths {
		if _, err := unix.InotifyAddWatch(fd, p, unix.IN_OPEN|unix.IN_ACCESS); err != nil {
			return nil, errors.Join(fmt.Errorf("watch %s: %w", p, err), unix.Close(fd))
		}
	}
	return &notifier{fd}, nil
}

// any says whether a file was opened or read.
func (n *notifier) any() (bool, error) {
	buf := make([]byte, 64*(unix.SizeofInotifyEvent+unix.NAME_MAX+1))
	for {
		size, err := unix.Read(n.fd, buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("read inotify: %w", err)
		}
		// Each event is a header and a name; those of files have none. A file that
		// is removed sends IN_IGNORED, which is no opening.
		for at := 0; at+unix.SizeofInotifyEvent <= size; at += unix.SizeofInotifyEvent {
			if mask := binary.NativeEndian.Uint32(buf[at+4:]); mask&(unix.IN_OPEN|unix.IN_ACCESS|unix.IN_Q_OVERFLOW) != 0 {
				return true, nil
			}
			at += int(binary.NativeEndian.Uint32(buf[at+12:]))
		}
	}
}

func (n *notifier) close() error { return unix.Close(n.fd) }

func accessTime(info fs.FileInfo) (time.Time, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(st.Atim.Unix()), true
}
