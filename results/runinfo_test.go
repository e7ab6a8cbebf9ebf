package results

import (
	"encoding/json"
	"errors"
	"io/fs"
	"reflect"
	"testing"
	"time"
)

func TestRunInfoRoundTrip(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadRunInfo(dir); !errors.Is(err, ErrNotRun) {
		t.Errorf("an empty folder: %v", err)
	}
	want := RunInfo{
		RunID: "r", DesignHash: "d", Design: json.RawMessage(`{"name":"x"}`), Arms: []string{"blind", "notice"},
		Tasks: []TaskInfo{{ID: "t", Group: "g", Tags: []string{"easy"}, Hash: "h", HasScore: true}},
		Tool:  "v", Solver: "mutate", IsLanguageModel: true, Sandbox: "none", StartedAt: time.Unix(5, 6).UTC(),
	}
	if err := want.Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRunInfo(dir)
	if err != nil {
		t.Fatal(err)
	}
	var design map[string]string
	if err := json.Unmarshal(got.Design, &design); err != nil || design["name"] != "x" {
		t.Errorf("design %s, error %v", got.Design, err)
	}
	got.Design = want.Design // indented in the file
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := want.Write(dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second write: %v", err)
	}
}
