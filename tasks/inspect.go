package tasks

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
)

// trivial is the size in bytes, blanks at the ends aside, below which two files
// with the same content are a coincidence.
const trivial = 16

// inspect looks for what a task's files give away: answers that can be read in
// the workspace, and paths of the machine it was made on.
func inspect(t *Task) (faults []string, err error) {
	shown := map[[sha256.Size]byte][]string{}
	err = eachFile(t.Workspace, func(p string, data []byte) {
		if key, ok := contentKey(data); ok {
			shown[key] = append(shown[key], p)
		}
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
			key, ok := contentKey(data)
			places := shown[key]
			if !ok || len(places) == 0 || tree.same && slices.Contains(places, p) {
				return
			}
			faults = append(faults, fmt.Sprintf("%s/%s can be read in the workspace, as %s", tree.root, p, places[0]))
		})
		if err != nil {
			return nil, err
		}
	}
	paths, err := machinePaths(t)
	return append(faults, paths...), err
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
