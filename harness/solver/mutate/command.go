package mutate

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// tests names what a verify command runs, as the interpreter wants it.
type tests struct {
	Names    []string          `json:"names"`
	Patterns []string          `json:"patterns,omitempty"`
	Discover map[string]string `json:"discover,omitempty"`
	Free     int               `json:"free,omitempty"` // work a test may count whatever the baseline's; 0 means trial.py's
}

var (
	pythonPattern = regexp.MustCompile(`^(?:.*/)?python(?:3(?:\.\d+)?)?$`)
	plainPattern  = regexp.MustCompile(`^[\w./:=,@%+*-]+$`)
)

// Supports returns ErrUnsupported, with the command, for a verify command that
// an Engine cannot run.
func Supports(command string) error {
	_, err := parseCommand(command)
	return err
}

// parseCommand reads "python3 -m unittest [options] [names]" and its discover form.
func parseCommand(command string) (tests, error) {
	words := strings.Fields(command)
	unsupported := fmt.Errorf("%w, not %q", ErrUnsupported, command)
	for i, w := range words {
		words[i] = strings.Trim(w, `"'`)
		if !plainPattern.MatchString(words[i]) {
			return tests{}, unsupported
		}
	}
	if len(words) == 0 || !pythonPattern.MatchString(words[0]) {
		return tests{}, unsupported
	}
	words = words[1:]
	for len(words) > 0 && (words[0] == "-B" || words[0] == "-E" || words[0] == "-s" || words[0] == "-S") {
		words = words[1:]
	}
	if len(words) < 2 || words[0] != "-m" || words[1] != "unittest" {
		return tests{}, unsupported
	}
	t, ok := parseArguments(words[2:])
	if !ok {
		return tests{}, unsupported
	}
	return t, nil
}

// parseArguments reads what follows "-m unittest".
func parseArguments(words []string) (tests, bool) {
	var t tests
	discover := len(words) > 0 && words[0] == "discover"
	if discover {
		words = words[1:]
	}
	found := map[string]string{"start_dir": ".", "pattern": "test*.py"}
	keys := map[string]string{"-s": "start_dir", "--start-directory": "start_dir", "-p": "pattern", "--pattern": "pattern",
		"-t": "top_level_dir", "--top-level-directory": "top_level_dir"}
	positional := []string{"start_dir", "pattern", "top_level_dir"}
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, value, joined := strings.Cut(w, "=")
		takes := name == "-k" || discover && keys[name] != ""
		if takes && !joined {
			if i++; i >= len(words) {
				return t, false
			}
			value = words[i]
		}
		switch {
		case name == "-k":
			t.Patterns = append(t.Patterns, value)
		case takes:
			found[keys[name]] = value
		case strings.HasPrefix(w, "-"):
			if !strings.Contains(" -q --quiet -v --verbose -f --failfast -b --buffer -c --catch --locals ", " "+w+" ") {
				return t, false
			}
		case discover && len(positional) == 0:
			return t, false
		case discover:
			found[positional[0]], positional = w, positional[1:]
		default:
			t.Names = append(t.Names, w)
		}
	}
	if discover || len(t.Names) == 0 {
		t.Discover = found
	}
	return t, true
}

// covers reports whether the command names this file as a test.
func (t tests) covers(file string) bool {
	for _, n := range t.Names {
		module := strings.ReplaceAll(strings.TrimSuffix(file, ".py"), "/", ".")
		if n == file || path.Clean(n) == file || n == module || strings.HasPrefix(n, module+".") {
			return true
		}
	}
	return false
}
