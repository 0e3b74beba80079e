package orket_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/orket"
	"github.com/dmpl/dmpl/pkg/finding"
)

// V1: what a trace is, its content says; the name says nothing.
func TestDetect(t *testing.T) {
	tests := []struct {
		name, text string
		want       bool
	}{
		{"a trace", minimal, true},
		{"the schema version alone", `{"x":{},"determinism_trace_schema_version":null}`, true},
		{"three of its members", `{"workflow_id":1,"events":2,"output":3}`, true},
		{"two of its members", `{"events":[],"output":{}}`, false},
		{"a list of traces", `[` + minimal + `]`, true},
		{"a list of others", `[7,` + minimal + `]`, false},
		{"a retrieval trace", `[` + row + `]`, false},
		{"its members deeper", `{"x":` + minimal + `}`, false},
		{"a scalar", `"determinism_trace_schema_version"`, false},
		{"empty object", `{}`, false},
		{"empty list", `[]`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"memory_trace.json", "x.txt", "-"} {
				got, err := orket.Reader{}.Detect(&dialect.File{Path: name, Data: []byte(tt.text)})
				if err != nil || got != tt.want {
					t.Errorf("%s: %v, %v; want %v", name, got, err, tt.want)
				}
			}
		})
	}
	for _, text := range []string{"", "{", `{"a":1,"a":2}`, "nonsense", "\"\\ud800\""} {
		_, err := orket.Reader{}.Detect(&dialect.File{Path: "p", Data: []byte(text)})
		code := finding.CanonInvalidJSON
		switch text {
		case `{"a":1,"a":2}`:
			code = finding.CanonDuplicateKey
		case "\"\\ud800\"":
			code = finding.CanonLoneSurrogate
		}
		wantProblem(t, err, code, "p", "")
	}
}

// found is a tree in short: paths below the root.
type found struct {
	entries, shared, skipped, orphans, runs []string
}

