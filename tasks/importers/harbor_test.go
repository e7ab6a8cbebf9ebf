package importers

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// harborDir writes one task directory.
func harborDir(t *testing.T, dir, config, testScript string) {
	t.Helper()
	for p, content := range map[string]string{"task.toml": config, "instruction.md": "Do it.", "tests/test.sh": testScript} {
		writeFile(t, filepath.Join(dir, p), content)
	}
}

// TestHarborReward: what each reward means. Exit 75 is a broken verifier, never
// a failed attempt.
func TestHarborReward(t *testing.T) {
	const txt, json = "/logs/verifier/reward.txt", "/logs/verifier/reward.json"
	for _, c := range []struct {
		script string
		want   int
		says   string
	}{
		{"echo 1 > " + txt, 0, "reward 1"},
		{"echo 1 > " + txt + "; exit 9", 0, "reward 1"},
		{"echo 1.0e0 > " + txt, 0, "reward 1.0e0"},
		{"printf ' +1\\n\\n' > '" + txt + "'", 0, "reward +1"},
		{"echo 0.999 > " + txt, 1, "reward 0.999"},
		{"echo -1 > " + txt, 1, "reward -1"},
		{"echo 1 > \"" + txt + "\"; echo '{\"reward\": 0}' > " + json, 0, "reward 1"},
		{"true", 75, "no verdict: the tests wrote no reward"},
		{": > " + txt, 75, "no verdict: reward.txt"},
		{"echo 0 1 > " + txt, 75, "no verdict: reward.txt"},
		{"echo one > " + txt, 75, "no verdict: reward.txt"},
		{"echo nan > " + txt, 75, "no verdict: reward.txt"},
		{`echo '{"reward": 1, "speed": 0}' > ` + json, 0, "reward 1"},
		{`printf '{\n "speed": 3,\n "reward": 0.25\n}\n' > ` + json, 1, "reward 0.25"},
		{`echo '{"speed": 1}' > ` + json, 0, "reward 1"},
		{`echo '{"speed": 1, "size": 1}' > ` + json, 75, "no verdict: reward.json"},
		{`echo '{"reward": "1"}' > ` + json, 75, "no verdict: reward.json"},
		{`echo '{"reward": 1' > ` + json, 75, "no verdict: reward.json"},
		{`echo '{}' > ` + json, 75, "no verdict: reward.json"},
		{`[ -f /tests/test.sh ] && [ "$0" = /tests/test.sh ] && [ ./tests/x = "./tes""ts/x" ] && echo 1 > ` + txt, 0, "reward 1"},
	} {
		out, code := verifyHarbor(t, c.script)
		if code != c.want || !strings.Contains(out, c.says) {
			t.Errorf("%s\nexits %d, want %d, and says\n%swant %q", c.script, code, c.want, out, c.says)
		}
	}
}

// verifyHarbor imports a task with that tests/test.sh and runs its verify.
func verifyHarbor(t *testing.T, script string) (out string, code int) {
	t.Helper()
	source, dir := t.TempDir(), t.TempDir()
	harborDir(t, filepath.Join(source, "one"), `version = "1.0"`, script)
	task := expect(t, "harbor", source, []string{"one"}, nil)["one"].Task
	if err := os.CopyFS(dir, task.Workspace); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", task.Verify)
	cmd.Dir = dir
	data, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(data), cmd.ProcessState.ExitCode()
}

func TestHarborRefusals(t *testing.T) {
	dir := t.TempDir()
	for name, config := range map[string]string{
		"a": `version = "2.0"`, "b": "[environment]\ngpus = 2", "c": "[verifier]\nenvironment_mode = \"separate\"", "d": "[verifier]\ntimeout_sec = -1",
		"e": "[environment]\nnetwork_mode = \"allowlist\"", "f": "[environment]\nallowed_hosts = [\"x\"]", "g": "[verifier]\nenv = { KEY = \"${KEY}\" }",
		"h": "[[steps]]\nname = \"x\"", "i": "not toml", "j": "[environment]\nos = \"windows\"",
		"k": "", "l": "", "m": "", "n": "", "o": "", "ok": "",
	} {
		harborDir(t, filepath.Join(dir, name), config, "true")
	}
	writeFile(t, filepath.Join(dir, "k/environment/Dockerfile"), "FROM scratch\n")
	writeFile(t, filepath.Join(dir, "l/environment/docker-compose.yaml"), "services: {}\n")
	writeFile(t, filepath.Join(dir, "m/tests/Dockerfile"), "FROM scratch\n")
	writeFile(t, filepath.Join(dir, "n/solution/readme"), "no script\n")
	writeFile(t, filepath.Join(dir, "o/environment/.harbor/verify.sh"), "exit 0\n")
	if err := os.MkdirAll(filepath.Join(dir, "p q"), 0o755); err != nil {
		t.Fatal(err)
	}
	got := expect(t, "harbor", dir, []string{"ok"}, []string{
		"a: schema version", "b: 2 GPUs", "c: environment of its own", "d: timeout_sec is -1", "e: network_mode", "f: key environment.allowed_hosts",
		"g: from the host", "h: key steps", "i: task.toml cannot be read", "j: the system", "k: must be built", "l: several services",
		"m: image of its own", "n: no n/solution/solve.sh", "o: stands where", `p q: "p q" makes no task id`,
	})
	if task := got["ok"].Task; !task.Network || task.Image != "" || task.Timeout.Seconds() != 600 {
		t.Errorf("the defaults give network %v, image %q, timeout %s", task.Network, task.Image, task.Timeout)
	}
}
