package workspace

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
)

// TestProtected: what is said of changed protected files, line by line.
func TestProtected(t *testing.T) {
	const file = "tests/test_calc.py"
	tree := mustTree(t, map[string]string{file: "one\ntwo\nthree\nfour\n", "tests/data.bin": "\x00\x01", "calc.py": "x\n", "odd[1].py": "odd\n", "link": "->calc.py"})
	rewrite := func(name, text string) func(string) error {
		return func(dir string) error { return os.WriteFile(dir+"/"+name, []byte(text), 0o644) }
	}
	for name, c := range map[string]struct {
		litter                   func(dir string) error
		changed                  []string
		added, weakened, removed int
		same                     bool // the hash is the pristine one
	}{
		"untouched":         {litter: func(string) error { return nil }, same: true},
		"another file":      {litter: rewrite("calc.py", "mine\n"), same: true},
		"a line less":       {rewrite(file, "one\nthree\nfour\n"), []string{file}, 0, 0, 1, false},
		"a line more":       {rewrite(file, "one\ntwo\nmore\nthree\nfour\n"), []string{file}, 1, 0, 0, false},
		"a line for two":    {rewrite(file, "one\nnone\nfour\n"), []string{file}, 0, 1, 1, false},
		"emptied":           {rewrite(file, ""), []string{file}, 0, 0, 4, false},
		"gone":              {func(dir string) error { return os.RemoveAll(dir + "/tests") }, []string{"tests/data.bin", file}, 0, 0, 5, false},
		"binary":            {rewrite("tests/data.bin", "\x00\x02"), []string{"tests/data.bin"}, 0, 1, 0, false},
		"a new file":        {rewrite("tests/conftest.py", "a\nb\n"), nil, 2, 0, 0, false},
		"the mode alone":    {func(dir string) error { return os.Chmod(dir+"/"+file, 0) }, nil, 0, 0, 0, false},
		"a name of classes": {rewrite("odd[1].py", "even\n"), []string{"odd[1].py"}, 0, 1, 0, false},
		"a directory for it": {func(dir string) error {
			return errors.Join(os.Remove(dir+"/"+file), os.Mkdir(dir+"/"+file, 0o755))
		}, []string{file}, 0, 0, 4, false},
		"all gone": {os.RemoveAll, []string{"odd[1].py", "tests/data.bin", file}, 0, 0, 6, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, tree)
			mustDo(t, c.litter(w.Dir))
			paths := []string{"tests", Literally("odd[1].py"), Literally("none*")}
			got, err := w.Protected(paths, tree)
			mustDo(t, err)
			pristine, err := tree.ProtectedSHA(paths)
			mustDo(t, err)
			told := fmt.Sprint(got.Changed, got.Added, got.Weakened, got.Removed, got.SHA == pristine)
			if want := fmt.Sprint(c.changed, c.added, c.weakened, c.removed, c.same); told != want {
				t.Errorf("%s, want %s", told, want)
			}
			again, err := w.Protected(paths, tree)
			if err != nil || again.SHA != got.SHA || !slices.Equal(again.Changed, got.Changed) {
				t.Errorf("a second look sees %+v, the first saw %+v (%v)", again, got, err)
			}
			if _, err := w.Restore(paths); err != nil {
				t.Fatal(err)
			}
			if after, err := w.Protected(paths, tree); err != nil || after.SHA != pristine || len(after.Changed) > 0 {
				t.Errorf("after Restore: %+v, %v", after, err)
			}
		})
	}
	if _, err := open(t, tree).Protected([]string{"../x"}, tree); !errors.Is(err, ErrInvalidPath) {
		t.Errorf("a path that leaves the tree: %v", err)
	}
}
