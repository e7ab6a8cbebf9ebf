package results

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var simArms = []string{"blind", "notice", "last-verdict", "diff-feedback"}

// sim makes the events of a made-up run: a draft per trial, then three retry
// arms in lockstep of which notice and last-verdict share every attempt.
type sim struct {
	rng    *rand.Rand
	clock  int64
	events []Event // of the trial being made
	base   Event
	truth  map[string]bool // "task/replicate/arm" of finished trials -> passed
}

func newSim(seed uint64) *sim {
	return &sim{rng: rand.New(rand.NewPCG(seed, 1)), clock: 1_700_000_000_000_000_000, truth: make(map[string]bool)}
}

func (s *sim) emit(kind Kind, change func(*Event)) {
	e := s.base
	e.Kind, e.Index, e.TimeNS = kind, int64(len(s.events)), s.clock
	s.clock += 1_000_000
	if change != nil {
		change(&e)
	}
	s.events = append(s.events, e)
}

// run returns the events of a run: run_start, one slice per trial, run_finish.
func (s *sim) run(tasks, replicates int) (start Event, trials [][]Event, finish Event) {
	detail, err := json.Marshal(RunDetail{Design: json.RawMessage(`{"name":"sim"}`), Arms: simArms, HasScore: true})
	if err != nil {
		panic(err)
	}
	common := Event{RunID: "run-1", DesignHash: "d1", TaskIndex: -1}
	start, finish = common, common
	start.Kind, start.Detail, start.TimeNS = KindRunStart, string(detail), s.clock
	for task := range tasks {
		for replicate := range replicates {
			trials = append(trials, s.trial(task, replicate))
		}
	}
	finish.Kind, finish.TimeNS = KindRunFinish, s.clock
	return start, trials, finish
}

func (s *sim) trial(task, replicate int) []Event {
	s.events = nil
	s.base = Event{
		RunID: "run-1", DesignHash: "d1",
		Task: fmt.Sprintf("task-%02d", task), Group: fmt.Sprintf("g%d", task/2),
		Replicate: int32(replicate), TaskIndex: int32(task), ForkID: fmt.Sprintf("f%d.%d", task, replicate),
	}
	s.emit(KindTrialStart, nil)
	verified, passed := s.attempt(1, "draft", simArms)
	done := make(map[string]bool)
	if verified {
		s.finishArms(simArms, passed, done)
	}
	for n := int32(2); n <= 3; n++ {
		for _, arms := range [][]string{{"blind"}, {"notice", "last-verdict"}, {"diff-feedback"}} {
			if done[arms[0]] {
				continue
			}
			if s.rng.Float64() < .05 {
				s.finishMissing(arms, done)
				continue
			}
			if verified, passed = s.attempt(n, arms[0], arms); verified || n == 3 {
				s.finishArms(arms, passed, done)
			}
		}
	}
	return s.events
}

func (s *sim) finishArms(arms []string, passed bool, done map[string]bool) {
	for _, arm := range arms {
		done[arm] = true
		s.truth[fmt.Sprintf("%s/%d/%s", s.base.Task, s.base.Replicate, arm)] = passed
		s.emit(KindTrialFinish, func(e *Event) { e.Arm, e.Passed = arm, Ptr(passed) })
	}
}

func (s *sim) finishMissing(arms []string, done map[string]bool) {
	for _, arm := range arms {
		done[arm] = true
		s.emit(KindTrialFinish, func(e *Event) { e.Arm, e.Reason = arm, Ptr("no donors") })
	}
}

