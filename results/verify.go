package results

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
)

// Integrity is what [Run.Verify] found of a run's files. Every list is empty
// where all is well, and never nil.
type Integrity struct {
	Events   int `json:"events"`
	Attempts int `json:"attempts"`
	Trials   int `json:"trials"`
	Blobs    int `json:"blobs"`

	BadBlobs     []string `json:"bad_blobs"`     // names whose content has another hash
	MissingBlobs []string `json:"missing_blobs"` // hashes that events name and the run does not keep
	Tables       []string `json:"tables"`        // where a table says something else than the events
	Journal      string   `json:"journal"`       // absent|whole|differs|damaged
	JournalFault string   `json:"journal_fault"` // what differs or is damaged; "" otherwise
}

// Faults lists in words what is wrong, in order of weight.
func (v *Integrity) Faults() []string {
	var out []string
	for _, sha := range v.BadBlobs {
		out = append(out, fmt.Sprintf("blob %s: its content has another hash", sha))
	}
	for _, sha := range v.MissingBlobs {
		out = append(out, fmt.Sprintf("blob %s: an event names it and it is not there", sha))
	}
	out = append(out, v.Tables...)
	if v.JournalFault != "" {
		out = append(out, v.JournalFault)
	}
	return out
}

// Verify checks a run's files against each other: every blob's content hashes to
// its name, every blob that an event names is there, attempts and trials are
// those that the events give, and the journal, where the folder has one, holds
// the same events. An error is a file that cannot be read; a journal that is
// damaged is a finding, since the tables stand without it.
func (r *Run) Verify() (*Integrity, error) {
	events, err := r.Events()
	if err != nil {
		return nil, err
	}
	v := &Integrity{Events: len(events), Attempts: len(r.Attempts), Trials: len(r.Trials), BadBlobs: []string{}, MissingBlobs: []string{}, Tables: []string{}}
	if err := v.blobs(r.blobs.path, NamedBlobs(events)); err != nil {
		return nil, err
	}
	v.table(AttemptsFile, firstDifference(r.Attempts, Attempts(events)))
	v.table(TrialsFile, firstDifference(r.Trials, Trials(events)))
	v.journal(r.Dir, events)
	return v, nil
}

// NamedBlobs lists the hashes of the blobs that events name, sorted, each once.
func NamedBlobs(events []Event) []string {
	var shas []string
	for i := range events {
		e := &events[i]
		for _, sha := range []*string{e.PatchSHA, e.OutputSHA, e.PromptSHA, e.AddedSHA} {
			if sha != nil {
				shas = append(shas, *sha)
			}
		}
	}
	slices.Sort(shas)
	return slices.Compact(shas)
}

func (v *Integrity) blobs(path string, named []string) error {
	there := map[string]bool{}
	err := scanParquet(path, func(row *BlobRow) {
		v.Blobs++
		there[row.SHA256] = true
		if hashText(row.Bytes) != row.SHA256 {
			v.BadBlobs = append(v.BadBlobs, row.SHA256)
		}
	})
	for _, sha := range named {
		if !there[sha] {
			v.MissingBlobs = append(v.MissingBlobs, sha)
		}
	}
	return err
}

func (v *Integrity) table(file, difference string) {
	if difference != "" {
		v.Tables = append(v.Tables, file+" does not say what the events say: "+difference)
	}
}

// journal compares the journal's events with the sealed ones.
func (v *Integrity) journal(runDir string, events []Event) {
	if _, err := os.Stat(filepath.Join(runDir, journalFolder, journalFile)); errors.Is(err, os.ErrNotExist) {
		v.Journal = "absent"
		return
	}
	log, err := ReadJournal(runDir)
	if err != nil {
		v.Journal, v.JournalFault = "damaged", err.Error()
		return
	}
	SortEvents(log.Events)
	v.Journal = "whole"
	difference := firstDifference(events, log.Events)
	if difference == "" && log.TornBytes > 0 {
		difference = "its last line is torn"
	}
	if difference != "" {
		v.Journal, v.JournalFault = "differs", EventsFile+" does not say what the journal says: "+difference
	}
}

// firstDifference says in which row and column two tables first differ, "" for
// nowhere. want is where the one in question comes from.
func firstDifference[T any](have, want []T) string {
	columns := columnsOf[T]()
	for i := range min(len(have), len(want)) {
		a, b := reflect.ValueOf(&have[i]).Elem(), reflect.ValueOf(&want[i]).Elem()
		for _, c := range columns {
			if x, y := c.text(a), c.text(b); x != y || c.value(a).IsValid() != c.value(b).IsValid() {
				return fmt.Sprintf("in row %d, %s is %.80q and should be %.80q", i+1, c.name, x, y)
			}
		}
	}
	if len(have) != len(want) {
		return fmt.Sprintf("it has %d rows and should have %d", len(have), len(want))
	}
	return ""
}
