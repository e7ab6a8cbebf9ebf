package seed

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// goWeights are prior weights: those of the built-in repairer, for the operators
// that Go has too. Where n places share one, each gets 1/n of it.
var goWeights = map[string]float64{
	"boundary": 6, "name": 4, "attribute": 3, "constant": 3, "boolean": 3, "sibling": 3, "negate": 2, "swap": 2, "arithmetic": 2,
	"bitwise": 2, "append": 1.5, "compare": 1, "delete": 1, "jump": 1, "target": 1, "move": 0.7, "return": 0.25,
}

var (
	goBoundary   = map[string]string{"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
	goComplement = map[string]string{"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
	goCompare    = map[string][]string{"<": {">", ">="}, "<=": {">=", ">"}, ">": {"<", "<="}, ">=": {"<=", "<"}, "==": {"<=", ">="}, "!=": {"<", ">"}}
	goArithmetic = map[string][]string{"+": {"-", "*"}, "-": {"+", "*"}, "*": {"+", "/"}, "/": {"*", "%"}, "%": {"/", "*"}}
	goBitwise    = map[string][]string{"&": {"|", "^"}, "|": {"&", "^"}, "^": {"|", "&"}, "<<": {">>"}, ">>": {"<<"}, "&^": {"&", "|"}}
	// Names that a person takes for one another; a package's, or built in.
	goSiblings = [][]string{
		{"min", "max"}, {"Floor", "Ceil", "Round", "Trunc"}, {"HasPrefix", "HasSuffix"}, {"TrimPrefix", "TrimSuffix"}, {"CutPrefix", "CutSuffix"},
		{"TrimLeft", "TrimRight", "Trim"}, {"Index", "LastIndex"}, {"IndexByte", "LastIndexByte"}, {"ToUpper", "ToLower"},
		{"Contains", "ContainsAny"}, {"Split", "SplitAfter"}, {"IsUpper", "IsLower"}, {"IsDigit", "IsLetter"}, {"Before", "After"},
		{"Hour", "Minute", "Second"}, {"Min", "Max"}, {"Sort", "Stable"}, {"MaxInt", "MinInt"}, {"MaxInt64", "MinInt64"},
	}
)

// goFile collects the mutants of one file.
type goFile struct {
	pkg      *goPackageFiles
	path     string
	text     string
	file     *token.File
	function string
	found    map[string]Mutant // by the text that they give
	stack    []ast.Node        // the parents of the node at hand, the nearest last
}

// goMutants lists a file's mutants in the order of lines; of those that give the
// same text the one of most weight.
func goMutants(prog *goProgram, pkg *goPackageFiles, path string) []Mutant {
	root := pkg.files[path]
	f := &goFile{pkg: pkg, path: path, text: prog.files[path], file: prog.fset.File(root.Pos()), found: map[string]Mutant{}}
	for _, d := range root.Decls {
		f.function = ""
		if fn, ok := d.(*ast.FuncDecl); ok {
			f.function = fn.Name.Name
			if fn.Recv != nil && len(fn.Recv.List) == 1 {
				f.function = strings.TrimLeft(f.get(fn.Recv.List[0].Type), "*") + "." + f.function
			}
		} else if g := d.(*ast.GenDecl); g.Tok == token.IMPORT || g.Tok == token.TYPE {
			continue
		}
		ast.Inspect(d, f.visit)
	}
	out := make([]Mutant, 0, len(f.found))
	for _, m := range f.found {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Mutant) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Text, b.Text))
	})
	return out
}

