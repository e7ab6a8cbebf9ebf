package results

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// VolatileColumns names the columns, of any table, that differ between two runs
// of one design, corpus and seed: names and clocks. All others are equal.
var VolatileColumns = []string{
	"run_id", "time_ns", "seconds", "wait_seconds", "solve_seconds", "verify_seconds", "started_at",
}

// column is a column of a table: a field of the row's struct.
type column struct {
	name      string
	field     int
	timestamp bool // nanoseconds since 1970, shown as RFC 3339 in UTC
}

// columnsOf lists the columns of T in the order of its fields.
func columnsOf[T any]() []column {
	t := reflect.TypeFor[T]()
	columns := make([]column, t.NumField())
	for i := range columns {
		tag := t.Field(i).Tag.Get("parquet")
		name, options, _ := strings.Cut(tag, ",")
		columns[i] = column{name: name, field: i, timestamp: strings.Contains(options, "timestamp(")}
	}
	return columns
}

// value returns the column's value in a row; null is the invalid Value.
func (c column) value(row reflect.Value) reflect.Value {
	v := row.Field(c.field)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}

// text renders a cell of CSV: null is empty, lists are joined by ";", floats
// are the shortest decimals that read back as the same number.
func (c column) text(row reflect.Value) string {
	v := c.value(row)
	if !v.IsValid() {
		return ""
	}
	if c.timestamp {
		return time.Unix(0, v.Int()).UTC().Format(time.RFC3339Nano)
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	}
	if list, ok := v.Interface().([]string); ok {
		return strings.Join(list, ";")
	}
	return base64.StdEncoding.EncodeToString(v.Bytes())
}

// appendJSON appends `"name":value`.
func (c column) appendJSON(dst []byte, row reflect.Value) []byte {
	dst = strconv.AppendQuote(dst, c.name)
	dst = append(dst, ':')
	v := c.value(row)
	if !v.IsValid() {
		return append(dst, "null"...)
	}
	if !c.timestamp {
		switch v.Kind() {
		case reflect.Bool, reflect.Int32, reflect.Int64:
			return append(dst, c.text(row)...)
		case reflect.Float64:
			if f := v.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
				return append(dst, c.text(row)...)
			}
		}
		if list, ok := v.Interface().([]string); ok {
			if list == nil {
				list = []string{}
			}
			return append(dst, mustJSON(list)...)
		}
	}
	return append(dst, mustJSON(c.text(row))...)
}

// mustJSON encodes strings and lists of strings, which cannot fail.
func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("results: encode text: " + err.Error())
	}
	return text
}

// appendRowJSON appends a row as one JSON object with every column, without a
// newline.
func appendRowJSON(dst []byte, columns []column, row reflect.Value) []byte {
	for i, c := range columns {
		if i == 0 {
			dst = append(dst, '{')
		} else {
			dst = append(dst, ',')
		}
		dst = c.appendJSON(dst, row)
	}
	return append(dst, '}')
}
