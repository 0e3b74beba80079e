package pkg_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// bannedImports are the packages, with all below them, that bring environment, network or chance into a deterministic package.
var bannedImports = []string{"os", "net", "math/rand", "crypto/rand"}

var idMaker = regexp.MustCompile(`(?i)\b\w*(uuid|ulid|ksuid|xid|nanoid)\w*\b`)

// bannedNames are what no deterministic package may use, by full name, with the reason.
var bannedNames = map[string]string{
	"time.Now":                 "time is an input",
	"time.Since":               "time is an input",
	"time.Until":               "time is an input",
	"time.Local":               "time is an input",
	"(time.Time).Local":        "time is an input",
	"strings.ToLower":          "case tables change with the Unicode version",
	"strings.ToUpper":          "case tables change with the Unicode version",
	"strings.Title":            "case tables change with the Unicode version",
	"strings.EqualFold":        "case tables change with the Unicode version",
	"bytes.ToLower":            "case tables change with the Unicode version",
	"bytes.ToUpper":            "case tables change with the Unicode version",
	"bytes.Title":              "case tables change with the Unicode version",
	"bytes.EqualFold":          "case tables change with the Unicode version",
	"math.Pow":                 "platforms differ in the last bit",
	"math.Exp":                 "platforms differ in the last bit",
	"math.Exp2":                "platforms differ in the last bit",
	"(reflect.Value).MapKeys":  "map order is random",
	"(reflect.Value).MapRange": "map order is random",
	"(reflect.Value).Seq":      "map order is random",
	"(reflect.Value).Seq2":     "map order is random",
	"(*sync.Map).Range":        "map order is random",
}

var (
	mapIterators = []string{"maps.Keys", "maps.Values", "maps.All"}
	sorters      = []string{"slices.Sorted", "slices.SortedFunc", "slices.SortedStableFunc"}
	verbless     = []string{
		"fmt.Print", "fmt.Println", "fmt.Sprint", "fmt.Sprintln", "fmt.Fprint", "fmt.Fprintln", "fmt.Append", "fmt.Appendln",
	}
	looseVerb = regexp.MustCompile(`%[-+# 0]*(\[\d+\])?[\d*]*(\.[\d*]*)?(\[\d+\])?[vgG]`)
)

// banCheck looks through the files of one type-checked package.
type banCheck struct {
	pkg        *packages.Package
	name       string // as in the import table
	root       string
	sorted     map[*ast.Ident]bool // map iterators that stand directly inside a sorter
	complaints []string
}

// strict says whether the package is held to the rules on verbs and concurrency.
func (c *banCheck) strict() bool { return c.name == "canon" || c.name == "pipeline" }

func (c *banCheck) complain(pos token.Pos, format string, args ...any) {
	at := c.pkg.Fset.Position(pos)
	name, err := filepath.Rel(c.root, at.Filename)
	if err != nil {
		name = at.Filename
	}
	c.complaints = append(c.complaints, fmt.Sprintf("%s:%d: %s", filepath.ToSlash(name), at.Line, fmt.Sprintf(format, args...)))
}

func (c *banCheck) run() []string {
	for _, file := range c.pkg.Syntax {
		for _, spec := range file.Imports {
			c.checkImport(spec)
		}
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && c.name == "canon" && f.Recv == nil && f.Name.Name == "SortedKeys" {
				continue // the one place where a map may be walked
			}
			ast.Inspect(declaration, c.visit)
		}
	}
	return c.complaints
}

func (c *banCheck) checkImport(spec *ast.ImportSpec) {
	path, _ := strconv.Unquote(spec.Path.Value)
	for _, banned := range bannedImports {
		if path == banned || strings.HasPrefix(path, banned+"/") {
			c.complain(spec.Pos(), "%s is deterministic and must not import %s", c.name, path)
		}
	}
	if idMaker.MatchString(path) {
		c.complain(spec.Pos(), "%s is deterministic and must not make ids with %s", c.name, path)
	}
}

func (c *banCheck) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.RangeStmt:
		if isMap(c.pkg.TypesInfo.TypeOf(n.X)) {
			c.complain(n.Pos(), "range over a map: map order is random")
		}
	case *ast.CallExpr:
		c.noteSorter(n)
	case *ast.Ident:
		c.checkUse(n)
	case *ast.BasicLit:
		c.checkVerbs(n)
	case *ast.GoStmt:
		if c.strict() {
			c.complain(n.Pos(), "go statement: the scheduler is no input")
		}
	case *ast.SelectStmt:
		if c.strict() {
			c.complain(n.Pos(), "select statement: the scheduler is no input")
		}
	}
	return true
}

