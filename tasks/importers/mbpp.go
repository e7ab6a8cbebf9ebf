package importers

import (
	"errors"
	"fmt"
	"strings"
)

// readMBPP imports MBPP's full rows (text, code, test_list, test_setup_code,
// challenge_test_list) and the sanitized ones (prompt, code, test_imports,
// test_list).
//
// The function's name stands in the asserts only, so the instruction shows them,
// as is usual with this set, and the tag tests-shown records it. The challenge
// tests, where a row has some, are hidden and decide the score.
func readMBPP(source string, to *sink) error { return readRows(source, to, mbppTask) }

// mbppRow is what both forms come to.
type mbppRow struct {
	id               int
	text, code       string
	setup            string
	tests, challenge []string
}

func mbppTask(r row) (item, error) {
	m, err := parseMBPP(r)
	if err != nil {
		return item{}, err
	}
	shown := strings.Join(m.tests, "\n")
	if m.setup != "" {
		shown = m.setup + "\n" + shown
	}
	it := item{
		id: fmt.Sprintf("mbpp-%d", m.id), tags: []string{"python", "mbpp", "tests-shown", "tests-visible"},
		instruction: strings.TrimSpace(m.text) + "\n\nWrite it in solution.py. It must pass these tests:\n\n" + indent(shown, "    "),
		editable:    []string{"solution.py"}, verify: unittestCommand("test_mbpp"), timeout: pythonTimeout,
		protect: []string{"test_mbpp.py"},
		workspace: map[string]file{
			"solution.py":  text("# The solution goes here.\n"),
			"test_mbpp.py": text(mbppTests("MBPP", m.setup, m.tests)),
		},
		solution: map[string]file{"solution.py": text(strings.TrimRight(m.code, "\r\n") + "\n")},
	}
	if len(m.challenge) > 0 {
		it.score = unittestCommand("test_mbpp", "test_challenge")
		it.hidden = map[string]file{"test_challenge.py": text(mbppTests("Challenge", m.setup, m.challenge))}
	}
	return it, nil
}

func parseMBPP(r row) (m mbppRow, err error) {
	_, full := r["text"]
	_, sanitized := r["prompt"]
	description := map[bool]string{true: "text", false: "prompt"}[full]
	if full == sanitized {
		return m, errors.New(`it has neither or both of the fields "text" (full rows) and "prompt" (sanitized rows)`)
	}
	if _, plus := r["test"]; plus {
		return m, errors.New(`its field "test" (a script of MBPP+) has no place in a task`)
	}
	if err := r.get("task_id", &m.id); err != nil {
		return m, err
	}
	if m.id < 0 {
		return m, fmt.Errorf("its task_id %d is negative", m.id)
	}
	if err := r.texts(map[string]*string{description: &m.text, "code": &m.code}, description, "code"); err != nil {
		return m, err
	}
	if m.tests, err = r.asserts("test_list"); err != nil {
		return m, err
	}
	if len(m.tests) == 0 {
		return m, errors.New(`its field "test_list" is empty`)
	}
	if sanitized {
		var imports []string
		err = r.get("test_imports", &imports)
		m.setup = strings.TrimSpace(strings.Join(imports, "\n"))
		return m, err
	}
	if err := r.get("test_setup_code", &m.setup); err != nil {
		return m, err
	}
	m.setup = strings.TrimSpace(m.setup)
	m.challenge, err = r.asserts("challenge_test_list")
	return m, err
}

// asserts is a list of statements.
func (r row) asserts(name string) ([]string, error) {
	var list []string
	if err := r.get(name, &list); err != nil {
		return nil, err
	}
	for i, s := range list {
		if list[i] = strings.TrimSpace(s); list[i] == "" || strings.ContainsRune(s, 0) {
			return nil, fmt.Errorf("its field %q holds a test, number %d, that is no statement", name, i+1)
		}
	}
	return list, nil
}

// mbppTests makes one test of each statement. One that spans lines is compiled
// from a literal: to indent it could change a string inside.
func mbppTests(class, setup string, statements []string) string {
	var b strings.Builder
	b.WriteString(pythonHead)
	if setup != "" {
		b.WriteString(setup + "\n\n")
	}
	fmt.Fprintf(&b, "import unittest\n\n\nclass %s(unittest.TestCase):\n", class)
	for i, s := range statements {
		if strings.ContainsAny(s, "\r\n") {
			s = fmt.Sprintf("exec(compile(%s, \"test %d\", \"exec\"), globals())", pythonString(s), i+1)
		}
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "    def test_%d(self):\n        %s\n", i+1, s)
	}
	return b.String()
}
