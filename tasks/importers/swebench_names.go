package importers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// namedTests are the tests that decide, by their names in a row.
type namedTests struct {
	failing, passing []string // FAIL_TO_PASS and PASS_TO_PASS, sorted
	style            string   // pytest, unittest or django
	targets          []string // what the runner is given: files, or modules
	files            []string // paths of the files that hold the tests
}

var (
	pytestName   = regexp.MustCompile(`^([^:\s]+\.py)::.`)
	unittestName = regexp.MustCompile(`^(\w+) \(((?:\w+\.)+\w+)\)$`)
	dottedName   = regexp.MustCompile(`^[A-Za-z_]\w*(?:\.\w+){2,}$`)
	bareName     = regexp.MustCompile(`^test\w*(?:\[.*)?$`)
)

// Kinds of test names.
const (
	namePytest   = "pytest" // path.py::test
	nameUnittest = "unittest"
	nameBare     = "bare" // a function's name alone
	nameOther    = "other"
)

func nameKind(name string) string {
	switch {
	case pytestName.MatchString(name):
		return namePytest
	case unittestName.MatchString(name), dottedName.MatchString(name):
		return nameUnittest
	case bareName.MatchString(name):
		return nameBare
	}
	return nameOther
}

// setStyle decides who runs the tests. Names that are neither pytest's nor
// unittest's can be a unittest test's description, where some of its neighbours
// have names of that kind.
func (n *namedTests) setStyle(repo string) error {
	first := map[string]string{}
	for _, name := range slices.Concat(n.failing, n.passing) {
		if kind := nameKind(name); first[kind] == "" {
			first[kind] = name
		}
	}
	switch {
	case first[nameUnittest] != "" && first[namePytest] == "":
		n.style = "unittest"
		if repo == "django/django" {
			n.style = "django"
		}
	case first[nameUnittest] == "" && first[nameOther] == "" && (first[namePytest] == "" || first[nameBare] == ""):
		n.style = "pytest"
	case first[nameOther] != "":
		return fmt.Errorf("its test %q has neither pytest's form (path.py::test) nor unittest's (test (module.Class))", first[nameOther])
	default:
		return fmt.Errorf("its tests are named in several ways: %q and %q", first[nameUnittest]+first[nameBare], first[namePytest])
	}
	return nil
}

// locate finds the file of each named test in the workspace. changed are the
// paths of test_patch: names that give no file are looked for there.
func (n *namedTests) locate(repo string, workspace map[string]file, changed []string) error {
	roots := []string{"."}
	if n.style == "django" {
		roots = []string{"tests", "."}
	}
	for _, name := range slices.Concat(n.failing, n.passing) {
		switch kind := nameKind(name); {
		case kind == namePytest:
			p := pytestName.FindStringSubmatch(name)[1]
			if _, ok := workspace[p]; !ok {
				return fmt.Errorf("its test %q is in a file that is not there", name)
			}
			n.targets, n.files = append(n.targets, p), append(n.files, p)
		case kind == nameUnittest:
			module, p := findModule(plainID(name), roots, workspace)
			if p == "" {
				return fmt.Errorf("its test %q is in no module of %s", name, repo)
			}
			n.targets, n.files = append(n.targets, module), append(n.files, p)
		case kind == nameBare && n.style == "pytest":
			for _, p := range changed {
				if _, ok := workspace[p]; ok && path.Ext(p) == ".py" {
					n.targets, n.files = append(n.targets, p), append(n.files, p)
				}
			}
		}
	}
	for _, list := range []*[]string{&n.targets, &n.files} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	if len(n.targets) == 0 {
		return fmt.Errorf("its tests name no file, and its test_patch leaves no Python file")
	}
	return nil
}

// plainID is a unittest name as module.Class.test: "test (module.Class)", and
// "test (module.Class.test)" from Python 3.11 on.
func plainID(name string) string {
	m := unittestName.FindStringSubmatch(name)
	switch {
	case m == nil:
		return name
	case strings.HasSuffix(m[2], "."+m[1]):
		return m[2]
	}
	return m[2] + "." + m[1]
}

// findModule is the longest head of a dotted name that is a file of the
// workspace below one of the roots.
func findModule(name string, roots []string, workspace map[string]file) (module, file string) {
	for words := strings.Split(name, "."); len(words) > 1; {
		words = words[:len(words)-1]
		for _, root := range roots {
			p := path.Join(root, path.Join(words...))
			for _, candidate := range []string{p + ".py", p + "/__init__.py"} {
				if _, ok := workspace[candidate]; ok {
					return strings.Join(words, "."), candidate
				}
			}
		}
	}
	return "", ""
}

// plainIDs are the failing tests as unittest takes them; none where one of them
// is a description.
func (n namedTests) plainIDs() []string {
	var ids []string
	for _, name := range n.failing {
		if nameKind(name) != nameUnittest {
			return nil
		}
		ids = append(ids, plainID(name))
	}
	return ids
}

// spec is what the runner reads.
func (n namedTests) spec(names []string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(map[string]any{"style": n.style, "tests": names, "targets": n.targets}); err != nil {
		panic(err) // lists of strings can be encoded
	}
	return b.String()
}
