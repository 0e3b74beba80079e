package pkg_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// planted is a source with one violation, and the exact complaints that it must bring.
type planted struct {
	name, file, source string
	want               []string
}

var plantedImports = []planted{
	{
		"our package of a higher level", "pkg/canon/a.go", "package canon\n\nimport _ \"github.com/dmpl/dmpl/pkg/finding\"\n",
		[]string{"pkg/canon/a.go:3: pkg/canon must not import github.com/dmpl/dmpl/pkg/finding"},
	},
	{
		"one dialect in another", "pkg/dialect/orket/a.go", "package orket\n\nimport _ \"github.com/dmpl/dmpl/pkg/dialect/native\"\n",
		[]string{"pkg/dialect/orket/a.go:3: pkg/dialect/orket must not import github.com/dmpl/dmpl/pkg/dialect/native"},
	},
	{
		"our package without a row", "pkg/verify/a.go", "package verify\n\nimport _ \"github.com/dmpl/dmpl/pkg/util\"\n",
		[]string{"pkg/verify/a.go:3: pkg/verify must not import github.com/dmpl/dmpl/pkg/util"},
	},
	{
		"a library of another row", "pkg/equiv/a.go", "package equiv\n\nimport _ \"github.com/sergi/go-diff/diffmatchpatch\"\n",
		[]string{"pkg/equiv/a.go:3: pkg/equiv must not import github.com/sergi/go-diff/diffmatchpatch"},
	},
	{
		"a library of no row", "cmd/a.go", "package cmd\n\nimport _ \"example.com/left/pad\"\n",
		[]string{"cmd/a.go:3: cmd must not import example.com/left/pad"},
	},
	{
		"a library whose path only begins like a declared one", "pkg/report/a.go", "package report\n\nimport _ \"github.com/fatih/colorful\"\n",
		[]string{"pkg/report/a.go:3: pkg/report must not import github.com/fatih/colorful"},
	},
	{
		"a test library outside tests", "pkg/trace/a.go", "package trace\n\nimport _ \"golang.org/x/tools/cover\"\n",
		[]string{"pkg/trace/a.go:3: pkg/trace must not import golang.org/x/tools/cover"},
	},
	{
		"a library of no row in a test", "pkg/trace/a_test.go", "package trace_test\n\nimport _ \"example.com/assert\"\n",
		[]string{"pkg/trace/a_test.go:3: pkg/trace must not import example.com/assert"},
	},
	{
		"schema in the product", "cmd/a.go", "package cmd\n\nimport _ \"github.com/dmpl/dmpl/pkg/schema\"\n",
		[]string{"cmd/a.go:3: cmd must not import github.com/dmpl/dmpl/pkg/schema"},
	},
	{
		"a second import in main", "main.go", "package main\n\nimport _ \"fmt\"\n",
		[]string{"main.go:3: . must not import fmt"},
	},
	{
		"cgo", "pkg/report/a.go", "package report\n\nimport \"C\"\n",
		[]string{"pkg/report/a.go:3: pkg/report must not import C"},
	},
	{
		"Viper outside its file", "cmd/diff.go", "package cmd\n\nimport _ \"github.com/spf13/viper\"\n",
		[]string{"cmd/diff.go:3: Viper lives in cmd/config.go alone"},
	},
	{
		"a package without a row", "pkg/util/a.go", "package util\n",
		[]string{"pkg/util/a.go: the package pkg/util has no row in the import table"},
	},
	{
		"a package below another", "pkg/canon/inner/a.go", "package inner\n",
		[]string{"pkg/canon/inner/a.go: the package pkg/canon/inner has no row in the import table"},
	},
	{
		"a package outside the layout", "tools/a.go", "package main\n",
		[]string{"tools/a.go: the package tools has no row in the import table"},
	},
	{
		"a package that takes the name of an outer row", "pkg/cmd/a.go", "package cmd\n",
		[]string{"pkg/cmd/a.go: the package pkg/cmd has no row in the import table"},
	},
	{
		"product code among the tests of the house", "pkg/a.go", "package pkg\n",
		[]string{"pkg/a.go: the package pkg has no row in the import table"},
	},
	{"what the table allows", "pkg/dialect/orket/a.go", "package orket\n\nimport (\n\t_ \"github.com/dmpl/dmpl/pkg/dialect\"\n\t_ \"strings\"\n)\n", nil},
	{"any package of ours in a test", "pkg/canon/a_test.go", "package canon_test\n\nimport _ \"github.com/dmpl/dmpl/pkg/golden\"\n", nil},
}

