package orket_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/orket"
)

// seed adds the fixtures' files of a name, up to a size that mutates quickly.
func seed(f *testing.F, suffix string) {
	f.Helper()
	count := 0
	err := filepath.WalkDir(fixtures, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, suffix) {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && len(data) < 8<<10 && count < 400 {
			f.Add(string(data))
			count++
		}
		return err
	})
	if err != nil || count == 0 {
		f.Fatalf("%d seeds, %v", count, err)
	}
}

// readable holds an answer of the reader to its contract: an artifact, or a problem inside the file.
func readable(t *testing.T, a *dialect.Artifact, err error, size int) bool {
	t.Helper()
	if err == nil {
		if a == nil || a.Trace == nil || len(a.Inputs) == 0 {
			t.Fatalf("neither an artifact nor a problem: %+v", a)
		}
		return true
	}
	var p *dialect.Problem
	if !errors.As(err, &p) || p.Offset < 0 || p.Offset > size || p.Detail == "" {
		t.Fatalf("%v is no problem of a file of %d bytes", err, size)
	}
	return false
}

// C1, V1: no bytes make the reader panic, and fields are spans of the file.
func FuzzReadTrace(f *testing.F) {
	seed(f, "memory_trace.json")
	f.Add(minimal)
	f.Fuzz(func(t *testing.T, text string) {
		file := &dialect.File{Path: "-", Data: []byte(text)}
		_, errDetect := orket.Reader{}.Detect(file)
		a, err := orket.Reader{}.Read(file, dialect.Options{})
		if !readable(t, a, err, len(text)) {
			return
		}
		if errDetect != nil {
			t.Fatalf("it can be read, and not be detected: %v", errDetect)
		}
		for i := range a.Trace.Events {
			e := &a.Trace.Events[i]
			at := e.Offset(file.Data)
			if e.Position != i || text[at:at+len(e.Raw)] != string(e.Raw) {
				t.Fatalf("event %d: position %d, offset %d, %s", i, e.Position, at, e.Raw)
			}
			e.Key(nil)
			for j := range e.Calls {
				e.Calls[j].ReplayKey()
			}
		}
		if events, ok := a.Trace.ByIndex(); ok && len(events) != len(a.Trace.Events) {
			t.Fatalf("%d of %d events", len(events), len(a.Trace.Events))
		}
	})
}

// C1, V1: the same of retrieval traces.
func FuzzReadRetrieval(f *testing.F) {
	seed(f, "memory_retrieval_trace.json")
	f.Add(row)
	f.Add("[" + row + "]")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := readText(minimal, " "+text) // never without a retrieval trace
		if !readable(t, a, err, len(text)+1) {
			return
		}
		r := a.Trace.Retrieval
		for i := range r.Rows {
			w := &r.Rows[i]
			w.Key()
			if records, ok := w.ByRank(); ok && len(records) != len(w.Records) {
				t.Fatalf("%d of %d records", len(records), len(w.Records))
			}
			if r.Single != (r.RowPointer(i) == "") {
				t.Fatalf("row %d stands at %q", i, r.RowPointer(i))
			}
		}
	})
}
