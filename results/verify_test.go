package results

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// verified opens a run folder and verifies it.
func verified(t rapid.TB, dir string) *Integrity {
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	v, err := run.Verify()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Of an honest run Verify finds nothing but the blobs that the simulation names
// and does not keep, with its journal and without.
func TestVerifyHonest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := simEvents(anySeed(rt), 3, 2)
		dir := writeRun(t, events)
		sealRun(t, dir)
		for _, journal := range []string{"whole", "absent"} {
			v := verified(rt, dir)
			if len(v.BadBlobs)+len(v.Tables) > 0 || v.Journal != journal || v.JournalFault != "" || v.Blobs != 21 || v.Events != len(events) {
				rt.Fatalf("%+v", v)
			}
			if !slices.Equal(v.MissingBlobs, NamedBlobs(events)) {
				rt.Fatalf("missing %q", v.MissingBlobs)
			}
			if err := os.RemoveAll(filepath.Join(dir, "journal")); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// One cell of a table that was changed, checksums made right again, is found and
// named, whichever it is.
func TestVerifyFindsAnyCell(t *testing.T) {
	dir := writeRun(t, simEvents(3, 3, 2))
	sealRun(t, dir)
	rapid.Check(t, func(rt *rapid.T) {
		if rapid.Bool().Draw(rt, "trials") {
			changeCell[Trial](rt, dir, TrialsFile)
		} else {
			changeCell[Attempt](rt, dir, AttemptsFile)
		}
	})
}

// changeCell changes one cell, verifies, and changes it back.
func changeCell[T any](t *rapid.T, dir, file string) {
	path := filepath.Join(dir, file)
	rows, meta, err := ReadParquet[T](path)
	if err != nil {
		t.Fatal(err)
	}
	honest := slices.Clone(rows)
	c := rapid.SampledFrom(columnsOf[T]()).Draw(t, "column")
	i := rapid.IntRange(0, len(rows)-1).Draw(t, "row")
	cell := reflect.ValueOf(&rows[i]).Elem().Field(c.field)
	cell.Set(other(cell.Type(), cell))
	if err := WriteParquet(path, rows, meta); err != nil {
		t.Fatal(err)
	}
	v := verified(t, dir)
	if len(v.Tables) != 1 || !strings.HasPrefix(v.Tables[0], file+" does not say what the events say: in row ") || !strings.Contains(v.Tables[0], ", "+c.name+" is ") {
		t.Errorf("%s of row %d changed to %v: %q", c.name, i+1, cell, v.Tables)
	}
	if err := WriteParquet(path, honest, meta); err != nil {
		t.Fatal(err)
	}
}
