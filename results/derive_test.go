package results

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// parallel draws the order in which parallel workers journal a run's trials.
func parallel(t *rapid.T, seed uint64, tasks, replicates int) []Event {
	start, trials, finish := newSim(seed).run(tasks, replicates)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "schedule"), 2))
	return merged(rng, start, trials, finish)
}

func TestSortEventsForgetsTheSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := anySeed(t)
		want := simEvents(seed, 3, 2)
		got := parallel(t, seed, 3, 2)
		SortEvents(got)
		for i := range got {
			if got[i].Seq != int64(i) {
				t.Fatalf("event %d has seq %d", i, got[i].Seq)
			}
			got[i].Seq = 0
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatal("the order depends on the schedule")
		}
	})
}

// perArm recounts a trial's row straight from the events: the slow, obvious way.
func perArm(events []Event, row Trial) Trial {
	want := row
	want.AttemptIDs, want.AttemptsUsed, want.AtRisk = nil, 0, nil
	want.TokensTotal, want.USD, want.Seconds, want.VerifyRuns = nil, nil, nil, nil
	var tokens, runs int64
	var usd, seconds float64
	calls, priced := 0, 0
	for _, e := range events {
		if e.Task != row.Task || e.Replicate != row.Replicate || !slices.Contains(strings.Split(e.SharedBy, ";"), row.Arm) {
			continue
		}
		switch e.Kind {
		case KindModelCall:
			if e.OutTotal != nil {
				tokens += *e.InUncached + *e.OutTotal
				calls++
			}
			if e.USD != nil {
				usd += *e.USD
				priced++
			}
		case KindVerdict:
			seconds += *e.Seconds
			if e.Attempt == 1 {
				want.AtRisk = Ptr(!*e.Passed)
			}
		case KindAttemptFinish:
			want.AttemptIDs = append(want.AttemptIDs, e.AttemptID)
			want.AttemptsUsed++
			seconds += *e.Seconds
			runs += int64(*e.VerifyRuns)
		}
	}
	if calls > 0 {
		want.TokensTotal = &tokens
	}
	if priced > 0 {
		want.USD = Ptr(round(usd))
	}
	if want.AttemptsUsed > 0 {
		want.Seconds, want.VerifyRuns = Ptr(round(seconds)), &runs
	}
	return want
}

// round takes out what the order of a sum adds.
func round(x float64) float64 { return float64(int64(x*1e9+.5)) / 1e9 }

func TestTrialsAgreeWithARecount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(anySeed(t))
		start, groups, finish := s.run(4, 2)
		events := slices.Concat([]Event{start}, slices.Concat(groups...), []Event{finish})
		attempts := Attempts(events)
		trials := Trials(events)
		if len(trials) != 4*2*len(simArms) {
			t.Fatalf("%d rows", len(trials))
		}
		for i, row := range trials {
			if row.Arm != simArms[i%len(simArms)] {
				t.Fatalf("row %d is of arm %s: not in design order", i, row.Arm)
			}
			if row.USD != nil {
				row.USD = Ptr(round(*row.USD))
			}
			if row.Seconds != nil {
				row.Seconds = Ptr(round(*row.Seconds))
			}
			if want := perArm(events, row); !reflect.DeepEqual(row, want) {
				t.Fatalf("row %d\n got %+v\nwant %+v", i, row, want)
			}
			passed, finished := s.truth[fmt.Sprintf("%s/%d/%s", row.Task, row.Replicate, row.Arm)]
			if row.Missing == finished || finished && *row.Passed != passed {
				t.Fatalf("row %d: %+v, want passed %v, finished %v", i, row, passed, finished)
			}
			if finished && passed != anySucceeded(attempts, row.AttemptIDs) {
				t.Fatalf("row %d: trial_finish says %v, its attempts do not", i, passed)
			}
			if row.Missing && (row.Passed != nil || *row.MissingReason != "no donors") {
				t.Fatalf("row %d is missing: %+v", i, row)
			}
		}
	})
}

