package results

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Log is a journal read back.
type Log struct {
	Header Header
	Events []Event         // in journal order, which depends on -j; see SortEvents
	Blobs  map[string]Blob // by SHA-256
	Lines  int64           // whole lines read, the header included
	// TornBytes is the length of the unfinished last line that was dropped; 0
	// for a journal that was closed. No Commit had acknowledged it.
	TornBytes int64
}

// Blob is one content-addressed text or binary.
type Blob struct {
	Kind string // prompt, patch, output or reply; the first by name where it serves as several
	Data []byte
}

// DamageError says where a journal stopped being readable. All before it is
// whole, nothing from it on was used.
type DamageError struct {
	File   string
	Offset int64 // of the line's first byte
	Line   int64 // from 1
	Reason string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("read journal: %s is damaged at line %d (byte %d): %s", e.File, e.Line, e.Offset, e.Reason)
}

// ReadJournal reads the journal of a run, whether or not the run ended. The
// torn end that a killed run leaves is dropped and counted in TornBytes.
// Damage anywhere else is a [*DamageError], returned beside the Log of all that
// precedes it. A folder without a journal is an error that wraps [ErrNotRun].
func ReadJournal(runDir string) (*Log, error) {
	dir := filepath.Join(runDir, journalFolder)
	path := filepath.Join(dir, journalFile)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read journal: %s: %w: it has no %s", runDir, ErrNotRun, filepath.Join(journalFolder, journalFile))
	}
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer file.Close()
	others, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	for _, other := range others {
		if other != path {
			return nil, fmt.Errorf("read journal: unknown segment %s: it needs a newer retrial", other)
		}
	}
	return readLines(path, file)
}

// readLines reads the lines of one journal file.
func readLines(path string, file io.Reader) (*Log, error) {
	log := &Log{Blobs: make(map[string]Blob)}
	in := bufio.NewReaderSize(file, 1<<16)
	var offset int64
	var long []byte // holds lines longer than the reader's buffer
	for {
		line, err := readLine(in, &long)
		if err == io.EOF {
			log.TornBytes = int64(len(line))
			break
		}
		if err != nil {
			return log, fmt.Errorf("read journal: %w", err)
		}
		if reason := log.add(line); reason != "" {
			return log, &DamageError{File: path, Offset: offset, Line: log.Lines + 1, Reason: reason}
		}
		log.Lines++
		offset += int64(len(line)) + 1
	}
	if log.Lines == 0 {
		return log, &DamageError{File: path, Line: 1, Reason: "no whole header: the run ended before it began"}
	}
	return log, nil
}

// readLine returns the next line without its newline, valid until the next
// call; with io.EOF it returns the bytes behind the last newline.
func readLine(in *bufio.Reader, long *[]byte) ([]byte, error) {
	*long = (*long)[:0]
	for {
		part, err := in.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			*long = append(*long, part...)
			continue
		case len(*long) > 0:
			*long = append(*long, part...)
			part = *long
		}
		if err == nil {
			part = part[:len(part)-1]
		}
		return part, err
	}
}

// line is what a journal line parses to: exactly one payload.
type line struct {
	N      int64           `json:"n"`
	CRC    string          `json:"crc"`
	Header *Header         `json:"header"`
	Event  *Event          `json:"event"`
	Blob   json.RawMessage `json:"blob"`
}

// add checks a raw line and takes its payload in; it returns the reason why the
// line is damaged, or "".
func (log *Log) add(raw []byte) string {
	if reason := checkLine(raw, log.Lines); reason != "" {
		return reason
	}
	var l line
	if err := decodeStrict(raw, &l); err != nil {
		return "it needs a newer retrial: " + err.Error()
	}
	switch {
	case (l.Header != nil) != (log.Lines == 0):
		return "the header is not the first line"
	case l.Header != nil:
		log.Header = *l.Header
		if l.Header.Format != journalFormat {
			return fmt.Sprintf("format %q is not %q: it needs another retrial", l.Header.Format, journalFormat)
		}
	case l.Event != nil:
		log.Events = append(log.Events, *l.Event)
	case l.Blob != nil:
		return log.addBlob(l.Blob)
	default:
		return "the line has no payload"
	}
	return ""
}

func (log *Log) addBlob(raw json.RawMessage) string {
	var b blobLine
	if err := decodeStrict(raw, &b); err != nil {
		return "it needs a newer retrial: " + err.Error()
	}
	data := b.Base64
	if b.Text != nil {
		data = []byte(*b.Text)
	}
	if hashText(data) != b.SHA256 {
		return "the blob's content does not have its sha256"
	}
	if have, ok := log.Blobs[b.SHA256]; !ok || b.Kind < have.Kind {
		log.Blobs[b.SHA256] = Blob{Kind: b.Kind, Data: data}
	}
	return ""
}

// checkLine verifies number and checksum of the raw line n.
func checkLine(raw []byte, n int64) string {
	digits := strconv.FormatInt(n, 10)
	rest, ok := bytes.CutPrefix(raw, []byte(`{"n":`+digits+`,"crc":"`))
	if !ok {
		return fmt.Sprintf("it does not begin as line number %d", n)
	}
	if len(rest) < 10 || rest[8] != '"' || rest[9] != ',' {
		return "it has no checksum"
	}
	crc := crc32.Update(crc32.Checksum([]byte(digits), castagnoli), castagnoli, rest[10:])
	if fmt.Sprintf("%08x", crc) != string(rest[:8]) {
		return fmt.Sprintf("its checksum is %08x, not %q", crc, rest[:8])
	}
	return ""
}

// decodeStrict refuses unknown columns: dropping them would be silent loss.
func decodeStrict(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}
