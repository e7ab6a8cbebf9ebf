// Package strict reads YAML files that people write, and explains what is
// wrong with them: file, line, the word, and the nearest valid word.
//
// The YAML library decodes. A second walk over the syntax tree and the Go type
// side by side looks for the first node, in the file's order, that does not
// fit: so every fault has a line and a key, those of a type's own UnmarshalYAML
// too, the same file always gives the same message, and what the library would
// bend silently (3.5 into a whole number) is a fault.
package strict

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Error is a fault in a file that a person wrote. Line is 1-based, 0 where no
// single line is at fault.
type Error struct {
	File    string
	Line    int
	Message string
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.File, e.Message)
}

// Decode reads the YAML in data into v, a pointer to a struct. A key that v
// has no field for, a key given twice, a value of the wrong type and a second
// document are an *Error that names file (as given), line and word. Fields that
// data does not name keep their values.
func Decode(file string, data []byte, v any) error {
	body, err := parseOne(file, data)
	if err != nil {
		return err
	}
	return DecodeNode(file, body, v)
}

// DecodeNode is Decode for a part of a file that is already parsed.
func DecodeNode(file string, node ast.Node, v any) error {
	if out := locate(file, node, v); out != nil {
		return out
	}
	if err := convert(node, v); err != nil {
		return explain(file, err)
	}
	return nil
}

// convert decodes node into v. The library panics on a few trees that its own
// parser lets through; that is a fault of the file, not of this program.
func convert(node ast.Node, v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this is not YAML that can be read: %v", p)
		}
	}()
	return yaml.NodeToValue(node, v, yaml.Strict())
}

// parseOne parses the one document of a file.
func parseOne(file string, data []byte) (body ast.Node, err error) {
	defer func() {
		if p := recover(); p != nil { // the library's parser, on broken text
			err = &Error{File: file, Message: fmt.Sprintf("this is not YAML that can be read: %v", p)}
		}
	}()
	if !utf8.Valid(data) {
		return nil, &Error{File: file, Line: 1 + strings.Count(validPrefix(data), "\n"), Message: "the file is not UTF-8 text"}
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	if tooDeep(data) {
		return nil, &Error{File: file, Message: fmt.Sprintf("lists and keys are nested more than %d deep", maxDepth)}
	}
	f, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return nil, explain(file, err)
	}
	for _, doc := range f.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType:
		case body != nil:
			return nil, &Error{File: file, Line: lineOf(doc.Body), Message: "a second document: want one, without ---"}
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return nil, &Error{File: file, Message: "the file is empty"}
	}
	return body, nil
}

func validPrefix(data []byte) string {
	n := 0
	for n < len(data) {
		r, size := utf8.DecodeRune(data[n:])
		if r == utf8.RuneError && size < 2 {
			break
		}
		n += size
	}
	return string(data[:n])
}

// explain puts what the library says into one line, with the line number that
// it knows.
func explain(file string, err error) *Error {
	out := &Error{File: file, Message: err.Error()}
	var ye yaml.Error
	if errors.As(err, &ye) {
		out.Message = ye.GetMessage()
		if tok := ye.GetToken(); tok != nil && tok.Position != nil {
			out.Line = tok.Position.Line
		}
	}
	out.Message = strings.Join(strings.Fields(out.Message), " ")
	if m := defined.FindStringSubmatch(out.Message); m != nil {
		out.Message = fmt.Sprintf("key %s stands twice, first on line %s", m[1], m[2])
	}
	return out
}

// defined is the library's message for a key given twice.
var defined = regexp.MustCompile(`^mapping key (".*") already defined at \[(\d+):\d+\]$`)

// Unknown is the sentence for a word that is not one of the valid ones.
func Unknown(what, word string, valid []string) string {
	if near := Nearest(word, valid); near != "" {
		return fmt.Sprintf("unknown %s %q (did you mean %q?)", what, word, near)
	}
	return fmt.Sprintf("unknown %s %q (valid: %s)", what, word, strings.Join(valid, ", "))
}

// Nearest returns the valid word closest to word by edit distance, case apart,
// or "" when none is close enough to be a likely slip: at most 2 edits, or half
// of the word's letters where that is more. Of equally close ones the first
// wins. A word that lacks or adds an end ("diff" for "diff-feedback") is close
// if it fits one valid word only.
func Nearest(word string, valid []string) string {
	word = strings.ToLower(word)
	best, bestD := "", max(2, utf8.RuneCountInString(word)/2)+1
	for _, v := range valid {
		d := levenshtein.ComputeDistance(word, strings.ToLower(v))
		if d < bestD && d < utf8.RuneCountInString(v) {
			best, bestD = v, d
		}
	}
	if best != "" || utf8.RuneCountInString(word) < 3 {
		return best
	}
	var longer []string
	for _, v := range valid {
		if low := strings.ToLower(v); strings.Contains(low, word) || len(low) >= 3 && strings.Contains(word, low) {
			longer = append(longer, v)
		}
	}
	if len(longer) == 1 {
		return longer[0]
	}
	return ""
}

// Line returns the 1-based line of the node at a YAML path such as
// "$.arms[1]", or 0 when data has no such node.
func Line(data []byte, path string) int {
	body, err := parseOne("", data)
	if err != nil {
		return 0
	}
	p, err := yaml.PathString(path)
	if err != nil {
		return 0
	}
	n, err := p.FilterNode(body)
	if err != nil || n == nil {
		return 0
	}
	return lineOf(n)
}

// lineOf is the line where a node starts. The token of a mapping in block style
// is the colon of its first pair, which stands on the same line.
func lineOf(n ast.Node) int {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		n = m.Values[0].Key
	}
	if tok := n.GetToken(); tok != nil && tok.Position != nil {
		return tok.Position.Line
	}
	return 0
}
