package results

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func journalPath(runDir string) string { return filepath.Join(runDir, journalFolder, journalFile) }

// smallRun is a journal with events and both kinds of blobs, and its bytes.
func smallRun(t *testing.T) (raw []byte, whole *Log) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	j, err := CreateJournal(dir, simHeader)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range simEvents(3, 1, 1)[1:5] {
		j.Append(e)
		if i%2 == 0 {
			for _, data := range [][]byte{[]byte(fmt.Sprintf("text %d\nü", i)), {0xfe, byte(i)}} {
				if _, err := j.Blob("output", data); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if raw, err = os.ReadFile(journalPath(dir)); err != nil {
		t.Fatal(err)
	}
	if whole, err = ReadJournal(dir); err != nil {
		t.Fatal(err)
	}
	if len(whole.Events) != 4 || len(whole.Blobs) != 4 || whole.TornBytes != 0 || whole.Lines != 9 {
		t.Fatalf("read %d events, %d blobs, %d torn bytes, %d lines", len(whole.Events), len(whole.Blobs), whole.TornBytes, whole.Lines)
	}
	return raw, whole
}

// isPrefix fails unless all that got holds is in whole, its events being the
// first of whole's.
func isPrefix(t *testing.T, what string, got, whole *Log) {
	t.Helper()
	n := len(got.Events)
	if n > len(whole.Events) || n > 0 && !reflect.DeepEqual(got.Events, whole.Events[:n]) {
		t.Fatalf("%s: events are not those that were written", what)
	}
	for sha, blob := range got.Blobs {
		if !reflect.DeepEqual(whole.Blobs[sha], blob) {
			t.Fatalf("%s: blob %s is not what was written", what, sha)
		}
	}
}

func TestJournalCutAtEveryByte(t *testing.T) {
	raw, whole := smallRun(t)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, journalFolder), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journalPath(dir), raw, 0o666); err != nil {
		t.Fatal(err)
	}
	for cut := len(raw); cut >= 0; cut-- {
		what := fmt.Sprintf("cut at byte %d", cut)
		if err := os.Truncate(journalPath(dir), int64(cut)); err != nil {
			t.Fatal(err)
		}
		got, err := ReadJournal(dir)
		lines := int64(bytes.Count(raw[:cut], []byte("\n")))
		torn := int64(cut - 1 - bytes.LastIndexByte(raw[:cut], '\n'))
		if got.Lines != lines || got.TornBytes != torn {
			t.Fatalf("%s: %d lines and %d torn bytes, want %d and %d", what, got.Lines, got.TornBytes, lines, torn)
		}
		isPrefix(t, what, got, whole)
		if n := int64(len(got.Events)); lines > 0 && n != int64(bytes.Count(raw[:cut-int(torn)], []byte(`,"event":{`))) {
			t.Fatalf("%s: %d events survive", what, n)
		}
		if damaged := new(DamageError); errors.As(err, &damaged) != (lines == 0) {
			t.Fatalf("%s: error %v", what, err)
		}
	}
}

func TestJournalEveryBitFlipped(t *testing.T) {
	raw, whole := smallRun(t)
	lineOf := func(i int) int64 { return 1 + int64(bytes.Count(raw[:i], []byte("\n"))) }
	for i := range raw {
		for bit := range 8 {
			what := fmt.Sprintf("bit %d of byte %d", bit, i)
			raw[i] ^= 1 << bit
			got, err := readLines("journal", bytes.NewReader(raw))
			raw[i] ^= 1 << bit
			isPrefix(t, what, got, whole)
			damage := new(DamageError)
			switch {
			case errors.As(err, &damage):
				if damage.Line != lineOf(i) || damage.Reason == "" || damage.Offset > int64(i) {
					t.Fatalf("%s: reported as %v, but line %d was hit", what, err, lineOf(i))
				}
			case err != nil:
				t.Fatalf("%s: %v", what, err)
			case i != len(raw)-1 || got.TornBytes == 0:
				t.Fatalf("%s: not noticed", what)
			}
		}
	}
}

func TestJournalLinesRemovedOrSwapped(t *testing.T) {
	raw, whole := smallRun(t)
	lines := bytes.SplitAfter(raw, []byte("\n"))
	for i := 1; i+2 < len(lines); i++ {
		removed := bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil)
		doubled := bytes.Join(append(append([][]byte{}, lines[:i+1]...), lines[i:]...), nil)
		for what, text := range map[string][]byte{"removed": removed, "doubled": doubled} {
			got, err := readLines("journal", bytes.NewReader(text))
			if damage := new(DamageError); !errors.As(err, &damage) {
				t.Fatalf("line %d %s: error %v", i, what, err)
			}
			isPrefix(t, what, got, whole)
		}
	}
}

