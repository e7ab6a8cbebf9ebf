package importers

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

const (
	maxRow  = 16 << 20  // bytes of one row of a table
	maxFile = 16 << 20  // bytes of one file of a folder
	maxText = 256 << 20 // bytes of a table that must be read as a whole
)

// row is one JSON object, its fields as they stand. Names are matched exactly,
// unlike encoding/json does with a struct.
type row map[string]json.RawMessage

// errCut: a row ends before its JSON does.
var errCut = errors.New("it is cut off before its JSON ends")

// readRows gives each row of source, 1-based, to f, which returns the task or
// what is wrong. source is JSONL, gzip of it, or one JSON array.
func readRows(source string, to *sink, f func(row) (item, error)) error {
	file, err := os.Open(source)
	if err != nil {
		return fmt.Errorf("open source: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a file")
	}
	if err != nil {
		return fmt.Errorf("read source %s: %w", source, err)
	}
	in := bufio.NewReaderSize(file, 1<<16)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("read source %s: %w", source, err)
		}
		in = bufio.NewReaderSize(unzipped, 1<<16)
	}
	add := func(n int, data []byte, fault error) error {
		where := fmt.Sprintf("row %d", n)
		if fault != nil {
			return to.add(where, item{}, fault)
		}
		r, err := parseRow(data)
		if err != nil {
			return to.add(where, item{}, err)
		}
		it, err := f(r)
		return to.add(where, it, err)
	}
	if first, _ := in.Peek(1); bytes.Equal(first, []byte("[")) {
		return eachElement(in, add)
	}
	return eachLine(in, add)
}

// eachLine reads rows that stand one a line. Blank lines count and are passed
// over. A row over the limit is never held in memory.
func eachLine(in *bufio.Reader, add func(int, []byte, error) error) error {
	for n := 1; ; n++ {
		line, size, err := readLine(in)
		var fault error
		switch {
		case err != nil && err != io.EOF:
			return add(n, nil, fmt.Errorf("%w (%w)", errCut, err))
		case size > maxRow:
			fault = fmt.Errorf("it has %d bytes, over the limit of %d", size, maxRow)
		case len(bytes.TrimSpace(line)) == 0:
			if err == io.EOF {
				return nil
			}
			continue
		}
		if addErr := add(n, line, fault); addErr != nil || err == io.EOF {
			return addErr
		}
	}
}

// readLine reads to the end of the line; what is past the limit is counted and
// dropped.
func readLine(in *bufio.Reader) (line []byte, size int, err error) {
	for {
		part, err := in.ReadSlice('\n')
		size += len(part)
		if size <= maxRow {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, size, err
		}
	}
}

// eachElement reads the rows of one JSON array.
func eachElement(in io.Reader, add func(int, []byte, error) error) error {
	data, err := io.ReadAll(io.LimitReader(in, maxText+1))
	if err != nil {
		return fmt.Errorf("read source: %w", err)
	}
	if len(data) > maxText {
		return fmt.Errorf("read source: one JSON array of more than %d bytes", maxText)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("read source: %w", err)
	}
	n := 1
	for ; dec.More(); n++ {
		var raw json.RawMessage
		switch err := dec.Decode(&raw); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return add(n, nil, errCut)
		case err != nil:
			return add(n, nil, fmt.Errorf("from here on it is not JSON: %w", err))
		case len(raw) > maxRow:
			err = add(n, nil, fmt.Errorf("it has %d bytes, over the limit of %d", len(raw), maxRow))
			if err != nil {
				return err
			}
			continue
		}
		if err := add(n, raw, nil); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return add(n, nil, errCut)
	}
	if _, err := dec.Token(); err != io.EOF {
		return add(n, nil, errors.New("something follows the array's end"))
	}
	return nil
}

func parseRow(data []byte) (row, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("it is not UTF-8")
	}
	var r row
	err := json.Unmarshal(bytes.TrimSpace(data), &r)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax) && strings.Contains(syntax.Error(), "unexpected end"):
		return nil, errCut
	case err != nil:
		return nil, fmt.Errorf("it is not a JSON object: %w", err)
	case r == nil:
		return nil, errors.New("it is not a JSON object")
	}
	return r, nil
}

// get decodes one field into v, a pointer. A missing field, null and another
// type are errors, as is text that JSON's escapes leave no UTF-8 for.
func (r row) get(name string, v any) error {
	raw, ok := r[name]
	if !ok {
		return fmt.Errorf("it has no field %q", name)
	}
	if string(raw) == "null" {
		return fmt.Errorf("its field %q is null", name)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("its field %q has the wrong type: %w", name, err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return err
	}
	const bad = "\ufffd"
	if bytes.Contains(out, []byte(bad)) && !bytes.Contains(raw, []byte(bad)) && !bytes.Contains(bytes.ToLower(raw), []byte(`\ufffd`)) {
		return fmt.Errorf("its field %q escapes half a surrogate pair, which is no text", name)
	}
	return nil
}

// text is a string field that is not blank.
func (r row) text(name string) (string, error) {
	var s string
	if err := r.get(name, &s); err != nil {
		return "", err
	}
	if strings.TrimSpace(s) == "" {
		return "", fmt.Errorf("its field %q is empty", name)
	}
	if strings.ContainsRune(s, 0) {
		return "", fmt.Errorf("its field %q holds a NUL character", name)
	}
	return s, nil
}

// texts reads several of them in order; the first fault is returned.
func (r row) texts(into map[string]*string, names ...string) error {
	for _, name := range names {
		s, err := r.text(name)
		if err != nil {
			return err
		}
		*into[name] = s
	}
	return nil
}
