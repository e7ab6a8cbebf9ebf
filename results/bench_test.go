package results

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// benchEvents is a run of about 100,000 events.
func benchEvents(b *testing.B) []Event {
	b.Helper()
	events := simEvents(1, 290, 9)
	if len(events) < 90_000 || len(events) > 110_000 {
		b.Fatalf("%d events, want about 100,000", len(events))
	}
	return events
}

func reportRate(b *testing.B, events int) {
	b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkJournal appends a run and commits at each attempt's end.
func BenchmarkJournal(b *testing.B) {
	events := benchEvents(b)
	ctx := context.Background()
	for b.Loop() {
		dir := b.TempDir()
		j, err := CreateJournal(dir, simHeader)
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range events {
			j.Append(e)
			if e.Kind == KindAttemptFinish {
				if err := j.Commit(ctx); err != nil {
					b.Fatal(err)
				}
			}
		}
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
	reportRate(b, len(events))
}

// BenchmarkAppend leaves the syncing to the journal.
func BenchmarkAppend(b *testing.B) {
	events := benchEvents(b)
	for b.Loop() {
		j, err := CreateJournal(b.TempDir(), simHeader)
		if err != nil {
			b.Fatal(err)
		}
		j.Append(events...)
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
	reportRate(b, len(events))
}

// BenchmarkReadAndSeal turns a journal into the sealed files.
func BenchmarkReadAndSeal(b *testing.B) {
	events := benchEvents(b)
	dir := writeRun(b, events)
	n := len(events)
	events = nil
	for b.Loop() {
		log, err := ReadJournal(dir)
		if err != nil {
			b.Fatal(err)
		}
		if err := Seal(dir, log); err != nil {
			b.Fatal(err)
		}
	}
	reportRate(b, n)
}

// BenchmarkOpen reads the sealed tables as the analysis does.
func BenchmarkOpen(b *testing.B) {
	events := benchEvents(b)
	dir := writeRun(b, events)
	sealRun(b, dir)
	for b.Loop() {
		run, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := run.Events(); err != nil {
			b.Fatal(err)
		}
	}
	reportRate(b, len(events))
}

// blobRun is a sealed run of 20,000 blobs of 4 kB, and their hashes in no order.
func blobRun(b *testing.B) (run *Run, shas []string) {
	b.Helper()
	log := &Log{Header: simHeader, Blobs: make(map[string]Blob)}
	text := bytes.Repeat([]byte("abc\n"), 1000)
	for i := range 20_000 {
		text[i%len(text)]++
		data := bytes.Clone(text)
		log.Blobs[hashText(data)] = Blob{Kind: "prompt", Data: data}
	}
	dir := b.TempDir()
	if err := Seal(dir, log); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "design.json"), []byte("{}"), 0o666); err != nil {
		b.Fatal(err)
	}
	run, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { run.Close() })
	return run, slices.Collect(maps.Keys(log.Blobs))
}

// BenchmarkBlob looks one blob up.
func BenchmarkBlob(b *testing.B) {
	run, shas := blobRun(b)
	i := 0
	for b.Loop() {
		if _, err := run.Blob(shas[i%len(shas)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkBlobs reads 20,000 blobs at once.
func BenchmarkBlobs(b *testing.B) {
	run, shas := blobRun(b)
	for b.Loop() {
		if _, err := run.Blobs(shas); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(shas))*float64(b.N)/b.Elapsed().Seconds(), "blobs/s")
}
