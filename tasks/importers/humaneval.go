package importers

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	humanEvalID    = regexp.MustCompile(`^[A-Za-z0-9_]+/[0-9]+$`)
	identifier     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	endsInString   = regexp.MustCompile(`("""|''')\s*$`)
	definesChecker = regexp.MustCompile(`(?m)^def check\(`)
)

// readHumanEval imports rows with task_id, prompt, entry_point,
// canonical_solution (an indented body) and test (a function check(candidate)).
//
// solution.py holds the prompt, which is a whole program that answers None: a
// body can be appended to it, or the file be replaced by a whole function. The
// test is unittest's form of the row's, in view of an agent and tagged so: the
// format has no others.
func readHumanEval(source string, to *sink) error { return readRows(source, to, humanEvalTask) }

func humanEvalTask(r row) (item, error) {
	var id, prompt, entry, body, test string
	err := r.texts(map[string]*string{"task_id": &id, "prompt": &prompt, "entry_point": &entry, "canonical_solution": &body, "test": &test},
		"task_id", "prompt", "entry_point", "canonical_solution", "test")
	switch {
	case err != nil:
		return item{}, err
	case !humanEvalID.MatchString(id):
		return item{}, fmt.Errorf("its task_id %q is not like HumanEval/12", id)
	case !identifier.MatchString(entry):
		return item{}, fmt.Errorf("its entry_point %q is not the name of a function", entry)
	case !regexp.MustCompile(`(?m)^(async )?def ` + entry + `\(`).MatchString(prompt):
		return item{}, fmt.Errorf("its prompt does not define the entry_point %s", entry)
	case !definesChecker.MatchString(test):
		return item{}, fmt.Errorf("its test does not define check(candidate)")
	}
	if !strings.HasSuffix(prompt, "\n") {
		prompt += "\n"
	}
	start := prompt
	if !endsInString.MatchString(prompt) { // a docstring is a body, anything else may need one
		start += "    pass\n"
	}
	return item{
		id: strings.ToLower(strings.ReplaceAll(id, "/", "-")), tags: []string{"python", "humaneval", "tests-visible"},
		instruction: "Complete the function `" + entry + "` in solution.py: write its body, so that it does what its docstring says.",
		editable:    []string{"solution.py"}, verify: unittestCommand("test_humaneval"), timeout: pythonTimeout,
		protect: []string{"test_humaneval.py"},
		workspace: map[string]file{
			"solution.py":       text(start),
			"test_humaneval.py": text(pythonHead + strings.TrimSpace(test) + "\n\n\n" + fmt.Sprintf(humanEvalCase, entry)),
		},
		solution: map[string]file{"solution.py": text(prompt + body)},
	}, nil
}

const humanEvalCase = `import unittest


class HumanEval(unittest.TestCase):
    def test_check(self):
        check(program_under_test.%s)
`
