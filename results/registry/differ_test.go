package registry

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestDiffer(t *testing.T) {
	if d, err := Differ(frozen(1), frozen(1)); err != nil || len(d) != 0 {
		t.Errorf("equal ones differ: %v, %v", d, err)
	}
	here := frozen(8)
	here.Design = json.RawMessage(`{"name": "d", "seed": 8, "limit": 1, "heading": "<ä & é>", "arms": [{"name": "blind", "caps": {"diff": 9}}, {"name": "notice"}]}`)
	here.Tasks = []Task{{ID: "add", Group: "add", Hash: "h9", Prompt: "p1"}, {ID: "new", Group: "new", Hash: "h", Prompt: "p"}}
	here.Gates["flakes_max"] = 0.02
	got, err := Differ(frozen(1), here)
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, d := range got {
		text = append(text, d.String())
	}
	want := []string{
		"arms[blind].caps.diff is 7 there and 9 here",
		"arms[notice] is not in the registration",
		"limit is not in the registration",
		"margin is in the registration alone",
		"seed is 1 there and 8 here",
		`task add: hash is "h1" there and "h9" here`,
		"task count is in the registration alone",
		"task new is not in the registration",
		"thresholds.flakes_max is 0.01 there and 0.02 here",
	}
	if !reflect.DeepEqual(text, want) {
		t.Errorf("got  %q\nwant %q", text, want)
	}
}

// Lists of what has no names, and values of unlike kinds, are compared whole.
func TestDifferWhole(t *testing.T) {
	a, b := frozen(1), frozen(1)
	a.Design = json.RawMessage(`{"tasks": ["a"], "arms": [{"name": "x"}, {"name": "x"}], "primary": {"margin": 0}, "seed": 18446744073709551615}`)
	b.Design = json.RawMessage(`{"tasks": ["a", "b"], "arms": [{"name": "x"}], "primary": null, "seed": 18446744073709551614}`)
	got, err := Differ(a, b)
	want := []Difference{
		{"arms", `[{"name":"x"},{"name":"x"}]`, `[{"name":"x"}]`}, {"primary", `{"margin":0}`, "null"},
		{"seed", "18446744073709551615", "18446744073709551614"}, {"tasks", `["a"]`, `["a","b"]`},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func TestNearest(t *testing.T) {
	dir := t.TempDir()
	far := frozen(1)
	far.Tasks, far.Wordings = nil, "other"
	other := frozen(8)
	other.Name = "e"
	for _, f := range []Frozen{far, frozen(1), frozen(2), other} {
		if _, _, err := Register(dir, f, by); err != nil {
			t.Fatal(err)
		}
	}
	r := open1(t, dir)
	reg, d, err := r.Nearest(frozen(8))
	if want, _ := frozen(2).Hash(); err != nil || reg.Hash != want || len(d) != 1 || d[0].Field != "seed" {
		t.Errorf("%+v, %+v, %v", reg, d, err)
	}
	other.Name = "nobody"
	if reg, _, err := r.Nearest(other); err != nil || reg != nil {
		t.Errorf("%+v, %v", reg, err)
	}
}
