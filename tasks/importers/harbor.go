package importers

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// harborVerify runs tests/test.sh under the reward contract.
//
//go:embed harbor_verify.sh
var harborVerify string

// readHarbor imports the task directories directly inside source, or source
// itself where it is one.
//
// Verify is a script that runs the tests and reads the reward they write. Harbor
// uploads tests after the agent has ended; here verify's files are in the
// workspace, protected, and the tag tests-visible says so. The oracle is
// solution/'s script, which verify runs first where it is there.
func readHarbor(source string, to *sink) error {
	f, err := openFolder(source)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.has("task.toml") {
		abs, err := filepath.Abs(source)
		if err != nil {
			return err
		}
		it, fault := harborTask(f, ".", filepath.Base(abs))
		return to.add(filepath.Base(abs), it, fault)
	}
	names, err := f.subfolders(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		it, fault := harborTask(f, name, name)
		if err := to.add(name, it, fault); err != nil {
			return err
		}
	}
	return nil
}

// harborFile is the part of task.toml that a task can represent; any is what it
// cannot. A key that is neither is refused too.
type harborFile struct {
	SchemaVersion string         `toml:"schema_version"`
	Version       string         `toml:"version"`
	Task          map[string]any `toml:"task"`
	Metadata      map[string]any `toml:"metadata"`
	Agent         struct {
		Timeout float64 `toml:"timeout_sec"`
	} `toml:"agent"`
	Verifier struct {
		Timeout *float64          `toml:"timeout_sec"`
		Env     map[string]string `toml:"env"`
		Mode    string            `toml:"environment_mode"`
	} `toml:"verifier"`
	Environment struct {
		BuildTimeout  float64 `toml:"build_timeout_sec"` // of an image that is built; one that is named needs none
		Image         string  `toml:"docker_image"`
		CPUs          int     `toml:"cpus"`
		Memory        any     `toml:"memory"`
		MemoryMB      int     `toml:"memory_mb"`
		Storage       any     `toml:"storage"`
		StorageMB     int     `toml:"storage_mb"`
		GPUs          int     `toml:"gpus"`
		AllowInternet *bool   `toml:"allow_internet"`
		NetworkMode   string  `toml:"network_mode"`
		OS            string  `toml:"os"`
	} `toml:"environment"`
}

func harborTask(f *folder, dir, name string) (item, error) {
	id, err := lowerID(name)
	if err == nil {
		err = f.inside(dir)
	}
	if err != nil {
		return item{}, err
	}
	config, err := harborConfig(f, path.Join(dir, "task.toml"))
	if err != nil {
		return item{}, err
	}
	instruction, err := f.text(path.Join(dir, "instruction.md"))
	if err != nil {
		return item{}, err
	}
	it := item{
		id: id, tags: harborTags(config), instruction: stripCanary(instruction),
		verify: "sh .harbor/verify.sh", timeout: 600 * time.Second, protect: []string{".harbor"},
		image: config.Environment.Image,
	}
	if t := config.Verifier.Timeout; t != nil {
		it.timeout = time.Duration(*t * float64(time.Second))
	}
	if it.network, err = harborNetwork(config); err != nil {
		return item{}, err
	}
	if it.workspace, err = harborWorkspace(f, dir, config); err != nil {
		return item{}, err
	}
	if len(it.workspace) == 0 { // the image holds the files
		it.workspace["instruction.md"] = text(it.instruction + "\n")
	}
	if err := harborTests(f, dir, config, &it); err != nil {
		return item{}, err
	}
	it.solution, err = harborSolution(f, dir)
	return it, err
}

// harborSolution is the oracle, where there is one.
func harborSolution(f *folder, dir string) (map[string]file, error) {
	if !f.has(path.Join(dir, "solution")) {
		return nil, nil
	}
	if err := f.script(path.Join(dir, "solution/solve.sh")); err != nil {
		return nil, err
	}
	files, err := f.tree(path.Join(dir, "solution"), nil)
	return below(".harbor-oracle", files), err
}

// script says why a file is no script for a shell, or nil.
func (f *folder) script(p string) error {
	s, err := f.text(p)
	if err == nil && strings.Contains(s, "\r\n") {
		err = fmt.Errorf("%s has CRLF line ends, which no shell takes: check it out with LF", p)
	}
	return err
}

func below(dir string, files map[string]file) map[string]file {
	out := map[string]file{}
	for p, f := range files {
		out[path.Join(dir, p)] = f
	}
	return out
}

