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
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
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
	k.events, k.rows = append(k.events, event), append(k.rows, rows...)
	return nil
}

func (k *kept) Line(file string, text []byte) error {
	k.lines[file] = append(k.lines[file], text)
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
		{"candidates", func(t *testing.T, r *trace.Recording) {
			r.Candidates[0] = with(t, r.Candidates[0], `"e1"`, `7`)
		}, execute.Error{Path: "candidates.jsonl", Pointer: "/0/candidates/episodic/1/record_id"}},
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

// decisions gives the decision types of the events.
func decisions(k *kept) []string {
	var list []string
	for _, e := range k.events {
		v, err := canon.Parse(e)
		if err != nil {
			return []string{err.Error()}
		}
		text, _ := v.Get("decision_type")
		name, _ := text.Text()
		list = append(list, name)
	}
	return list
}

// P7, D9: what ends a turn or a commit is an event, and the rest goes on.
func TestWhatCannotGoOnIsAnEvent(t *testing.T) {
	commit := func(rule string) func(t *testing.T, r *trace.Recording) {
		return func(t *testing.T, r *trace.Recording) {
			r.Policies = with(t, r.Policies, `"rules": []`, `"rules": [`+rule+`]`)
		}
	}
	for _, c := range []struct {
		what, run string
		make      func(t *testing.T, r *trace.Recording)
		want      []string
	}{
		{"no profile of the tool", "tools", func(_ *testing.T, r *trace.Recording) { r.Profiles = r.Profiles[:1] }, []string{"prompt_ready", "model_response_processed", "stage_failed"}},
		{"arguments without canonical form", "tools", func(t *testing.T, r *trace.Recording) {
			r.Outputs[0] = with(t, r.Outputs[0], `\"limit\": 3`, `\"limit\": 1e999`)
		}, []string{"prompt_ready", "stage_failed"}},
		{"a blank input in a thread", "references", func(t *testing.T, r *trace.Recording) {
			r.Turns[0] = with(t, r.Turns[0], `"As I asked before"`, `" "`)
		}, []string{"stage_failed"}},
		{"a candidate twice", "candidates", func(t *testing.T, r *trace.Recording) {
			r.Candidates[0] = with(t, r.Candidates[0], `"e1"`, `"e2"`)
		}, []string{"stage_failed", "prompt_ready", "model_response_processed", "passed", "applied", "applied"}},
		{"a pattern without an end", "minimal", func(t *testing.T, r *trace.Recording) {
			r.Turns[0] = with(t, r.Turns[0], `"Pattern": "please"`, `"Pattern": "(a+)+$"`)
			r.Outputs[0] = with(t, r.Outputs[0], "Arthur, please.", strings.Repeat("a", 40)+"!")
		}, []string{"prompt_ready", "model_response_processed", "stage_failed"}},
		{"a fallback that is none of its list", "fallback", func(t *testing.T, r *trace.Recording) {
			r.Turns[0] = with(t, r.Turns[0], `"trigger": []`, `"recorded": "Nonsense", "trigger": []`)
			r.Turns = r.Turns[:1]
		}, []string{"prompt_ready", "model_response_processed", "retry", "prompt_ready", "model_response_processed", "stage_failed", "commit_applied"}},
		{"types that may be written", "storage-failed", commit(`{"id":"a","rule":"record_types","values":["belief"]}`), []string{"prompt_ready", "model_response_processed", "passed", "applied", "applied", "policy_rejected"}},
		{"namespaces that may be written", "storage-failed", commit(`{"id":"a","rule":"namespaces","values":["npc"]}`), []string{"prompt_ready", "model_response_processed", "passed", "applied", "applied", "policy_rejected"}},
		{"trust that is needed", "storage-failed", commit(`{"id":"a","rule":"least_trust","limit":51}`), []string{"prompt_ready", "model_response_processed", "passed", "applied", "applied", "policy_rejected"}},
		{"rules that all hold", "storage-failed", commit(`{"id":"a","rule":"record_types","values":["episodic"]},{"id":"b","rule":"namespaces","values":[""]},{"id":"c","rule":"least_trust","limit":50},{"id":"d","rule":"most_writes","limit":1},{"id":"e","rule":"gate_passed"}`), []string{"prompt_ready", "model_response_processed", "passed", "applied", "applied", "storage_apply_failed"}},
		{"a turn that did not pass", "fallback", commit(`{"id":"a","rule":"gate_passed"}`), []string{"prompt_ready", "model_response_processed", "retry", "prompt_ready", "model_response_processed", "fallback", "prompt_ready", "model_response_processed", "fallback", "policy_rejected"}},
	} {
		recorded := read(t, filepath.Join(runs, c.run))
		c.make(t, recorded.Recording)
		sink, _, err := executed(t, recorded.Recording, options(recorded))
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if got := decisions(sink); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// failing is a source or a sink that fails.
type failing struct{ kept }

var errBroken = errors.New("broken")

func (failing) Output(int, int, string) (execute.Output, error) { return execute.Output{}, errBroken }

func (failing) Call(execute.Call) (execute.CallResult, error) { return execute.CallResult{}, errBroken }
func (failing) Event([]byte, ...[]byte) error                 { return errBroken }

// An error of the model or of the disk ends the execution: it is no part of the run.
func TestErrorsFromOutsideEndTheExecution(t *testing.T) {
	for _, name := range []string{"single", "tools", "reference-refused"} {
		recorded := read(t, filepath.Join(runs, name))
		r := recorded.Recording
		x, err := execute.Begin(r, options(recorded), &failing{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Turn(r.Turns[0], pipeline.Candidates{}, execute.NewRecorded(r)); !errors.Is(err, errBroken) {
			t.Errorf("%s: a broken sink gives %v", name, err)
		}
		if name == "reference-refused" {
			continue
		}
		x, err = execute.Begin(r, options(recorded), &kept{lines: map[string][][]byte{}})
		if err != nil {
			t.Fatal(err)
		}
		var source execute.Source = failing{}
		if name == "tools" {
			source = halfway{execute.NewRecorded(r)}
		}
		if _, err := x.Turn(r.Turns[0], pipeline.Candidates{}, source); !errors.Is(err, errBroken) {
			t.Errorf("%s: a broken source gives %v", name, err)
		}
	}
}

// halfway is a source whose tools are broken.
type halfway struct{ *execute.Recorded }

func (halfway) Call(execute.Call) (execute.CallResult, error) { return execute.CallResult{}, errBroken }

// D3: the sections of a text are its headings outside of code.
func TestSectionsAreHeadings(t *testing.T) {
	recorded := read(t, filepath.Join(runs, "prompts"))
	text := "# One #\\n```sh\\n# no heading\\n```\\n    # indented\\n####### seven\\n##Two\\n## Two\\n~~~\\n## in tildes\\n~~~~\\n### C#\\n#\\n"
	recorded.Recording.Outputs[1] = with(t, recorded.Recording.Outputs[1], `# Duty\nI guard the gate.`, text)
	_, end, err := executed(t, recorded.Recording, options(recorded))
	if err != nil {
		t.Fatal(err)
	}
	want := `"structure":{"type":"text","sections":["One","Two","C#",""]}`
	if !bytes.Contains(end.Envelope, []byte(want)) {
		t.Errorf("%s\nwant %s", end.Envelope, want)
	}
}

// P2(g), M3: the digest of the start, and what a commit leaves.
func TestStartAndEnd(t *testing.T) {
	recorded := read(t, filepath.Join(runs, "turns"))
	start, err := execute.StartDigest(recorded.Recording)
	if err != nil {
		t.Fatal(err)
	}
	_, end, err := executed(t, recorded.Recording, options(recorded))
	if err != nil {
		t.Fatal(err)
	}
	after, err := end.State.Digest()
	if err != nil || after == start || end.Buffer.State != memory.CommitApplied || !recorded.Recording.Commit.Field("/state_digest_after").Is(after.Hex()) {
		t.Errorf("after %s, start %s, buffer %s, %v", after.Hex(), start.Hex(), end.Buffer.State, err)
	}
	broken := *recorded.Recording
	broken.Snapshot = with(t, broken.Snapshot, `"source": 100`, `"source": "x"`)
	if _, err := execute.StartDigest(&broken); err == nil {
		t.Error("a broken snapshot has a digest")
	}
}
