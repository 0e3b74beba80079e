package pkg_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// packageFiles gives the Go files of a tree that are no tests, by directory.
func packageFiles(tree fs.FS) (map[string][]string, error) {
	files, err := goFiles(tree)
	if err != nil {
		return nil, err
	}
	byDir := map[string][]string{}
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			byDir[path.Dir(name)] = append(byDir[path.Dir(name)], name)
		}
	}
	return byDir, nil
}

// undocumented names every package and every exported name of a tree that has no comment. A group of constants or
// variables may share one comment.
func undocumented(tree fs.FS) ([]string, error) {
	byDir, err := packageFiles(tree)
	if err != nil {
		return nil, err
	}
	var names []string
	for dir, files := range byDir {
		positions := token.NewFileSet()
		var parsed []*ast.File
		for _, name := range files {
			source, err := fs.ReadFile(tree, name)
			if err != nil {
				return nil, err
			}
			file, err := parser.ParseFile(positions, name, source, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			parsed = append(parsed, file)
		}
		pkg, err := doc.NewFromFiles(positions, parsed, path.Join(module, dir))
		if err != nil {
			return nil, err
		}
		names = append(names, undocumentedOf(pkg, dir)...)
	}
	slices.Sort(names)
	return names, nil
}

func undocumentedOf(pkg *doc.Package, dir string) []string {
	var names []string
	need := func(comment, name string) {
		if strings.TrimSpace(comment) == "" {
			names = append(names, dir+": "+name)
		}
	}
	need(pkg.Doc, "package "+pkg.Name)
	values := append(slices.Clone(pkg.Consts), pkg.Vars...)
	functions := slices.Clone(pkg.Funcs)
	for _, t := range pkg.Types {
		need(t.Doc, t.Name)
		values = append(append(values, t.Consts...), t.Vars...)
		functions = append(append(functions, t.Funcs...), t.Methods...)
	}
	for _, f := range functions {
		need(f.Doc, strings.TrimPrefix(fmt.Sprintf("%s.%s", strings.TrimPrefix(f.Recv, "*"), f.Name), "."))
	}
	for _, group := range values {
		if group.Doc != "" {
			continue
		}
		for _, spec := range group.Decl.Specs {
			value := spec.(*ast.ValueSpec)
			for _, name := range value.Names {
				if name.IsExported() {
					need(value.Doc.Text()+value.Comment.Text(), name.Name)
				}
			}
		}
	}
	return names
}

func TestEveryExportedNameHasAComment(t *testing.T) {
	names, err := undocumented(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Errorf("%s has no comment", name)
	}
}

func TestMissingCommentIsFound(t *testing.T) {
	tree := fstest.MapFS{
		"pkg/bare/a.go": {Data: []byte(`package bare

const One = 1

const (
	Two = 2 // Two has one.
	Three = 3
	four = 4
)

var Five int

type Six struct{}

func (Six) Seven() {}
func (*Six) eight() {}
func NewSix() Six { return Six{} }
func Nine() {}
`)},
		"pkg/bare/a_test.go": {Data: []byte("package bare_test\n\nfunc Ten() {}\n")},
		"pkg/full/a.go": {Data: []byte(`// Package full has comments.
package full

// The numbers.
const (
	One = 1
	Two = 2
)

// Three is a type.
type Three int

// The values of Three.
const (
	A Three = iota
	B
)

// Four is a method.
func (Three) Four() {}
`)},
	}
	got, err := undocumented(tree)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"pkg/bare: Five", "pkg/bare: NewSix", "pkg/bare: Nine", "pkg/bare: One", "pkg/bare: Six", "pkg/bare: Six.Seven",
		"pkg/bare: Three", "pkg/bare: package bare",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
