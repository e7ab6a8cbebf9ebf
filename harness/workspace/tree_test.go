package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// mustTree builds a tree from "path" -> content; a path that ends in "/" is a
// directory, content "-> x" a link to x, a path that ends in "*" executable.
func mustTree(t testing.TB, files map[string]string) *Tree {
	t.Helper()
	var entries []Entry
	for p, content := range files {
		e := Entry{Path: p, Mode: 0o644, Data: []byte(content)}
		switch {
		case strings.HasSuffix(p, "/"):
			e = Entry{Path: strings.TrimSuffix(p, "/"), Mode: fs.ModeDir | 0o755}
		case strings.HasPrefix(content, "-> "):
			e = Entry{Path: p, Mode: fs.ModeSymlink, LinkTarget: content[3:]}
		case strings.HasSuffix(p, "*"):
			e.Path, e.Mode = strings.TrimSuffix(p, "*"), 0o755
		}
		entries = append(entries, e)
	}
	tree, err := NewTree(entries)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// describe prints a tree for comparison.
func describe(t *Tree) string {
	var b strings.Builder
	for _, e := range t.Entries() {
		b.WriteString(e.Mode.String() + " " + e.Path + " " + quote(string(e.content())) + "\n")
	}
	return b.String()
}

func equalTrees(t testing.TB, got, want *Tree) {
	t.Helper()
	if g, w := describe(got), describe(want); g != w {
		t.Fatalf("got:\n%s\nwant:\n%s", g, w)
	}
	if got.Hash() != want.Hash() {
		t.Fatal("equal trees of different hashes")
	}
}

func TestReadTree(t *testing.T) {
	got, err := ReadTree(fstest.MapFS{
		"a.py":       {Data: []byte("x = 1\n")},
		"bin/run.sh": {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
		"ro.txt":     {Data: []byte("r"), Mode: 0o444},
		"link":       {Data: []byte("bin/../a.py"), Mode: fs.ModeSymlink | 0o777},
		"dangling":   {Data: []byte("nowhere"), Mode: fs.ModeSymlink | 0o777},
		"d/e/up":     {Data: []byte("../../a.py"), Mode: fs.ModeSymlink | 0o777},
		"empty":      {Mode: fs.ModeDir | 0o555},
	})
	if err != nil {
		t.Fatal(err)
	}
	equalTrees(t, got, mustTree(t, map[string]string{
		"a.py": "x = 1\n", "bin/run.sh*": "#!/bin/sh\n", "ro.txt": "r",
		"link": "-> bin/../a.py", "dangling": "-> nowhere", "empty/": "",
		"d/e/up": "-> ../../a.py",
	}))
}

func TestReadTreeRejects(t *testing.T) {
	link := func(target string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
	}
	for name, c := range map[string]struct {
		path string
		fs   fstest.MapFS
	}{
		"absolute link": {"l", fstest.MapFS{"l": link("/etc/passwd")}},
		"leaving link":  {"d/l", fstest.MapFS{"d/l": link("../../x")}},
		// By its text it stays inside; by way of the link a/s it does not.
		"leaving by another link": {"a/b/l", fstest.MapFS{
			"a/s": link("../r"), "r/f": {}, "a/b/l": link("../s/../.."),
		}},
		"named pipe": {"p", fstest.MapFS{"p": {Mode: fs.ModeNamedPipe}}},
		"socket":     {"s", fstest.MapFS{"s": {Mode: fs.ModeSocket}}},
		"device":     {"v", fstest.MapFS{"v": {Mode: fs.ModeDevice}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadTree(c.fs)
			if !errors.Is(err, ErrInvalidPath) || !strings.Contains(err.Error(), " "+c.path+" ") {
				t.Fatalf("error %v does not reject %s", err, c.path)
			}
		})
	}
}

func TestNewTreeRejects(t *testing.T) {
	file := func(p string) Entry { return Entry{Path: p, Mode: 0o644} }
	for _, entries := range [][]Entry{
		{file("/a")}, {file("../a")}, {file("a/../b")}, {file("a//b")}, {file("")}, {file(".")},
		{file("a\x00b")}, {file("a"), file("a")}, {file("a"), file("a/b")}, {file(strings.Repeat("n", 256))},
	} {
		if _, err := NewTree(entries); !errors.Is(err, ErrInvalidPath) {
			t.Errorf("NewTree(%q) = %v", entries[len(entries)-1].Path, err)
		}
	}
}

func TestHashSeesEverything(t *testing.T) {
	base := map[string]string{"a": "1", "d/": "", "l": "-> a"}
	seen := map[string]string{mustTree(t, base).Hash(): "base"}
	for name, files := range map[string]map[string]string{
		"content":       {"a": "2", "d/": "", "l": "-> a"},
		"mode":          {"a*": "1", "d/": "", "l": "-> a"},
		"path":          {"b": "1", "d/": "", "l": "-> a"},
		"directory":     {"a": "1", "l": "-> a"},
		"target":        {"a": "1", "d/": "", "l": "-> d"},
		"file for link": {"a": "1", "d/": "", "l": "a"},
	} {
		h := mustTree(t, files).Hash()
		if other, dup := seen[h]; dup {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[h] = name
	}
}

func TestOverlay(t *testing.T) {
	under := mustTree(t, map[string]string{"a": "1", "d/x": "1", "d/y": "1", "f": "1", "l": "-> d", "keep/": ""})
	over := mustTree(t, map[string]string{"a*": "2", "d": "file", "f/in": "2", "l/in": "2", "new": "2"})
	equalTrees(t, under.Overlay(over), mustTree(t, map[string]string{
		"a*": "2", "d": "file", "f/in": "2", "l/in": "2", "new": "2", "keep/": "",
	}))
	equalTrees(t, under.Overlay(&Tree{}), under)
	equalTrees(t, (&Tree{}).Overlay(over), over)
}

func TestWriteIsExact(t *testing.T) {
	tree, err := NewTree([]Entry{
		{Path: "w", Mode: 0o666, Data: []byte("w")},
		{Path: "none", Mode: 0, Data: []byte("n")},
		{Path: "suid", Mode: fs.ModeSetuid | 0o755, Data: []byte("s")},
		{Path: "ro", Mode: fs.ModeDir | 0o555},
		{Path: "ro/in", Mode: 0o400, Data: []byte("i")},
		{Path: "private", Mode: fs.ModeDir | 0o700},
		{Path: "open", Mode: fs.ModeDir | fs.ModeSticky | 0o777},
		{Path: "bad\xff\nname", Mode: 0o644},
		{Path: "l", Mode: fs.ModeSymlink, LinkTarget: "/nowhere"},
	})
	if err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	mustDo(t, os.Chmod(parent, fs.ModeSetgid|0o755)) // which new directories inherit
	dir := filepath.Join(parent, "new", "dir")
	defer syscall.Umask(syscall.Umask(0o077))
	for range 2 { // the second time over what is there
		if err := tree.Write(dir); err != nil {
			t.Fatal(err)
		}
		got, err := ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		equalTrees(t, got, tree)
	}
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := removeAll(root, "dir"); err != nil {
		t.Fatal(err)
	}
}

func TestReadDirTolerates(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	t.Chdir(dir) // a socket's path may be long
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: "sock"}); err != nil {
		t.Fatal(err)
	}
	mustDo(t, os.WriteFile("big", nil, 0o600), os.Truncate("big", MaxFileBytes+1), os.Mkdir("shut", 0o700),
		os.WriteFile("shut/in", []byte("x"), 0), os.Chmod("shut", 0), os.Symlink("/etc", "out"))
	defer os.Chmod("shut", 0o700)
	got, err := ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, e := range got.Entries() {
		paths = append(paths, e.Mode.String()+" "+e.Path)
	}
	want := "-rw------- big,Lrwxrwxrwx out,d--------- shut,---------- shut/in"
	if s := strings.Join(paths, ","); s != want {
		t.Errorf("entries %s, want %s", s, want)
	}
	if e, _ := got.Lookup("shut/in"); string(e.Data) != "x" {
		t.Errorf("read %q behind a closed directory", e.Data)
	}
	// From: head -c 67108865 /dev/zero | sha256sum
	const zeros = "big (67108865 bytes, sha256 91990977345985aaf03af1358f4f989d7eaf985b58529efb72f613c588f6599a)"
	if s := strings.Join(got.Skipped(), ", "); s != zeros+", pipe (named pipe), sock (socket)" {
		t.Errorf("skipped %s", s)
	}
	if info, err := os.Lstat("shut"); err != nil || info.Mode().Perm() != 0 {
		t.Errorf("reading left mode %v, %v", info.Mode(), err)
	}
}

func TestReadDirBoundsMemory(t *testing.T) {
	dir := t.TempDir()
	base := mustTree(t, map[string]string{"same": "0123456789"})
	mustDo(t, mustTree(t, map[string]string{"a": "0123", "b": "0123", "c": "0123", "d": "01", "same": "0123456789"}).Write(dir))
	root, err := os.OpenRoot(dir)
	mustDo(t, err)
	defer root.Close()
	r := dirReader{base: base, budget: 10}
	mustDo(t, r.dir(root, ""))
	var kept []string
	for _, e := range r.entries {
		if !e.Omitted {
			kept = append(kept, e.Path)
		}
	}
	// c is past what a and b left, d is not; known content is free.
	if s := strings.Join(kept, " "); s != "a b d same" || r.budget != 0 {
		t.Errorf("kept %s, %d bytes left", s, r.budget)
	}
}

func mustDo(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
