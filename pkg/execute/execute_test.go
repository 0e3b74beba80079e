package execute_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/trace"
)

const runs = "../../fixtures/native/runs"

// kept is a sink in memory.
type kept struct {
	events, rows [][]byte
	lines        map[string][][]byte
}

func (k *kept) Event(event []byte, rows ...[]byte) error {
	k.events = append(k.events, bytes.Clone(event))
	for _, row := range rows {
		k.rows = append(k.rows, bytes.Clone(row))
	}
	return nil
}

func (k *kept) Line(file string, text func() []byte) error {
	k.lines[file] = append(k.lines[file], text())
	return nil
}

func (k *kept) file(lines [][]byte) []byte {
	if len(lines) == 0 {
		return nil
	}
	return append(bytes.Join(lines, []byte("\n")), '\n')
}

func read(t *testing.T, dir string) *trace.Trace {
	t.Helper()
	r, err := run.Read(dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r.Trace
}

func options(t *trace.Trace) execute.Options {
	return execute.Options{
		RunID: t.RunID.Text(), WorkflowID: t.WorkflowID.Text(), Visibility: t.Visibility.Text(), ModelConfig: t.ModelConfig.Raw,
		KeepPrompts: len(t.Recording.Prompts) > 0, Refusal: execute.Refusal(t.Recording.Commit),
	}
}

// executed runs the turns of a recording and gives what was recorded.
func executed(t *testing.T, r *trace.Recording, o execute.Options) (*kept, *execute.End, error) {
	t.Helper()
	sink := &kept{lines: map[string][][]byte{}}
	x, err := execute.Begin(r, o, sink)
	if err != nil {
		return nil, nil, err
	}
	source := execute.NewRecorded(r)
	for n, turn := range r.Turns {
		var found []trace.Document
		for _, d := range r.Candidates {
			if of, _ := d.Int("turn"); of == n {
				found = append(found, d)
			}
		}
		candidates, err := execute.ReadCandidates(found)
		if err != nil {
			return nil, nil, err
		}
		if _, err := x.Turn(turn, candidates, source); err != nil {
			return nil, nil, err
		}
	}
	end, err := x.End()
	return sink, end, err
}

// recordings gives the folders of all recorded runs.
func recordings(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(runs, "*", run.ManifestFile))
	links, errLinks := filepath.Glob(filepath.Join(runs, "*", "*", run.ManifestFile))
	if err := errors.Join(err, errLinks); err != nil || len(found) < 12 || len(links) < 2 {
		t.Fatalf("%d runs, %d links, %v", len(found), len(links), err)
	}
	var dirs []string
	for _, path := range slices.Concat(found, links) {
		dirs = append(dirs, filepath.Dir(path))
	}
	return dirs
}

// P1, P7, E10: equal documents and answers give equal records, to the byte: events, rows, lines and commit.
func TestARecordedRunIsExecutedToTheSameBytes(t *testing.T) {
	for _, dir := range recordings(t) {
		recorded := read(t, dir)
		sink, end, err := executed(t, recorded.Recording, options(recorded))
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		made := map[string][]byte{
			"trace/0000.jsonl": sink.file(sink.events), "retrieval/0000.jsonl": sink.file(sink.rows), run.CommitFile: nil,
			run.OutputsFile: sink.file(sink.lines[execute.OutputsFile]), run.ToolResultsFile: sink.file(sink.lines[execute.ToolResultsFile]),
			run.PromptsFile: sink.file(sink.lines[execute.PromptsFile]),
		}
		if end.Commit != nil {
			made[run.CommitFile] = append(end.Commit, '\n')
		}
		for _, name := range canon.SortedKeys(made) {
			want, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil && made[name] != nil || !bytes.Equal(want, made[name]) {
				t.Errorf("%s/%s is not what is made:\n%s", dir, name, made[name])
			}
		}
		if !bytes.HasPrefix(end.Envelope, []byte(`{"run_id":`)) {
			t.Errorf("%s: envelope %s", dir, end.Envelope)
		}
	}
}

// with gives a document with one text changed.
func with(t *testing.T, d trace.Document, before, after string) trace.Document {
	t.Helper()
	text := string(d.Value.Raw())
	if !strings.Contains(text, before) {
		t.Fatalf("%s%s does not hold %s", d.Path, d.At, before)
	}
	value, err := canon.Parse([]byte(strings.Replace(text, before, after, 1)))
	if err != nil {
		t.Fatal(err)
	}
	d.Value = value
	return d
}

