package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"
)

// TestReadme runs the commands of the README's section on tasks, in their order,
// in a folder with what the section says is there.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many tasks' commands")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Bring your own tasks\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(section, -1)
	if !found || len(blocks) < 4 {
		t.Fatalf("the section has %d blocks of commands", len(blocks))
	}
	data, err := txtar.ParseFile(filepath.Join("testdata", "readme.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	script := &txtar.Archive{Files: data.Files}
	for i, b := range blocks {
		name := fmt.Sprintf("block-%d.sh", i+1)
		script.Comment = append(script.Comment, fmt.Sprintf("exec sh -eux %s\n", name)...)
		script.Files = append(script.Files, txtar.File{Name: name, Data: []byte(b[1])})
	}
	script.Comment = append(script.Comment, data.Comment...)
	file := filepath.Join(t.TempDir(), "readme.txtar")
	if err := os.WriteFile(file, txtar.Format(script), 0o644); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Files: []string{file}, RequireExplicitExec: true, Condition: scriptCondition(t), Setup: func(env *testscript.Env) error {
		// Where there is no sandbox the section's commands would be refused.
		if ok, _ := scriptCondition(t)("bubblewrap"); !ok {
			env.Setenv("RETRIAL_SANDBOX", "none")
		}
		env.Setenv("LC_ALL", "C.UTF-8")
		return nil
	}})
}
