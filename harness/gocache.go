package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing/fstest"
	"time"

	"retrial/harness/workspace"
)

// goCache holds the standard library as compiled inside the sandbox. Every
// sandboxed Go command gets a copy: compiling it anew takes some 20 seconds of
// CPU, and a folder that attempts could write to would let one of them change
// what the next one's tests are built from.
type goCache struct {
	once sync.Once
	dir  string // "" where it could not be made; commands then compile for themselves
}

// goCachePath is where Go looks for its build cache, below HOME.
const goCachePath = ".cache/go-build"

// warmPackages are what the tests of small programs import.
var warmPackages = []string{
	"bufio", "bytes", "cmp", "container/heap", "context", "encoding/json", "errors", "fmt", "io", "maps", "math", "math/rand",
	"os", "reflect", "regexp", "slices", "sort", "strconv", "strings", "sync", "testing", "time", "unicode", "unicode/utf8",
}

// warmTime bounds the making of the cache.
const warmTime = 5 * time.Minute

// give puts a fresh copy of the cache into a workspace's HOME, whatever an
// attempt left there.
func (c *goCache) give(ctx context.Context, g Grader, w *workspace.Workspace) error {
	c.once.Do(func() { c.make(ctx, g) })
	if c.dir == "" {
		return nil
	}
	if err := w.FillHome(goCachePath, c.dir); err != nil {
		return fmt.Errorf("give Go's build cache: %w", err)
	}
	return nil
}

// make compiles a test that imports what others do, in a workspace of its own,
// and keeps the cache that this leaves.
func (c *goCache) make(ctx context.Context, g Grader) {
	var imports strings.Builder
	for _, p := range warmPackages {
		if p != "testing" {
			fmt.Fprintf(&imports, "import _ %q\n", p)
		}
	}
	tree, err := workspace.ReadTree(fstest.MapFS{
		"go.mod":       {Data: []byte("module warm\n")},
		"warm_test.go": {Data: []byte("package warm\nimport \"testing\"\n" + imports.String() + "func TestWarm(*testing.T) {}\n")},
	})
	if err != nil {
		return
	}
	w, err := workspace.Open(ctx, tree, g.Root)
	if err != nil {
		return
	}
	defer w.Close()
	res, err := w.Run(ctx, workspace.Command{Line: "go test ./...", Timeout: warmTime, Sandbox: g.Sandbox, Env: g.env(), Visible: g.Tools.Visible})
	if err != nil || res.ExitCode != 0 {
		return
	}
	dir := filepath.Join(g.Root, "go-build")
	if os.Rename(filepath.Join(w.Home(), filepath.FromSlash(goCachePath)), dir) == nil {
		c.dir = dir
	}
}
