package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// value says what is wrong with a JSON value; at names it, "" for the whole.
type value func(at string, v any) []string

// object is a JSON object with its keys in the file's order, those given twice
// too.
type object struct {
	keys   []string
	values map[string]any
}

// jsonOf wants one JSON value and nothing else, and makes is of it.
func jsonOf(is value) check {
	return func(a answer) []string {
		v, err := parseJSON(a.text)
		if err != nil {
			return []string{err.Error()}
		}
		return is("", v)
	}
}

func parseJSON(text string) (any, error) {
	var whole json.RawMessage
	err := json.Unmarshal([]byte(text), &whole)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line := 1 + strings.Count(text[:min(int(syntax.Offset), len(text))], "\n")
		return nil, fmt.Errorf("line %d: this is not JSON: %w", line, err)
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	v, err := readValue(dec, 0)
	if err != nil {
		return nil, fmt.Errorf("this JSON cannot be read: %w", err)
	}
	return v, nil
}

// maxJSONDepth is far more than any answer needs.
const maxJSONDepth = 50

// readValue reads the next value; numbers are json.Number.
func readValue(dec *json.Decoder, depth int) (any, error) {
	if depth > maxJSONDepth {
		return nil, errors.New("it is nested too deep")
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		return readObject(dec, depth)
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := readValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = dec.Token()
		return list, err
	}
	return tok, nil
}

func readObject(dec *json.Decoder, depth int) (any, error) {
	o := object{values: map[string]any{}}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key := fmt.Sprint(tok)
		if o.values[key], err = readValue(dec, depth+1); err != nil {
			return nil, err
		}
		o.keys = append(o.keys, key)
	}
	_, err := dec.Token()
	return o, err
}

// describe names a value's type.
func describe(v any) string {
	switch v.(type) {
	case object:
		return "an object"
	case []any:
		return "an array"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	}
	return "null"
}

// named begins a problem with the value's name.
func named(at, format string, args ...any) []string {
	if at == "" {
		at = "the JSON value"
	}
	return []string{at + " " + fmt.Sprintf(format, args...)}
}

// field is a key that an object has to have.
type field struct {
	key string
	is  value
}

// keys wants an object with exactly these keys, in any order.
func keys(fields ...field) value {
	return func(at string, v any) []string {
		o, ok := v.(object)
		if !ok {
			return named(at, "is %s, want an object", describe(v))
		}
		var problems []string
		for _, f := range fields {
			inner, ok := o.values[f.key]
			if !ok {
				problems = append(problems, pathTo(at, f.key)+" is missing")
				continue
			}
			problems = append(problems, f.is(pathTo(at, f.key), inner)...)
		}
		for i, k := range o.keys {
			switch {
			case len(problems) > MaxProblems:
			case slices.Contains(o.keys[:i], k):
				problems = append(problems, pathTo(at, k)+" stands there twice")
			case !slices.ContainsFunc(fields, func(f field) bool { return f.key == k }):
				problems = append(problems, pathTo(at, k)+" was not asked for")
			}
		}
		return problems
	}
}

// pathTo names a key inside at: key "order.total".
func pathTo(at, key string) string {
	if r := []rune(key); len(r) > 40 {
		key = string(r[:40]) + "…"
	}
	if outer, ok := strings.CutPrefix(at, "key "); ok {
		outer, _ = strconv.Unquote(outer)
		key = outer + "." + key
	} else if strings.HasPrefix(at, "item ") {
		return fmt.Sprintf("%s: key %q", at, key)
	}
	return fmt.Sprintf("key %q", key)
}

// array wants n items, and makes is of each.
func array(n int, is value) value {
	list := make([]value, n)
	for i := range list {
		list[i] = is
	}
	return tuple(list...)
}

