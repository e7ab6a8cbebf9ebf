package workspace

import (
	"flag"
	"io/fs"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The property tests run 1,000 generated cases each unless -rapid.checks says
// otherwise. A failure prints the seed and the command that reruns it.
func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		flag.Set("rapid.checks", "1000")
	}
	os.Exit(m.Run())
}

var (
	names = rapid.SampledFrom([]string{
		"a", "b", "c", "d", "main.py", "test_x.py", "sp ace", " lead", "trail ", "tab\tbed", "new\nline",
		`quo"te`, `back\`, `\`, "naïve", "\xff\xfe", "\x01\x7f", "-dash", "x\r", "[a]*", ".hidden", "🙂",
	})
	lines = rapid.SampledFrom([]string{
		"", "x", "y", "def f():", "    return 1", "\r", "x\r", "--- a/x", "+++ b/x", "@@ -1 +1 @@", " lead",
		`\ No newline at end of file`, "diff --git a/x b/x", "-- ", "é", "\t",
	})
	modes   = rapid.SampledFrom([]fs.FileMode{0o644, 0o755, 0o600, 0o444, 0, 0o711, fs.ModeSetuid | 0o755})
	targets = rapid.SampledFrom([]string{"a", "b/c", "../x", "/etc/passwd", ".", "new\nline", "\xff", "naïve"})
)

func content(t *rapid.T) []byte {
	switch rapid.IntRange(0, 9).Draw(t, "content") {
	case 0:
		return nil
	case 1:
		return rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "bytes")
	case 2: // many lines, few kinds: hunks that merge, part and repeat
		return []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"p\n", "q\n", "r\n"}), 0, 60).Draw(t, "many"), ""))
	}
	text := strings.Join(rapid.SliceOfN(lines, 1, 12).Draw(t, "lines"), "\n")
	if rapid.Bool().Draw(t, "newline") {
		text += "\n"
	}
	return []byte(text)
}

// edited changes some lines, as a solver does.
func edited(t *rapid.T, data []byte) []byte {
	all := splitLines(string(data))
	if len(all) == 0 || rapid.IntRange(0, 4).Draw(t, "rewrite") == 0 {
		return content(t)
	}
	for range rapid.IntRange(1, 3).Draw(t, "edits") {
		i := rapid.IntRange(0, len(all)-1).Draw(t, "line")
		switch rapid.IntRange(0, 3).Draw(t, "edit") {
		case 0:
			all[i] = lines.Draw(t, "new line") + "\n"
		case 1:
			all[i] = ""
		case 2:
			all[i] += lines.Draw(t, "added line") + "\n"
		case 3:
			all[i] = strings.TrimSuffix(all[i], "\n")
		}
	}
	return []byte(strings.Join(all, ""))
}

func randomPath(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(names, 1, 3).Draw(t, "path"), "/")
}

func randomEntry(t *rapid.T, p string) Entry {
	if rapid.IntRange(0, 6).Draw(t, "kind") == 0 {
		return Entry{Path: p, Mode: fs.ModeSymlink | 0o777, LinkTarget: targets.Draw(t, "target")}
	}
	return Entry{Path: p, Mode: modes.Draw(t, "mode"), Data: content(t)}
}

// collect makes a tree of those entries that fit together.
func collect(t *rapid.T, entries []Entry) *Tree {
	taken, parents := map[string]bool{}, map[string]bool{}
	var kept []Entry
next:
	for _, e := range entries {
		if taken[e.Path] || parents[e.Path] {
			continue
		}
		for dir, _ := splitPath(e.Path); dir != ""; dir, _ = splitPath(dir) {
			if taken[dir] {
				continue next
			}
		}
		for dir, _ := splitPath(e.Path); dir != ""; dir, _ = splitPath(dir) {
			parents[dir] = true
		}
		taken[e.Path] = true
		kept = append(kept, e)
	}
	tree, err := NewTree(kept)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func randomTree(t *rapid.T) *Tree {
	var entries []Entry
	for range rapid.IntRange(0, 8).Draw(t, "files") {
		entries = append(entries, randomEntry(t, randomPath(t)))
	}
	return collect(t, entries)
}

// successor is a tree that a solver could have made of from.
func successor(t *rapid.T, from *Tree) *Tree {
	var entries []Entry
	for _, e := range from.Entries() {
		if e.Mode.IsDir() {
			continue
		}
		switch rapid.IntRange(0, 8).Draw(t, "fate") {
		case 0: // deleted
			continue
		case 1:
			e = randomEntry(t, e.Path)
		case 2:
			e.Path = randomPath(t)
		case 3:
			if e.IsRegular() {
				e.Mode = modes.Draw(t, "new mode")
			}
		case 4, 5:
			if e.IsRegular() {
				e.Data = edited(t, e.Data)
			}
		case 6: // a file becomes a directory
			e.Path += "/" + names.Draw(t, "in")
		}
		entries = append(entries, e)
	}
	for range rapid.IntRange(0, 3).Draw(t, "new files") {
		entries = append(entries, randomEntry(t, randomPath(t)))
	}
	return collect(t, rapid.Permutation(entries).Draw(t, "order"))
}
