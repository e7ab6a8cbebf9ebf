package importers

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// sweBenchRunner runs named tests; every one must pass.
//
//go:embed swebench_tests.py
var sweBenchRunner string

// sweBenchTimeout is what SWE-bench's harness gives an instance.
const sweBenchTimeout = 30 * time.Minute

// MirrorVariable is the environment variable that names the folder of local
// clones which swebench rows are taken from. They lie in it as OWNER/NAME,
// OWNER/NAME.git, OWNER__NAME or OWNER__NAME.git, bare or not. Where it is not
// set, they are looked for in mirrors/ beside the source.
const MirrorVariable = "RETRIAL_MIRROR"

// sweBenchDir is where the import puts its own files in a tree.
const sweBenchDir = ".swebench"

// readSWEBench imports rows (JSONL, gzip of it, or Parquet) over local clones of
// their repositories.
//
// The workspace is the tree of base_commit, without .git, with test_patch
// applied: the format has no tests but those, and an untouched workspace must
// fail verify. The test files are protected, and the tag tests-visible says that
// an agent can read them. verify runs the tests of FAIL_TO_PASS; score, whose
// list is hidden, runs those of PASS_TO_PASS too and is what SWE-bench calls
// resolved. The files that patch changes are the editable ones (tag
// oracle-files), as a single-shot solver cannot be shown a repository.
func readSWEBench(source string, to *sink) (err error) {
	m := &mirrors{folders: mirrorFolders(source), open: map[string]*gitStore{}, memory: newGitMemory(maxHeld)}
	defer func() { err = errors.Join(err, m.Close()) }()
	return readTable(source, to, func(r row) (item, error) { return sweBenchTask(r, m) })
}

func mirrorFolders(source string) string {
	if named := os.Getenv(MirrorVariable); named != "" {
		return named
	}
	return filepath.Join(filepath.Dir(source), "mirrors")
}

// mirrors are the repositories that rows name, opened once each.
type mirrors struct {
	folders string
	open    map[string]*gitStore
	memory  *gitMemory
}

func (m *mirrors) Close() error {
	var err error
	for _, s := range m.open {
		err = errors.Join(err, s.Close())
	}
	return err
}

