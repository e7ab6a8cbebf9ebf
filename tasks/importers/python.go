package importers

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// pythonTimeout bounds verify of the kinds whose tasks are single Python
// functions. Their graders allow a few seconds; this leaves room for the start
// of an interpreter on a busy machine.
const pythonTimeout = 10 * time.Second

// unittestCommand runs test modules without site packages, which these tasks
// need none of; a start is a third shorter so.
func unittestCommand(modules ...string) string {
	return "python3 -S -m unittest -q " + strings.Join(modules, " ")
}

// pythonHead gives a test module the names of the program under test, as if
// both were one file, but for those that steer unittest itself.
const pythonHead = `import solution as program_under_test

globals().update({
    name: value for name, value in vars(program_under_test).items()
    if not name.startswith("__")
    and name not in ("program_under_test", "load_tests", "setUpModule", "tearDownModule")
})

`

// pythonString is s as a Python literal: JSON's are.
func pythonString(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string can be encoded
	}
	return strings.TrimSpace(b.String())
}

// indent puts spaces before each line that is not empty.
func indent(s, by string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = by + l
		}
	}
	return strings.Join(lines, "\n")
}

func text(s string) file { return file{data: []byte(s)} }
