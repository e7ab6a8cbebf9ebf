package seed

import (
	"go/ast"
	"go/types"
	"slices"
)

// ident takes another name of the same type for one that is used.
func (f *goFile) ident(n *ast.Ident) {
	object := f.pkg.info.Uses[n]
	if object == nil {
		return
	}
	if object.Parent() == types.Universe {
		f.universal(n)
		return
	}
	switch parent := f.parent().(type) {
	case *ast.SelectorExpr:
		if parent.Sel == n {
			return
		}
	case *ast.KeyValueExpr:
		if v, ok := object.(*types.Var); ok && v.IsField() {
			return
		}
	}
	if !known(object.Type()) || object.Pkg() != f.pkg.types {
		return
	}
	operator := "name"
	if f.stored(n) {
		operator = "target"
	}
	others := f.others(n, object)
	for _, o := range others {
		f.replace(n, o, operator, goWeights[operator]/float64(len(others)))
	}
}

// universal turns round truth values, and takes a built-in for its sibling.
func (f *goFile) universal(n *ast.Ident) {
	switch n.Name {
	case "true":
		f.replace(n, "false", "constant", goWeights["constant"])
	case "false":
		f.replace(n, "true", "constant", goWeights["constant"])
	default:
		f.siblings(n)
	}
}

func (f *goFile) siblings(n *ast.Ident) {
	for _, group := range goSiblings {
		if !slices.Contains(group, n.Name) {
			continue
		}
		for _, other := range group {
			if other != n.Name {
				f.replace(n, other, "sibling", goWeights["sibling"]/float64(len(group)-1))
			}
		}
	}
}

// stored says whether a name, or the field of one, is what a statement sets.
func (f *goFile) stored(n ast.Expr) bool {
	switch parent := f.parent().(type) {
	case *ast.AssignStmt:
		return slices.Contains(parent.Lhs, n)
	case *ast.IncDecStmt:
		return parent.X == n
	}
	return false
}

// others are the names that could stand for an object at a place, sorted: for a
// local variable the local ones that are in scope, for what a package holds its
// others of that kind; of the same type, each.
func (f *goFile) others(n *ast.Ident, object types.Object) (out []string) {
	top := f.pkg.types.Scope()
	local := object.Parent() != top
	for scope := top.Innermost(n.Pos()); scope != nil; scope = scope.Parent() {
		if scope.Parent() == top {
			continue // a file's: its imports
		}
		if local == (scope == top) {
			if scope == top {
				break
			}
			continue
		}
		for _, name := range scope.Names() {
			o := scope.Lookup(name)
			_, seen := slices.BinarySearch(out, name)
			if seen || name == "_" || name == n.Name || !alike(o, object) || local && o.Pos() >= n.Pos() || shadowed(top, n, o) {
				continue
			}
			out = append(out, name)
			slices.Sort(out)
		}
		if scope == top {
			break
		}
	}
	return out
}

// alike says whether one object can stand where another does.
func alike(a, b types.Object) bool {
	kind := func(o types.Object) int {
		switch o.(type) {
		case *types.Var:
			return 1
		case *types.Const:
			return 2
		case *types.Func:
			return 3
		}
		return 0
	}
	return kind(a) != 0 && kind(a) == kind(b) && known(a.Type()) && types.Identical(a.Type(), b.Type()) && a.Name() != "init" && a.Name() != "main"
}

// shadowed says whether a name means something else than an object at a place.
func shadowed(top *types.Scope, n *ast.Ident, o types.Object) bool {
	scope := top.Innermost(n.Pos())
	if scope == nil {
		return true
	}
	_, found := scope.LookupParent(o.Name(), n.Pos())
	return found != o
}

// selector takes another field of the same type, or another function of a
// package that does nearly the same.
func (f *goFile) selector(n *ast.SelectorExpr) {
	chosen := f.pkg.info.Selections[n]
	if chosen == nil || chosen.Kind() != types.FieldVal {
		f.siblings(n.Sel)
		return
	}
	owner := chosen.Recv()
	if p, ok := owner.Underlying().(*types.Pointer); ok {
		owner = p.Elem()
	}
	record, ok := owner.Underlying().(*types.Struct)
	if !ok || len(chosen.Index()) != 1 {
		return
	}
	var others []string
	for field := range record.Fields() {
		usable := field.Exported() || field.Pkg() == f.pkg.types
		if usable && field.Name() != n.Sel.Name && field.Name() != "_" && known(field.Type()) && types.Identical(field.Type(), chosen.Type()) {
			others = append(others, field.Name())
		}
	}
	operator := "attribute"
	if f.stored(n) {
		operator = "target"
	}
	for _, o := range others {
		f.replace(n.Sel, o, operator, goWeights[operator]/float64(len(others)))
	}
}
