// Package suites holds the built-in designs, one YAML file each.
package suites

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"retrial/tasks/strict"
)

//go:embed *.yaml
var files embed.FS

// Names lists the built-in designs.
func Names() []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		panic(err) // the folder is embedded in the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Read returns the text of a built-in design.
func Read(name string) ([]byte, error) {
	data, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("%s", strict.Unknown("built-in design", name, Names()))
	}
	return data, nil
}
