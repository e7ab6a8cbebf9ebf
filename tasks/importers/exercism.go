package importers

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// exercismTimeout is what aider's benchmark gives a test run.
const exercismTimeout = 180 * time.Second

// track is how the exercises of one language are verified. needs is what must
// be on the machine beyond the program that the command starts with.
type track struct {
	verify string
	needs  []string
	enable []rewrite // turns on the cases that the track leaves for later
	fixed  []string  // build files that are never to be edited
}

type rewrite struct {
	from *regexp.Regexp
	to   string
}

var tracks = map[string]track{
	"python": {}, // its command names the test files
	"go":     {verify: "go test ./...", needs: []string{"toolchain-go"}},
	"javascript": {verify: "npm test", needs: []string{"toolchain-node", "needs-npm-packages"}, enable: []rewrite{
		{regexp.MustCompile(`\bx(test|it|describe)\(`), "$1("}}},
	"java": {verify: "sh gradlew test", needs: []string{"toolchain-jdk", "needs-maven-packages"}, enable: []rewrite{
		{regexp.MustCompile(`(?m)^[ \t]*@(Disabled|Ignore)(\([^)\n]*\))?[ \t]*\r?\n`), ""}}},
	"cpp": {verify: "cmake -S . -B build -DEXERCISM_RUN_ALL_TESTS=1 && cmake --build build", needs: []string{"toolchain-cmake"},
		fixed: []string{"CMakeLists.txt"}},
	"rust": {verify: "cargo test -- --include-ignored", needs: []string{"toolchain-cargo"}, fixed: []string{"Cargo.toml"}},
}

// readExercism imports the practice exercises of a track (exercises/practice/
// SLUG), or of every folder directly inside source that is one. Python, Go and
// most of JavaScript verify with their toolchain alone; the tasks of other
// languages carry tags that say what they need. Exercises of one slug share a
// group.
func readExercism(source string, to *sink) error {
	f, err := openFolder(source)
	if err != nil {
		return err
	}
	defer f.Close()
	const practice = "exercises/practice"
	if f.isDir(practice) {
		language, err := trackName(f, source)
		if err != nil {
			return err
		}
		return readTrack(f, practice, language, to)
	}
	languages, err := f.subfolders(".")
	if err != nil {
		return err
	}
	found := false
	for _, language := range languages {
		if err := f.inside(language); err != nil {
			to.skip(language, err)
			continue
		}
		if dir := path.Join(language, practice); f.isDir(dir) {
			found = true
			if err := readTrack(f, dir, language, to); err != nil {
				return err
			}
		}
	}
	if !found {
		return fmt.Errorf("read source %s: neither it nor a folder in it has %s/", source, practice)
	}
	return nil
}

// trackName is the slug in config.json, or the folder's name.
func trackName(f *folder, source string) (string, error) {
	if !f.has("config.json") {
		abs, err := filepath.Abs(source)
		return filepath.Base(abs), err
	}
	data, err := f.text("config.json")
	if err != nil {
		return "", fmt.Errorf("read source: %w", err)
	}
	var config struct{ Slug string }
	if err := json.Unmarshal([]byte(data), &config); err != nil || config.Slug == "" {
		return "", fmt.Errorf("read source: config.json gives no slug (%v)", err)
	}
	return config.Slug, nil
}

func readTrack(f *folder, dir, language string, to *sink) error {
	slugs, err := f.subfolders(dir)
	if err != nil {
		return err
	}
	for _, slug := range slugs {
		where := path.Join(dir, slug)
		it, fault := exercismTask(f, where, language, slug)
		if err := to.add(where, it, fault); err != nil {
			return err
		}
	}
	return nil
}

// roles is what .meta/config.json says of an exercise's files.
type roles struct {
	Solution, Test, Example, Exemplar, Editor []string
}

func exercismTask(f *folder, dir, language, slug string) (item, error) {
	how, known := tracks[language]
	if !known {
		return item{}, fmt.Errorf("no test command is known for the language %q: known are %s", language, strings.Join(slices.Sorted(maps.Keys(tracks)), ", "))
	}
	id, err := lowerID(slug)
	if err == nil {
		err = f.inside(dir)
	}
	if err != nil {
		return item{}, err
	}
	it := item{id: language + "-" + id, group: id, tags: append([]string{language, "exercism", "tests-visible"}, how.needs...), timeout: exercismTimeout, verify: how.verify}
	if it.instruction, err = exercismText(f, dir); err != nil {
		return item{}, err
	}
	files, err := exercismRoles(f, dir)
	if err != nil {
		return item{}, err
	}
	if it.workspace, err = f.tree(dir, hiddenFromSolvers); err != nil {
		return item{}, err
	}
	if err := it.assign(files, how); err != nil {
		return item{}, err
	}
	if language == "python" {
		if it.verify, err = exercismPython(it, files.Test); err != nil {
			return item{}, err
		}
	}
	if language == "javascript" {
		exercismNode(&it, files.Test)
	}
	it.solution, err = exercismSolution(f, dir, it.editable, slices.Concat(files.Example, files.Exemplar))
	return it, err
}

