package importers

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// treeOf reads a commit with git itself: mode, path and content of each file.
func treeOf(t testing.TB, dir, commit string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimRight(git(t, dir, "ls-tree", "-r", "-z", commit), "\x00"), "\x00") {
		head, name, _ := strings.Cut(line, "\t")
		words := strings.Fields(head)
		if words[1] == "blob" {
			out[name] = words[0] + " " + git(t, dir, "cat-file", "blob", words[2])
		}
	}
	return out
}

// read is the same by gitStore.
func read(t testing.TB, dir, commit string) (map[string]string, gitFiles) {
	t.Helper()
	s, err := openGit(dir, newGitMemory(maxHeld))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h, err := parseGitHash(commit)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.checkout(h)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for p, f := range got.files {
		mode := "100644"
		switch {
		case f.link:
			mode = "120000"
		case f.exec:
			mode = "100755"
		}
		out[p] = mode + " " + string(f.data)
	}
	return out, got
}

func same(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d files, want %d", what, len(got), len(want))
	}
	for p, w := range want {
		if got[p] != w {
			t.Errorf("%s: %s is %.80q, want %.80q", what, p, got[p], w)
		}
	}
}

// TestGitStore: every commit of a history with long chains of deltas reads as
// git reads it, loose, packed by offset and by name, and borrowed.
func TestGitStore(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	const seed = 11 // any; the contents are drawn from it
	random := rand.New(rand.NewPCG(seed, 0))
	var lines []string
	for range 2000 {
		lines = append(lines, fmt.Sprintf("%d some words %d", random.IntN(1e6), random.IntN(1e6)))
	}
	var commits []string
	for i := range 12 {
		for range 5 {
			lines[random.IntN(len(lines))] = fmt.Sprint("changed ", random.IntN(1e9))
		}
		writeFile(t, filepath.Join(dir, "a/long.txt"), strings.Join(lines, "\n"))
		writeFile(t, filepath.Join(dir, fmt.Sprintf("b/%d/é.txt", i)), strings.Repeat("x", random.IntN(70000)))
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-q", "-m", fmt.Sprint(i))
		commits = append(commits, strings.TrimSpace(git(t, dir, "rev-parse", "HEAD")))
	}
	writeFile(t, filepath.Join(dir, "run.sh"), "#!/bin/sh\n")
	writeFile(t, filepath.Join(dir, "empty"), "")
	if err := errors.Join(os.Chmod(filepath.Join(dir, "run.sh"), 0o755), os.Symlink("a/long.txt", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "-A")
	git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+commits[0]+",sub")
	writeFile(t, filepath.Join(dir, "big.bin"), lfsPointer+"v1\noid sha256:0\n")
	git(t, dir, "add", "big.bin")
	git(t, dir, "commit", "-q", "-m", "last")
	commits = append(commits, strings.TrimSpace(git(t, dir, "rev-parse", "HEAD")))
	all := func(what, dir string) {
		t.Helper()
		for _, c := range commits {
			got, _ := read(t, dir, c)
			same(t, what+", "+c, got, treeOf(t, dir, c))
		}
	}
	all("loose", dir)
	git(t, dir, "repack", "-adfq", "--depth=50", "--window=20")
	if out := git(t, dir, "count-objects", "-v"); !strings.Contains(out, "count: 0\n") {
		t.Fatalf("loose objects are left:\n%s", out)
	}
	all("packed", dir)
	_, last := read(t, dir, commits[len(commits)-1])
	if fmt.Sprint(last.submodules, last.lfs) != "[sub] [big.bin]" {
		t.Errorf("submodules %q, LFS pointers %q", last.submodules, last.lfs)
	}
	git(t, dir, "-c", "repack.usedeltabaseoffset=false", "repack", "-adfq", "--depth=50", "--window=20")
	all("packed by name", dir)
	bare := filepath.Join(t.TempDir(), "bare")
	git(t, dir, "clone", "-q", "--bare", "--shared", dir, bare)
	all("borrowed", bare)
}