func harborConfig(f *folder, p string) (harborFile, error) {
	var config harborFile
	data, err := f.text(p)
	if err != nil {
		return config, err
	}
	meta, err := toml.Decode(data, &config)
	if err != nil {
		return config, fmt.Errorf("its task.toml cannot be read: %w", err)
	}
	for _, key := range meta.Undecoded() {
		return config, fmt.Errorf("its task.toml has the key %s, which no task can represent", key)
	}
	version := config.SchemaVersion
	if version == "" {
		version = config.Version
	}
	e := config.Environment
	switch {
	case version != "" && !strings.HasPrefix(version, "1."):
		return config, fmt.Errorf("its task.toml has the schema version %q: known is 1", version)
	case config.Verifier.Mode != "" && config.Verifier.Mode != "shared":
		return config, fmt.Errorf("its verifier has an environment of its own (environment_mode %q)", config.Verifier.Mode)
	case config.Verifier.Timeout != nil && !(*config.Verifier.Timeout > 0 && *config.Verifier.Timeout < 1e6):
		return config, fmt.Errorf("its verifier.timeout_sec is %v", *config.Verifier.Timeout)
	case e.GPUs != 0:
		return config, fmt.Errorf("it needs %d GPUs", e.GPUs)
	case e.OS != "" && e.OS != "linux":
		return config, fmt.Errorf("it needs the system %q", e.OS)
	}
	return config, nil
}

// harborTags records what a task has no field for.
func harborTags(c harborFile) []string {
	tags := []string{"harbor", "tests-visible"}
	add := func(name string, v any) {
		if s := fmt.Sprint(v); v != nil && s != "" && s != "0" {
			tags = append(tags, name+"="+s)
		}
	}
	add("name", c.Task["name"])
	add("agent-timeout-seconds", strconv.FormatFloat(c.Agent.Timeout, 'f', -1, 64))
	add("cpus", c.Environment.CPUs)
	add("memory", c.Environment.Memory)
	add("memory-mb", c.Environment.MemoryMB)
	add("storage", c.Environment.Storage)
	add("storage-mb", c.Environment.StorageMB)
	return tags
}

func harborNetwork(c harborFile) (bool, error) {
	e := c.Environment
	switch {
	case e.NetworkMode == "no-network":
		return false, nil
	case e.NetworkMode == "public":
		return true, nil
	case e.NetworkMode != "":
		return false, fmt.Errorf("its network_mode is %q: known are public and no-network", e.NetworkMode)
	}
	return e.AllowInternet == nil || *e.AllowInternet, nil
}

// harborWorkspace is environment/ without what builds the image.
func harborWorkspace(f *folder, dir string, c harborFile) (map[string]file, error) {
	environment := path.Join(dir, "environment")
	switch {
	case f.has(path.Join(dir, "steps")):
		return nil, errors.New("it has several steps (steps/)")
	case f.has(path.Join(environment, "docker-compose.yaml")) || f.has(path.Join(environment, "docker-compose.yml")):
		return nil, errors.New("its environment is made of several services (docker-compose)")
	case f.has(path.Join(environment, "Dockerfile")) && c.Environment.Image == "":
		return nil, errors.New("its image must be built from environment/Dockerfile, and task.toml names none (environment.docker_image)")
	case !f.has(environment):
		return map[string]file{}, nil
	}
	files, err := f.tree(environment, func(p string) bool { return p == "Dockerfile" || p == ".dockerignore" })
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if top, _, _ := strings.Cut(p, "/"); top == ".harbor" || top == ".harbor-oracle" {
			return nil, fmt.Errorf("its file environment/%s stands where the import puts its own", p)
		}
	}
	return files, err
}

// harborTests adds the tests and the script that runs them.
func harborTests(f *folder, dir string, c harborFile, it *item) error {
	if f.has(path.Join(dir, "tests/Dockerfile")) {
		return errors.New("its verifier has an image of its own (tests/Dockerfile)")
	}
	if err := f.script(path.Join(dir, "tests/test.sh")); err != nil {
		return err
	}
	tests, err := f.tree(path.Join(dir, "tests"), nil)
	if err != nil {
		return err
	}
	maps.Copy(it.workspace, below(".harbor/tests", tests))
	var exports strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c.Verifier.Env)) {
		value := c.Verifier.Env[name]
		if strings.Contains(value, "${") || !identifier.MatchString(name) {
			return fmt.Errorf("its verifier.env %s=%q takes a value from the host", name, value)
		}
		fmt.Fprintf(&exports, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	mode := map[bool]string{true: "container", false: "host"}[c.Environment.Image != ""]
	script := strings.ReplaceAll(harborVerify, "MODE", mode)
	it.workspace[".harbor/verify.sh"] = text(strings.ReplaceAll(script, "# EXPORTS\n", exports.String()))
	return nil
}

var canary = regexp.MustCompile(`(?is)^\s*(<!--[^>]*canary[^>]*-->|#[^\n]*canary[^\n]*(\n|$))`)

// stripCanary removes the comments at the head that mark a text as test data.
func stripCanary(s string) string {
	for canary.MatchString(s) {
		s = canary.ReplaceAllString(s, "")
	}
	return strings.TrimSpace(s)
}
