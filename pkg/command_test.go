package pkg_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// commandComplaints holds every file that is no test to the rules on start and end of the process:
// no init function, os.Exit in main.go alone, and in cmd no cobra SetOut, which would put notices into the JSON.
func commandComplaints(tree fs.FS) ([]string, error) {
	files, err := goFiles(tree)
	if err != nil {
		return nil, err
	}
	var complaints []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if rule := brokenCommandRule(name, node); rule != "" {
				complaints = append(complaints, fmt.Sprintf("%s:%d: %s", name, positions.Position(node.Pos()).Line, rule))
			}
			return true
		})
	}
	return complaints, nil
}

func brokenCommandRule(name string, node ast.Node) string {
	switch n := node.(type) {
	case *ast.FuncDecl:
		if n.Recv == nil && n.Name.Name == "init" {
			return "init function"
		}
	case *ast.SelectorExpr:
		qualifier, _ := n.X.(*ast.Ident)
		if name != "main.go" && n.Sel.Name == "Exit" && qualifier != nil && qualifier.Name == "os" {
			return "os.Exit outside main.go"
		}
		if path.Dir(name) == "cmd" && slices.Contains([]string{"SetOut", "SetOutput"}, n.Sel.Name) {
			return n.Sel.Name + ": notices would land in the results"
		}
	}
	return ""
}

func TestOnlyMainStartsAndEndsTheProcess(t *testing.T) {
	complaints, err := commandComplaints(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, complaint := range complaints {
		t.Error(complaint)
	}
}
