package importers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// parquetMagic starts a Parquet file.
const parquetMagic = "PAR1"

// readTable is readRows for sources that may also be Parquet.
func readTable(source string, to *sink, f func(row) (item, error)) error {
	file, err := os.Open(source)
	if err != nil {
		return fmt.Errorf("open source: %w", err)
	}
	head := make([]byte, len(parquetMagic))
	_, err = io.ReadFull(file, head)
	if err == nil && string(head) == parquetMagic {
		err = readParquet(file, to, f)
	} else {
		err = readRows(source, to, f)
	}
	return errors.Join(err, file.Close())
}

// readParquet gives each row to f with its columns as JSON, whatever their
// order: texts, whole numbers of 32 and 64 bits and truth values as themselves,
// numbers of other kinds (a float64 among them) as the texts of them, and lists
// of all these. A null is left out of the row, and so is a column of another
// shape: a field that f needs is then reported as missing.
func readParquet(file *os.File, to *sink, f func(row) (item, error)) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read source: %w", err)
	}
	var table *parquet.File
	err = guarded(func() (err error) {
		table, err = parquet.OpenFile(file, info.Size(), parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
		return err
	})
	if err != nil {
		return fmt.Errorf("read source %s: it is cut off or damaged: %w", file.Name(), err)
	}
	leaves := parquetLeaves(table.Root())
	n := 0
	for _, group := range table.RowGroups() {
		if err := readGroup(group, leaves, func(r row, fault error) error {
			n++
			var it item
			if fault == nil {
				it, fault = f(r)
			}
			return to.add(fmt.Sprintf("row %d", n), it, fault)
		}); err != nil {
			return fmt.Errorf("read source %s, after row %d: %w", file.Name(), n, err)
		}
	}
	return nil
}

// guarded makes an error of the library's panics, which some damaged files
// cause. Nothing but the library's own reading may be done in it.
func guarded(read func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it is damaged: %v", p)
		}
	}()
	return read()
}

// parquetLeaf is one column of values.
type parquetLeaf struct {
	name string // "" where it is part of something deeper
	slot int    // definition level from which an element of its list is there; 0 where it is no list
}

// parquetLeaves lists the columns by their index. A list is a repeated column,
// or a group of nothing but one (as in list.element, list.item, bag.array_element).
func parquetLeaves(root *parquet.Column) []parquetLeaf {
	var out []parquetLeaf
	var visit func(c *parquet.Column, leaf parquetLeaf, depth, level int)
	visit = func(c *parquet.Column, leaf parquetLeaf, depth, level int) {
		if c.Repeated() || c.Optional() {
			level++
		}
		if c.Repeated() {
			if leaf.slot > 0 {
				leaf.name = "" // a list of lists
			}
			leaf.slot = level
		}
		below := c.Columns()
		if c.Leaf() {
			if depth > 1 && (leaf.slot == 0 || depth > 3) {
				leaf.name = ""
			}
			out = append(out, leaf)
			return
		}
		if len(below) > 1 {
			leaf.name = ""
		}
		for _, b := range below {
			visit(b, leaf, depth+1, level)
		}
	}
	for _, c := range root.Columns() {
		visit(c, parquetLeaf{name: c.Name()}, 1, 0)
	}
	return out
}

func readGroup(group parquet.RowGroup, leaves []parquetLeaf, add func(row, error) error) (err error) {
	var rows parquet.Rows
	if err := guarded(func() error { rows = group.Rows(); return nil }); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, guarded(rows.Close)) }()
	buffer := make([]parquet.Row, 1)
	for {
		var n int
		err := guarded(func() (err error) {
			n, err = rows.ReadRows(buffer)
			return err
		})
		if n == 1 {
			r, fault := parquetRow(buffer[0], leaves)
			if err := add(r, fault); err != nil {
				return err
			}
		}
		if err == io.EOF || err == nil && n == 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func parquetRow(values parquet.Row, leaves []parquetLeaf) (row, error) {
	found, size := map[string]any{}, 0
	for _, v := range values {
		leaf := leaves[v.Column()]
		if leaf.name == "" {
			continue
		}
		size += len(v.Bytes())
		value, err := parquetValue(v, leaf)
		if err != nil {
			return nil, err
		}
		list, _ := found[leaf.name].([]any)
		switch {
		case leaf.slot == 0 && value != nil:
			found[leaf.name] = value
		case leaf.slot == 0 || v.DefinitionLevel() < leaf.slot-1: // null
		case v.DefinitionLevel() == leaf.slot-1:
			found[leaf.name] = []any{}
		default:
			found[leaf.name] = append(list, value)
		}
	}
	if size > maxRow {
		return nil, fmt.Errorf("it has more than %d bytes", maxRow)
	}
	r := row{}
	for name, v := range found {
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		r[name] = data
	}
	return r, nil
}

func parquetValue(v parquet.Value, leaf parquetLeaf) (any, error) {
	if v.IsNull() {
		return nil, nil
	}
	switch v.Kind() {
	case parquet.Boolean:
		return v.Boolean(), nil
	case parquet.Int32:
		return v.Int32(), nil
	case parquet.Int64:
		return v.Int64(), nil
	case parquet.ByteArray, parquet.FixedLenByteArray:
	default:
		return v.String(), nil
	}
	if data := v.ByteArray(); utf8.Valid(data) {
		return string(data), nil
	}
	return nil, fmt.Errorf("its field %q is not UTF-8", leaf.name)
}
