package run_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/trace"
)

var everything = runtest.Features{
	Visibility: "buffered_write", Turns: 2, Retry: true, Tools: true, Retrieval: true, Candidates: true, References: true, Topics: true, Prompts: true,
	Chain: &run.Chain{Index: 1, PreviousRunID: "run-0", PreviousCommitID: "c"},
}

func open(t *testing.T, dir string) *run.Run {
	t.Helper()
	got, err := run.Read(dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// D8: a run is read back with every document where it belongs, and the recorded results stand in for the trace's preimages.
func TestARunIsReadAsItWasWritten(t *testing.T) {
	dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), everything)
	got := open(t, dir)
	if len(got.Shape) != 0 {
		t.Fatalf("shape findings: %+v", got.Shape)
	}
	r := got.Trace.Recording
	counts := []int{
		len(r.Turns), len(r.Outputs), len(r.ToolResults), len(r.Candidates), len(r.Prompts), len(r.Profiles), len(r.Files), len(got.Inputs),
		len(got.Trace.Events), len(got.Trace.Retrieval.Rows),
	}
	if want := []int{2, 4, 8, 4, 4, 2, 13, 14, 2*(2*7+2) + 1, 8}; !slices.Equal(counts, want) {
		t.Errorf("turns, outputs, results, candidates, prompts, profiles, files, inputs, events, rows: %v, want %v", counts, want)
	}
	for _, f := range r.Files {
		if !f.Found || f.Entry == "" || f.Stated.Text() != f.SHA256 || string(f.StatedBytes.Raw) == "" || f.Part != (filepath.Dir(f.Name) != ".") {
			t.Errorf("%+v", f)
		}
	}
	for name, doc := range map[string]trace.Document{
		"manifest": r.Manifest, "snapshot": r.Snapshot, "config": r.Config, "policies": r.Policies, "profiles": r.ProfileSet, "commit": r.Commit,
	} {
		if !doc.Ok() || doc.At != "" {
			t.Errorf("%s: %+v", name, doc)
		}
	}
	if out, ok := r.Output(1, 1); !ok || out.At != "/3" || out.Path != filepath.Join(dir, run.OutputsFile) {
		t.Errorf("the last output: %v, %+v", ok, out)
	}
	if _, ok := r.Output(1, 2); ok {
		t.Error("an output that is not there was found")
	}
	if _, ok := r.CandidatesOf(1, "belief"); !ok {
		t.Error("the candidates of the second turn are not found")
	}
	if _, ok := r.CandidatesOf(1, "fact"); ok {
		t.Error("candidates that are not there were found")
	}
	if got.Trace.Commit.Writes.State != trace.Present {
		t.Error("the writes of the commit record are not the trace's")
	}
	for i := range got.Trace.Events {
		e := &got.Trace.Events[i]
		for _, c := range e.Calls {
			after := !e.Interceptor.Is(trace.BeforeTool)
			if !c.RawArgs.Ok() || c.RawResult.Ok() != after || c.RawSideEffect.Ok() != (after && c.SideEffect.Ok()) {
				t.Errorf("event %d: %+v", i, c)
			}
		}
	}
}

// V4: a run without a manifest, and one that is open, are cut short and nothing else.
func TestARunThatIsCutShort(t *testing.T) {
	dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), runtest.Features{})
	runtest.Replace(t, dir, run.ManifestFile, `"complete"`, `"open"`)
	if got := open(t, dir); got.Trace.Recording.CutShort == "" || len(got.Shape) != 0 || got.Trace.Events != nil {
		t.Errorf("open: %+v", got)
	}
	if err := os.Remove(filepath.Join(dir, run.ManifestFile)); err != nil {
		t.Fatal(err)
	}
	if got := open(t, dir); got.Trace.Recording.CutShort == "" || len(got.Shape) != 0 {
		t.Errorf("no manifest: %+v", got)
	}
}

// C1: what is no evidence is one clear problem, with the file, the place in it and the line.
func TestProblemsNameTheirPlace(t *testing.T) {
	for _, c := range []struct {
		what, file, before, after string
		code                      finding.Code
		in, pointer               string
	}{
		{"a manifest that is no JSON", run.ManifestFile, `{`, `[`, finding.CanonInvalidJSON, run.ManifestFile, ""},
		{"a document that is no JSON", run.ConfigFile, `{`, `{{`, finding.CanonInvalidJSON, run.ConfigFile, ""},
		{"policies that are no JSON", run.PoliciesFile, `{`, `{{`, finding.CanonInvalidJSON, run.PoliciesFile, ""},
		{"a line that is no JSON", run.TurnsFile, `{"constraints":[{"Id":"c1"`, `{"constraints":[{Id":"c1"`, finding.CanonInvalidJSON, run.TurnsFile, "/1/constraints/0"},
		{"an event that is no JSON", "trace/0000.jsonl", `"e2"`, `"e2`, finding.CanonInvalidJSON, "trace/0000.jsonl", ""},
		{"two events in a line", "trace/0000.jsonl", "}\n", "},{}\n", finding.CanonInvalidJSON, "trace/0000.jsonl", ""},
		{"a row that is no JSON", "retrieval/0000.jsonl", `"r2"`, `"r2`, finding.CanonInvalidJSON, "retrieval/0000.jsonl", ""},
		{"an envelope that is no JSON", run.TraceFile, `{`, `{{`, finding.CanonInvalidJSON, run.TraceFile, ""},
		{"an envelope with events", run.TraceFile, `{`, `{"events":[],`, finding.CanonDuplicateKey, run.TraceFile, "/events"},
		{"a name twice", run.OutputsFile, `"turn":0`, `"turn":0,"turn":0`, finding.CanonDuplicateKey, run.OutputsFile, "/0/turn"},
	} {
		dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), everything)
		runtest.Replace(t, dir, c.file, c.before, c.after)
		_, err := run.Read(dir, nil, 0)
		var problem *dialect.Problem
		if !errors.As(err, &problem) {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if problem.Code != c.code || problem.Path != filepath.Join(dir, filepath.FromSlash(c.in)) || c.pointer != "" && problem.Pointer != c.pointer {
			t.Errorf("%s: %+v", c.what, problem)
		}
	}
}

