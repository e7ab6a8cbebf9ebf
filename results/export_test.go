package results

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// awkward is a small run with what CSV gets wrong: quotes, newlines, commas,
// formulas, nulls beside empty text, floats that need 17 digits.
func awkward() []Event {
	base := Event{Task: "t,1", Group: `g"1"`, Arm: "draft", SharedBy: "blind;diff-feedback", Attempt: 1, AttemptID: "a1", ForkID: "f", TimeNS: 1_700_000_000_123_456_789}
	at := func(kind Kind, index int64, change func(*Event)) Event {
		e := base
		e.Kind, e.Index = kind, index
		change(&e)
		return e
	}
	start := Event{Kind: KindRunStart, TaskIndex: -1, Detail: `{"design":{},"arms":["blind","diff-feedback"],"has_score":false}`}
	return []Event{
		start,
		at(KindTrialStart, 0, func(e *Event) { e.Arm, e.SharedBy, e.AttemptID, e.Attempt = "", "", "", 0 }),
		at(KindAttemptStart, 1, func(e *Event) { e.Action, e.Seed = Ptr("draft"), Ptr("00000000000000ff") }),
		at(KindModelCall, 2, func(e *Event) { e.USD, e.OutTotal = Ptr(0.30000000000000004), Ptr(int64(12)) }),
		at(KindVerdict, 3, func(e *Event) {
			e.Passed, e.FirstError, e.FailingTests = Ptr(false), Ptr("=1+1: line\n\"two\", ü"), Ptr("")
			e.Seconds = Ptr(1e-9)
		}),
		at(KindAttemptFinish, 4, func(e *Event) { e.Outcome, e.Seconds = Ptr("failed"), Ptr(2.0) }),
		at(KindTrialFinish, 5, func(e *Event) { e.Arm, e.Passed = "diff-feedback", Ptr(false) }),
		at(KindTrialFinish, 6, func(e *Event) { e.Arm, e.Reason = "blind", Ptr("@quota") }),
	}
}

func TestExportGolden(t *testing.T) {
	dir := writeRun(t, awkward())
	sealRun(t, dir)
	to := filepath.Join(t.TempDir(), "out")
	for _, format := range []string{FormatCSV, FormatJSONL} {
		if _, err := Export(dir, to, format); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"events", "attempts", "trials"} {
			file := name + "." + format
			got, err := os.ReadFile(filepath.Join(to, file))
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "export", file)
			if *update {
				if err := os.WriteFile(golden, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs from %s; after a wanted change: go test ./results -run ExportGolden -update\n%s", file, golden, got)
			}
		}
	}
}

// The CSV reads back cell by cell as the rows it was made from.
func TestExportCSVReadsBack(t *testing.T) {
	dir := writeRun(t, simEvents(9, 3, 2))
	sealRun(t, dir)
	to := t.TempDir()
	if _, err := Export(dir, to, FormatCSV); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(to, "trials.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != len(run.Trials)+1 {
		t.Fatalf("%d lines for %d trials", len(records), len(run.Trials))
	}
	at := make(map[string]int)
	for i, name := range records[0] {
		at[name] = i
	}
	for i, trial := range run.Trials {
		cells := records[i+1]
		for name, pointer := range map[string]any{"usd": trial.USD, "seconds": trial.Seconds, "tokens_total": trial.TokensTotal, "passed": trial.Passed, "at_risk": trial.AtRisk} {
			back := reflect.New(reflect.TypeOf(pointer))
			if cell := cells[at[name]]; cell != "" {
				if err := json.Unmarshal([]byte(cell), back.Interface()); err != nil {
					t.Fatal(err)
				}
			}
			if !reflect.DeepEqual(back.Elem().Interface(), pointer) {
				t.Errorf("trial %d, %s: %q", i, name, cells[at[name]])
			}
		}
		if got := strings.Split(cells[at["attempt_ids"]], ";"); !reflect.DeepEqual(got, trial.AttemptIDs) {
			t.Errorf("trial %d: attempts %q, want %q", i, got, trial.AttemptIDs)
		}
	}
}

func TestExportNeverOverwrites(t *testing.T) {
	dir := writeRun(t, simEvents(9, 1, 1))
	sealRun(t, dir)
	for _, format := range []string{FormatCSV, FormatJSONL, FormatParquet} {
		to := t.TempDir()
		mine := filepath.Join(to, "trials."+format)
		if err := os.WriteFile(mine, []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Export(dir, to, format); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), mine) {
			t.Errorf("%s: %v", format, err)
		}
		entries, err := os.ReadDir(to)
		if err != nil || len(entries) != 1 {
			t.Errorf("%s: the folder holds %v, error %v", format, entries, err)
		}
		if data, err := os.ReadFile(mine); string(data) != "mine" {
			t.Errorf("%s: the file holds %q, error %v", format, data, err)
		}
	}
	if _, err := Export(dir, t.TempDir(), "xlsx"); err == nil || !strings.Contains(err.Error(), "csv") {
		t.Errorf("an unknown format: %v", err)
	}
	if _, err := Export(t.TempDir(), t.TempDir(), FormatCSV); !errors.Is(err, ErrNotRun) {
		t.Errorf("no run: %v", err)
	}
}

// A run killed at any line exports all attempts that had finished by then.
func TestExportOfKilledRun(t *testing.T) {
	events := simEvents(9, 1, 1)
	dir := writeRun(t, events)
	raw, err := os.ReadFile(journalPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(raw, []byte("\n"))
	size := 0
	for n := 1; n <= len(events); n++ {
		size += len(lines[n-1])
		torn := len(lines[n]) / 2
		if err := os.WriteFile(journalPath(dir), raw[:size+torn], 0o666); err != nil {
			t.Fatal(err)
		}
		to := t.TempDir()
		got, err := Export(dir, to, FormatParquet)
		if err != nil {
			t.Fatal(err)
		}
		killed := events[:n-1]
		if got.Sealed || got.TornBytes != int64(torn) || got.Events != n-1 {
			t.Fatalf("killed after %d events: %+v", n-1, got)
		}
		attempts, meta, err := ReadParquet[Attempt](filepath.Join(to, "attempts.parquet"))
		if err != nil || meta[MetaDesignHash] != "d1" || len(attempts) != len(Attempts(killed)) || len(attempts) > 0 && !reflect.DeepEqual(attempts, Attempts(killed)) {
			t.Fatalf("killed after %d events: %d attempts, meta %v, error %v", n-1, len(attempts), meta, err)
		}
		trials, err := ReadTrials(filepath.Join(to, "trials.parquet"))
		if err != nil || len(trials) != len(Trials(killed)) || got.Trials != len(trials) {
			t.Fatalf("killed after %d events: %d trials, error %v", n-1, len(trials), err)
		}
	}
	flipped := bytes.Clone(raw)
	flipped[len(lines[0])+20] ^= 1
	if err := os.WriteFile(journalPath(dir), flipped, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Export(dir, t.TempDir(), FormatCSV); !errors.As(err, new(*DamageError)) {
		t.Errorf("a damaged journal: %v", err)
	}
}
