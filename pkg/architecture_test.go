// Package pkg_test holds the house together: imports, bans, comments, documentation, traceability, coverage.
package pkg_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module  = "github.com/dmpl/dmpl"
	root    = ".."
	housePg = "docs/architecture.md"
)

// row is one line of the import table in docs/architecture.md.
type row struct {
	level         int // the row tests has the last one
	deterministic bool
	allowed       []string // names of rows, and paths of libraries
}

// table is the import table by package name.
type table map[string]row

var (
	tableLine = regexp.MustCompile("^\\| ([0-9]) \\| `([^`]+)` \\| (yes)? ?\\| (.*)\\|$")
	codeSpan  = regexp.MustCompile("`([^`]+)`")
)

// readTable reads the import table from the page that states it, so that the two cannot differ.
func readTable(page string) table {
	rows := table{}
	for line := range strings.Lines(page) {
		cells := tableLine.FindStringSubmatch(strings.TrimSpace(line))
		if cells == nil {
			continue
		}
		r := row{deterministic: cells[3] == "yes"}
		r.level, _ = strconv.Atoi(cells[1])
		for _, name := range codeSpan.FindAllStringSubmatch(cells[4], -1) {
			r.allowed = append(r.allowed, name[1])
		}
		rows[cells[2]] = r
	}
	return rows
}

func houseTable(t *testing.T) table {
	t.Helper()
	page, err := os.ReadFile(path.Join(root, housePg))
	if err != nil {
		t.Fatal(err)
	}
	rows := readTable(string(page))
	for _, name := range []string{"main", "cmd", "tests", "canon", "dialect/*"} {
		if _, ok := rows[name]; !ok {
			t.Fatalf("%s: the import table has no row %s", housePg, name)
		}
	}
	return rows
}

// faults names the entries of the table that are neither a library nor a row, and those that point to a higher level.
func (rows table) faults() []string {
	var faults []string
	for name, r := range rows {
		for _, entry := range r.allowed {
			target, ok := rows[entry]
			if first, _, _ := strings.Cut(entry, "/"); strings.Contains(first, ".") {
				continue
			}
			if !ok {
				faults = append(faults, fmt.Sprintf("%s: %s is no row", name, entry))
			}
			if target.level > r.level {
				faults = append(faults, fmt.Sprintf("%s: %s stands on a higher level", name, entry))
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// deterministic gives the names of the deterministic packages in order.
func (rows table) deterministic() []string {
	var names []string
	for name, r := range rows {
		if r.deterministic {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// rowOf gives the name of the row that holds a directory, and whether there is one.
func (rows table) rowOf(dir string) (string, bool) {
	outside := []string{"main", "tests", "cmd", "schemas", "fixtures"} // rows that are no package below pkg
	name, below := strings.CutPrefix(dir, "pkg/")
	if dir == "." {
		name = "main"
	}
	if _, ok := rows[name]; ok && below != slices.Contains(outside, name) {
		return name, true
	}
	family := path.Dir(name) + "/*"
	_, ok := rows[family]
	return family, ok && below
}

// mayImport says whether the row allows an import path. A test file may also import every package of ours and test libraries.
func (rows table) mayImport(name, importPath string, test bool) bool {
	if importPath == "C" {
		return false
	}
	if first, _, _ := strings.Cut(importPath, "/"); !strings.Contains(first, ".") {
		return name != "main" || test || importPath == "os"
	}
	allowed := rows[name].allowed
	if test {
		allowed = append(slices.Clone(allowed), rows["tests"].allowed...)
	}
	if dir, ours := strings.CutPrefix(importPath, module+"/"); ours {
		target, placed := rows.rowOf(dir)
		return placed && (test || slices.Contains(allowed, target))
	}
	return slices.ContainsFunc(allowed, func(library string) bool {
		return importPath == library || strings.HasPrefix(importPath, library+"/")
	})
}

// goFiles gives the Go files below a root, without test data, hidden folders and build output.
func goFiles(tree fs.FS) ([]string, error) {
	var files []string
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && name != "." && (base == "testdata" || base == "bin" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
			return fs.SkipDir
		}
		if !entry.IsDir() && strings.HasSuffix(base, ".go") {
			files = append(files, name)
		}
		return nil
	})
	return files, err
}

// importComplaints holds every Go file of a tree to the import table.
func importComplaints(tree fs.FS, rows table) ([]string, error) {
	files, err := goFiles(tree)
	if err != nil {
		return nil, err
	}
	var complaints []string
	for _, name := range files {
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		found, err := fileImportComplaints(name, source, rows)
		if err != nil {
			return nil, err
		}
		complaints = append(complaints, found...)
	}
	return complaints, nil
}

func fileImportComplaints(name string, source []byte, rows table) ([]string, error) {
	dir, test := path.Dir(name), strings.HasSuffix(name, "_test.go")
	pkg, placed := rows.rowOf(dir)
	if !placed && (dir != "pkg" || !test) {
		return []string{fmt.Sprintf("%s: the package %s has no row in the import table", name, dir)}, nil
	}
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, name, source, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var complaints []string
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		line := positions.Position(spec.Pos()).Line
		if !rows.mayImport(pkg, importPath, test) {
			complaints = append(complaints, fmt.Sprintf("%s:%d: %s must not import %s", name, line, dir, importPath))
		}
		if importPath == "github.com/spf13/viper" && !test && name != "cmd/config.go" {
			complaints = append(complaints, fmt.Sprintf("%s:%d: Viper lives in cmd/config.go alone", name, line))
		}
	}
	return complaints, nil
}

func TestTablePointsDownwards(t *testing.T) {
	for _, fault := range houseTable(t).faults() {
		t.Error(fault)
	}
	planted := readTable("| 0 | `canon` | yes | `example.com/x` |\n| 1 | `memory` | | `canon`, `trace`, `disk` |\n| 2 | `trace` | | |\n")
	want := []string{"memory: disk is no row", "memory: trace stands on a higher level"}
	if got := planted.faults(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestImportsFollowTheTable(t *testing.T) {
	complaints, err := importComplaints(os.DirFS(root), houseTable(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, complaint := range complaints {
		t.Error(complaint)
	}
}

func TestTopLevelIsFixed(t *testing.T) {
	fixed := []string{
		"go.mod", "go.sum", "main.go", "cmd", "pkg", "schemas", "fixtures", "docs", "Makefile", "README.md", "LICENSE",
		"bin", // build output, ignored by git
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); !strings.HasPrefix(name, ".") && !slices.Contains(fixed, name) {
			t.Errorf("%s stands at the top level, which is fixed", name)
		}
	}
}
