package importers

import (
	"time"
)

// File is one regular file of a task's tree.
type File struct {
	Data []byte
	Exec bool
}

// Made is a task that a program makes, as it is to stand in task.yaml. The trees
// are files by slash path. The zero value of a field leaves it out.
type Made struct {
	ID          string
	Tags        []string
	Group       string
	Instruction string
	Editable    []string
	Verify      string
	Score       string
	Timeout     time.Duration // must be positive
	Protect     []string
	Image       string
	Network     bool

	Workspace, Hidden, Solution map[string]File
}

// Folder writes the task as a folder in memory, as [tasks.Load] will read it.
// source stands for it in messages. The error is the reason why no task folder
// can represent it.
func (m Made) Folder(source string) (Folder, error) {
	return item{
		id: m.ID, tags: m.Tags, group: m.Group, instruction: m.Instruction, editable: m.Editable, verify: m.Verify, score: m.Score,
		timeout: m.Timeout, protect: m.Protect, image: m.Image, network: m.Network,
		workspace: privateFiles(m.Workspace), hidden: privateFiles(m.Hidden), solution: privateFiles(m.Solution),
	}.folder(source)
}

func privateFiles(files map[string]File) map[string]file {
	out := make(map[string]file, len(files))
	for p, f := range files {
		out[p] = file{data: f.Data, exec: f.Exec}
	}
	return out
}

// ReadFolder reads all files below dir, by slash path from it, but for what drop
// names (a folder with all below it). Symlinks to files become what they lead
// to; those that leave dir, symlinks to folders, special files, names that are
// not UTF-8 and files over the limit of a corpus are errors.
func ReadFolder(dir string, drop func(p string) bool) (map[string]File, error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tree, err := f.tree(".", drop)
	if err != nil {
		return nil, err
	}
	out := make(map[string]File, len(tree))
	for p, read := range tree {
		out[p] = File{read.data, read.exec}
	}
	return out, nil
}