func (f *goFile) visit(n ast.Node) bool {
	if n == nil {
		f.stack = f.stack[:len(f.stack)-1]
		return true
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.UnaryExpr:
		f.unary(n)
	case *ast.BasicLit:
		f.literal(n)
	case *ast.Ident:
		f.ident(n)
	case *ast.SelectorExpr:
		f.selector(n)
	case *ast.CallExpr:
		f.call(n)
	case *ast.IndexExpr:
		f.append(n.Index, "")
	case *ast.SliceExpr:
		f.append(n.Low, "")
		f.append(n.High, "")
	case *ast.IfStmt:
		f.negate(n.Cond)
	case *ast.ForStmt:
		f.negate(n.Cond)
	default:
		f.statement(n)
	}
	f.stack = append(f.stack, n)
	return true
}

func (f *goFile) at(p token.Pos) int { return f.file.Offset(p) }

func (f *goFile) get(n ast.Node) string { return f.text[f.at(n.Pos()):f.at(n.End())] }

func (f *goFile) typeOf(e ast.Expr) types.Type { return f.pkg.info.TypeOf(e) }

// goSafe are the operators that put one word in the place of another of its kind:
// what they give parses.
var goSafe = []string{"boundary", "compare", "boolean", "bitwise", "name", "target", "attribute", "sibling"}

// emit notes a mutant, unless the file does not parse with it.
func (f *goFile) emit(start, end int, text, operator string, weight float64) {
	m := Mutant{Path: f.path, Line: f.file.Line(f.file.Pos(start)), Start: start, End: end, Text: text, Operator: operator, Function: f.function, Weight: weight}
	result := m.apply(f.text)
	if old, ok := f.found[result]; ok && old.Weight >= weight || result == f.text {
		return
	}
	if !slices.Contains(goSafe, operator) {
		if _, err := parser.ParseFile(token.NewFileSet(), "", result, parser.SkipObjectResolution); err != nil {
			return
		}
	}
	f.found[result] = m
}

func (f *goFile) replace(n ast.Node, text, operator string, weight float64) {
	f.emit(f.at(n.Pos()), f.at(n.End()), text, operator, weight)
}

// choose replaces an operator by each of its alternatives, which share a weight.
func (f *goFile) choose(at token.Pos, was string, choices []string, operator, behind string) {
	for _, c := range choices {
		f.emit(f.at(at), f.at(at)+len(was+behind), c+behind, operator, goWeights[operator]/float64(len(choices)))
	}
}

func (f *goFile) binary(n *ast.BinaryExpr) {
	op := n.Op.String()
	switch left := f.typeOf(n.X); {
	case op == "&&" || op == "||":
		f.choose(n.OpPos, op, []string{map[string]string{"&&": "||", "||": "&&"}[op]}, "boolean", "")
		f.negate(n.X)
		f.negate(n.Y)
	case goBoundary[op] != "":
		f.choose(n.OpPos, op, []string{goBoundary[op]}, "boundary", "")
		f.compare(n, op)
		// One of the two directions says the same as moving the boundary.
		f.append(n.Y, map[string]string{"<": "+", "<=": "-", ">": "-", ">=": "+"}[op])
	case goComplement[op] != "":
		if basic(left, types.IsNumeric) {
			f.compare(n, op)
		}
		f.emit(f.at(n.OpPos), f.at(n.OpPos)+len(op), goComplement[op], "compare", goWeights["compare"])
		f.append(n.Y, "")
	case goArithmetic[op] != nil && basic(left, types.IsNumeric):
		f.choose(n.OpPos, op, goArithmetic[op], "arithmetic", "")
		if op == "-" || op == "/" || op == "%" {
			f.exchange(n.X, n.Y, goWeights["swap"])
		}
	case goBitwise[op] != nil && basic(left, types.IsInteger):
		f.choose(n.OpPos, op, goBitwise[op], "bitwise", "")
	}
}

func (f *goFile) compare(n *ast.BinaryExpr, op string) {
	for _, c := range goCompare[op] {
		f.emit(f.at(n.OpPos), f.at(n.OpPos)+len(op), c, "compare", goWeights["compare"])
	}
}

