package results

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// blobStore finds rows of blobs.parquet by hash. The hashes are in memory, the
// contents are not: of the column bytes it reads the page with the wanted row,
// and keeps that page for the next.
type blobStore struct {
	path   string
	mu     sync.Mutex
	shas   []string // sorted, as the rows are
	file   *os.File
	groups []blobGroup // row groups, in order

	page      parquet.Page // from row pageFirst on; nil at first
	pageFirst int
}

// blobGroup is the column bytes of one row group.
type blobGroup struct {
	first int // row number in the file
	pages parquet.Pages
}

func (s *blobStore) get(sha string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		if err := s.open(); err != nil {
			return nil, err
		}
	}
	row := sort.SearchStrings(s.shas, sha)
	if row == len(s.shas) || s.shas[row] != sha {
		return nil, fmt.Errorf("read blob %q: %w in %s", sha, ErrNoBlob, s.path)
	}
	var data []byte
	err := guard(func() (err error) {
		data, err = s.row(row)
		return err
	})
	if err == nil && hashText(data) != sha {
		err = ErrBlobContent
	}
	if err != nil {
		return nil, fmt.Errorf("read blob %s in %s: %w", sha, s.path, err)
	}
	return data, nil
}

// row reads the content in the given row.
func (s *blobStore) row(row int) ([]byte, error) {
	if s.page == nil || row < s.pageFirst || row >= s.pageFirst+int(s.page.NumRows()) {
		if err := s.turnTo(row); err != nil {
			return nil, err
		}
	}
	i := int64(row - s.pageFirst)
	var value [1]parquet.Value
	if n, err := s.page.Slice(i, i+1).Values().ReadValues(value[:]); n != 1 {
		return nil, fmt.Errorf("its row cannot be read: %w", err)
	}
	return append([]byte{}, value[0].ByteArray()...), nil
}

// turnTo makes page begin with the given row.
func (s *blobStore) turnTo(row int) error {
	s.dropPage()
	g := sort.Search(len(s.groups), func(i int) bool { return s.groups[i].first > row }) - 1
	group := s.groups[g]
	if err := group.pages.SeekToRow(int64(row - group.first)); err != nil {
		return err
	}
	page, err := group.pages.ReadPage()
	if err != nil {
		return err
	}
	s.page, s.pageFirst = page, row
	return nil
}

func (s *blobStore) dropPage() {
	if s.page != nil {
		parquet.Release(s.page)
		s.page = nil
	}
}

// open reads the hashes and opens the column of contents.
func (s *blobStore) open() error {
	type shaRow struct {
		SHA256 string `parquet:"sha256"`
	}
	rows, _, err := ReadParquet[shaRow](s.path)
	if err != nil {
		return err
	}
	file, err := os.Open(s.path)
	if err != nil {
		return fmt.Errorf("read blobs: %w", err)
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		err = guard(func() error { return s.openGroups(file, size) })
	}
	if err != nil {
		file.Close()
		return fmt.Errorf("read blobs %s: %w", s.path, err)
	}
	s.shas = make([]string, len(rows))
	for i, row := range rows {
		s.shas[i] = row.SHA256
	}
	s.file = file
	return nil
}

func (s *blobStore) openGroups(file *os.File, size int64) error {
	f, err := parquet.OpenFile(file, size)
	if err != nil {
		return err
	}
	column, ok := f.Schema().Lookup("bytes")
	if !ok {
		return errors.New("it has no column \"bytes\"")
	}
	s.groups = nil
	first := 0
	for _, g := range f.RowGroups() {
		s.groups = append(s.groups, blobGroup{first, g.ColumnChunks()[column.ColumnIndex].Pages()})
		first += int(g.NumRows())
	}
	return nil
}

func (s *blobStore) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	s.dropPage()
	var errs []error
	for _, g := range s.groups {
		errs = append(errs, g.pages.Close())
	}
	errs = append(errs, s.file.Close())
	s.file, s.groups, s.shas = nil, nil, nil
	return errors.Join(errs...)
}
