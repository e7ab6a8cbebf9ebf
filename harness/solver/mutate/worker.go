package mutate

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
)

//go:embed source.py model.py ops.py stmts.py program.py trial.py server.py
var sources embed.FS

// modules are the embedded files in the order of their imports.
var modules = []string{"source", "model", "ops", "stmts", "program", "trial", "server"}

// boot reads the modules from the first line of standard input and serves. What
// is loaded before them is what python3 -m unittest has loaded.
const boot = `import os, sys, unittest, unittest.main
core = frozenset(sys.modules)
import json, types
requests = os.fdopen(os.dup(0), "rb")
for name, text in json.loads(requests.readline().decode("utf-8")):
    module = sys.modules["mutate_" + name] = types.ModuleType("mutate_" + name)
    exec(compile(text, "mutate/" + name + ".py", "exec"), module.__dict__)
sys.modules["mutate_server"].main(core, requests)`

// call is a request to an interpreter; server.py says what each is.
type call struct {
	Do    string            `json:"do"`
	Key   string            `json:"key"`
	Dir   string            `json:"dir,omitempty"`
	Path  string            `json:"path,omitempty"`
	Start int               `json:"start"`
	End   int               `json:"end"`
	Text  string            `json:"text"`
	Files map[string]string `json:"files,omitempty"`
	Tests *tests            `json:"tests,omitempty"`
	Ticks map[string]int    `json:"ticks,omitempty"`
}

// worker is one warm interpreter.
type worker struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *tail
	broken bool
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if n := len(t.text) - 2000; n > 0 {
		t.text = t.text[n:]
	}
	return len(p), nil
}

func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return lines[len(lines)-1]
}

func (e *Engine) start() (*worker, error) {
	w := &worker{cmd: exec.Command(e.argv[0], e.argv[1:]...), stderr: &tail{}}
	w.cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"}
	w.cmd.Stderr = w.stderr
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start python: %w", err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start python: %w", err)
	}
	w.in, w.out = in, bufio.NewReaderSize(out, 1<<16)
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start python: %w", err)
	}
	var program [][2]string
	for _, name := range modules {
		text, err := sources.ReadFile(name + ".py")
		if err != nil {
			panic(err) // embedded
		}
		program = append(program, [2]string{name, string(text)})
	}
	if err := w.send(program); err != nil {
		w.stop()
		return nil, fmt.Errorf("start python: %w", err)
	}
	return w, nil
}

func (w *worker) send(v any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.in.Write(line.Bytes())
	return err
}

// exchange sends one request and reads its answer. Cancelling ends the interpreter.
func (w *worker) exchange(ctx context.Context, c call) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { _ = w.cmd.Process.Kill() })
	defer stop()
	err := w.send(c)
	var line []byte
	if err == nil {
		line, err = w.out.ReadBytes('\n')
	}
	if err != nil {
		w.broken = true
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if said := w.stderr.last(); said != "" {
			return nil, fmt.Errorf("python ended: %s", said)
		}
		return nil, fmt.Errorf("python ended: %w", err)
	}
	if !stop() {
		w.broken = true // killed, or about to be
		return nil, ctx.Err()
	}
	return line, nil
}

// stop ends the interpreter and waits for it.
func (w *worker) stop() {
	_ = w.in.Close()
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait() // it was killed: its status says nothing
}

func (e *Engine) acquire() (*worker, error) {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, errors.New("use a closed engine")
	}
	if n := len(e.idle); n > 0 {
		w := e.idle[n-1]
		e.idle = e.idle[:n-1]
		e.mu.Unlock()
		return w, nil
	}
	e.mu.Unlock()
	return e.start()
}

func (e *Engine) release(w *worker) {
	e.mu.Lock()
	keep := !w.broken && !e.closed && len(e.idle) < e.opts.Workers
	if keep {
		e.idle = append(e.idle, w)
	}
	e.mu.Unlock()
	if !keep {
		w.stop()
	}
}

// Close ends the idle interpreters; those in use end with their Solve.
func (e *Engine) Close() {
	e.mu.Lock()
	idle := e.idle
	e.idle, e.closed = nil, true
	e.mu.Unlock()
	for _, w := range idle {
		w.stop()
	}
}

// ask puts a request to the session's interpreter, starting a new one once if it
// has ended, and opens the program there if it is not yet known.
func (s *session) ask(ctx context.Context, c call, answer any) error {
	line, err := s.exchange(ctx, c)
	if err != nil && ctx.Err() == nil && s.worker != nil && s.worker.broken {
		s.close()
		line, err = s.exchange(ctx, c)
	}
	if err != nil {
		return err
	}
	var said struct{ Error string }
	if err := json.Unmarshal(line, &said); err != nil {
		return fmt.Errorf("read python's answer: %w", err)
	}
	if said.Error != "" {
		return fmt.Errorf("python reports %s", said.Error)
	}
	if err := json.Unmarshal(line, answer); err != nil {
		return fmt.Errorf("read python's answer: %w", err)
	}
	return nil
}

func (s *session) exchange(ctx context.Context, c call) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.worker == nil {
		w, err := s.engine.acquire()
		if err != nil {
			return nil, err
		}
		s.worker = w
	}
	c.Key = hex.EncodeToString(s.key[:])
	line, err := s.worker.exchange(ctx, c)
	if err != nil || !bytes.HasPrefix(line, []byte(`{"unknown"`)) {
		return line, err
	}
	opening := call{Do: "open", Key: c.Key, Files: s.files, Tests: &s.tests}
	if s.facts != nil {
		opening.Ticks = s.facts.Ticks
	}
	if opened, err := s.worker.exchange(ctx, opening); err != nil || bytes.HasPrefix(opened, []byte(`{"error"`)) {
		return opened, err
	}
	return s.worker.exchange(ctx, c)
}