// noteSorter remembers the map iterator that is the first argument of a sorter.
func (c *banCheck) noteSorter(call *ast.CallExpr) {
	if len(call.Args) == 0 || !slices.Contains(sorters, c.fullName(calledName(call.Fun))) {
		return
	}
	if inner, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr); ok {
		c.sorted[calledName(inner.Fun)] = true
	}
}

func (c *banCheck) checkUse(name *ast.Ident) {
	full := c.fullName(name)
	if reason, banned := bannedNames[full]; banned {
		c.complain(name.Pos(), "%s: %s", full, reason)
	}
	if slices.Contains(mapIterators, full) && !c.sorted[name] {
		c.complain(name.Pos(), "%s outside slices.Sorted: map order is random", full)
	}
	if c.strict() && slices.Contains(verbless, full) {
		c.complain(name.Pos(), "%s prints as the verb %%v does", full)
	}
}

func (c *banCheck) checkVerbs(literal *ast.BasicLit) {
	if !c.strict() || literal.Kind != token.STRING {
		return
	}
	text, _ := strconv.Unquote(literal.Value)
	if verb := looseVerb.FindString(strings.ReplaceAll(text, "%%", "")); verb != "" {
		c.complain(literal.Pos(), "the verb %s: its form is nobody's contract", verb)
	}
}

// fullName gives the full name of the function, or of the package variable, that an identifier uses; else nothing.
func (c *banCheck) fullName(name *ast.Ident) string {
	switch object := c.pkg.TypesInfo.Uses[name].(type) {
	case *types.Func:
		return object.Origin().FullName()
	case *types.Var:
		if object.Pkg() != nil && object.Parent() == object.Pkg().Scope() {
			return object.Pkg().Path() + "." + object.Name()
		}
	}
	return ""
}

// calledName gives the identifier that names a called function; for a call of another form an identifier that means nothing.
func calledName(called ast.Expr) *ast.Ident {
	switch f := ast.Unparen(called).(type) {
	case *ast.Ident:
		return f
	case *ast.SelectorExpr:
		return f.Sel
	case *ast.IndexExpr:
		return calledName(f.X)
	case *ast.IndexListExpr:
		return calledName(f.X)
	}
	return ast.NewIdent("_")
}

// isMap says whether a type is a map, or a type parameter that a map can stand for.
func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Interface:
		for embedded := range u.EmbeddedTypes() {
			if unionHasMap(embedded) {
				return true
			}
		}
	}
	return false
}

func unionHasMap(t types.Type) bool {
	union, ok := t.(*types.Union)
	if !ok {
		return isMap(t)
	}
	for term := range union.Terms() {
		if isMap(term.Type()) {
			return true
		}
	}
	return false
}

// banComplaints type-checks the packages of these names that exist below a root, and holds them to the bans.
func banComplaints(root string, names []string) ([]string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	var patterns []string
	for _, name := range names {
		if files, _ := filepath.Glob(filepath.Join(root, "pkg", name, "*.go")); len(files) > 0 {
			patterns = append(patterns, "./pkg/"+name)
		}
	}
	if len(patterns) == 0 {
		return nil, fmt.Errorf("no deterministic package below %s", root)
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Dir:  root,
		Env:  append(os.Environ(), "CGO_ENABLED=0"),
	}, patterns...)
	if err != nil {
		return nil, err
	}
	var complaints []string
	for _, pkg := range loaded {
		found, err := packageComplaints(root, pkg)
		if err != nil {
			return nil, err
		}
		complaints = append(complaints, found...)
	}
	return complaints, nil
}

func packageComplaints(root string, pkg *packages.Package) ([]string, error) {
	if len(pkg.Errors) > 0 {
		return nil, fmt.Errorf("%s does not type-check: %w", pkg.PkgPath, pkg.Errors[0])
	}
	c := &banCheck{pkg: pkg, name: strings.TrimPrefix(pkg.PkgPath, module+"/pkg/"), root: root, sorted: map[*ast.Ident]bool{}}
	complaints := c.run()
	for _, ignored := range pkg.IgnoredFiles {
		if strings.HasSuffix(ignored, "_test.go") {
			continue
		}
		name, err := filepath.Rel(root, ignored)
		if err != nil {
			return nil, err
		}
		complaints = append(complaints, filepath.ToSlash(name)+": the build leaves this file out, so no type checker has seen it")
	}
	return complaints, nil
}

func TestDeterministicPackagesKeepTheBans(t *testing.T) {
	complaints, err := banComplaints(root, houseTable(t).deterministic())
	if err != nil {
		t.Fatal(err)
	}
	for _, complaint := range complaints {
		t.Error(complaint)
	}
}