// V1, D9: a document that a stage cannot read is an error that names file and member.
func TestMalformedDocumentsAreNamed(t *testing.T) {
	type change func(t *testing.T, r *trace.Recording)
	for _, c := range []struct {
		run  string
		make change
		want execute.Error
	}{
		{"turns", func(t *testing.T, r *trace.Recording) {
			r.Config = with(t, r.Config, `"dmpl-v1"`, `"llamabrain-v1"`)
		}, execute.Error{Path: "config.json", Pointer: "/pipeline_version"}},
		{"turns", func(t *testing.T, r *trace.Recording) {
			r.Config = with(t, r.Config, `"snapshot"`, `"snapshot","assembler":{"Indent":1}`)
		}, execute.Error{Path: "config.json", Pointer: "/assembler/Indent"}},
		{"references", func(t *testing.T, r *trace.Recording) {
			r.Config = with(t, r.Config, `"max_refs": 2`, `"max_refs": 0`)
		}, execute.Error{Path: "config.json", Pointer: "/context/context/max_refs"}},
		{"references", func(t *testing.T, r *trace.Recording) { r.Config = with(t, r.Config, `"context": {`, `"was": {`) }, execute.Error{Path: "config.json", Pointer: "/was"}},
		{"turns", func(t *testing.T, r *trace.Recording) {
			r.Policies = with(t, r.Policies, `"rules": []`, `"rules": [{"id":"h","rule":"hook","name":"mine"}]`)
		}, execute.Error{Path: "policies.json", Pointer: "/commit/rules/0/name"}},
		{"turns", func(t *testing.T, r *trace.Recording) {
			r.Snapshot = with(t, r.Snapshot, `"sequence_number": 2`, `"sequence_number": 1`)
		}, execute.Error{Path: "snapshot.json", Pointer: "/records"}},
		{"turns", func(t *testing.T, r *trace.Recording) {
			r.Turns[1] = with(t, r.Turns[1], `"retry_policy": {}`, `"retry_policy": {"MaxRetries": -1}`)
		}, execute.Error{Path: "turns.jsonl", Pointer: "/1/retry_policy/MaxRetries"}},
		{"references", func(t *testing.T, r *trace.Recording) {
			r.Turns[0] = with(t, r.Turns[0], `"kind": "INTENT"`, `"kind": 1`)
		}, execute.Error{Path: "turns.jsonl", Pointer: "/0/thread_events/0/kind"}},
		{"single", func(t *testing.T, r *trace.Recording) {
			r.Turns[0] = with(t, r.Turns[0], `"references": []`, `"references": [{"ref_type":"event","ref_id":"c-1"}]`)
		}, execute.Error{Path: "turns.jsonl", Pointer: "/0/references"}},
		{"single", func(t *testing.T, r *trace.Recording) {
			r.Turns[0] = with(t, r.Turns[0], `"references": []`, `"thread_id": 7, "references": []`)
		}, execute.Error{Path: "turns.jsonl", Pointer: "/0/thread_id"}},
		{"single", func(t *testing.T, r *trace.Recording) {
			text := strings.Replace(string(r.Turns[0].Value.Raw()), `"references": []`, `"turn_id": "\ud83d", "references": []`, 1)
			value, err := canon.ParseAs(canon.DBL, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			r.Turns[0].Value = value
		}, execute.Error{Path: "turns.jsonl", Pointer: "/0"}},
		{"candidates", func(t *testing.T, r *trace.Recording) {
			r.Candidates[0] = with(t, r.Candidates[0], `"e1"`, `7`)
		}, execute.Error{Path: "candidates.jsonl", Pointer: "/0/candidates/1/record_id"}},
		{"candidates", func(t *testing.T, r *trace.Recording) { r.Candidates[1] = r.Candidates[0] }, execute.Error{Path: "candidates.jsonl", Pointer: "/0/kind"}},
		{"single", func(t *testing.T, r *trace.Recording) {
			r.Outputs[0] = with(t, r.Outputs[0], `"truncated":false`, `"truncated":0`)
		}, execute.Error{Path: "outputs.jsonl", Pointer: "/0/truncated"}},
	} {
		recorded := read(t, filepath.Join(runs, c.run))
		c.make(t, recorded.Recording)
		_, _, err := executed(t, recorded.Recording, options(recorded))
		var wrong *execute.Error
		if !errors.As(err, &wrong) || filepath.Base(wrong.Path) != c.want.Path || wrong.Pointer != c.want.Pointer || wrong.Detail == "" {
			t.Errorf("%s: %v, want %s at %s", c.run, err, c.want.Path, c.want.Pointer)
		}
	}
	recorded := read(t, filepath.Join(runs, "single"))
	o := options(recorded)
	o.Visibility = "live_read_write"
	if _, _, err := executed(t, recorded.Recording, o); err == nil {
		t.Error("a live run was executed")
	}
}
