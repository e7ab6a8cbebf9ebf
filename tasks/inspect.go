package tasks

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// trivial is the size in bytes, blanks at the ends aside, below which two files
// with the same content are a coincidence.
const trivial = 16

// telling is the number of different lines, blank ones and comments aside, below
// which a file that is a part of another is a coincidence.
const telling = 10

// What is searched of an archive in the workspace: so many bytes in all, and so
// many archives deep (a .tar.gz is two). The rest is left unread.
const (
	maxUnpacked = 64 << 20
	maxNesting  = 4
)

// inspect looks for what a task's files give away: answers that can be read in
// the workspace, and paths of the machine it was made on; and for what is left
// of the text that `tasks new` wrote.
func inspect(t *Task) (faults []string, err error) {
	var files []shown
	err = eachFile(t.Workspace, func(p string, data []byte) {
		files = append(files, read(p, data)...)
		if reason := unsearchable(p); reason != "" && len(faults) == 0 {
			faults = append(faults, fmt.Sprintf("cannot be certified: workspace/%s is %s, which is not searched for answers: leave .git out of the workspace", p, reason))
		}
	})
	if err != nil {
		return nil, err
	}
	for _, tree := range []struct {
		root string
		fs.FS
		same bool // a file that is in the workspace too, at its own place, is no answer
	}{{"hidden", t.Hidden, false}, {"solution", t.Solution, true}} {
		if !t.HasFiles(tree) {
			continue
		}
		err := eachFile(tree, func(p string, data []byte) {
			places := seek(data).in(files)
			if len(places) == 0 || tree.same && slices.Contains(places, p) {
				return
			}
			faults = append(faults, fmt.Sprintf("%s/%s can be read in the workspace, as %s", tree.root, p, places[0]))
		})
		if err != nil {
			return nil, err
		}
	}
	paths, err := machinePaths(t)
	if err != nil {
		return nil, err
	}
	todos, err := undone(t)
	return slices.Concat(faults, paths, todos), err
}

// shown is content that can be read in the workspace: a file's, or a member's of
// an archive.
type shown struct {
	place string // its path; for a member "ARCHIVE (MEMBER)"
	key   [sha256.Size]byte
	lines string // as lines returns them
}

// read returns a file of the workspace and, where it is an archive, what it holds.
func read(p string, data []byte) []shown {
	key, _ := contentKey(data)
	out := []shown{{p, key, lines(data)}}
	left := int64(maxUnpacked)
	unpackEach(data, "", maxNesting, &left, func(member string, data []byte) {
		key, _ := contentKey(data)
		out = append(out, shown{fmt.Sprintf("%s (%s)", p, member), key, lines(data)})
	})
	return out
}

// sought is a file that must not be readable in the workspace.
type sought struct {
	key   [sha256.Size]byte
	whole bool   // key tells something
	lines string // "" where they tell nothing
}

// seek keeps of an answer what tells it from a coincidence.
func seek(data []byte) sought {
	var a sought
	a.key, a.whole = contentKey(data)
	a.lines = lines(data)
	different := map[string]bool{}
	for l := range strings.Lines(a.lines) {
		if l = strings.TrimSpace(l); l != "" && !comment.MatchString(l) {
			different[l] = true
		}
	}
	if len(different) < telling {
		a.lines = ""
	}
	return a
}

var comment = regexp.MustCompile(`^(#|//|/\*|\*|--)`)

// in lists the places where an answer can be read: as a whole, or its lines one
// after the other among others.
func (a sought) in(files []shown) (places []string) {
	for _, f := range files {
		if a.whole && a.key == f.key || a.lines != "" && strings.Contains(f.lines, a.lines) {
			places = append(places, f.place)
		}
	}
	return places
}