func TestPlantedImportIsFound(t *testing.T) {
	rows := houseTable(t)
	for _, test := range plantedImports {
		t.Run(test.name, func(t *testing.T) {
			got, err := importComplaints(fstest.MapFS{test.file: {Data: []byte(test.source)}}, rows)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

var plantedCommands = []planted{
	{
		"init function", "pkg/report/a.go", "package report\n\nfunc init() {}\n",
		[]string{"pkg/report/a.go:3: init function"},
	},
	{
		"os.Exit", "cmd/a.go", "package cmd\n\nimport \"os\"\n\nfunc f() { os.Exit(1) }\n",
		[]string{"cmd/a.go:5: os.Exit outside main.go"},
	},
	{
		"SetOut", "cmd/a.go", "package cmd\n\nfunc f(c interface{ SetOut(any) }) { c.SetOut(nil) }\n",
		[]string{"cmd/a.go:3: SetOut: notices would land in the results"},
	},
	{"os.Exit in main.go", "main.go", "package main\n\nimport \"os\"\n\nfunc main() { os.Exit(1) }\n", nil},
	{"a method init", "pkg/report/a.go", "package report\n\ntype t struct{}\n\nfunc (t) init() {}\n", nil},
}

func TestPlantedCommandRuleIsFound(t *testing.T) {
	for _, test := range plantedCommands {
		t.Run(test.name, func(t *testing.T) {
			got, err := commandComplaints(fstest.MapFS{test.file: {Data: []byte(test.source)}})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// plant writes sources as a module of our name into a temporary folder.
func plant(t *testing.T, cases []planted) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"go.mod": "module " + module + "\n\ngo 1.26.0\n"}
	for _, c := range cases {
		files[c.file] = c.source
	}
	for name, source := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPlantedBanIsFound plants all cases into one module, so that the type checker runs once, and compares file by file.
func TestPlantedBanIsFound(t *testing.T) {
	dir := plant(t, plantedBans)
	names := houseTable(t).deterministic()
	complaints, err := banComplaints(dir, names)
	if err != nil {
		t.Fatal(err)
	}
	byFile := map[string][]string{}
	for _, complaint := range complaints {
		file, _, _ := strings.Cut(complaint, ":")
		byFile[file] = append(byFile[file], complaint)
	}
	for _, test := range plantedBans {
		t.Run(test.name, func(t *testing.T) {
			if got := byFile[test.file]; !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestFileThatTheBuildLeavesOutIsFound(t *testing.T) {
	system := "plan9"
	if runtime.GOOS == system {
		system = "linux"
	}
	dir := plant(t, []planted{
		{file: "pkg/canon/a.go", source: "package canon\n"},
		{file: "pkg/canon/b_" + system + ".go", source: "package canon\n"},
		{file: "pkg/canon/c_" + system + "_test.go", source: "package canon\n"},
	})
	got, err := banComplaints(dir, []string{"canon"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"pkg/canon/b_" + system + ".go: the build leaves this file out, so no type checker has seen it"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPackageThatDoesNotTypeCheckIsAnError(t *testing.T) {
	dir := plant(t, []planted{{file: "pkg/canon/a.go", source: "package canon\n\nvar x int = \"text\"\n"}})
	if complaints, err := banComplaints(dir, []string{"canon"}); err == nil {
		t.Errorf("no error, complaints %q", complaints)
	}
}
