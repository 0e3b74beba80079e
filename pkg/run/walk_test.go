package run_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// walked walks through a run, and compares the events and rows of a run that was made.
func walked(t *testing.T, dir, made string, limit int64) (*run.Run, error) {
	t.Helper()
	w, err := run.StartWalk(dir, limit)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	turns := 0
	for ; err == nil; turns++ {
		err = w.Turn()
	}
	if !errors.Is(err, io.EOF) || turns == 1 {
		return nil, errors.Join(err, io.ErrNoProgress)
	}
	whole, err := run.Read(made, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole.Trace.Events {
		if err := w.Event(whole.Trace.Events[i].Raw); err != nil {
			return nil, err
		}
	}
	for i := range whole.Trace.Retrieval.Rows {
		if err := w.Row(whole.Trace.Retrieval.Rows[i].Raw); err != nil {
			return nil, err
		}
	}
	envelope, errEnvelope := os.ReadFile(filepath.Join(made, run.TraceFile))
	if errEnvelope != nil {
		t.Fatal(errEnvelope)
	}
	envelope = append(envelope[:bytes.Index(envelope, []byte(`,"metadata":`))], '}')
	return w.End(envelope, len(whole.Trace.Events))
}

// D8: a run that is walked through is described as one that is read whole: the same inputs, the same digests of its files.
func TestAWalkSeesWhatAReaderSees(t *testing.T) {
	for _, features := range []runtest.Features{{}, {Visibility: "buffered_write", Retry: true, Tools: true, Retrieval: true}} {
		dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), features)
		got, err := walked(t, dir, dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		want, err := run.Read(dir, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Inputs, want.Inputs) || !reflect.DeepEqual(got.Trace.Recording.Files, want.Trace.Recording.Files) {
			t.Errorf("walked through it has\n%+v\n%+v\nread whole\n%+v\n%+v", got.Inputs, got.Trace.Recording.Files, want.Inputs, want.Trace.Recording.Files)
		}
	}
}

// C1, V1, V2, V4: what is no run in order is not walked through.
func TestAWalkIsOfARunInOrder(t *testing.T) {
	whole := runtest.Write(t, filepath.Join(t.TempDir(), "run"), runtest.Features{Turns: 2, Visibility: "buffered_write", Retrieval: true})
	biggest := int64(len(lines(t, whole, "retrieval/0000.jsonl")))
	for _, c := range []struct {
		what  string
		limit int64
		edit  func(dir string)
		walks bool
	}{
		{"as it is", 0, func(string) {}, true},
		{"files up to the limit", biggest, func(string) {}, true},
		{"a file over the limit", biggest - 1, func(string) {}, false},
		{"a link in place of lines", 0, func(dir string) {
			path := filepath.Join(dir, run.OutputsFile)
			if err := errors.Join(os.Rename(path, dir+".outputs"), os.Symlink(dir+".outputs", path)); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"a folder in place of lines", 0, func(dir string) {
			path := filepath.Join(dir, run.TurnsFile)
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o755)); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"no turns", 0, func(dir string) { os.Remove(filepath.Join(dir, run.TurnsFile)) }, false},
		{"an open manifest", 0, func(dir string) { runtest.Replace(t, dir, run.ManifestFile, `"complete"`, `"open"`) }, false},
		{"a manifest that is none", 0, func(dir string) { runtest.Replace(t, dir, run.ManifestFile, `"run_id"`, `"run"`) }, false},
		{"a snapshot that is none", 0, func(dir string) { runtest.Replace(t, dir, run.SnapshotFile, `"persona_id"`, `"persona"`) }, false},
		{"a snapshot that is no JSON", 0, func(dir string) { runtest.Put(t, dir, run.SnapshotFile, []byte("{")) }, false},
		{"an envelope that is none", 0, func(dir string) { runtest.Replace(t, dir, run.TraceFile, `"workflow_id"`, `"workflow"`) }, false},
		{"an envelope that is no object", 0, func(dir string) { runtest.Put(t, dir, run.TraceFile, []byte("[]")) }, false},
		{"turns that begin at 1", 0, func(dir string) { runtest.Replace(t, dir, run.TurnsFile, `"turn":0`, `"turn":1`) }, false},
		{"a turn that breaks its schema", 0, func(dir string) { runtest.Replace(t, dir, run.TurnsFile, `"npc_name"`, `"npc"`) }, false},
		{"outputs that go back", 0, func(dir string) {
			first, second, _ := bytes.Cut(lines(t, dir, run.OutputsFile), []byte("\n"))
			runtest.Put(t, dir, run.OutputsFile, append(append(second, first...), '\n'))
		}, false},
		{"an event more", 0, func(dir string) { runtest.Put(t, dir, "trace/0001.jsonl", []byte("{}\n")) }, false},
		{"a row more", 0, func(dir string) { runtest.Put(t, dir, "retrieval/0001.jsonl", []byte("{}\n")) }, false},
		{"an output of a later turn", 0, func(dir string) {
			text := lines(t, dir, run.OutputsFile)
			_, second, _ := bytes.Cut(text, []byte("\n"))
			runtest.Put(t, dir, run.OutputsFile, append(text, bytes.Replace(second, []byte(`"turn":1`), []byte(`"turn":2`), 1)...))
		}, false},
		{"a line without an end", 0, func(dir string) {
			if err := os.Truncate(filepath.Join(dir, run.TurnsFile), 65<<20); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		dir := runtest.Copy(t, whole, filepath.Join(t.TempDir(), "run"))
		c.edit(dir)
		if _, err := walked(t, dir, whole, c.limit); (err == nil) != c.walks {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if _, err := walked(t, filepath.Join(t.TempDir(), "nowhere"), whole, 0); err == nil {
		t.Error("a folder that is not there was walked through")
	}
}

func lines(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clip(text)
}
