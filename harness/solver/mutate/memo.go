package mutate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
)

// A Verdict is what a test command said about one candidate.
type Verdict struct {
	Passed bool `json:"passed"`
	Count  int  `json:"count"` // tests passed; 0 after a crash
	Total  int  `json:"total"` // tests found; 0 after a crash
}

type memoKey struct{ task, patch [sha256.Size]byte }

// memo keeps analyses and verdicts, which depend on the task and the patch alone.
type memo struct {
	mu       sync.Mutex
	facts    map[[sha256.Size]byte]*facts
	verdicts map[memoKey]Verdict
	turns    map[[sha256.Size]byte]chan struct{} // holds a token while a task is analysed
}

// turn waits until nobody else analyses the task; call the result when done.
func (m *memo) turn(ctx context.Context, task [sha256.Size]byte) (func(), error) {
	m.mu.Lock()
	c := m.turns[task]
	if c == nil {
		if m.turns == nil {
			m.turns = map[[sha256.Size]byte]chan struct{}{}
		}
		c = make(chan struct{}, 1)
		m.turns[task] = c
	}
	m.mu.Unlock()
	select {
	case c <- struct{}{}:
		return func() { <-c }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *memo) verdict(k memoKey) (Verdict, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.verdicts[k]
	return v, ok
}

func (m *memo) keepVerdict(k memoKey, v Verdict) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.verdicts == nil {
		m.verdicts = map[memoKey]Verdict{}
	}
	m.verdicts[k] = v
}

func (m *memo) known(task [sha256.Size]byte) *facts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.facts[task]
}

func (m *memo) keepFacts(task [sha256.Size]byte, f *facts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.facts == nil {
		m.facts = map[[sha256.Size]byte]*facts{}
	}
	m.facts[task] = f
}

// session is the use of one program with one test command. It takes an
// interpreter only when something is not yet known. Not safe for concurrent use.
type session struct {
	engine *Engine
	worker *worker
	dir    string
	files  map[string]string // mutable files
	tests  tests
	key    [sha256.Size]byte // of task, files and tests
	memo   bool
	facts  *facts
}

// open begins a session; close gives the interpreter back.
func (e *Engine) open(dir, task string, files []File, t tests) *session {
	s := &session{engine: e, dir: dir, files: map[string]string{}, tests: t, memo: task != "" && !e.opts.NoMemo}
	for _, f := range files {
		if len(f.Path) > 3 && f.Path[len(f.Path)-3:] == ".py" && !t.covers(f.Path) {
			s.files[f.Path] = f.Text
		}
	}
	// Maps are written in the order of their keys.
	data, err := json.Marshal([]any{task, s.files, t})
	if err != nil {
		panic(err) // strings always marshal
	}
	s.key = sha256.Sum256(data)
	return s
}

func (s *session) close() {
	if s.worker != nil {
		s.engine.release(s.worker)
		s.worker = nil
	}
}

// analyse returns the task's facts, by a run of the unmodified program if need be.
func (s *session) analyse(ctx context.Context) (*facts, error) {
	if s.memo {
		done, err := s.engine.memo.turn(ctx, s.key)
		if err != nil {
			return nil, err
		}
		defer done()
		s.facts = s.engine.memo.known(s.key)
	}
	if s.facts != nil {
		return s.facts, nil
	}
	f := &facts{}
	if err := s.ask(ctx, call{Do: "analyse", Dir: s.dir}, f); err != nil {
		return nil, fmt.Errorf("analyse the program: %w", err)
	}
	if err := f.identify(s.files); err != nil {
		return nil, fmt.Errorf("analyse the program: %w", err)
	}
	s.facts = f
	if s.memo {
		s.engine.memo.keepFacts(s.key, f)
	}
	return f, nil
}

// try returns the verdict on a candidate, from the memo or by running the tests.
func (s *session) try(ctx context.Context, c candidate) (Verdict, error) {
	k := memoKey{s.key, c.id}
	if s.memo {
		if v, ok := s.engine.memo.verdict(k); ok {
			return v, nil
		}
	}
	var v Verdict
	m := c.Mutant
	if err := s.ask(ctx, call{Do: "try", Dir: s.dir, Path: m.Path, Start: m.Start, End: m.End, Text: m.Text}, &v); err != nil {
		return v, fmt.Errorf("try %s: %w", m, err)
	}
	if s.memo {
		s.engine.memo.keepVerdict(k, v)
	}
	return v, nil
}
