package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"retrial/tasks"
)

// certificateName is the file beside the tasks of a corpus folder that holds
// their certificates.
const certificateName = "certificate.json"

// stagedFile is where certificates wait until they are complete. The zero value
// stands for no file.
type stagedFile struct {
	*os.File
	path string
	had  certificates // what the file held
}

// stage opens the file of certificates: the one -o names, else certificate.json
// in a corpus folder; other sources have no place for one. A folder that cannot
// be written is told before the tasks are run.
func (o *tasksOptions) stage(corpus *tasks.Corpus) (stagedFile, error) {
	s := stagedFile{path: o.out}
	if s.path == "" {
		if corpus.Folder == "" {
			return stagedFile{}, nil
		}
		s.path = filepath.Join(corpus.Folder, certificateName)
	}
	var err error
	if s.had, err = readCertificates(s.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return stagedFile{}, fmt.Errorf("%w: remove it, or name another file with -o", err)
	}
	if s.File, err = os.CreateTemp(filepath.Dir(s.path), filepath.Base(s.path)+".*.tmp"); err != nil {
		return stagedFile{}, fmt.Errorf("write certificates: %w: name another file with -o", err)
	}
	return s, nil
}

// kept joins what was found to the certificates that the file held of the
// corpus's tasks: of a task that is sound still, the one of more runs stays. Those
// of content that is no longer there are dropped.
func (s stagedFile) kept(corpus *tasks.Corpus, found []tasks.Certificate) certificates {
	out := certificates{}
	for _, t := range corpus.Tasks {
		if row, ok := s.had[t.Hash]; ok {
			out[t.Hash] = row
		}
	}
	for hash, row := range byHash(found) {
		if had, ok := out[hash]; ok && row.Sound && had.SolutionRuns > row.SolutionRuns {
			continue
		}
		out[hash] = row
	}
	return out
}

// write replaces the file.
func (s stagedFile) write(v any) error {
	if s.File == nil {
		return nil
	}
	err := errors.Join(writeJSON(s, v), s.Chmod(0o644), s.Sync(), s.Close())
	if err == nil {
		err = os.Rename(s.Name(), s.path)
	}
	if err != nil {
		return fmt.Errorf("write certificates: %w", err)
	}
	return nil
}

// drop removes what was not written to the end.
func (s stagedFile) drop() {
	if s.File != nil {
		s.Close()
		os.Remove(s.Name())
	}
}
