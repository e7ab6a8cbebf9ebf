package strict

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is not a file of bounded size is refused, and never waited for.
func TestReadFileRefuses(t *testing.T) {
	dir := t.TempDir()
	pipe, big, good := filepath.Join(dir, "pipe"), filepath.Join(dir, "big"), filepath.Join(dir, "good")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("make a pipe: %v", err)
	}
	if err := os.WriteFile(good, []byte("id: a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(big)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(5 << 30); err != nil { // sparse
		t.Fatal(err)
	}
	f.Close()
	for path, want := range map[string]string{pipe: "is not a regular file", dir: "is a directory", big: "is larger than 1 MiB", filepath.Join(dir, "none"): "no such file"} {
		if _, err := ReadPath(path, MaxYAML); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", filepath.Base(path), err, want)
		}
	}
	if data, err := ReadPath(good, MaxYAML); err != nil || string(data) != "id: a\n" {
		t.Errorf("good: %q %v", data, err)
	}
}

func TestNestedTooDeep(t *testing.T) {
	var v struct {
		List []any `yaml:"list"`
	}
	err := Decode("f.yaml", []byte("list: "+strings.Repeat("[", 100000)), &v)
	if err == nil || !strings.Contains(err.Error(), "nested more than 100 deep") {
		t.Errorf("%v", err)
	}
}
