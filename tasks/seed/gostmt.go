package seed

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// statement collects the mutants of what is no expression.
func (f *goFile) statement(n ast.Node) {
	switch n := n.(type) {
	case *ast.BlockStmt:
		f.block(n.List)
	case *ast.CaseClause:
		f.block(n.Body)
	case *ast.CommClause:
		f.block(n.Body)
	case *ast.AssignStmt:
		f.assign(n)
	case *ast.IncDecStmt:
		f.choose(n.TokPos, n.Tok.String(), []string{map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok]}, "arithmetic", "")
	case *ast.BranchStmt:
		f.jump(n)
	case *ast.ReturnStmt:
		f.returns(n)
	}
}

func (f *goFile) assign(n *ast.AssignStmt) {
	op, compound := strings.CutSuffix(n.Tok.String(), "=")
	if compound && op != "" && op != ":" {
		t := f.typeOf(n.Lhs[0])
		if basic(t, types.IsNumeric) {
			f.choose(n.TokPos, op, goArithmetic[op], "arithmetic", "=")
			f.choose(n.TokPos, op+"=", []string{"="}, "arithmetic", "")
		}
		if basic(t, types.IsInteger) {
			f.choose(n.TokPos, op, goBitwise[op], "bitwise", "=")
		}
	}
	for _, value := range n.Rhs {
		f.append(value, "")
	}
	if len(n.Rhs) == 2 && len(n.Lhs) == 2 {
		f.pair(n.Rhs)
	}
}

// pair exchanges two values of one type.
func (f *goFile) pair(values []ast.Expr) {
	a, b := f.typeOf(values[0]), f.typeOf(values[1])
	if known(a) && known(b) && types.Identical(types.Default(a), types.Default(b)) {
		f.exchange(values[0], values[1], goWeights["swap"]/2)
	}
}

// jump takes break for continue, in a loop.
func (f *goFile) jump(n *ast.BranchStmt) {
	if n.Label != nil {
		return
	}
	for i := len(f.stack) - 1; i >= 0; i-- {
		switch f.stack[i].(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
			return // there a break means something else
		case *ast.ForStmt, *ast.RangeStmt:
			switch n.Tok {
			case token.BREAK:
				f.replace(n, "continue", "jump", goWeights["jump"])
			case token.CONTINUE:
				f.replace(n, "break", "jump", goWeights["jump"])
			}
			return
		}
	}
}

// returns gives back something plain in a result's place.
func (f *goFile) returns(n *ast.ReturnStmt) {
	for _, value := range n.Results {
		f.append(value, "")
		for _, plain := range f.plain(value) {
			if plain != f.get(value) {
				f.replace(value, plain, "return", goWeights["return"])
			}
		}
	}
	if len(n.Results) == 2 {
		f.pair(n.Results)
	}
}

// plain are the simplest values of an expression's type.
func (f *goFile) plain(e ast.Expr) []string {
	t := f.typeOf(e)
	switch {
	case !known(t):
		return nil
	case basic(t, types.IsBoolean):
		out := []string{"true", "false"}
		if _, literal := e.(*ast.Ident); !literal {
			out = append(out, "!("+f.get(e)+")")
		}
		return out
	case basic(t, types.IsNumeric):
		return []string{"0"}
	case basic(t, types.IsString):
		return []string{`""`}
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface, *types.Signature, *types.Chan:
		return []string{"nil"}
	}
	return nil
}

func (f *goFile) block(list []ast.Stmt) {
	for i, s := range list {
		f.drop(s)
		if i+1 < len(list) {
			f.down(s, list[i+1])
		}
	}
}

// drop leaves a statement out: one that is simple, or a condition with one such
// statement in it.
func (f *goFile) drop(s ast.Stmt) {
	weight := goWeights["delete"]
	if cond, ok := s.(*ast.IfStmt); ok && cond.Init == nil && cond.Else == nil && len(cond.Body.List) == 1 && (plainStmt(cond.Body.List[0]) || leaves(cond.Body.List[0])) {
		weight /= 2
	} else if a, ok := s.(*ast.AssignStmt); !plainStmt(s) && !isBranch(s) || ok && a.Tok == token.DEFINE {
		return
	}
	start, end := wholeLines(f.text, f.at(s.Pos()), f.at(s.End()))
	f.emit(start, end, "", "delete", weight)
	if m, ok := f.found[f.text[:start]+f.text[end:]]; ok && m.Operator == "delete" { // it is counted to the statement's line
		m.Line = f.file.Line(s.Pos())
		f.found[f.text[:start]+f.text[end:]] = m
	}
}

// plainStmt says whether a statement holds no other and goes on to the next.
func plainStmt(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.ExprStmt, *ast.AssignStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt:
		return true
	}
	return false
}

func isBranch(s ast.Stmt) bool {
	b, ok := s.(*ast.BranchStmt)
	return ok && b.Label == nil && (b.Tok == token.BREAK || b.Tok == token.CONTINUE)
}

func leaves(s ast.Stmt) bool {
	_, ok := s.(*ast.ReturnStmt)
	return ok || isBranch(s)
}

// down exchanges a statement with the next, where one of them is simple.
func (f *goFile) down(s, next ast.Stmt) {
	if !plainStmt(s) && !plainStmt(next) || leaves(s) || leaves(next) {
		return
	}
	a, b := wholeLines(f.text, f.at(s.Pos()), f.at(s.End()))
	c, d := wholeLines(f.text, f.at(next.Pos()), f.at(next.End()))
	if a == f.at(s.Pos()) && a > 0 && f.text[a-1] != '\n' || b > c || f.text[b-1] != '\n' || f.text[d-1] != '\n' || independent(s, next) {
		return
	}
	f.emit(a, d, f.text[c:d]+f.text[b:c]+f.text[a:b], "move", goWeights["move"])
}

// independent says whether two statements plainly commute: neither calls
// anything, and neither sets a name that the other has.
func independent(a, b ast.Stmt) bool {
	names := func(s ast.Stmt) (all, set map[string]bool, calls bool) {
		all, set = map[string]bool{}, map[string]bool{}
		mark := func(e ast.Expr) {
			ast.Inspect(e, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					set[id.Name] = true
				}
				return true
			})
		}
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				calls = true
			case *ast.Ident:
				all[n.Name] = true
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					mark(e)
				}
			case *ast.IncDecStmt:
				mark(n.X)
			}
			return true
		})
		return all, set, calls
	}
	allA, setA, callsA := names(a)
	allB, setB, callsB := names(b)
	meet := func(x, y map[string]bool) bool {
		for n := range x {
			if y[n] {
				return true
			}
		}
		return false
	}
	return !callsA && !callsB && !meet(setA, allB) && !meet(setB, allA)
}
