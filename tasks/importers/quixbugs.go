package importers

import (
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

// quixBugsPytest stands in for pytest: the test files use a few of its names.
//
//go:embed quixbugs_pytest.py
var quixBugsPytest string

// quixBugsRunner makes one unittest test of each of the test file's.
//
//go:embed quixbugs_runner.py
var quixBugsRunner string

// quixBugsTimeout: several of the bugs loop for ever, and then the timeout is
// the verdict.
const quixBugsTimeout = 20 * time.Second

// readQuixBugs imports one task per program of python_programs/. The layout is
// kept, so that the test files run as they are, on unittest with a stand-in for
// pytest: which need not be installed then. The correct programs stand in
// solution/ only; the Java half is left out.
func readQuixBugs(source string, to *sink) error {
	f, err := openFolder(source)
	if err != nil {
		return err
	}
	defer f.Close()
	if !f.isDir("python_programs") {
		return fmt.Errorf("read source %s: it has no folder python_programs", source)
	}
	entries, err := fs.ReadDir(f, "python_programs")
	if err != nil {
		return fmt.Errorf("read source: %w", err)
	}
	for _, e := range entries {
		name, python := strings.CutSuffix(e.Name(), ".py")
		if !python || strings.HasSuffix(name, "_test") || name == "node" || name == "__init__" {
			continue // scripts and helpers beside the programs
		}
		where := path.Join("python_programs", e.Name())
		it, fault := quixBugsTask(f, name)
		if err := to.add(where, it, fault); err != nil {
			return err
		}
	}
	return nil
}

func quixBugsTask(f *folder, name string) (item, error) {
	id, err := lowerID(name)
	if err != nil {
		return item{}, err
	}
	if !identifier.MatchString(name) {
		return item{}, fmt.Errorf("its name %q is not that of a Python module", name)
	}
	program, test := "python_programs/"+name+".py", "python_testcases/test_"+name+".py"
	workspace := map[string]file{
		"pytest.py":        text(quixBugsPytest),
		"test_quixbugs.py": text(strings.ReplaceAll(quixBugsRunner, "TEST_MODULE", "test_"+name)),
	}
	for _, p := range []string{program, test} {
		if _, err := f.text(p); err != nil {
			return item{}, err
		}
		if workspace[p], err = f.read(p); err != nil {
			return item{}, err
		}
	}
	correct, err := f.read("correct_python_programs/" + name + ".py")
	if err != nil {
		return item{}, err
	}
	protect := []string{"pytest.py", "python_testcases", "test_quixbugs.py"}
	for _, p := range []string{"python_testcases/load_testdata.py", "python_testcases/node.py", "python_programs/node.py", "json_testcases/" + name + ".json"} {
		if !f.has(p) {
			continue
		}
		if workspace[p], err = f.read(p); err != nil {
			return item{}, err
		}
		if !strings.HasPrefix(p, "python_testcases/") {
			protect = append(protect, p)
		}
	}
	return item{
		id: id, tags: []string{"python", "quixbugs", "tests-visible"},
		instruction: "The function in " + program + " does not do what the text in that file says: one line of it is wrong. Mend it.",
		editable:    []string{program}, verify: unittestCommand("test_quixbugs"), timeout: quixBugsTimeout,
		protect: protect, workspace: workspace, solution: map[string]file{program: correct},
	}, nil
}