// negate turns a condition round.
func (f *goFile) negate(e ast.Expr) {
	switch e := e.(type) {
	case nil:
	case *ast.BinaryExpr:
		if c := goComplement[e.Op.String()]; c != "" {
			f.emit(f.at(e.OpPos), f.at(e.OpPos)+len(e.Op.String()), c, "negate", goWeights["negate"])
		} else {
			f.replace(e, "!("+f.get(e)+")", "negate", goWeights["negate"])
		}
	case *ast.UnaryExpr: // a "!" is taken away by itself
	default:
		f.replace(e, "!"+f.get(e), "negate", goWeights["negate"])
	}
}

func (f *goFile) unary(n *ast.UnaryExpr) {
	switch n.Op {
	case token.NOT:
		f.replace(n, f.get(n.X), "negate", goWeights["negate"])
	case token.SUB:
		f.replace(n, f.get(n.X), "arithmetic", goWeights["arithmetic"]/2)
	}
}

func (f *goFile) parent() ast.Node {
	if len(f.stack) == 0 {
		return nil
	}
	return f.stack[len(f.stack)-1]
}

// literal moves a whole number by one; one behind a sign too.
func (f *goFile) literal(n *ast.BasicLit) {
	if n.Kind != token.INT {
		return
	}
	value, err := strconv.ParseInt(n.Value, 0, 64)
	if _, length := f.parent().(*ast.ArrayType); err != nil || length {
		return
	}
	for _, by := range []int64{1, -1} {
		text := strconv.FormatInt(value+by, 10)
		if _, signed := f.parent().(*ast.UnaryExpr); signed && value+by < 0 {
			continue
		}
		if value+by < 0 && f.at(n.Pos()) > 0 && f.text[f.at(n.Pos())-1] == '-' {
			text = " " + text // x-0
		}
		f.replace(n, text, "constant", goWeights["constant"])
	}
}

func (f *goFile) call(n *ast.CallExpr) {
	if tv := f.pkg.info.Types[n.Fun]; tv.IsType() {
		return
	}
	for i, arg := range n.Args {
		f.append(arg, "")
		if i == 0 || n.Ellipsis.IsValid() && i == len(n.Args)-1 {
			continue
		}
		a, b := f.typeOf(n.Args[i-1]), f.typeOf(arg)
		commutes := slices.Contains([]string{"min", "max"}, f.get(n.Fun))
		if known(a) && known(b) && types.Identical(types.Default(a), types.Default(b)) && !commutes {
			f.exchange(n.Args[i-1], arg, goWeights["swap"])
		}
	}
}

// exchange swaps two neighbouring expressions.
func (f *goFile) exchange(left, right ast.Expr, weight float64) {
	start, end := f.at(left.Pos()), f.at(right.End())
	first, second, middle := f.get(left), f.get(right), f.text[f.at(left.End()):f.at(right.Pos())]
	if first != second && !strings.Contains(f.text[start:end], "\n") && !strings.ContainsAny(middle, "()") {
		f.emit(start, end, second+middle+first, "swap", weight)
	}
}

// append adds or takes one where a whole number is used; not where skip says the
// sign.
func (f *goFile) append(e ast.Expr, skip string) {
	if e == nil || !basic(f.typeOf(e), types.IsInteger) || f.pkg.info.Types[e].Value != nil || f.pkg.info.Types[e].IsType() {
		return
	}
	switch e := e.(type) {
	case *ast.UnaryExpr, *ast.FuncLit:
		return
	case *ast.BinaryExpr:
		// A constant at the end is mutated itself.
		_, ends := e.Y.(*ast.BasicLit)
		sum := e.Op == token.ADD || e.Op == token.SUB
		if ends && sum || !sum && goArithmetic[e.Op.String()] == nil {
			return
		}
	}
	for _, sign := range []string{"+", "-"} {
		if sign != skip {
			f.emit(f.at(e.End()), f.at(e.End()), fmt.Sprintf(" %s 1", sign), "append", goWeights["append"])
		}
	}
}
