package orket_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/orket"
)

// orket.md §1: the retrieval trace is the one beside the trace, by the trace's own name.
func TestCompanionByName(t *testing.T) {
	dir := t.TempDir()
	for name, beside := range map[string]string{
		"memory_trace.json":      "memory_retrieval_trace.json",
		"left.memory_trace.json": "left.memory_retrieval_trace.json",
		"x-memory_trace-2.json":  "x-memory_retrieval_trace-2.json",
		"trace.json":             "",
	} {
		path := write(t, filepath.Join(dir, name), minimal)
		if beside != "" {
			beside = write(t, filepath.Join(dir, beside), "["+row+"]")
		}
		f, err := dialect.ReadFile(path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		a, err := orket.Reader{}.Read(f, dialect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if a.Trace.Retrieval != nil {
			got = a.Trace.Retrieval.Path
		}
		if got != beside {
			t.Errorf("%s: retrieval %q, want %q", name, got, beside)
		}
	}
}

// orket.md §1, §6: the raw results beside a trace, found by the key that ends their names.
func TestToolResults(t *testing.T) {
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "memory_trace.json"), minimal)
	for name, text := range map[string]string{
		"tool_result_search_b964e19b8330.json":     `{"ok":true}`,
		"tool_result_write_file_0123456789ab.json": `broken`, // judged by verify, not here
		"tool_result__0123456789cd.json":           `1`,
		"tool_result_search.json":                  `0`,
		"tool_result_search_b964.json":             `0`,
		"tool_result_search_b964e19b8330.txt":      `0`,
		"result_search_b964e19b8330.json":          `0`,
		"sub/tool_result_search_ffffffffffff.json": `0`,
	} {
		write(t, filepath.Join(dir, name), text)
	}
	f, err := dialect.ReadFile(path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, err := orket.Reader{}.Read(f, dialect.Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range a.Trace.ToolResults {
		got = append(got, r.Key+" "+string(r.Data))
	}
	if want := []string{"0123456789cd 1", `b964e19b8330 {"ok":true}`, "0123456789ab broken"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(a.Inputs) != 4 || a.Inputs[1].Kind != orket.KindToolResult || !a.Trace.SharedResults {
		t.Errorf("inputs %+v, shared %v", a.Inputs, a.Trace.SharedResults)
	}
	gone := &dialect.File{Path: filepath.Join(dir, "none", "trace.json"), Data: []byte(minimal)}
	if a, err := (orket.Reader{}).Read(gone, dialect.Options{}); err != nil || a.Trace.ToolResults != nil {
		t.Errorf("a folder that cannot be listed: %v", err)
	}
}