func TestJournalConcurrentCallers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	j, err := CreateJournal(dir, simHeader)
	if err != nil {
		t.Fatal(err)
	}
	const callers, rounds = 8, 25
	shared := bytes.Repeat([]byte("shared "), 3000)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for r := range rounds {
				task := fmt.Sprint(c)
				j.Append(Event{Task: task, Index: int64(2 * r)}, Event{Task: task, Index: int64(2*r + 1)})
				sha, err := j.Blob("prompt", fmt.Appendf(shared, "%d", r))
				if err != nil {
					t.Error(err)
				}
				if err := j.Commit(context.Background()); err != nil {
					t.Error(err)
				}
				if r%10 != c {
					continue
				}
				log, err := ReadJournal(dir) // a reader beside the writer
				if err != nil {
					t.Error(err)
				} else if got := ofTask(log.Events, task); len(got) != 2*r+2 || log.Blobs[sha].Kind == "" {
					t.Errorf("caller %d sees %d of its %d events, blob %q", c, len(got), 2*r+2, log.Blobs[sha].Kind)
				}
			}
		})
	}
	wg.Wait()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := ReadJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(1 + callers*rounds*2 + rounds); log.Lines != want {
		t.Errorf("%d lines, want %d: each content once", log.Lines, want)
	}
	for c := range callers {
		for i, e := range ofTask(log.Events, fmt.Sprint(c)) {
			if e.Index != int64(i) || e.RunID != simHeader.RunID || e.DesignHash != simHeader.DesignHash {
				t.Fatalf("caller %d, event %d: %+v", c, i, e)
			}
		}
	}
}

func ofTask(events []Event, task string) []Event {
	var own []Event
	for _, e := range events {
		if e.Task == task {
			own = append(own, e)
		}
	}
	return own
}

func TestJournalRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "run")
	j, err := CreateJournal(dir, simHeader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CreateJournal(dir, simHeader); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second journal: %v", err)
	}
	j.Append(Event{Kind: KindModelCall, USD: Ptr(math.NaN())})
	if err := j.Commit(context.Background()); err == nil || !strings.Contains(err.Error(), "model_call") {
		t.Errorf("a NaN: %v", err)
	}
	if j.Close() == nil {
		t.Error("closing forgets the failure")
	}
	if _, err := ReadJournal(t.TempDir()); !errors.Is(err, ErrNotRun) {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, journalFolder, "000002.jsonl"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadJournal(dir); err == nil || !strings.Contains(err.Error(), "000002.jsonl") {
		t.Errorf("an unknown segment: %v", err)
	}
}

func TestJournalAfterClose(t *testing.T) {
	j, err := CreateJournal(t.TempDir(), simHeader)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if err := j.Commit(context.Background()); err != nil {
			t.Errorf("nothing to commit: %v", err)
		}
	}
	j.Append(Event{})
	if err := j.Commit(context.Background()); !errors.Is(err, ErrJournalClosed) {
		t.Errorf("an event after Close: %v", err)
	}
}

func TestJournalReaderRefusesWhatItDoesNotKnow(t *testing.T) {
	header := mustBody(t, "header", Header{Format: journalFormat})
	event := mustBody(t, "event", Event{})
	for name, c := range map[string]struct {
		bodies [][]byte
		want   string
	}{
		"other format":      {[][]byte{mustBody(t, "header", Header{Format: "retrial/journal/v9"})}, "retrial/journal/v9"},
		"no header":         {[][]byte{event}, "not the first line"},
		"two headers":       {[][]byte{header, header}, "not the first line"},
		"unknown column":    {[][]byte{header, []byte(`"event":{"colour":1}}`)}, "newer"},
		"unknown payload":   {[][]byte{header, []byte(`"gate":{}}`)}, "newer"},
		"no payload":        {[][]byte{header, []byte(`"event":null}`)}, "no payload"},
		"blob of other sha": {[][]byte{header, []byte(`"blob":{"sha256":"00","kind":"prompt","text":"a"}}`)}, "sha256"},
	} {
		var text []byte
		for i, body := range c.bodies {
			text = appendLine(text, int64(i), body)
		}
		_, err := readLines("journal", bytes.NewReader(text))
		if damage := new(DamageError); !errors.As(err, &damage) || !strings.Contains(damage.Reason, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBlobKindsAndLongLines(t *testing.T) {
	dir := t.TempDir()
	j, err := CreateJournal(dir, simHeader)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("long line ", 1<<16)
	shas := make(map[string]string)
	for _, b := range [][2]string{{"patch", ""}, {"output", ""}, {"patch", ""}, {"prompt", long}, {"reply", "\x00\u2028<&>\ufffd"}} {
		sha, err := j.Blob(b[0], []byte(b[1]))
		if err != nil {
			t.Fatal(err)
		}
		shas[b[1]] = sha
	}
	j.Append(Event{FirstError: Ptr("bad \xff byte")})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := ReadJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	for text, sha := range shas {
		if string(log.Blobs[sha].Data) != text {
			t.Errorf("blob %.20q reads back as %.20q", text, log.Blobs[sha].Data)
		}
	}
	if got := log.Blobs[shas[""]].Kind; got != "output" {
		t.Errorf("a content of two kinds is %q, want the first by name", got)
	}
	if got := *log.Events[0].FirstError; got != "bad \ufffd byte" {
		t.Errorf("invalid UTF-8 reads back as %q", got)
	}
}
