package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
//
// It lies below the Root of the Grader that asks, whose owner removes it with
// the workspaces; graders with another Root have one of their own.
type goCache struct {
	mu    sync.Mutex
	below map[string]*warmth // by Root
}

// warmth is the cache below one Root, made by the first that asks.
type warmth struct {
	mu  sync.Mutex
	dir string // "" as long as there is none
	err error  // how Go's command failed to make it; it would fail again
}

// goCachePath is where Go looks for its build cache, below HOME.
const goCachePath = ".cache/go-build"

// warmPackages are what the tests of small programs import, and newPackages
// those of them that only Go 1.21 brought.
var (
	warmPackages = []string{
		"bufio", "bytes", "container/heap", "context", "encoding/json", "errors", "fmt", "io", "math", "math/rand", "os",
		"reflect", "regexp", "sort", "strconv", "strings", "sync", "time", "unicode", "unicode/utf8",
	}
	newPackages = []string{"cmp", "maps", "slices"}
)

// warmTime bounds the making of the cache.
const warmTime = 5 * time.Minute

// give puts a fresh copy of the cache into a workspace's HOME, whatever an
// attempt left there.
func (c *goCache) give(ctx context.Context, g Grader, w *workspace.Workspace) error {
	dir, err := c.of(g.Root).made(ctx, g)
	if err != nil {
		return fmt.Errorf("make Go's build cache: %w", err)
	}
	if err := w.FillHome(goCachePath, dir); err != nil {
		return fmt.Errorf("give Go's build cache: %w", err)
	}
	return nil
}

func (c *goCache) of(root string) *warmth {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.below == nil {
		c.below = map[string]*warmth{}
	}
	if c.below[root] == nil {
		c.below[root] = &warmth{}
	}
	return c.below[root]
}

// made is the folder of the cache, made where it is not there. An error that is
// not of Go's command itself, such as that of a ctx that is done, keeps nobody
// from trying again.
func (c *warmth) made(ctx context.Context, g Grader) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return "", c.err
	}
	if c.dir != "" {
		if _, err := os.Stat(c.dir); err == nil {
			return c.dir, nil
		}
		c.dir = ""
	}
	tree, err := workspace.ReadTree(fstest.MapFS{
		"go.mod":       {Data: []byte("module warm\n")},
		"warm_test.go": {Data: []byte("package warm\nimport \"testing\"\n" + imports(warmPackages) + "func TestWarm(*testing.T) {}\n")},
		"new_test.go":  {Data: []byte("//go:build go1.21\n\npackage warm\n" + imports(newPackages))},
	})
	if err != nil {
		return "", err
	}
	w, err := workspace.Open(ctx, tree, g.Root)
	if err != nil {
		return "", err
	}
	defer w.Close()
	return c.warm(ctx, g, w)
}

// warm runs a test that imports what others do, and keeps the cache that this
// leaves.
func (c *warmth) warm(ctx context.Context, g Grader, w *workspace.Workspace) (string, error) {
	const line = "go test ./..."
	res, err := w.Run(ctx, workspace.Command{Line: line, Timeout: warmTime, Sandbox: g.Sandbox, Env: g.env(), Visible: g.Tools.Visible})
	if err == nil {
		err = ctx.Err()
	}
	switch {
	case err != nil:
		return "", err
	case res.TimedOut:
		c.err = fmt.Errorf("%q of an empty test took longer than %s", line, warmTime)
		return "", c.err
	case killed(res):
		return "", fmt.Errorf("%q of an empty test was killed from outside", line)
	case res.ExitCode != 0:
		c.err = fmt.Errorf("%q of an empty test fails (exit %d): %.300s", line, res.ExitCode, strings.TrimSpace(res.Output))
		return "", c.err
	}
	dir := filepath.Join(g.Root, "go-build")
	if err := os.Rename(filepath.Join(w.Home(), filepath.FromSlash(goCachePath)), dir); err != nil {
		return "", err
	}
	c.dir = dir
	return dir, nil
}

func imports(packages []string) string {
	var b strings.Builder
	for _, p := range packages {
		fmt.Fprintf(&b, "import _ %q\n", p)
	}
	return b.String()
}

// runsGo says whether a command line runs Go's command: the word stands where a
// shell looks for a program. What stands in quotes is read as a line of its own,
// as for sh -c. A script that runs Go is not looked into.
func runsGo(line string) bool {
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";&|(){}\n`'\"", r) }) {
		ran := false // by a runner, whose options and numbers may stand before the program
		for _, word := range strings.Fields(part) {
			switch runner := slices.Contains(runners, word); {
			case runner:
				ran = true
				continue
			case assignment.MatchString(word), ran && optionOrNumber.MatchString(word):
				continue
			case word == "go", strings.HasSuffix(word, "/go"):
				return true
			}
			break
		}
	}
	return false
}

// runners are words that a shell reads before the name of a program.
var runners = []string{
	"!", "if", "then", "elif", "else", "while", "until", "do", "exec", "time", "command", "env", "nice", "nohup", "timeout", "stdbuf", "xargs",
}

var (
	assignment     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	optionOrNumber = regexp.MustCompile(`^[-0-9]`)
)
