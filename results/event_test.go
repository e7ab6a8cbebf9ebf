package results

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyEvent draws an event with any value in any column.
func anyEvent(t *rapid.T) Event {
	var e Event
	v := reflect.ValueOf(&e).Elem()
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if f.Kind() == reflect.Pointer {
			if !rapid.Bool().Draw(t, name+" reported") {
				continue
			}
			f.Set(reflect.New(f.Type().Elem()))
			f = f.Elem()
		}
		switch f.Kind() {
		case reflect.String:
			f.SetString(rapid.String().Draw(t, name))
		case reflect.Bool:
			f.SetBool(rapid.Bool().Draw(t, name))
		case reflect.Int32:
			f.SetInt(int64(rapid.Int32().Draw(t, name)))
		case reflect.Int64:
			f.SetInt(rapid.Int64().Draw(t, name))
		case reflect.Float64:
			f.SetFloat(rapid.Float64().Draw(t, name))
		default:
			t.Fatalf("column %s has the type %s, which no codec knows", name, f.Type())
		}
	}
	return e
}

func TestEventColumnNames(t *testing.T) {
	typ := reflect.TypeFor[Event]()
	seen := make(map[string]bool)
	for i, c := range columnsOf[Event]() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if name != c.name || seen[name] {
			t.Errorf("field %s: json name %q, parquet name %q, seen before: %v", typ.Field(i).Name, name, c.name, seen[name])
		}
		seen[name] = true
	}
}

func TestEventRoundTripJournal(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(anyEvent), 1, 4).Draw(t, "events")
		var file []byte
		file = appendLine(file, 0, mustBody(t, "header", Header{Format: journalFormat}))
		for i, e := range want {
			file = appendLine(file, int64(i+1), mustBody(t, "event", e))
		}
		log, err := readLines(dir, strings.NewReader(string(file)))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(log.Events, want) {
			t.Fatalf("got %+v, want %+v", log.Events, want)
		}
	})
}

func TestEventRoundTripParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.parquet")
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(anyEvent), 1, 20).Draw(t, "events")
		roundTrip(t, path, want)
	})
}

func TestTablesRoundTripParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.parquet")
	rapid.Check(t, func(t *rapid.T) {
		events := simEvents(anySeed(t), 3, 2)
		roundTrip(t, path, Attempts(events))
		roundTrip(t, path, Trials(events))
		roundTrip(t, path, []BlobRow{{"a", "prompt", []byte{}}, {"b", "output", []byte{0xff, 0}}})
	})
}

// A trial without attempts has an empty list, not a null one, and reads back
// as such in the same file as full ones.
func TestEmptyListsAndTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trials.parquet")
	rows := []Trial{{Arm: "a", AttemptIDs: []string{"x", "y"}}, {Arm: "b"}, {Arm: "c", AttemptIDs: []string{""}}}
	if err := WriteParquet(path, rows, nil); err != nil {
		t.Fatal(err)
	}
	got, _, err := ReadParquet[Trial](path)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{2, 0, 1} {
		if len(got[i].AttemptIDs) != want {
			t.Errorf("row %d has attempts %q, want %d", i, got[i].AttemptIDs, want)
		}
	}
	if err := WriteParquet(path, []Trial{}, map[string]string{MetaRunID: "r"}); err != nil {
		t.Fatal(err)
	}
	got, meta, err := ReadParquet[Trial](path)
	if err != nil || len(got) != 0 || meta[MetaRunID] != "r" {
		t.Errorf("empty table: %d rows, meta %v, error %v", len(got), meta, err)
	}
}

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func roundTrip[T any](t fataler, path string, want []T) {
	t.Helper()
	meta := map[string]string{MetaSchemaVersion: SchemaVersion, MetaRunID: "r"}
	if err := WriteParquet(path, want, meta); err != nil {
		t.Fatal(err)
	}
	got, gotMeta, err := ReadParquet[T](path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		t.Fatalf("got  %s\nwant %s", g, w)
	}
	if !reflect.DeepEqual(gotMeta, meta) {
		t.Fatalf("metadata %v, want %v", gotMeta, meta)
	}
}

func mustBody(t fataler, name string, payload any) []byte {
	t.Helper()
	body, err := lineBody(name, payload)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