// assign gives the workspace's files their roles, and turns on the test cases.
func (it *item) assign(files roles, how track) error {
	for _, p := range slices.Concat(files.Solution, files.Test, files.Editor) {
		if _, ok := it.workspace[p]; !ok {
			return fmt.Errorf("its .meta/config.json names %q, which is not there", p)
		}
	}
	for _, p := range files.Test {
		data := string(it.workspace[p].data)
		for _, r := range how.enable {
			data = r.from.ReplaceAllString(data, r.to)
		}
		it.workspace[p] = text(data)
	}
	fixed := func(p string) bool { return slices.Contains(how.fixed, path.Base(p)) }
	it.editable = slices.DeleteFunc(slices.Clone(files.Solution), fixed)
	it.protect = slices.Concat(files.Test, files.Editor)
	for p := range it.workspace {
		if fixed(p) {
			it.protect = append(it.protect, p)
		}
	}
	slices.Sort(it.protect)
	it.protect = slices.Compact(it.protect)
	return nil
}

// hiddenFromSolvers names what an exercise's folder holds beside the
// workspace: references, hints, other people's approaches, and what was built.
func hiddenFromSolvers(p string) bool {
	return slices.Contains([]string{".meta", ".docs", ".approaches", ".articles", ".git", "node_modules", "__pycache__"}, p)
}

func exercismText(f *folder, dir string) (string, error) {
	var parts []string
	for _, name := range []string{"introduction.md", "instructions.md", "instructions.append.md"} {
		p := path.Join(dir, ".docs", name)
		if name != "instructions.md" && !f.has(p) {
			continue
		}
		s, err := f.text(p)
		if err != nil {
			return "", err
		}
		parts = append(parts, strings.TrimSpace(s))
	}
	return strings.Join(parts, "\n\n"), nil
}

func exercismRoles(f *folder, dir string) (roles, error) {
	data, err := f.text(path.Join(dir, ".meta/config.json"))
	if err != nil {
		return roles{}, err
	}
	var config struct{ Files roles }
	if err := json.Unmarshal([]byte(data), &config); err != nil {
		return roles{}, fmt.Errorf("its .meta/config.json cannot be read: %w", err)
	}
	switch {
	case len(config.Files.Solution) == 0:
		return roles{}, errors.New(`its .meta/config.json names no "solution" files`)
	case len(config.Files.Test) == 0:
		return roles{}, errors.New(`its .meta/config.json names no "test" files`)
	}
	return config.Files, nil
}

// exercismPython runs the test files with unittest, or with pytest where one
// imports it.
func exercismPython(it item, tests []string) (string, error) {
	var modules []string
	for _, p := range tests {
		module := strings.ReplaceAll(strings.TrimSuffix(p, ".py"), "/", ".")
		if !regexp.MustCompile(`^\w+(\.\w+)*$`).MatchString(module) {
			return "", fmt.Errorf("its test %q is not a Python module", p)
		}
		if regexp.MustCompile(`(?m)^\s*(import|from) pytest\b`).Match(it.workspace[p].data) {
			return "python3 -m pytest -q " + strings.Join(tests, " "), nil
		}
		modules = append(modules, module)
	}
	return unittestCommand(modules...), nil
}

// exercismSolution lays each example over the file it stands for: the one of
// its name, the only one with its extension, or, where there are as many of
// both, the one at its place. A Java class beside those goes where classes go.
func exercismSolution(f *folder, dir string, editable, examples []string) (map[string]file, error) {
	out := map[string]file{}
	for i, example := range examples {
		if path.Base(example) == "Cargo-example.toml" {
			return nil, fmt.Errorf("its example %s changes a build file", example)
		}
		to := match(editable, func(p string) bool { return path.Base(p) == path.Base(example) })
		if to == "" {
			to = match(editable, func(p string) bool { return path.Ext(p) == path.Ext(example) })
		}
		if rest, java := strings.CutPrefix(example, ".meta/src/reference/java/"); to == "" && java {
			to = "src/main/java/" + rest
		}
		if to == "" && len(editable) == len(examples) {
			to = editable[i]
		}
		if _, taken := out[to]; to == "" || taken {
			return nil, fmt.Errorf("its example %s cannot be told to belong to one of %s", example, strings.Join(editable, ", "))
		}
		got, err := f.read(path.Join(dir, example))
		if err != nil {
			return nil, err
		}
		out[to] = got
	}
	if len(out) == 0 {
		return nil, errors.New(`its .meta/config.json names no "example" or "exemplar" file`)
	}
	return out, nil
}

// match is the only one of list that fits, or "".
func match(list []string, fits func(string) bool) string {
	i := slices.IndexFunc(list, fits)
	if i < 0 || slices.ContainsFunc(list[i+1:], fits) {
		return ""
	}
	return list[i]
}
