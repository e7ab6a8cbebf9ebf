package workspace

import (
	"errors"
	"io/fs"
	"syscall"
	"time"
)

// notifier stands for what this system has not: access times have to do.
type notifier struct{}

func notify([]string) (*notifier, error) { return nil, errors.ErrUnsupported }

func (*notifier) any() (bool, error) { return false, nil }
func (*notifier) close() error       { return nil }

func accessTime(info fs.FileInfo) (time.Time, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(st.Atimespec.Unix()), true
}
