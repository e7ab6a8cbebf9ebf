package results

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// diskFull is a file on a disk with room for so many bytes.
type diskFull struct {
	*os.File
	room int
}

func (d *diskFull) Write(p []byte) (int, error) {
	if len(p) > d.room {
		n, _ := d.File.Write(p[:d.room])
		d.room = 0
		return n, &fs.PathError{Op: "write", Path: d.Name(), Err: syscall.ENOSPC}
	}
	d.room -= len(p)
	return d.File.Write(p)
}

func (d *diskFull) Sync() error { return nil } // nothing here crashes

func TestJournalDiskFullAtEveryByte(t *testing.T) {
	raw, whole := smallRun(t)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, journalFolder), 0o777); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for room := bytes.IndexByte(raw, '\n') + 1; room < len(raw); room++ {
		file, err := os.Create(journalPath(dir))
		if err != nil {
			t.Fatal(err)
		}
		j := startJournal(journalPath(dir), &diskFull{file, room}, simHeader)
		acknowledged := 0
		var failure error
		for _, e := range append(whole.Events, whole.Events...) {
			j.Append(e)
			if failure = j.Commit(ctx); failure != nil {
				break
			}
			acknowledged++
		}
		if !errors.Is(failure, syscall.ENOSPC) || !strings.Contains(failure.Error(), journalPath(dir)) {
			t.Fatalf("room for %d bytes: error %v", room, failure)
		}
		j.Append(whole.Events[0])
		if _, err := j.Blob("prompt", []byte("x")); err != failure {
			t.Fatalf("a blob after the failure: %v", err)
		}
		if err := j.Commit(ctx); err != failure {
			t.Fatalf("a commit after the failure: %v", err)
		}
		if err := j.Close(); err != failure {
			t.Fatalf("closing after the failure: %v", err)
		}
		got, err := ReadJournal(dir)
		if err != nil || len(got.Events) != acknowledged {
			t.Fatalf("room for %d bytes: %d acknowledged, %d read, error %v", room, acknowledged, len(got.Events), err)
		}
	}
}

// slowDisk counts fsyncs; each waits for a token.
type slowDisk struct {
	bytes.Buffer
	tokens chan struct{}
	begun  chan struct{}
	syncs  int
}

func (d *slowDisk) Sync() error {
	d.begun <- struct{}{}
	<-d.tokens
	d.syncs++
	return nil
}

func (d *slowDisk) Close() error { return nil }

func TestJournalGroupCommit(t *testing.T) {
	disk := &slowDisk{tokens: make(chan struct{}, 10), begun: make(chan struct{}, 10)}
	j := startJournal("journal", disk, simHeader)
	ctx := context.Background()
	first := make(chan error)
	go func() { first <- j.Commit(ctx) }()
	<-disk.begun // the header is being synced
	var appended, committed sync.WaitGroup
	appended.Add(50)
	for range 50 {
		committed.Go(func() {
			j.Append(Event{})
			appended.Done()
			if err := j.Commit(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	appended.Wait()
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if err := j.Commit(stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("a commit without time: %v", err)
	}
	disk.tokens <- struct{}{}
	disk.tokens <- struct{}{}
	if err := <-first; err != nil {
		t.Error(err)
	}
	committed.Wait() // a third fsync would wait for ever
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if disk.syncs != 2 {
		t.Errorf("%d fsyncs, want 2: one for the header, one for 50 callers", disk.syncs)
	}
}