// attempt makes the events of one attempt and says whether it passed verify and
// whether it passed both.
func (s *sim) attempt(n int32, arm string, sharedBy []string) (verified, passed bool) {
	saved := s.base
	defer func() { s.base = saved }()
	s.base.Attempt, s.base.TryID, s.base.Arm = n, 1, arm
	s.base.SharedBy = strings.Join(sharedBy, ";")
	s.base.AttemptID = fmt.Sprintf("%s.%d.%s.%d", s.base.Task, s.base.Replicate, arm, n)
	seed := fmt.Sprintf("%016x", s.rng.Uint64())
	action := "retry"
	if n == 1 {
		action = "draft"
	}
	begin := func(e *Event) { e.Seed, e.Action = &seed, &action }
	s.emit(KindAttemptStart, begin)
	if s.rng.Float64() < .1 { // a first try that the endpoint lost after one paid call
		s.call()
		s.emit(KindInfraFault, func(e *Event) { e.Reason = Ptr("connection reset") })
		s.base.TryID = 2
		s.emit(KindAttemptStart, begin)
	}
	s.emit(KindPromptComposed, func(e *Event) { e.PromptSHA, e.PromptChars = Ptr("p"+s.base.AttemptID), Ptr(int64(900)) })
	if n > 1 && arm != "blind" {
		s.emit(KindHistoryInjected, func(e *Event) { e.HistoryRecords, e.HistoryChars = Ptr(n-1), Ptr(int64(n)*400) })
	}
	s.call()
	verified, scored := s.rng.Float64() < .3, s.rng.Float64() < .8
	outcome := "failed"
	if verified {
		outcome = OutcomePassed
	}
	s.emit(KindDiff, func(e *Event) { e.PatchSHA, e.FilesChanged = Ptr("d"+s.base.AttemptID), Ptr(int32(1)) })
	s.emit(KindVerdict, func(e *Event) {
		e.Passed, e.Seconds, e.ExitCode = &verified, Ptr(s.rng.Float64()), Ptr(int32(0))
		if !verified {
			e.Signature, e.FailingTests = Ptr("sig"), Ptr("test_a;test_b")
			e.FirstError = Ptr("AssertionError: 3 != 4")
		}
	})
	if verified {
		s.emit(KindScore, func(e *Event) { e.Passed = &scored })
	} else if n > 1 {
		s.emit(KindSignatureRepeat, func(e *Event) { e.OfAttempt, e.Signature = Ptr(int32(1)), Ptr("sig") })
	}
	s.emit(KindAttemptFinish, func(e *Event) {
		e.Outcome, e.Seconds, e.VerifyRuns = &outcome, Ptr(s.rng.Float64()), Ptr(int32(7))
	})
	return verified, verified && scored
}

func (s *sim) call() {
	reports := s.rng.Float64() < .8
	s.emit(KindModelCall, func(e *Event) {
		e.Provider, e.ModelAsked, e.ModelServed = Ptr("sim"), Ptr("m"), Ptr("m-1")
		if reports {
			e.InUncached, e.OutTotal, e.OutReasoning = Ptr(int64(1000)), Ptr(int64(100)), Ptr(int64(40))
			e.USD = Ptr(0.001)
		}
	})
}

// merged interleaves trials as parallel workers would: each keeps its order.
func merged(rng *rand.Rand, start Event, trials [][]Event, finish Event) []Event {
	events := []Event{start}
	live := make([][]Event, len(trials))
	copy(live, trials)
	for len(live) > 0 {
		i := rng.IntN(len(live))
		events = append(events, live[i][0])
		if live[i] = live[i][1:]; len(live[i]) == 0 {
			live = append(live[:i], live[i+1:]...)
		}
	}
	return append(events, finish)
}

// simEvents is a run in the order of one worker.
func simEvents(seed uint64, tasks, replicates int) []Event {
	start, trials, finish := newSim(seed).run(tasks, replicates)
	events := []Event{start}
	for _, trial := range trials {
		events = append(events, trial...)
	}
	return append(events, finish)
}

var simHeader = Header{RunID: "run-1", DesignHash: "d1", Tool: "retrial 0.0-test"}

// writeRun journals events and a few blobs in a new run folder with a design.
func writeRun(t testing.TB, events []Event) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	j, err := CreateJournal(dir, simHeader)
	if err != nil {
		t.Fatal(err)
	}
	j.Append(events...)
	for i := range 20 {
		if _, err := j.Blob("prompt", []byte(strings.Repeat(fmt.Sprintf("prompt %d\n", i), 300))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := j.Blob("output", []byte{0xff, 0, 0xfe}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "design.json"), []byte(`{"name":"sim"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sealRun seals a journalled run.
func sealRun(t testing.TB, dir string) {
	t.Helper()
	log, err := ReadJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := Seal(dir, log); err != nil {
		t.Fatal(err)
	}
}

// anySeed draws the seed of a simulated run.
func anySeed(t *rapid.T) uint64 { return rapid.Uint64().Draw(t, "seed") }