func find(t *testing.T, root string) found {
	t.Helper()
	tree, err := orket.Reader{}.Find(root, dialect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	below := func(path string) string {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		return filepath.ToSlash(rel)
	}
	var f found
	for _, e := range tree.Entries {
		f.entries = append(f.entries, below(e.Path)+" as "+e.Key)
		if e.Shared {
			f.shared = append(f.shared, below(e.Path))
		}
	}
	for _, path := range tree.Skipped {
		f.skipped = append(f.skipped, below(path))
	}
	for _, path := range tree.Orphans {
		f.orphans = append(f.orphans, below(path))
	}
	f.runs = tree.Runs
	return f
}

// orket.md §1: what lies in a tree, under the names that it has in every run.
func TestFind(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		root  string // below the folder of the files
		want  found
	}{
		{"nothing", nil, "", found{}},
		{"turns of one session", map[string]string{
			"observability/s1/i1/000_dev/memory_trace.json":           minimal,
			"observability/s1/i1/000_dev/memory_retrieval_trace.json": "[]",
			"observability/s1/i1/000_dev/checkpoint.json":             "{}",
			"observability/s1/i1/000_dev/parsed_tool_calls.json":      "[]",
			"observability/s1/i1/000_dev/prompt.txt":                  "",
			"observability/s1/i1/1000_dev/memory_trace.json":          minimal,
		}, "", found{
			entries: []string{"observability/s1/i1/000_dev/memory_trace.json as i1/000_dev", "observability/s1/i1/1000_dev/memory_trace.json as i1/1000_dev"},
			skipped: []string{
				"observability/s1/i1/000_dev/checkpoint.json", "observability/s1/i1/000_dev/parsed_tool_calls.json", "observability/s1/i1/000_dev/prompt.txt",
			},
			runs: []string{"observability/s1"},
		}},
		{"two sessions", map[string]string{
			"s1/i1/000_dev/memory_trace.json": minimal,
			"s2/i1/000_dev/memory_trace.json": minimal,
		}, "", found{
			entries: []string{"s1/i1/000_dev/memory_trace.json as i1/000_dev", "s2/i1/000_dev/memory_trace.json as i1/000_dev"},
			runs:    []string{"s1", "s2"},
		}},
		{"an issue as the root", map[string]string{"s1/i1/000_dev/memory_trace.json": minimal}, "s1/i1", found{
			entries: []string{"000_dev/memory_trace.json as 000_dev"}, runs: []string{""},
		}},
		{"a turn as the root", map[string]string{"s1/i1/000_dev/memory_trace.json": minimal}, "s1/i1/000_dev", found{
			entries: []string{"memory_trace.json as memory_trace.json"}, runs: []string{""},
		}},
		{"another layout", map[string]string{"a/trace.json": minimal, "b/run.json": minimal, "b/rows.json": "[" + row + "]"}, "", found{
			entries: []string{"a/trace.json as a/trace.json", "b/run.json as b/run.json"}, orphans: []string{"b/rows.json"}, runs: []string{""},
		}},
		{"a shared folder", map[string]string{
			"000_dev/left.memory_trace.json":            minimal,
			"000_dev/right.memory_trace.json":           minimal,
			"000_dev/right.memory_retrieval_trace.json": "[]",
			"001_dev/memory_trace.json":                 minimal,
		}, "", found{
			entries: []string{
				"000_dev/left.memory_trace.json as 000_dev/left.memory_trace.json", "000_dev/right.memory_trace.json as 000_dev/right.memory_trace.json",
				"001_dev/memory_trace.json as 001_dev",
			},
			shared: []string{"000_dev/left.memory_trace.json", "000_dev/right.memory_trace.json"}, runs: []string{""},
		}},
		{"orphans", map[string]string{"i/000_a/memory_retrieval_trace.json": "[]", "i/001_a/memory_trace.json": minimal}, "", found{
			entries: []string{"i/001_a/memory_trace.json as i/001_a"}, orphans: []string{"i/000_a/memory_retrieval_trace.json"}, runs: []string{""},
		}},
		{"damaged files are taken by their names", map[string]string{"000_a/memory_trace.json": "{", "000_b/memory_retrieval_trace.json": "[", "000_c/other.json": "{"}, "", found{
			entries: []string{"000_a/memory_trace.json as 000_a"}, orphans: []string{"000_b/memory_retrieval_trace.json"}, skipped: []string{"000_c/other.json"}, runs: []string{""},
		}},
		{"other files", map[string]string{
			"x/package.json": `{"name":"x"}`, "x/tool_result_search_b964e19b8330.json": "{}", "x/tool_result_search.json": "{}", "x/notes.md": minimal,
		}, "", found{skipped: []string{"x/notes.md", "x/package.json", "x/tool_result_search.json"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for path, text := range tt.files {
				write(t, filepath.Join(root, filepath.FromSlash(path)), text)
			}
			got := find(t, filepath.Join(root, filepath.FromSlash(tt.root)))
			for what, lists := range map[string][2][]string{
				"entries": {got.entries, tt.want.entries}, "shared": {got.shared, tt.want.shared}, "skipped": {got.skipped, tt.want.skipped},
				"orphans": {got.orphans, tt.want.orphans}, "runs": {got.runs, tt.want.runs},
			} {
				if !slices.Equal(lists[0], lists[1]) {
					t.Errorf("%s %q, want %q", what, lists[0], lists[1])
				}
			}
		})
	}
}

// V0: a folder that is named through a link is that folder; nothing below it is passed over.
func TestFindThroughALink(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "runs", "000_a", "memory_trace.json"), minimal)
	link := filepath.Join(dir, "latest")
	if err := os.Symlink(filepath.Join(dir, "runs"), link); err != nil {
		t.Logf("NOT RUN: no symbolic links here: %v", err)
		t.SkipNow()
	}
	if got := find(t, link); !slices.Equal(got.entries, []string{"000_a/memory_trace.json as 000_a"}) {
		t.Errorf("%+v", got)
	}
	if got := find(t, dir); len(got.entries) != 1 || !slices.Equal(got.skipped, []string{"latest"}) {
		t.Errorf("a link below the root: %+v", got)
	}
}

// C1: what cannot be listed or read is one problem with its path.
func TestFindProblems(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	_, err := orket.Reader{}.Find(none, dialect.Options{})
	wantProblem(t, err, finding.InputUnreadable, none, "")
	root := t.TempDir()
	large := write(t, filepath.Join(root, "x.json"), minimal)
	_, err = orket.Reader{}.Find(root, dialect.Options{Limit: 10})
	wantProblem(t, err, finding.InputTooLarge, large, "10 bytes")
}
