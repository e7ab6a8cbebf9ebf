package workspace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The daemons of these commands try to outlive them: in the background, in a
// session of their own, orphaned, and without environment.
var daemons = map[string]string{
	"background": "sleep 1000 & echo $! > pids",
	"session":    "setsid sh -c 'echo $$ > pids; exec sleep 1000' & until [ -s pids ]; do :; done",
	"orphan":     "(setsid sh -c 'echo $$ > pids; exec sleep 1000' &) ; until [ -s pids ]; do :; done",
	"bare":       "(cd tests; setsid env -i sh -c 'echo $$ > ../pids; exec sleep 1000' &) ; until [ -s pids ]; do :; done",
}

// alive lists the processes that have word in their command line; a zombie has
// none.
func alive(word string) (found []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range lines {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), word) {
			found = append(found, strings.ReplaceAll(string(data), "\x00", " "))
		}
	}
	return found
}

func TestRunLeavesNothingAlive(t *testing.T) {
	inEachSandbox(t, func(t *testing.T, s Sandbox) {
		for name, line := range daemons {
			for _, end := range []string{"exits", "times out", "is cancelled"} {
				t.Run(name+" "+end, func(t *testing.T) { leavesNothing(t, s, line, end) })
			}
		}
	})
}

func leavesNothing(t *testing.T, s Sandbox, line, end string) {
	w := open(t, mustTree(t, programs))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	mark := fmt.Sprintf("1000.%d", rand.Uint64())
	c := Command{Line: strings.ReplaceAll(line, "1000", mark) + "; : > ready", Sandbox: s}
	switch end {
	case "times out":
		c.Line += "; sleep 1000"
		c.Timeout = 300 * time.Millisecond
	case "is cancelled":
		c.Line += "; sleep 1000"
		go func() {
			defer cancel()
			for ctx.Err() == nil {
				if _, err := os.Lstat(filepath.Join(w.Dir, "ready")); err == nil {
					return
				}
				runtime.Gosched()
			}
		}()
	}
	r, err := w.Run(ctx, c)
	if (err != nil) != (end == "is cancelled") || err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if r.TimedOut != (end == "times out") {
		t.Errorf("result %+v", r)
	}
	if left := alive(mark); len(left) > 0 {
		t.Errorf("alive: %q", left)
	}
	if _, err := os.Lstat(filepath.Join(w.Dir, "pids")); err != nil && end != "times out" {
		t.Errorf("the daemon never ran: %v", err)
	}
}
