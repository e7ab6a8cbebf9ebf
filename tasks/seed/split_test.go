package seed

import (
	"context"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSplit: about half stays visible, one that fails always, all that fail never
// where there are two, and something is hidden.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		failing := []int{}
		for i := range n {
			if rapid.Bool().Draw(t, "fails") {
				failing = append(failing, i)
			}
		}
		seed := rapid.Uint64().Draw(t, "seed")
		visible, ok := split(n, failing, rand.New(rand.NewPCG(seed, 0)))
		if want := n >= 2 && len(failing) > 0; ok != want {
			t.Fatalf("split of %d, of which %v fail: %v", n, failing, ok)
		}
		if !ok {
			return
		}
		both := 0
		for _, i := range visible {
			if slices.Contains(failing, i) {
				both++
			}
		}
		size := (n + 1) / 2
		if !slices.IsSorted(visible) || len(slices.Compact(slices.Clone(visible))) != size || size >= n || visible[0] < 0 || visible[size-1] >= n {
			t.Fatalf("%v of %d stay visible, want %d", visible, n, size)
		}
		if both == 0 || len(failing) > 1 && both == len(failing) {
			t.Fatalf("%d of the failing %v are visible: %v", both, failing, visible)
		}
		again, _ := split(n, failing, rand.New(rand.NewPCG(seed, 0)))
		if !slices.Equal(again, visible) {
			t.Fatalf("one seed splits twice: %v, %v", visible, again)
		}
	})
}

const goTests = `package p

import (
	"fmt"
	"os"
	"strings"
	"testing"

	odd "example.org/odd/v2"
	"example.org/plain/v3"
)

func helper() { odd.Do() }

// TestOne has a comment of its own.
func TestOne(t *testing.T) { fmt.Println(plain.X) }

func TestMain(m *testing.M) { os.Exit(m.Run()) }

func Testing() {}

func FuzzTwo(f *testing.F) { strings.ToUpper("") }

func (s suite) TestNone() {}

func ExampleThree() {}
`

// TestGoReduce: the units of a test file, and the file without some of them: its
// imports go with them, and nothing else does.
func TestGoReduce(t *testing.T) {
	files := map[string]string{"p_test.go": goTests}
	found, err := Go{}.Tests(context.Background(), files, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, u := range found.Units {
		names = append(names, u.Name)
	}
	if want := []string{"TestOne", "FuzzTwo", "ExampleThree"}; !slices.Equal(names, want) {
		t.Fatalf("units %v, want %v", names, want)
	}
	got := reduce(Go{}, found, []int{2}, files)["p_test.go"]
	for _, gone := range []string{"TestOne", "comment of its own", "FuzzTwo", `"fmt"`, `"strings"`, "plain/v3"} {
		if strings.Contains(got, gone) {
			t.Errorf("%q is still there", gone)
		}
	}
	for _, there := range []string{"ExampleThree", "TestMain", `"os"`, `"testing"`, "odd/v2", "helper", "TestNone", "Testing"} {
		if !strings.Contains(got, there) {
			t.Errorf("%q is gone", there)
		}
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "", got, 0); err != nil {
		t.Error(err)
	}
	single := Go{}.Tidy("package p\n\nimport \"fmt\"\n\nfunc f() { fmt.Print() }\n", "package p\n\nimport \"fmt\"\n\nfunc f() {}\n")
	if strings.Contains(single, "import") {
		t.Errorf("a lone import stays: %q", single)
	}
}

// TestReduceFillsBlocks: a class that loses all it has gets something to hold.
func TestReduceFillsBlocks(t *testing.T) {
	text := "class A:\n    def test_a(self): f()\n    def test_b(self): g()\n\nclass B:\n    x = 1\n    def test_c(self): h()\n"
	unit := func(name, block string, alone bool) Unit {
		line := strings.Index(text, "    def "+name)
		return Unit{Path: "t.py", Name: block + "." + name, Start: line, End: line + strings.IndexByte(text[line:], '\n') + 1, Block: block, Alone: alone, Filler: "    pass\n"}
	}
	found := Tests{Units: []Unit{unit("test_a", "A", true), unit("test_b", "A", true), unit("test_c", "B", false)}}
	for _, c := range []struct {
		visible []int
		want    string
	}{
		{[]int{2}, "class A:\n    pass\n\nclass B:\n    x = 1\n    def test_c(self): h()\n"},
		{[]int{1}, "class A:\n    def test_b(self): g()\n\nclass B:\n    x = 1\n"},
	} {
		if got := reduce(Go{}, found, c.visible, map[string]string{"t.py": text})["t.py"]; got != c.want {
			t.Errorf("%v visible:\n%s\nwant\n%s", c.visible, got, c.want)
		}
	}
}

// TestDraw: a seed fixes the order; weights count, and functions, lines and
// operators are spread.
func TestDraw(t *testing.T) {
	var list []Mutant
	for i := range 60 {
		list = append(list, Mutant{Line: i / 2, Operator: []string{"a", "b", "c"}[i%3], Function: []string{"f", "g"}[i/30], Weight: 1 + float64(i%2)*9})
	}
	heavy, functions, operators := 0, map[string]int{}, map[string]int{}
	for seed := range uint64(200) {
		got := draw(list, source(seed, "x"), 6)
		if len(got) != 6 || !slices.Equal(got, draw(list, source(seed, "x"), 6)) {
			t.Fatalf("seed %d draws %v", seed, got)
		}
		for _, m := range got {
			functions[m.Function]++
			operators[m.Operator]++
			if m.Weight > 5 {
				heavy++
			}
		}
	}
	if heavy < 900 || functions["f"] < 500 || functions["g"] < 500 || min(operators["a"], operators["b"], operators["c"]) < 330 {
		t.Errorf("%d of 1200 are heavy; functions %v, operators %v", heavy, functions, operators)
	}
	if got := draw(list, source(1, "x"), 100); len(got) != 60 {
		t.Errorf("%d drawn of 60", len(got))
	}
}
