package cmd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// copyOf puts a folder of fixtures into another one.
func copyOf(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(filepath.Join(fixtures, from))); err != nil {
		t.Fatal(err)
	}
}

// artifactsOf gives every path that a report names, each once, in ascending order.
func artifactsOf(t *testing.T, report []byte) []string {
	t.Helper()
	var r struct {
		Results []struct {
			Name     string
			Inputs   []struct{ Path string }
			Findings []struct {
				Artifact string
				Right    string `json:"right_artifact"`
			}
		}
	}
	if err := json.Unmarshal(report, &r); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, result := range r.Results {
		paths = append(paths, strings.Split(result.Name, " and ")...)
		for _, in := range result.Inputs {
			paths = append(paths, in.Path)
		}
		for _, f := range result.Findings {
			paths = append(paths, f.Artifact, f.Right)
		}
	}
	slices.Sort(paths)
	return slices.DeleteFunc(slices.Compact(paths), func(path string) bool { return path == "" })
}

// Z4: a path is as typed; an absolute one is relative to the working directory, and from the last element of what was
// typed where it lies elsewhere.
func TestReportsNameNoAbsolutePath(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	for _, folder := range []string{here, there} {
		copyOf(t, "demo", filepath.Join(folder, "demo"))
		copyOf(t, "input", filepath.Join(folder, "input"))
	}
	profiles, err := filepath.Abs(filepath.Join(fixtures, "profiles"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		want []string
	}{
		{
			"below the working directory",
			[]string{"diff", filepath.Join(here, "demo", "left"), filepath.Join(here, "demo", "changed")},
			[]string{
				"demo/changed/memory_retrieval_trace.json", "demo/changed/memory_trace.json",
				"demo/left/memory_retrieval_trace.json", "demo/left/memory_trace.json", "memory_trace.json",
			},
		},
		{
			"folder elsewhere",
			[]string{"verify", filepath.Join(there, "demo", "left")},
			[]string{"left/memory_retrieval_trace.json", "left/memory_trace.json"},
		},
		{
			"two files elsewhere",
			[]string{"diff", filepath.Join(there, "demo", "left", "memory_trace.json"), filepath.Join(there, "demo", "same", "memory_trace.json")},
			[]string{"memory_retrieval_trace.json", "memory_trace.json"},
		},
		{
			"given profiles",
			[]string{"verify", filepath.Join(here, "demo", "left", "memory_trace.json"), "--profiles", profiles},
			[]string{"demo/left/memory_retrieval_trace.json", "demo/left/memory_trace.json", "profiles/reply.json", "profiles/search.json"},
		},
		{
			"unreadable, empty, nothing",
			[]string{"verify", filepath.Join(there, "none"), filepath.Join(here, "input", "no-artifacts"), filepath.Join(there, "none*")},
			[]string{"input/no-artifacts", "input/no-artifacts/notes.txt", "none", "none*"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, format := range []string{"json", "text"} {
				p := newProcess(t)
				p.Dir = here
				p.Run(append(slices.Clone(tt.args), "--format", format))
				for _, folder := range []string{here, there, filepath.Dir(profiles)} {
					if strings.Contains(p.out.String(), folder) {
						t.Errorf("%s holds %s: %s", format, folder, p.out)
					}
				}
				if format == "text" {
					continue
				}
				if got := artifactsOf(t, p.out.Bytes()); !slices.Equal(got, tt.want) {
					t.Errorf("paths %q, want %q", got, tt.want)
				}
			}
		})
	}
}
