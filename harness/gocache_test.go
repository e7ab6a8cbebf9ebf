package harness

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"retrial/harness/workspace"
	"retrial/tasks"
)

// TestGoCache: a sandboxed Go command finds the standard library compiled, and an
// attempt that spoilt its own copy spoils no other, nor the next command's.
func TestGoCache(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the standard library")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not here")
	}
	if _, err := workspace.FindBubblewrap(); err != nil {
		t.Skip(err)
	}
	g := Grader{Root: t.TempDir(), Sandbox: workspace.Bubblewrap, Tools: Toolchain{Go: true, cache: &goCache{}}}
	tree, err := workspace.ReadTree(fstest.MapFS{"go.mod": {Data: []byte("module m\n")}})
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(t.Context(), tree, g.Root)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	run := func(line string) string {
		t.Helper()
		if err := g.Tools.cache.give(t.Context(), g, w); err != nil {
			t.Fatal(err)
		}
		res, err := w.Run(t.Context(), workspace.Command{Line: line, Sandbox: g.Sandbox, Env: g.env()})
		if err != nil || res.ExitCode != 0 {
			t.Fatalf("%s: %v, exit %d: %s", line, err, res.ExitCode, res.Output)
		}
		return res.Output
	}
	const stale = "go list -f '{{.ImportPath}} {{.Stale}} {{.StaleReason}}' fmt testing encoding/json"
	if got := run(stale); strings.Contains(got, " true") {
		t.Fatalf("the standard library is not in the cache:\n%s", got)
	}
	run(`find ~/.cache/go-build -type f -exec sh -c ': > "$1"' _ {} \; && rm -rf ~/.cache && ln -s /tmp ~/.cache`)
	if got := run(stale); strings.Contains(got, " true") {
		t.Errorf("after an attempt that spoilt its cache:\n%s", got)
	}
}

// goStub puts a program "go" first on PATH that leaves a cache, unless the file
// "broken" lies beside it, or reads a pipe "gate" first. It returns its folder.
func goStub(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\nif [ -p '" + dir + "/gate' ]; then cat '" + dir + "/gate'; fi\nif [ -e '" + dir + "/broken' ]; then echo no space left; exit 2; fi\nmkdir -p ~/.cache/go-build && echo x > ~/.cache/go-build/x\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return dir
}

func openEmpty(t *testing.T, root string) *workspace.Workspace {
	t.Helper()
	tree, err := workspace.ReadTree(fstest.MapFS{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(t.Context(), tree, root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// TestGoCacheOfTwoGraders: the run's grader has the Toolchain of the one that
// certified its tasks, whose Root is gone by then.
func TestGoCacheOfTwoGraders(t *testing.T) {
	goStub(t)
	tools := Toolchain{cache: &goCache{}}
	give := func(root string) {
		t.Helper()
		w := openEmpty(t, root)
		if err := tools.cache.give(t.Context(), Grader{Root: root, Sandbox: workspace.None, Tools: tools}, w); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(w.Home(), filepath.FromSlash(goCachePath), "x")); err != nil {
			t.Error(err)
		}
		if dir := tools.cache.below[root].dir; filepath.Dir(dir) != root {
			t.Errorf("the cache of %s lies in %s", root, dir)
		}
	}
	first, second := filepath.Join(t.TempDir(), "first"), t.TempDir()
	for range 2 { // the second time, the first root is made anew
		if err := os.Mkdir(first, 0o755); err != nil {
			t.Fatal(err)
		}
		give(first)
		give(second)
		give(first)
		if err := os.RemoveAll(first); err != nil {
			t.Fatal(err)
		}
		give(second)
	}
}

// TestGoCacheThatCannotBeMade: it is told each time, and a ctx that is done
// decides nothing for those that come after.
func TestGoCacheThatCannotBeMade(t *testing.T) {
	stub := goStub(t)
	g := Grader{Root: t.TempDir(), Sandbox: workspace.None}
	w := openEmpty(t, g.Root)
	gate := filepath.Join(stub, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	done, cancel := context.WithCancel(t.Context())
	cut := make(chan error)
	go func() {
		f, err := os.OpenFile(gate, os.O_WRONLY, 0) // once Go's command reads it
		cancel()
		cut <- err
		f.Close()
	}()
	var c goCache
	if err := c.give(done, g, w); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled on the way: %v", err)
	}
	if err := errors.Join(<-cut, os.Remove(gate)); err != nil {
		t.Fatal(err)
	}
	if err := c.give(t.Context(), g, w); err != nil {
		t.Errorf("after one that was cancelled: %v", err)
	}
	if err := os.WriteFile(filepath.Join(stub, "broken"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var broken goCache
	for range 2 {
		const want = `make Go's build cache: "go test ./..." of an empty test fails (exit 2): no space left`
		if err := broken.give(t.Context(), g, w); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestRunsGo(t *testing.T) {
	for line, want := range map[string]bool{
		"go test ./...":                      true,
		" go vet . && go test":               true,
		"cd x && go test ./...":              true,
		"cd x\ngo test":                      true,
		"GOFLAGS=-mod=mod CGO=0 go test":     true,
		`LABEL="a b" go test`:                true,
		"cd x; GOFLAGS=-count=1 exec go run": true,
		"timeout -k 5 60 go test":            true,
		"env A=b go test":                    true,
		"sh -c 'cd x && go test'":            true,
		"if ! go vet; then exit 1; fi":       true,
		"/usr/local/go/bin/go test":          true,
		"(cd x && go test) 2>&1 | tee log":   true,
		"":                                   false,
		"cd go && python3 -m unittest":       false,
		"python3 -m unittest go":             false,
		"gofmt -l .":                         false,
		"HOME=/go python3 test.py":           false,
		"timeout 60 python3 go":              false,
		"builtin:text/acrostic":              false,
	} {
		if got := runsGo(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
		tools, err := FindToolchain(t.Context(), []*tasks.Task{{ID: "t", Verify: "true", Score: "cd . && " + line}})
		if err != nil || tools.Go != want || (tools.cache != nil) != want {
			t.Errorf("%q: toolchain %+v, %v", line, tools, err)
		}
	}
}
