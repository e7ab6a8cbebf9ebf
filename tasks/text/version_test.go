package text

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"retrial/tasks/corpus"
)

const behaviourFile = "testdata/behaviour.txt"

// TestVersion: the checkers say what they said under the same Version, of every
// answer that testdata and the built-in corpus hold. -update writes down answers
// that are new, and never hides a change: only a higher Version lets one pass.
func TestVersion(t *testing.T) {
	data, err := os.ReadFile(behaviourFile)
	if err != nil {
		t.Fatal(err)
	}
	var written int
	first, rest, _ := strings.Cut(string(data), "\n")
	if _, err := fmt.Sscanf(first, "version %d", &written); err != nil {
		t.Fatalf("%s: %v", behaviourFile, err)
	}
	was := map[string]string{}
	for line := range strings.Lines(rest) {
		i := strings.LastIndexByte(line, ' ')
		was[line[:max(i, 0)]] = strings.TrimSpace(line[i+1:])
	}
	now := behaviour(t)
	for asked, said := range now {
		if before, ok := was[asked]; ok && before != said && written == Version {
			t.Errorf("%s: the checker says something else of this answer than before: raise Version, then run this test with -update", asked)
		}
	}
	switch {
	case written > Version:
		t.Errorf("Version is %d, and was %d before", Version, written)
	case t.Failed():
	case *update:
		var b bytes.Buffer
		fmt.Fprintf(&b, "version %d\n", Version)
		for _, asked := range slices.Sorted(maps.Keys(now)) {
			fmt.Fprintln(&b, asked, now[asked])
		}
		if err := os.WriteFile(behaviourFile, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	case written != Version || !maps.Equal(was, now):
		t.Errorf("%s does not hold what testdata asks now: run this test with -update", behaviourFile)
	}
}

// behaviour is what is said now, in short: by the checker and the answer's hash,
// the hash of the problems, or "pass".
func behaviour(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	ask := func(checker, answer string) {
		problems, err := Check(checker, answer)
		if err != nil {
			t.Fatal(err)
		}
		said := "pass"
		if len(problems) > 0 {
			said = short(strings.Join(problems, "\n"))
		}
		out[checker+" "+short(answer)] = said
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, w := range wrongIn(t, file) {
			checker, _, _ := strings.Cut(w.name, "/")
			ask(checker, w.answer)
		}
	}
	built, err := fs.Glob(corpus.FS, "text/*.txtar")
	if err != nil || len(built) == 0 {
		t.Fatalf("%d tasks, %v", len(built), err)
	}
	for _, file := range built {
		data, err := corpus.FS.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a := txtar.Parse(data)
		i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "solution/"+AnswerFile })
		_, checker, ok := strings.Cut(string(a.Files[0].Data), "\nverify: "+Prefix)
		if i < 0 || !ok {
			t.Fatalf("%s has no solution or no checker", file)
		}
		checker, _, _ = strings.Cut(checker, "\n")
		ask(checker, string(a.Files[i].Data))
	}
	return out
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}
