// Package orket reads the memory determinism traces that the Orket runtime emits, and plain native traces of the same
// schema (orket.md §1–§3).
package orket

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/shape"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Name is the dialect's name.
const Name = "orket"

// The kinds of input that this dialect reads.
const (
	KindTrace      = "determinism_trace"
	KindRetrieval  = "retrieval_trace"
	KindToolResult = "tool_result"
	KindProfile    = "tool_profile"
)

// Reader is the dialect.
type Reader struct{}

// Name implements [dialect.Reader].
func (Reader) Name() string { return Name }

// Read reads a determinism trace, its retrieval trace and the tool results beside it.
// Errors are [dialect.Problem]: a file that cannot be read, or is no strict JSON.
func (Reader) Read(f *dialect.File, o dialect.Options) (*dialect.Artifact, error) {
	t, shapes, err := shape.ReadTrace(f.Path, f.Data, o.Twin)
	if err != nil {
		return nil, syntax(f.Path, err)
	}
	a := &dialect.Artifact{Dialect: Name, Trace: t, Shape: shapes, Inputs: []finding.Input{f.Input(Name, KindTrace, o.Digests)}}
	if err := readCompanion(a, f.Path, o); err != nil {
		return nil, err
	}
	t.SharedResults = o.Shared
	return a, readToolResults(a, f.Path, o)
}

// readCompanion reads the retrieval trace that was named, or the one beside the trace.
func readCompanion(a *dialect.Artifact, path string, o dialect.Options) error {
	name := o.Retrieval
	if name == "" {
		name = retrievalName(path)
		if name == "" || !exists(name) {
			return nil
		}
	}
	f, err := dialect.ReadFile(name, o.Stdin, o.Limit)
	if err != nil {
		return err
	}
	retrieval, shapes, err := shape.ReadRetrieval(f.Path, f.Data, o.Twin)
	if err != nil {
		return syntax(f.Path, err)
	}
	a.Trace.Retrieval = retrieval
	a.Shape = append(a.Shape, shapes...)
	a.Inputs = append(a.Inputs, f.Input(Name, KindRetrieval, o.Digests))
	return nil
}

// readToolResults reads the raw results beside the trace: preimages of its after_tool fingerprints (orket.md §1, §6).
func readToolResults(a *dialect.Artifact, path string, o dialect.Options) error {
	if path == "-" {
		return nil
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil // the trace itself was read: a folder that cannot be listed has no companions to offer
	}
	for _, entry := range entries {
		key, ok := resultKey(entry.Name())
		if !ok {
			continue
		}
		f, err := dialect.ReadFile(filepath.Join(filepath.Dir(path), entry.Name()), o.Stdin, o.Limit)
		if err != nil {
			return err
		}
		a.Trace.ToolResults = append(a.Trace.ToolResults, trace.ToolResult{Path: f.Path, Key: key, Data: f.Data})
		a.Inputs = append(a.Inputs, f.Input(Name, KindToolResult, o.Digests))
	}
	return nil
}

// resultKey takes the key from a name like tool_result_search_b964e19b8330.json.
func resultKey(name string) (string, bool) {
	stem, ok := strings.CutPrefix(name, "tool_result_")
	if !ok {
		return "", false
	}
	stem, ok = strings.CutSuffix(stem, ".json")
	if i := strings.LastIndexByte(stem, '_'); ok && len(stem)-i-1 == trace.ReplayKeyDigits {
		return stem[i+1:], true
	}
	return "", false
}

// retrievalName gives the name beside a trace: memory_retrieval_trace for memory_trace.
func retrievalName(path string) string {
	dir, base := filepath.Split(path)
	name := strings.Replace(base, "memory_trace", "memory_retrieval_trace", 1)
	if name == base {
		return ""
	}
	return dir + name
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// syntax turns a reading error into a problem with a path.
func syntax(path string, err error) error {
	var bad *canon.Error
	if !errors.As(err, &bad) {
		return err
	}
	return &dialect.Problem{Code: finding.Code(bad.Code), Path: path, Offset: bad.Offset, Pointer: bad.Pointer, Detail: bad.Detail}
}
