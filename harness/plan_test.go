package harness

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"retrial/arms"
	"retrial/tasks"
)

func TestSelect(t *testing.T) {
	c := guessCorpus(t, "csv-read", "csv-write", "ini-read", "toml-read")
	for _, tc := range []struct {
		globs string
		want  string
	}{
		{"", "csv-read csv-write ini-read toml-read"},
		{"csv-*", "csv-read csv-write"},
		{"*-read", "csv-read ini-read toml-read"},
		{"!csv-*", "ini-read toml-read"},
		{"*-read !csv-* toml-read", "ini-read toml-read"},
		{"toml-read csv-read", "csv-read toml-read"}, // in registered order
		{"nothing", ""},
		{"csv", ""}, // the whole id has to match
	} {
		got, err := Select(c.Tasks, strings.Fields(tc.globs))
		if err != nil {
			t.Errorf("%s: %v", tc.globs, err)
		}
		ids := ""
		for _, task := range got {
			ids += " " + task.ID
		}
		if strings.TrimSpace(ids) != tc.want {
			t.Errorf("%q selects%s, want %s", tc.globs, ids, tc.want)
		}
	}
	for _, bad := range []string{"[", "![a"} {
		if _, err := Select(c.Tasks, []string{bad}); err == nil {
			t.Errorf("%q is taken for a glob", bad)
		}
	}
}

func TestNewPlan(t *testing.T) {
	c := guessCorpus(t, "a", "b", "c")
	p := parsePlan(t, c, "replicates: 2\nlimit: 2\n"+fourArms)
	want := []TrialKey{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
	if got := p.Trials(); !slices.Equal(got, want) {
		t.Errorf("trials %v, want %v", got, want)
	}
	d, err := arms.ParseDesign("design.yaml", []byte("name: test\ncorpus: tests\ntasks: [x*]\n"+fourArms))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(d, c); !errors.Is(err, ErrNoTask) || !strings.Contains(err.Error(), "x*") {
		t.Errorf("a filter that leaves nothing: %v", err)
	}
}

func TestPrograms(t *testing.T) {
	list := []*tasks.Task{
		{ID: "a", Verify: "python3 -m unittest -q", Score: "python3 x.py"},
		{ID: "b", Verify: "make test", Score: "cd x && python3 y"},
		{ID: "c", Verify: "X=1 cargo test", Score: "./run"},
		{ID: "d", Verify: "no-such-program-here", Score: ""},
	}
	got := programs(list)
	want := []program{{"python3", "a"}, {"make", "b"}, {"no-such-program-here", "d"}}
	if !slices.Equal(got, want) {
		t.Errorf("programs %v, want %v", got, want)
	}
	_, err := FindToolchain(t.Context(), list[3:])
	if err == nil || !strings.Contains(err.Error(), "task d") || !strings.Contains(err.Error(), "no-such-program-here") {
		t.Errorf("a missing program: %v", err)
	}
}
