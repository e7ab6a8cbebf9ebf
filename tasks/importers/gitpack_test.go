package importers

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestDelta: what applyDelta makes of bytes that are no delta is an error, and
// never more than the limit.
func TestDelta(t *testing.T) {
	base := []byte("0123456789")
	got, err := applyDelta(base, []byte{10, 9, 0x91, 2, 4, 3, 'a', 'b', 'c', 0x90, 2}, 100)
	if err != nil || string(got) != "2345abc01" {
		t.Errorf("%q, %v", got, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		delta := append([]byte{10, rapid.Byte().Draw(t, "size") & 0x7f}, rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "delta")...)
		got, err := applyDelta(base, delta, 64)
		if err == nil && (len(got) != int(delta[1]) || len(got) > 64) {
			t.Fatalf("%d bytes, want %d", len(got), delta[1])
		}
	})
}

// TestDeltaOnLarger: the limit of a file is that file's, and not that of what it
// is a delta of; what is kept of that does not go round the limit.
func TestDeltaOnLarger(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	random := rand.New(rand.NewPCG(3, 0))
	var large strings.Builder
	for large.Len() < 300_000 {
		fmt.Fprintln(&large, random.Uint64())
	}
	hashes := map[string]gitHash{"large": hashOf(gitBlob, []byte(large.String())), "small": hashOf(gitBlob, []byte(large.String()[:100_000]))}
	for _, content := range []string{large.String(), large.String()[:100_000]} {
		writeFile(t, filepath.Join(dir, "a.txt"), content)
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-q", "-m", "x")
	}
	for _, by := range []string{"true", "false"} {
		git(t, dir, "-c", "repack.usedeltabaseoffset="+by, "repack", "-adfq")
		found, err := filepath.Glob(filepath.Join(dir, ".git/objects/pack/*.idx"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		if out := git(t, dir, "verify-pack", "-v", found[0]); !regexp.MustCompile(hashes["small"].String() + ` blob .* 1 ` + hashes["large"].String()).MatchString(out) {
			t.Fatalf("the small file is no delta of the large one:\n%s", out)
		}
		s, err := openGit(dir, newGitMemory(maxHeld))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second finds it in memory
			if _, _, err := s.object(hashes["large"], 150_000); err == nil || !strings.Contains(err.Error(), "over the limit of 150000") {
				t.Errorf("the large file: %v", err)
			}
			if _, data, err := s.object(hashes["small"], 150_000); err != nil || string(data) != large.String()[:100_000] {
				t.Errorf("the small file has %d bytes, %v", len(data), err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOneMemory: two repositories keep no more together than one may, and what
// one of them holds is not found in the other.
func TestOneMemory(t *testing.T) {
	needGit(t)
	const limit = 40_000
	memory := newGitMemory(limit)
	kept := 0
	for i := range 2 {
		dir := t.TempDir()
		git(t, dir, "init", "-q")
		random := rand.New(rand.NewPCG(uint64(i), 0))
		lines := []string{}
		for range 1000 {
			lines = append(lines, fmt.Sprint(random.IntN(1e6)))
		}
		for j := range 4 {
			lines[j] = "changed"
			writeFile(t, filepath.Join(dir, "a.txt"), strings.Join(lines, "\n"))
			writeFile(t, filepath.Join(dir, fmt.Sprint(j)), strings.Repeat("y", 9000+j))
			writeFile(t, filepath.Join(dir, "too large"), strings.Repeat("z", limit+1))
			git(t, dir, "add", "-A")
			git(t, dir, "commit", "-q", "-m", "x")
		}
		git(t, dir, "repack", "-adfq")
		s, err := openGit(dir, memory)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, c := range strings.Fields(git(t, dir, "rev-list", "HEAD")) {
			h, err := parseGitHash(c)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.checkout(h); err != nil {
				t.Fatal(err)
			}
			sum := 0
			for _, data := range memory.blobs {
				sum += len(data)
			}
			for _, base := range memory.bases {
				sum += len(base.data)
			}
			if sum > limit || sum != memory.held {
				t.Errorf("%d bytes are kept of at most %d, and %d counted", sum, limit, memory.held)
			}
			kept = max(kept, sum)
		}
	}
	if kept == 0 {
		t.Error("nothing was ever kept")
	}
}

// TestDeltaOnItself: a pack in which deltas go round, or that is no pack where
// the object should be, is an error that says so.
func TestDeltaOnItself(t *testing.T) {
	var h gitHash
	var index bytes.Buffer
	index.WriteString("\xfftOc\x00\x00\x00\x02")
	index.WriteString(strings.Repeat("\x00\x00\x00\x01", 256))
	index.Write(h[:])
	index.WriteString("\x00\x00\x00\x00" + "\x00\x00\x00\x0c")
	index.WriteString(strings.Repeat("\x00", 40))
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "HEAD"), "")
	writeFile(t, filepath.Join(dir, "objects/pack/pack-0.idx"), index.String())
	for name, c := range map[string]struct{ object, want string }{
		"by name":    {"\x72" + string(h[:]), "more than 4096 deltas lie on one another"}, // a delta of 2 bytes on the object of its own name
		"by offset":  {"\x62\x00", "a delta on itself"},                                   // the same, 0 bytes back
		"nowhere":    {"\x62\x7f", "an object outside of it"},                             // before the pack's begin
		"no kind":    {"\x52", "an object of kind 5"},
		"endless":    {strings.Repeat("\xf2", 40), "an object without end"},
		"cut off":    {"", "an object outside of it"}, // nothing at the place of the object
		"no data":    {"\x32rest", "its pack is damaged: zlib"},
		"too large":  {"\xbf\x7f\x78\x9c", "over the limit of 100"},
		"cut inside": {"\x72" + string(h[:5]), "unexpected EOF"},
	} {
		writeFile(t, filepath.Join(dir, "objects/pack/pack-0.pack"), "PACK\x00\x00\x00\x02\x00\x00\x00\x01"+c.object)
		s, err := openGit(dir, newGitMemory(maxHeld))
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = s.object(h, 100)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "object "+h.String()) != 1 {
			t.Errorf("%s: %.300v, want %s", name, err, c.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
