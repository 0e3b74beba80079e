package pkg_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// lastClause is the number of the last clause of each part of the contract; V begins with 0, the others with 1.
var lastClause = map[string]int{"C": 10, "D": 9, "V": 6, "E": 12, "M": 11, "X": 8, "P": 7, "R": 7, "Z": 5}

const partOrder = "CDVEMXPRZ"

var (
	clauseOrRange = regexp.MustCompile(`\b([CDVEMXPRZ])(\d{1,2})(?:[–-]([CDVEMXPRZ])?(\d{1,2}))?\b`)
	testName      = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark|Example)`)
	clauseInName  = regexp.MustCompile(`(?:^(?:Test|Fuzz|Benchmark|Example)|_)([CDVEMXPRZ]\d{1,2})(?:_|$|[A-Z])`)
)

// clauses gives the clauses that a text cites. A range counts only where asked: over product code it is an overview.
func clauses(text string, ranges bool) []string {
	var ids []string
	for _, match := range clauseOrRange.FindAllStringSubmatch(text, -1) {
		first, _ := strconv.Atoi(match[2])
		last := first
		if match[4] != "" {
			if !ranges || match[3] != "" && match[3] != match[1] {
				continue
			}
			last, _ = strconv.Atoi(match[4])
		}
		for n := first; n <= min(last, lastClause[match[1]]); n++ {
			if n > 0 || match[1] == "V" {
				ids = append(ids, match[1]+strconv.Itoa(n))
			}
		}
	}
	return ids
}

// trace is what stands for one clause.
type trace struct{ files, tests, fixtures []string }

func (t *trace) add(to *[]string, what string) {
	if !slices.Contains(*to, what) {
		*to = append(*to, what)
	}
}

// traceability collects the citations of a tree: comments of Go files, names and comments of tests, comments of command
// scripts, the rule that a fixture's expected.json states.
func traceability(tree fs.FS) (map[string]*trace, error) {
	traces := map[string]*trace{}
	of := func(id string) *trace {
		if traces[id] == nil {
			traces[id] = &trace{}
		}
		return traces[id]
	}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if err == nil && name != "." && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir
			}
			return err
		}
		if !citing(name) {
			return nil
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return cite(name, source, of)
	})
	return traces, err
}

// citing says whether the citations of a file count. The code table names clauses and implements none; schema and golden
// serve tests; the tests of the house itself hold no clause.
func citing(name string) bool {
	if matched, _ := path.Match("pkg/finding/codes*.go", name); matched {
		return false
	}
	dir := path.Dir(name)
	if dir == "pkg" || (dir == "pkg/schema" || dir == "pkg/golden") && !strings.HasSuffix(name, "_test.go") {
		return false
	}
	below := strings.HasPrefix(name, "pkg/") || strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "schemas/")
	return below && (path.Ext(name) == ".go" || path.Ext(name) == ".txtar") || strings.HasPrefix(name, "fixtures/") && path.Base(name) == "expected.json"
}

func cite(name string, source []byte, of func(string) *trace) error {
	switch {
	case path.Ext(name) == ".txtar":
		for line := range strings.Lines(string(source)) {
			if strings.HasPrefix(line, "-- ") {
				break // the comments of the files inside are theirs
			}
			if strings.HasPrefix(line, "#") {
				for _, id := range clauses(line, true) {
					of(id).add(&of(id).tests, "`"+name+"`")
				}
			}
		}
		return nil
	case path.Base(name) == "expected.json":
		decoder := json.NewDecoder(bytes.NewReader(source))
		var expected any
		if err := decoder.Decode(&expected); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, id := range rules(expected) {
			of(id).add(&of(id).fixtures, "`"+strings.TrimPrefix(path.Dir(name), "fixtures/")+"`")
		}
		return nil
	}
	return citeGo(name, source, of)
}

// rules gives the clauses that the members named rule cite, at any depth.
func rules(value any) []string {
	var ids []string
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if text, ok := member.(string); ok && name == "rule" {
				ids = append(ids, clauses(text, true)...)
			}
			ids = append(ids, rules(member)...)
		}
	case []any:
		for _, element := range v {
			ids = append(ids, rules(element)...)
		}
	}
	return ids
}

func citeGo(name string, source []byte, of func(string) *trace) error {
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, name, source, parser.ParseComments)
	if err != nil {
		return err
	}
	test := strings.HasSuffix(name, "_test.go")
	for _, comment := range file.Comments {
		if comment == file.Doc {
			continue // a package comment is an overview
		}
		for _, id := range clauses(comment.Text(), test) {
			if !test {
				of(id).add(&of(id).files, "`"+name+"`")
				continue
			}
			of(id).add(&of(id).tests, "`"+name+"`"+testAround(file, comment))
		}
	}
	for _, declaration := range file.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if !ok || !test {
			continue
		}
		for _, match := range clauseInName.FindAllStringSubmatch(f.Name.Name, -1) {
			for _, id := range clauses(match[1], false) {
				of(id).add(&of(id).tests, "`"+name+"` "+f.Name.Name)
			}
		}
	}
	return nil
}

// testAround gives the name of the test that a comment belongs to, after a space, or nothing.
func testAround(file *ast.File, comment *ast.CommentGroup) string {
	for _, declaration := range file.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if ok && testName.MatchString(f.Name.Name) && (f.Doc == comment || f.Pos() <= comment.Pos() && comment.End() <= f.End()) {
			return " " + f.Name.Name
		}
	}
	return ""
}

func TestCitationsAreFound(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	traces, err := traceability(fstest.MapFS{
		"pkg/equiv/a.go": file("// Package equiv does E1 and more.\npackage equiv\n\n// E6: ranks.\nfunc a() {}\n\n" +
			"// All of C1–C8, not E99, UTF-16, E7x.\nfunc b() {} // (CONTRACT E5)\n"),
		"pkg/equiv/a_test.go": file("package equiv_test\n\n// E1–E3, E5\nvar table int\n\nfunc TestE6_Ranks(t *T) {\n\t// E4: inside\n}\n\n" +
			"// V0 here.\nfunc TestOther(t *T) {}\n\n// V1 there.\nfunc load() {}\n"),
		"pkg/finding/codes.go":                  file("package finding\n\n// E6: named only.\nvar x int\n"),
		"pkg/schema/a.go":                       file("package schema\n\n// E6: for tests.\nvar x int\n"),
		"cmd/testdata/script/a.txtar":           file("# Z2: exit codes\nexits 1 dmpl\n-- a.json --\n# Z3\n"),
		"fixtures/pairs/e6-ranks/expected.json": file(`{"rule":"E6","findings":[{"code":"equiv.records"}]}`),
		"fixtures/runs/expected.json":           file(`{"pairs":[{"rule":"E3, E6"}]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]trace{
		"E1": {tests: []string{"`pkg/equiv/a_test.go`"}},
		"E2": {tests: []string{"`pkg/equiv/a_test.go`"}},
		"E3": {tests: []string{"`pkg/equiv/a_test.go`"}, fixtures: []string{"`runs`"}},
		"E4": {tests: []string{"`pkg/equiv/a_test.go` TestE6_Ranks"}},
		"E5": {files: []string{"`pkg/equiv/a.go`"}, tests: []string{"`pkg/equiv/a_test.go`"}},
		"E6": {
			files: []string{"`pkg/equiv/a.go`"}, tests: []string{"`pkg/equiv/a_test.go` TestE6_Ranks"},
			fixtures: []string{"`pairs/e6-ranks`", "`runs`"},
		},
		"V0": {tests: []string{"`pkg/equiv/a_test.go` TestOther"}},
		"V1": {tests: []string{"`pkg/equiv/a_test.go`"}},
		"Z2": {tests: []string{"`cmd/testdata/script/a.txtar`"}},
	}
	if len(traces) != len(want) {
		t.Errorf("%d clauses cited, want %d", len(traces), len(want))
	}
	for id, w := range want {
		got := traces[id]
		if got == nil || fmt.Sprint(*got) != fmt.Sprint(w) {
			t.Errorf("%s: got %v, want %v", id, got, w)
		}
	}
	if slices.Contains(unproved(traces), "E6 is finished work and no file cites it") ||
		!slices.Contains(unproved(traces), "E4 is finished work and no file cites it") ||
		!slices.Contains(unproved(traces), "C1 is finished work and no test cites it") {
		t.Errorf("unproved clauses: %q", unproved(traces))
	}
}