// TestDamagedMirror: a file of a repository that is cut off, or has a byte
// changed, is an error that names the object, and never another content.
func TestDamagedMirror(t *testing.T) {
	p := makeProject(t, "invented/ledger")
	commit := p.row["base_commit"].(string)
	want, _ := read(t, p.dir, commit)
	seen := map[string]int{}
	named := regexp.MustCompile(`object:? [0-9a-f]{40}\b`)
	try := func(what, pattern string) {
		t.Helper()
		s, err := openGit(p.dir, newGitMemory(maxHeld))
		if err != nil {
			seen[pattern]++
			if !strings.HasPrefix(err.Error(), "read pack-") {
				t.Errorf("%s: %v, which does not name the index", what, err)
			}
			return
		}
		defer s.Close()
		h, err := parseGitHash(commit)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.checkout(h)
		switch {
		case err == nil && len(got.files) != len(want):
			t.Errorf("%s: %d files, want %d", what, len(got.files), len(want))
		case err == nil:
		case !named.MatchString(err.Error()):
			t.Errorf("%s: %v, which names no object", what, err)
		default:
			seen[pattern]++
		}
		for name, f := range got.files {
			if !strings.HasSuffix(want[name], " "+string(f.data)) {
				t.Errorf("%s: %s has another content", what, name)
			}
		}
	}
	git(t, p.dir, "repack", "-adq")
	for _, pattern := range []string{"*.pack", "*.idx"} {
		found, err := filepath.Glob(filepath.Join(p.dir, ".git/objects/pack", pattern))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		if err := os.Chmod(found[0], 0o644); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(whole); i += 1 + len(whole)/150 {
			changed := append([]byte(nil), whole...)
			changed[i] ^= 0x41
			writeFile(t, found[0], string(changed))
			try(fmt.Sprintf("byte %d of %s changed", i, pattern), pattern)
			writeFile(t, found[0], string(whole[:i]))
			try(fmt.Sprintf("%s cut at %d", pattern, i), pattern)
		}
		if seen[pattern] < 150 { // each cut, and most bytes of objects
			t.Errorf("%s: %d errors only", pattern, seen[pattern])
		}
		writeFile(t, found[0], string(whole))
	}
	if got, _ := read(t, p.dir, commit); len(got) != len(want) {
		t.Error("the repository was not put back")
	}
}

// TestTreesThatNoCheckoutMayHave: names that would leave the tree are refused.
func TestTreesThatNoCheckoutMayHave(t *testing.T) {
	needGit(t)
	for name, want := range map[string]string{
		"..": "no checkout may have", ".git": "no checkout may have", ".GIT": "no checkout may have", "a\xff": "not UTF-8", "ok": "",
	} {
		dir := t.TempDir()
		git(t, dir, "init", "-q")
		writeFile(t, filepath.Join(dir, "x"), "x\n")
		blob := strings.TrimSpace(git(t, dir, "hash-object", "-w", "x"))
		h, err := parseGitHash(blob)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, "tree"), "100644 "+name+"\x00"+string(h[:]))
		tree := strings.TrimSpace(git(t, dir, "hash-object", "-w", "-t", "tree", "--literally", "tree"))
		commit := strings.TrimSpace(git(t, dir, "commit-tree", tree, "-m", "x"))
		s, err := openGit(dir, newGitMemory(maxHeld))
		if err != nil {
			t.Fatal(err)
		}
		if h, err = parseGitHash(commit); err != nil {
			t.Fatal(err)
		}
		_, err = s.checkout(h)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReadSized(t *testing.T) {
	long := strings.Repeat("abc", firstRoom)
	for _, n := range []int{0, 1, firstRoom - 1, firstRoom, firstRoom + 1, len(long)} {
		if data, err := readSized(strings.NewReader(long), int64(n), maxBase); err != nil || string(data) != long[:n] || cap(data) != n {
			t.Errorf("%d bytes in room for %d, want %d: %v", len(data), cap(data), n, err)
		}
	}
	if _, err := readSized(strings.NewReader(long), maxBase, maxBase); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("less than its size: %v", err)
	}
	if _, err := readSized(strings.NewReader("abc"), 4, 10); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut off: %v", err)
	}
	if _, err := readSized(strings.NewReader("abc"), 11, 10); err == nil || !strings.Contains(err.Error(), "11 bytes, over the limit of 10") {
		t.Errorf("too large: %v", err)
	}
}
