package mutate

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"
)

func sortedPlaces(prefix string, m map[place]bool) []string {
	var out []string
	for at := range maps.Keys(m) {
		if at.line > 0 {
			out = append(out, fmt.Sprintf("%s %s:%d", prefix, at.path, at.line))
		}
	}
	slices.Sort(out)
	return out
}

// TestPromptTranscripts compares what is read of a prompt with the transcripts.
func TestPromptTranscripts(t *testing.T) {
	names, err := filepath.Glob("testdata/prompt/*.txt")
	if err != nil || len(names) < 6 {
		t.Fatalf("find transcripts: %d, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := ParsePrompt(string(archive.Files[0].Data))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range p.Files {
				got = append(got, fmt.Sprintf("file %s %d lines", f.Path, strings.Count(f.Text, "\n")))
			}
			h, f := heed(p), fixate(p)
			if len(h.patches) > 0 {
				got = append(got, fmt.Sprintf("excluded %s sha %d", p.Files[0].Path, len(h.patches)))
			}
			if h.doubled {
				got = append(got, "doubled")
			}
			got = append(got, sortedPlaces("touched", h.touched)...)
			got = append(got, sortedPlaces("named", h.named)...)
			got = append(got, sortedPlaces("near", f.near)...)
			want := strings.TrimSpace(string(archive.Files[1].Data))
			if s := strings.Join(got, "\n"); s != want {
				t.Errorf("got\n%s\nwant\n%s", s, want)
			}
		})
	}
}

func TestPromptWithoutFiles(t *testing.T) {
	for _, p := range []string{"", "## Files\n", "### a.py\nno fence\n", "### Attempt 1 a.py\n```\nx\n```\n"} {
		if _, err := ParsePrompt(p); !errors.Is(err, ErrPrompt) {
			t.Errorf("%q: got %v, want ErrPrompt", p, err)
		}
	}
}

// Any content comes back if the fence is longer than the content's own.
func TestPromptRoundTrip(t *testing.T) {
	line := rapid.SampledFrom([]string{"x = 1", "```", "````python", "### b.py", "## Files", "~~~", "", "    é = 2", "diff --git a/a b/a", "y\r"})
	rapid.Check(t, func(t *rapid.T) {
		var files []File
		text := "## Files\n"
		for i := range rapid.IntRange(1, 3).Draw(t, "files") {
			content := strings.Join(rapid.SliceOfN(line, 1, 8).Draw(t, "lines"), "\n") + "\n"
			files = append(files, File{fmt.Sprintf("dir/f%d.py", i), content})
			text += fmt.Sprintf("\n### dir/f%d.py\n\n`````python\n%s`````\n", i, content)
		}
		p, err := ParsePrompt(text + "\n## Earlier attempts\n")
		if err != nil || !slices.Equal(p.Files, files) || len(p.History) != 1 {
			t.Fatalf("got %q (%v), history %v, want %q", p.Files, err, p.History, files)
		}
	})
}

// A whole diff gives the patched text back; a cut one is never taken for whole,
// and what is read of it touches nothing that the whole one does not.
func TestDiffRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(t, "lines")
		var old []string
		for i := range n {
			old = append(old, fmt.Sprintf("line_%d = %d", i, i))
		}
		from := rapid.IntRange(0, n-1).Draw(t, "from")
		to := rapid.IntRange(from, n).Draw(t, "to")
		added := rapid.SliceOfN(rapid.SampledFrom([]string{"new = 1", "  new = 2", "-- new", "++ new"}), 0, 3).Draw(t, "added")
		changed := slices.Concat(old[:from], added, old[to:])
		before, after := strings.Join(old, "\n")+"\n", strings.Join(changed, "\n")+"\n"
		if before == after || len(changed) == 0 {
			t.Skip("no change")
		}
		text := unified("a.py", before, after)
		files := map[string]string{"a.py": before}
		d := readDiff(text, files)
		if !d.whole || d.path != "a.py" || d.result != after {
			t.Fatalf("read %+v of\n%s", d, text)
		}
		at := rapid.IntRange(0, len(text)-1).Draw(t, "cut")
		cut := readDiff(text[:at]+"\n[... 99 characters cut ...]\n", files)
		if cut.whole {
			t.Fatalf("a cut diff is taken for whole:\n%s", text[:at])
		}
		for _, p := range cut.touched {
			// A cut inside a line may still hide what kind of line follows it.
			if !slices.Contains(d.touched, p) && !slices.Contains(d.touched, place{p.path, p.line + 1}) {
				t.Fatalf("cut diff touches %v, whole one %v:\n%s", p, d.touched, text[:at])
			}
		}
	})
}

func TestCommands(t *testing.T) {
	tests := []struct{ command, want string }{
		{"python3 -m unittest -q test_visible", `{[test_visible] [] map[] 0}`},
		{"python3.12 -B -m unittest tests/test_a.py test_b.C.test_x", `{[tests/test_a.py test_b.C.test_x] [] map[] 0}`},
		{"/usr/bin/python -m unittest -k fast -v t", `{[t] [fast] map[] 0}`},
		{"python3 -m unittest", `{[] [] map[pattern:test*.py start_dir:.] 0}`},
		{"python3 -m unittest discover -s tests -p '*_test.py'", `{[] [] map[pattern:*_test.py start_dir:tests] 0}`},
		{"python3 -m unittest discover --start-directory=a", `{[] [] map[pattern:test*.py start_dir:a] 0}`},
		{"python3 -m pytest", ""}, {"go test ./...", ""}, {"python3 -m unittest a; rm b", ""}, {"", ""},
		{"python3 -m unittest --what a", ""}, {"python3 -m unittest discover -s", ""}, {"sh -c 'python3 -m unittest'", ""},
	}
	for _, tt := range tests {
		got, err := parseCommand(tt.command)
		if tt.want == "" {
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("%q: got %v, want ErrUnsupported", tt.command, err)
			}
			continue
		}
		if s := fmt.Sprint(got); err != nil || s != tt.want {
			t.Errorf("%q: got %s (%v), want %s", tt.command, s, err, tt.want)
		}
	}
}
