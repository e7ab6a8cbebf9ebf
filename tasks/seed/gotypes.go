package seed

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// goMod is the file that names a module.
const goMod = "go.mod"

// goProgram are the packages of a module, their types worked out as far as they
// depend on each other alone.
type goProgram struct {
	files    map[string]string
	modules  goModules
	fset     *token.FileSet
	packages map[string]*goPackageFiles // by folder
}

// goPackageFiles is one package. Types that come from outside the module are
// unknown, which is no error.
type goPackageFiles struct {
	files  map[string]*ast.File // those that parse
	types  *types.Package
	info   *types.Info
	errors []string // messages, in no particular order
}

var errOutside = errors.New("it lies outside the module")

func newGoProgram(files map[string]string) *goProgram {
	return &goProgram{files: files, modules: modulesOf(files), fset: token.NewFileSet(), packages: map[string]*goPackageFiles{}}
}

// goModules are the folders of modules by module path.
type goModules map[string]string

// moduleLine is go.mod's; its path may be quoted, or stand in brackets.
var moduleLine = regexp.MustCompile("(?m)^[ \\t]*module(?:[ \\t]+|[ \\t]*\\(\\s*)[\"`]?([^\\s()\"`]+)")

// modulesOf reads the go.mod files of a program. Of two modules of one path, such
// as one below testdata, it takes the one in fewer folders.
func modulesOf(files map[string]string) goModules {
	out := goModules{}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if path.Base(p) != goMod {
			continue
		}
		m := moduleLine.FindStringSubmatch(files[p])
		if m == nil {
			continue
		}
		if other, taken := out[m[1]]; !taken || strings.Count(p, "/") < strings.Count(path.Join(other, goMod), "/") {
			out[m[1]] = path.Dir(p)
		}
	}
	return out
}

// folder is where a package's files lie, if it is one of the modules': the
// module with the longest path has it.
func (m goModules) folder(pkg string) (string, bool) {
	for start := pkg; start != "." && start != "/"; start = path.Dir(start) {
		if dir, ok := m[start]; ok {
			return path.Join(dir, strings.TrimPrefix(pkg, start)), true
		}
	}
	return "", false
}

// packageOf is the package of a file; nil where the file does not parse.
func (g *goProgram) packageOf(file string) *goPackageFiles {
	pkg := g.load(path.Dir(file))
	if pkg.files[file] == nil {
		return nil
	}
	return pkg
}

// load works out the types of a folder's package. Packages that import each
// other in a circle see nothing of one another.
func (g *goProgram) load(folder string) *goPackageFiles {
	if pkg := g.packages[folder]; pkg != nil {
		return pkg
	}
	pkg := &goPackageFiles{files: map[string]*ast.File{}, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{},
	}}
	g.packages[folder] = pkg
	var list []*ast.File
	for _, p := range slices.Sorted(maps.Keys(g.files)) {
		if path.Dir(p) != folder || !strings.HasSuffix(p, ".go") {
			continue
		}
		file, err := parser.ParseFile(g.fset, p, g.files[p], parser.ParseComments|parser.SkipObjectResolution)
		if err == nil {
			pkg.files[p] = file
			list = append(list, file)
		}
	}
	config := types.Config{Importer: goImporter{g}, FakeImportC: true, Error: func(err error) {
		var told types.Error
		if errors.As(err, &told) && !strings.Contains(told.Msg, errOutside.Error()) {
			pkg.errors = append(pkg.errors, told.Msg)
		}
	}}
	// Its error is the first of those that Error was given.
	pkg.types, _ = config.Check(folder, g.fset, list, pkg.info)
	return pkg
}

// goImporter finds the packages of the program's own modules.
type goImporter struct{ g *goProgram }

func (i goImporter) Import(p string) (*types.Package, error) {
	folder, ok := i.g.modules.folder(p)
	if !ok {
		return nil, errOutside
	}
	pkg := i.g.load(folder)
	if pkg.types == nil || len(pkg.files) == 0 {
		return nil, errOutside
	}
	return pkg.types, nil
}

// known says whether a type was worked out.
func known(t types.Type) bool {
	b, basic := t.(*types.Basic)
	return t != nil && !(basic && b.Kind() == types.Invalid)
}

// basic says whether a type's underlying one is basic with this property.
func basic(t types.Type, info types.BasicInfo) bool {
	if !known(t) {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&info != 0
}