func anySucceeded(attempts []Attempt, ids []string) bool {
	return slices.ContainsFunc(attempts, func(a Attempt) bool {
		return slices.Contains(ids, a.AttemptID) && a.Succeeded()
	})
}

func TestAttemptsKeepOnlyFinishedOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := parallel(t, anySeed(t), 2, 2)
		events = events[:rapid.IntRange(0, len(events)).Draw(t, "killed at")]
		var want []string
		for _, e := range events {
			if e.Kind == KindAttemptFinish {
				want = append(want, e.AttemptID)
			}
		}
		var got []string
		for _, a := range Attempts(events) {
			got = append(got, a.AttemptID)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("rows %q, finished %q", got, want)
		}
		started := 0
		for _, e := range events {
			if e.Kind == KindTrialStart {
				started++
			}
		}
		trials := Trials(events)
		if len(trials) != started*len(simArms) {
			t.Fatalf("%d rows for %d started trials", len(trials), started)
		}
		for _, row := range trials {
			ended := slices.ContainsFunc(events, func(e Event) bool {
				return e.Kind == KindTrialFinish && e.Task == row.Task && e.Replicate == row.Replicate && e.Arm == row.Arm
			})
			if interrupted := row.MissingReason != nil && *row.MissingReason == MissingInterrupted; interrupted == ended || interrupted && !row.Missing {
				t.Fatalf("%+v, but its arm ended: %v", row, ended)
			}
		}
	})
}

// One attempt with every column, of two tries, out of order.
func TestAttemptFromEvents(t *testing.T) {
	base := Event{
		RunID: "r", DesignHash: "d", Task: "t", Group: "g", Replicate: 2, Arm: "x",
		SharedBy: "x;y", Attempt: 2, AttemptID: "a1",
	}
	var events []Event
	at := func(kind Kind, try int32, change func(*Event)) {
		e := base
		e.Kind, e.TryID, e.Index, e.TimeNS = kind, try, int64(len(events)), int64(1000+len(events))
		change(&e)
		events = append(events, e)
	}
	at(KindAttemptStart, 1, func(e *Event) { e.Action, e.Seed = Ptr("retry"), Ptr("s1") })
	at(KindModelCall, 1, func(e *Event) {
		e.InUncached, e.InCacheRead, e.USD, e.ModelAsked, e.ModelServed, e.WaitSeconds = Ptr(int64(1)), Ptr(int64(2)), Ptr(.5), Ptr("m"), Ptr("m-1"), Ptr(3.0)
	})
	at(KindDiff, 1, func(e *Event) { e.PatchSHA = Ptr("lost") })
	at(KindAttemptFinish, 1, func(e *Event) { e.Outcome, e.Seconds = Ptr(OutcomeInfra), Ptr(99.0) })
	at(KindAttemptStart, 2, func(e *Event) { e.Action, e.Seed = Ptr("replan"), Ptr("s1") })
	at(KindPromptComposed, 2, func(e *Event) { e.PromptSHA, e.PromptWithoutSHA, e.AddedSHA = Ptr("p"), Ptr("pw"), Ptr("pa") })
	at(KindHistoryInjected, 2, func(e *Event) {
		e.HistoryRecords, e.HistoryChars, e.HistoryTokens = Ptr(int32(1)), Ptr(int64(70)), Ptr(int64(20))
	})
	at(KindModelCall, 2, func(e *Event) {
		e.InUncached, e.InCacheW5m, e.InCacheW1h, e.OutTotal, e.OutReasoning = Ptr(int64(10)), Ptr(int64(4)), Ptr(int64(5)), Ptr(int64(6)), Ptr(int64(3))
		e.ModelAsked, e.ModelServed, e.WaitSeconds = Ptr("m"), Ptr("m-2"), Ptr(.25)
	})
	at(KindModelCall, 2, func(*Event) {})
	at(KindDiff, 2, func(e *Event) {
		e.PatchSHA, e.FilesChanged, e.LinesAdded, e.LinesRemoved = Ptr("pd"), Ptr(int32(1)), Ptr(int32(2)), Ptr(int32(3))
	})
	at(KindVerdict, 2, func(e *Event) {
		e.Passed, e.Signature, e.FailingTests, e.FirstError, e.Seconds = Ptr(false), Ptr("sig"), Ptr("t1;t2"), Ptr("boom"), Ptr(.125)
	})
	at(KindAttemptFinish, 2, func(e *Event) { e.Outcome, e.Seconds, e.VerifyRuns = Ptr("failed"), Ptr(2.5), Ptr(int32(9)) })
	at(KindSignatureRepeat, 2, func(e *Event) { e.OfAttempt = Ptr(int32(1)) })
	slices.Reverse(events)

	want := []Attempt{{
		RunID: "r", DesignHash: "d", Task: "t", Group: "g", Replicate: 2, Arm: "x",
		AttemptID: "a1", SharedBy: []string{"x", "y"}, Attempt: 2, Action: "replan", Outcome: "failed",
		VerifyPassed: Ptr(false), Signature: Ptr("sig"), SignatureSeenBefore: true,
		FailingTests: Ptr("t1;t2"), FirstError: Ptr("boom"),
		PatchSHA: Ptr("pd"), FilesChanged: Ptr(int32(1)), LinesAdded: Ptr(int32(2)), LinesRemoved: Ptr(int32(3)),
		HistoryRecords: Ptr(int32(1)), HistoryChars: Ptr(int64(70)), HistoryTokens: Ptr(int64(20)),
		PromptSHA: Ptr("p"), PromptWithoutSHA: Ptr("pw"), AddedSHA: Ptr("pa"),
		InUncached: Ptr(int64(11)), InCacheRead: Ptr(int64(2)), InCacheW5m: Ptr(int64(4)), InCacheW1h: Ptr(int64(5)),
		OutTotal: Ptr(int64(6)), OutReasoning: Ptr(int64(3)), USD: Ptr(.5),
		ModelAsked: Ptr("m"), ModelServed: Ptr("m-1;m-2"), VerifyRuns: Ptr(int32(9)),
		SolveSeconds: Ptr(2.5), VerifySeconds: Ptr(.125), WaitSeconds: Ptr(3.25),
		Seed: Ptr("s1"), StartedAt: Ptr(int64(1004)),
	}}
	got := Attempts(events)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
	if tokens := got[0].Tokens(); tokens == nil || *tokens != 11+2+4+5+6 {
		t.Errorf("tokens %v", tokens)
	}
}

