package seed

import (
	"maps"
	"testing"
)

// TestModules: what go.mod files say of packages' folders.
func TestModules(t *testing.T) {
	for text, want := range map[string]string{
		"module host/m\n\ngo 1.26\n": "host/m", "// module no\n\n  module \"host/m\" // yes\n": "host/m", "module `host/m`\r\n": "host/m",
		"module (\n\thost/m\n)\n": "host/m", "module host/m": "host/m", "modules host/m\n": "", "go 1.26\n": "",
	} {
		got := modulesOf(map[string]string{"go.mod": text})
		if want == "" && len(got) > 0 || want != "" && !maps.Equal(got, goModules{want: "."}) {
			t.Errorf("%q is read as %v, want %q", text, got, want)
		}
	}
	all := modulesOf(map[string]string{"go.mod": "module host/m", "a.go": "package m", "sub/go.mod": "module host/m/nested/v2", "a/testdata/go.mod": "module host/m"})
	for pkg, want := range map[string]string{
		"host/m": ".", "host/m/a": "a", "host/m/nested": "nested", "host/m/nested/v2": "sub", "host/m/nested/v2/b": "sub/b",
		"host": "", "host/mm": "", "a": "", "command-line-arguments": "",
	} {
		if got, ok := all.folder(pkg); got != want || ok != (want != "") {
			t.Errorf("package %s lies in %q, want %q", pkg, got, want)
		}
	}
}

// TestOwnPackages: a package is the program's own if its module is, and not for
// the end of its path.
func TestOwnPackages(t *testing.T) {
	files := map[string]string{
		"go.mod": "module host/m\n", "b/b.go": "package b\n\nfunc F() int { return 1 }\n",
		"own.go": "package m\n\nimport \"host/m/b\"\n\nvar s string = b.F()\n",
	}
	if own := newGoProgram(files).packageOf("own.go"); len(own.errors) != 1 {
		t.Errorf("an own package is not seen: %q", own.errors)
	}
	files["own.go"] = "package m\n\nimport \"other/b\"\n\nvar s string = b.F()\n"
	if own := newGoProgram(files).packageOf("own.go"); len(own.errors) > 0 {
		t.Errorf("another's package is taken for an own one: %q", own.errors)
	}
}