// tuple wants as many items as there are checks, and makes the n-th of the n-th.
func tuple(is ...value) value {
	return func(at string, v any) []string {
		list, ok := v.([]any)
		if !ok {
			return named(at, "is %s, want an array", describe(v))
		}
		if len(list) != len(is) {
			return named(at, "has %s, want %d", counted(len(list), "item"), len(is))
		}
		var problems []string
		for i, item := range list {
			where := fmt.Sprintf("item %d", i+1)
			if at != "" {
				where += " of " + at
			}
			problems = append(problems, is[i](where, item)...)
		}
		return problems
	}
}

// aString, aNumber, aWhole, aBool and aNull want a type.
func aString(at string, v any) []string {
	if s, ok := v.(string); !ok {
		return named(at, "is %s, want a string", describe(v))
	} else if strings.TrimSpace(s) == "" {
		return named(at, "is an empty string")
	}
	return nil
}

func aNumber(at string, v any) []string {
	if _, ok := v.(json.Number); !ok {
		return named(at, "is %s, want a number", describe(v))
	}
	return nil
}

func aWhole(lo, hi int64) value {
	return func(at string, v any) []string {
		if problems := aNumber(at, v); problems != nil {
			return problems
		}
		n, ok := wholeNumberOf(v.(json.Number).String())
		if !ok || n < lo || n > hi {
			return named(at, "is %s, want a whole number from %d to %d", quote(v.(json.Number).String()), lo, hi)
		}
		return nil
	}
}

func aBool(at string, v any) []string {
	if _, ok := v.(bool); !ok {
		return named(at, "is %s, want true or false", describe(v))
	}
	return nil
}

func aNull(at string, v any) []string {
	if v != nil {
		return named(at, "is %s, want null", describe(v))
	}
	return nil
}

// decimal is equal for two JSON numbers of one value, however they are written:
// the digits that count, and the power of ten behind them. exponent is 0 for 0; ok
// is false where the power is beyond all that an answer may hold.
func decimal(s string) (digits string, exponent int, ok bool) {
	s, minus := strings.CutPrefix(s, "-")
	power := ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		s, power = s[:i], s[i+1:]
	}
	whole, part, _ := strings.Cut(s, ".")
	if digits = strings.TrimLeft(whole+part, "0"); digits == "" {
		return "0", 0, true
	}
	if power != "" {
		e, err := strconv.ParseInt(power, 10, 32)
		if err != nil {
			return "", 0, false
		}
		exponent = int(e)
	}
	exponent += len(digits) - len(strings.TrimRight(digits, "0")) - len(part)
	digits = strings.TrimRight(digits, "0")
	if minus {
		digits = "-" + digits
	}
	return digits, exponent, true
}

// wholeNumberOf is a JSON number's value, if it is whole and not too large.
func wholeNumberOf(s string) (int64, bool) {
	digits, exponent, ok := decimal(s)
	if !ok || exponent < 0 || exponent > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", exponent), 10, 64)
	return n, err == nil
}

// isText wants one string; isNum one number, however it is written; isBool one
// of true and false. They do not say which.
func isText(want string) value {
	return func(at string, v any) []string {
		if s, ok := v.(string); !ok {
			return named(at, "is %s, want a string", describe(v))
		} else if s != want {
			return named(at, "is wrong: %s", quote(s))
		}
		return nil
	}
}

func isNum(want string) value {
	rightDigits, rightExponent, _ := decimal(want)
	return func(at string, v any) []string {
		if problems := aNumber(at, v); problems != nil {
			return problems
		}
		s := v.(json.Number).String()
		if digits, exponent, ok := decimal(s); !ok || digits != rightDigits || exponent != rightExponent {
			return named(at, "is wrong: %s", quote(s))
		}
		return nil
	}
}

func isBool(want bool) value {
	return func(at string, v any) []string {
		if b, ok := v.(bool); !ok {
			return named(at, "is %s, want true or false", describe(v))
		} else if b != want {
			return named(at, "is wrong: %v", b)
		}
		return nil
	}
}