func TestFailedVerify(t *testing.T) {
	for _, c := range []struct {
		a    Attempt
		want *bool
	}{
		{Attempt{VerifyPassed: Ptr(true), Outcome: "passed"}, Ptr(false)},
		{Attempt{VerifyPassed: Ptr(false), Outcome: "timeout"}, Ptr(true)},
		{Attempt{Outcome: "refused"}, Ptr(true)},
		{Attempt{Outcome: OutcomeInfra}, nil},
	} {
		if got := c.a.FailedVerify(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: failed verify %v, want %v", c.a, got, c.want)
		}
	}
}

// Without a run_start the arms are those that finished; an arm's draft that an
// infrastructure fault took leaves at_risk unknown.
func TestTrialsWithoutRunStart(t *testing.T) {
	trial := Event{Task: "t", TaskIndex: 1, ForkID: ""}
	start, finish, attempt := trial, trial, trial
	start.Kind = KindTrialStart
	attempt.Kind, attempt.Arm, attempt.AttemptID, attempt.Attempt, attempt.Outcome = KindAttemptFinish, "solo", "a", 1, Ptr(OutcomeInfra)
	finish.Kind, finish.Arm, finish.Reason = KindTrialFinish, "solo", Ptr("sandbox did not start")
	want := []Trial{{
		Task: "t", Arm: "solo", AttemptIDs: []string{"a"}, AttemptsUsed: 1,
		Missing: true, MissingReason: Ptr("sandbox did not start"),
	}}
	if got := Trials([]Event{start, attempt, finish}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := Trials(nil); len(got) != 0 {
		t.Errorf("no events give %d trials", len(got))
	}
}