// lines are a text's lines that are not blank, blanks within them folded, each
// between line ends: a text whose lines stand in another's one after the other
// is a substring of it. "" for what is no text.
func lines(data []byte) string {
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return ""
	}
	var b strings.Builder
	b.WriteByte('\n')
	for l := range strings.Lines(string(data)) {
		if words := strings.Fields(l); len(words) > 0 {
			b.WriteString(strings.Join(words, " "))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// unpackEach gives the files that gzip, bzip2, zip or tar data holds, also in
// archives within, until left bytes are read. What cannot be read is passed over.
func unpackEach(data []byte, name string, depth int, left *int64, do func(member string, data []byte)) {
	if depth == 0 {
		return
	}
	take := func(member string, r io.Reader) {
		content, _ := io.ReadAll(io.LimitReader(r, *left))
		*left -= int64(len(content))
		if len(content) > 0 {
			do(member, content)
			unpackEach(content, member+"/", depth-1, left, do)
		}
	}
	switch in := bytes.NewReader(data); {
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		if z, err := gzip.NewReader(in); err == nil {
			take(name+"unpacked", z)
		}
	case bytes.HasPrefix(data, []byte("BZh")):
		take(name+"unpacked", bzip2.NewReader(in))
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		z, err := zip.NewReader(in, in.Size())
		if err != nil {
			return
		}
		for _, f := range z.File {
			if r, err := f.Open(); err == nil {
				take(name+f.Name, r)
				r.Close()
			}
		}
	case len(data) > 262 && string(data[257:262]) == "ustar":
		for z := tar.NewReader(in); ; {
			head, err := z.Next()
			if err != nil {
				return
			}
			take(name+head.Name, z)
		}
	}
}

// eachFile calls do for every regular file, in path order.
func eachFile(tree fs.FS, do func(p string, data []byte)) error {
	return fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(tree, p)
		if err == nil {
			do(p, data)
		}
		return err
	})
}

// contentKey identifies a file's content, whatever its line ends; ok is false
// for one too small to tell anything.
func contentKey(data []byte) (key [sha256.Size]byte, ok bool) {
	data = bytes.TrimSpace(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
	return sha256.Sum256(data), len(data) >= trivial
}

// gitObject matches where a repository, bare or not, keeps compressed content;
// loose objects have 40 hex digits, or 64 with SHA-256, two of them the folder's.
var gitObject = regexp.MustCompile(`(^|/)objects/([0-9a-f]{2}/([0-9a-f]{38}|[0-9a-f]{62})|pack/[^/]+\.pack|info/alternates)$`)

// unsearchable says what a file of the workspace is, where it holds or names
// content that inspect does not read: that of a git repository, through which
// refs, reflog and stashes reach what was deleted. "" for every other file.
func unsearchable(p string) string {
	switch {
	case gitObject.MatchString(p):
		return "part of a git repository's history"
	case path.Base(p) == ".git":
		return "a pointer to a git repository elsewhere"
	case path.Ext(p) == ".bundle":
		return "a git bundle"
	}
	return ""
}

// machinePath matches absolute paths as they look on the machine of whoever
// wrote the task: home folders and scratch space.
var machinePath = regexp.MustCompile(`(?:^|[^\w.~/\\-])(/(?:home|Users)/[\w.-]+|/root(?:/[\w.-]+|\b)|/(?:private/)?tmp/[\w.-]+|/var/folders/\w+|[A-Za-z]:\\{1,2}Users\\{1,2}[\w.-]+)`)

// machinePaths finds such paths in what a solver is told and shown: at most one
// fault for the instruction and for each editable file.
func machinePaths(t *Task) (faults []string, err error) {
	note := func(where, text string) {
		if m := machinePath.FindStringSubmatch(text); m != nil {
			faults = append(faults, fmt.Sprintf("%s names %s, a path of the machine it was made on", where, m[1]))
		}
	}
	note("the instruction", t.Instruction)
	files, err := t.EditableFiles()
	for _, f := range files {
		note("workspace/"+f.Path, f.Content)
	}
	return faults, err
}

// scaffoldTODOs are the sentences, one a line, that ask for something in the task
// that `tasks new` writes (cmd/retrial/scaffold.txtar). Other TODOs are honest.
const scaffoldTODOs = `TODO: say what is wrong, or what is wanted, as you would tell a colleague.
TODO: the program as the solver finds it: with the bug, or with the part that is missing.
TODO: a test that fails on the program above and passes on the solution
TODO: tests that let fewer wrong programs through than the visible one
TODO: the program as it should be. Only the files that differ from workspace/ stand in solution/.`

// undone finds such sentences in a task: at most one fault for the instruction
// and for each file.
func undone(t *Task) (faults []string, err error) {
	note := func(where, text string) {
		if !strings.Contains(text, "TODO: ") {
			return
		}
		n := 0
		for line := range strings.Lines(text) {
			n++
			for todo := range strings.SplitSeq(scaffoldTODOs, "\n") {
				if strings.Contains(line, todo) {
					faults = append(faults, fmt.Sprintf("%s, line %d, still holds what `tasks new` wrote: %q", where, n, todo))
					return
				}
			}
		}
	}
	note("the instruction", t.Instruction)
	for _, tree := range []struct {
		root string
		fs.FS
	}{{"workspace", t.Workspace}, {"hidden", t.Hidden}, {"solution", t.Solution}} {
		if !t.HasFiles(tree) {
			continue
		}
		if err := eachFile(tree, func(p string, data []byte) { note(tree.root+"/"+p, string(data)) }); err != nil {
			return nil, err
		}
	}
	return faults, nil
}