var sweBenchRepo = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*/[A-Za-z0-9_-][A-Za-z0-9._-]*$`)

// repository opens the clone of OWNER/NAME.
func (m *mirrors) repository(repo string) (*gitStore, error) {
	if s := m.open[repo]; s != nil {
		return s, nil
	}
	if !sweBenchRepo.MatchString(repo) {
		return nil, fmt.Errorf("its repo %q is not like owner/name", repo)
	}
	flat := strings.ReplaceAll(repo, "/", "__")
	for _, name := range []string{repo, repo + ".git", flat, flat + ".git"} {
		dir := filepath.Join(m.folders, filepath.FromSlash(name))
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		s, err := openGit(dir, m.memory)
		if err != nil {
			return nil, fmt.Errorf("its mirror %s cannot be used: %w", dir, err)
		}
		m.open[repo] = s
		return s, nil
	}
	return nil, fmt.Errorf("there is no mirror of %s: want a clone as %s, %s.git, %s or %s.git in %s", repo, repo, repo, flat, flat, m.folders)
}

// sweBenchRow is what a row comes to.
type sweBenchRow struct {
	id, instance, repo string
	base               gitHash
	patch, testPatch   string
	problem            string
	named              namedTests
	image              string
	tags               []string
}

func sweBenchTask(r row, m *mirrors) (item, error) {
	in, err := parseSWEBench(r)
	if err != nil {
		return item{}, err
	}
	store, err := m.repository(in.repo)
	if err != nil {
		return item{}, err
	}
	base, err := store.checkout(in.base)
	if errors.Is(err, errNoObject) {
		return item{}, fmt.Errorf("its base_commit %s is not whole in the mirror of %s: %w", in.base, in.repo, err)
	}
	if err != nil {
		return item{}, err
	}
	tested, err := applyPatch(base.files, in.testPatch)
	if err != nil {
		return item{}, fmt.Errorf("its test_patch does not apply to base_commit: %w", err)
	}
	solved, err := applyPatch(base.files, in.patch)
	if err != nil {
		return item{}, fmt.Errorf("its patch does not apply to base_commit: %w", err)
	}
	for p := range solved {
		if _, both := tested[p]; both {
			return item{}, fmt.Errorf("its patch and its test_patch both change %s", p)
		}
	}
	return sweBenchItem(in, base, tested, solved)
}

// sweBenchItem puts a task together from the base tree and the files that each
// patch changes.
func sweBenchItem(in sweBenchRow, base gitFiles, tested, solved changes) (item, error) {
	it := item{
		id: in.id, tags: append([]string{"python", "swebench", "tests-visible", "repo=" + in.repo}, in.tags...),
		instruction: in.problem, timeout: sweBenchTimeout, image: in.image,
		workspace: tested.over(base.files), solution: map[string]file{}, hidden: map[string]file{},
	}
	for p := range it.workspace {
		if p == sweBenchDir || strings.HasPrefix(p, sweBenchDir+"/") {
			return item{}, fmt.Errorf("its file %s stands where the import puts its own", p)
		}
	}
	for p, f := range solved {
		if f != nil {
			it.solution[p] = *f
		}
	}
	if err := fits(it.solution, it.workspace); err != nil {
		return item{}, err
	}
	if err := in.named.locate(in.repo, it.workspace, slices.Sorted(maps.Keys(tested))); err != nil {
		return item{}, err
	}
	it.sweBenchCommands(in.named)
	it.sweBenchRoles(in.named, tested, solved)
	deletes := slices.Contains(slices.Collect(maps.Values(solved)), nil)
	for _, t := range []struct {
		tag string
		is  bool
	}{
		{"lfs-pointers", len(base.lfs) > 0}, {"oracle-files", len(it.editable) > 0},
		{"solution-keeps-deleted", deletes}, {"submodules-left-out", len(base.submodules) > 0},
	} {
		if t.is {
			it.tags = append(it.tags, t.tag)
		}
	}
	return it, nil
}

// fits says why the reference cannot be laid over the workspace, or nil: a file
// stands where the other has a folder.
func fits(solution, workspace map[string]file) error {
	above := map[string]bool{} // folders of the workspace
	for p := range workspace {
		for up := path.Dir(p); up != "." && !above[up]; up = path.Dir(up) {
			above[up] = true
		}
	}
	for _, p := range slices.Sorted(maps.Keys(solution)) {
		if above[p] {
			return fmt.Errorf("its patch puts the file %s where a folder is", p)
		}
		for up := path.Dir(p); up != "."; up = path.Dir(up) {
			if _, file := workspace[up]; file {
				return fmt.Errorf("its patch puts %s below %s, which is a file", p, up)
			}
		}
	}
	return nil
}

// maxCommand is the longest list of tests, in bytes, that a command carries.
const maxCommand = 16 << 10

// sweBenchCommands sets verify and score, and adds the files that they read.
// Where unittest runs on the machine itself, verify is its plain command; that
// takes a skipped test for a passed one, and score does not.
func (it *item) sweBenchCommands(n namedTests) {
	plain := "python3 -m unittest -q " + strings.Join(n.plainIDs(), " ")
	runner, hide := path.Join(sweBenchDir, "swebench_tests.py"), it.workspace
	if n.style == "unittest" && it.image == "" && len(n.plainIDs()) > 0 && len(plain) <= maxCommand {
		it.verify, hide = plain, it.hidden
	} else {
		names := path.Join(sweBenchDir, "verify.json")
		it.workspace[names] = text(n.spec(n.failing))
		it.verify = "python3 " + runner + " " + names
		it.protect = []string{sweBenchDir}
		if len(n.passing) == 0 {
			it.workspace[runner] = text(sweBenchRunner)
			return // score would be verify
		}
	}
	hide[runner] = text(sweBenchRunner)
	names := path.Join(sweBenchDir, "score.json")
	it.hidden[names] = text(n.spec(slices.Concat(n.failing, n.passing)))
	it.score = "python3 " + runner + " " + names
}

// sweBenchRoles protects what decides the verdict: the files of test_patch,
// those that hold a named test, and the conftest.py above them; but nothing that
// the reference changes. What that changes is editable.
func (it *item) sweBenchRoles(n namedTests, tested, solved changes) {
	judges := map[string]bool{}
	for _, p := range slices.Concat(slices.Collect(maps.Keys(tested)), n.files) {
		judges[p] = true
		for up := path.Dir(p); ; up = path.Dir(up) {
			judges[path.Join(up, "conftest.py")] = true
			if up == "." {
				break
			}
		}
	}
	for _, p := range slices.Sorted(maps.Keys(judges)) {
		_, there := it.workspace[p]
		if _, changed := solved[p]; there && !changed {
			it.protect = append(it.protect, p)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(solved)) {
		if f, there := it.workspace[p]; there && !f.link && utf8.Valid(f.data) {
			it.editable = append(it.editable, p)
		}
	}
}

func parseSWEBench(r row) (in sweBenchRow, err error) {
	var base string
	err = r.texts(map[string]*string{"instance_id": &in.instance, "repo": &in.repo, "base_commit": &base, "patch": &in.patch,
		"test_patch": &in.testPatch, "problem_statement": &in.problem},
		"instance_id", "repo", "base_commit", "patch", "test_patch", "problem_statement")
	if err == nil {
		in.id, err = lowerID(in.instance)
	}
	if err == nil {
		in.base, err = parseGitHash(base)
	}
	if err != nil {
		return in, err
	}
	kind, err := r.optional("eval_type")
	switch {
	case err != nil:
		return in, err
	case kind != "" && kind != "pass_and_fail" && kind != "fail_only":
		return in, fmt.Errorf("its eval_type is %q: known are pass_and_fail and fail_only", kind)
	}
	if in.named.failing, err = r.testNames("FAIL_TO_PASS"); err != nil {
		return in, err
	}
	if len(in.named.failing) == 0 {
		return in, errors.New(`its field "FAIL_TO_PASS" is empty`)
	}
	if kind != "fail_only" {
		if in.named.passing, err = r.testNames("PASS_TO_PASS"); err != nil {
			return in, err
		}
	}
	if in.image, in.tags, err = sweBenchTags(r, in.id); err == nil {
		err = in.named.setStyle(in.repo)
	}
	return in, err
}

// sweBenchTags reads what a task has no field for, and the image: the row's; none
// where the row says "" ; the published one's name where the row does not say.
func sweBenchTags(r row, id string) (image string, tags []string, err error) {
	for _, f := range []struct{ field, tag string }{
		{"version", "version="}, {"difficulty", "difficulty="}, {"environment_setup_commit", "environment-setup-commit="}, {"eval_type", "eval-type="},
		{"hints_text", ""}, {"eval_script", ""}, {"log_parser", ""},
	} {
		value, err := r.optional(f.field)
		switch {
		case err != nil:
			return "", nil, err
		case value == "":
		case f.tag != "":
			tags = append(tags, f.tag+value)
		case f.field == "hints_text":
			tags = append(tags, "hints-withheld")
		default:
			tags = append(tags, strings.ReplaceAll(f.field, "_", "-")+"-unused")
		}
	}
	if assets := string(r["image_assets"]); assets != "" && assets != "null" && assets != "{}" && assets != `""` && assets != `"{}"` {
		tags = append(tags, "pictures-left-out")
	}
	image, err = r.optional("image")
	if raw := string(r["image"]); raw == "" || raw == "null" {
		image = "swebench/sweb.eval.x86_64." + strings.ReplaceAll(id, "__", "_1776_")
	}
	if image != "" {
		tags = append(tags, "needs-image")
	}
	return image, tags, err
}

// optional is a text field that may be missing, null or blank.
func (r row) optional(name string) (string, error) {
	raw, ok := r[name]
	if !ok || string(raw) == "null" {
		return "", nil
	}
	var s string
	err := r.get(name, &s)
	if err == nil && strings.ContainsRune(s, 0) {
		err = fmt.Errorf("its field %q holds a NUL character", name)
	}
	return strings.TrimSpace(s), err
}

// testNames is a list of names, or a text that holds one as a JSON array.
func (r row) testNames(field string) ([]string, error) {
	inner := row{field: r[field]}
	if len(inner[field]) > 0 && inner[field][0] == '"' {
		var s string
		if err := r.get(field, &s); err != nil {
			return nil, err
		}
		if inner[field] = json.RawMessage(strings.TrimSpace(s)); !json.Valid(inner[field]) {
			return nil, fmt.Errorf("its field %q holds a text that is no JSON array", field)
		}
	}
	if inner[field] == nil {
		delete(inner, field)
	}
	var names []string
	if err := inner.get(field, &names); err != nil {
		return nil, err
	}
	for i, n := range names {
		if strings.TrimSpace(n) == "" || strings.ContainsAny(n, "\x00\n") {
			return nil, fmt.Errorf("its field %q holds a test, number %d, that has no name", field, i+1)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