// Z5: foreign evidence does not choose what is read.
func TestNothingOutsideTheRunIsRead(t *testing.T) {
	dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), runtest.Features{})
	outside := filepath.Join(t.TempDir(), "outside.json")
	if err := os.WriteFile(outside, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	linked := runtest.Copy(t, dir, filepath.Join(t.TempDir(), "linked"))
	if err := os.Remove(filepath.Join(linked, run.ConfigFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(linked, run.ConfigFile)); err != nil {
		t.Fatal(err)
	}
	var problem *dialect.Problem
	if _, err := run.Read(linked, nil, 0); !errors.As(err, &problem) || problem.Code != finding.InputNotAFile {
		t.Errorf("a link: %v", err)
	}
	for path, want := range map[string]string{
		"../outside.json": "a run has no such file",
		"turns.jsonl":     "the file is listed twice",
	} {
		named := runtest.Copy(t, dir, filepath.Join(t.TempDir(), "named"))
		runtest.Replace(t, named, run.ManifestFile, `"path": "config.json"`, `"path": "`+path+`"`)
		got := open(t, named)
		if len(got.Shape) != 1 || got.Shape[0].Code != finding.ShapeValue || got.Shape[0].Detail != want {
			t.Errorf("%s: %+v", path, got.Shape)
		}
	}
	parts := runtest.Copy(t, dir, filepath.Join(t.TempDir(), "parts"))
	if err := os.Rename(filepath.Join(parts, "trace"), filepath.Join(t.TempDir(), "elsewhere")); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	runtest.Put(t, elsewhere, "0000.jsonl", []byte("{}"))
	if err := os.Symlink(elsewhere, filepath.Join(parts, "trace")); err != nil {
		t.Fatal(err)
	}
	for _, f := range open(t, parts).Trace.Recording.Files {
		if f.Name == "trace/0000.jsonl" && f.Found || f.Name == "trace" && (!f.Found || f.SHA256 != "") {
			t.Errorf("a folder that is a link: %+v", f)
		}
	}
	limited := runtest.Copy(t, dir, filepath.Join(t.TempDir(), "limited"))
	if _, err := run.Read(limited, nil, 100); !errors.As(err, &problem) || problem.Code != finding.InputTooLarge {
		t.Errorf("a file over the limit: %v", err)
	}
}

// V5: files that are missing, or there and not listed, are told apart from those that are in order.
func TestFilesAreComparedWithTheList(t *testing.T) {
	dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), runtest.Features{})
	if err := os.Remove(filepath.Join(dir, run.TurnsFile)); err != nil {
		t.Fatal(err)
	}
	runtest.Put(t, dir, "notes.txt", []byte("?"))
	runtest.Put(t, dir, "trace/more.jsonl", []byte("?"))
	for _, f := range open(t, dir).Trace.Recording.Files {
		switch f.Name {
		case "notes.txt", "trace/more.jsonl":
			if !f.Found || f.Entry != "" {
				t.Errorf("extra: %+v", f)
			}
		case run.TurnsFile:
			if f.Found || f.Entry == "" || !f.Required {
				t.Errorf("missing: %+v", f)
			}
		default:
			if !f.Found || f.Entry == "" {
				t.Errorf("%+v", f)
			}
		}
	}
}

// V1: millions of faulty lines are counted and not kept.
func TestFaultsOfManyLinesAreBounded(t *testing.T) {
	dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), runtest.Features{})
	runtest.Put(t, dir, run.PromptsFile, bytes.Repeat([]byte("{}\n"), 20_000))
	got := open(t, dir).Shape
	if len(got) != 10_001 || got[10_000].Code != finding.ShapeMore {
		t.Errorf("%d findings, the last %+v", len(got), got[len(got)-1])
	}
	runtest.Put(t, dir, run.PromptsFile, append(bytes.Repeat([]byte(" "), 64<<20), "{}\n"...))
	var problem *dialect.Problem
	if _, err := run.Read(dir, nil, 0); !errors.As(err, &problem) || problem.Code != finding.InputTooLarge || problem.Pointer != "/0" {
		t.Errorf("a line over the limit: %v", err)
	}
}

// C1: white space around a document of a line is none of the document's.
func TestLinesMayEndAsTheirWriterEndsThem(t *testing.T) {
	dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), everything)
	want := len(open(t, dir).Trace.Events)
	for _, name := range []string{"trace/0000.jsonl", "retrieval/0000.jsonl", run.TurnsFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		runtest.Put(t, dir, name, bytes.ReplaceAll(text, []byte("\n"), []byte(" \r\n")))
	}
	if got := open(t, dir); len(got.Trace.Events) != want || len(got.Shape) > 0 {
		t.Errorf("%d events, %+v", len(got.Trace.Events), got.Shape)
	}
}
