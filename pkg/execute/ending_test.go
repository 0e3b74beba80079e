package execute_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/trace"
)

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
		{"a call of another attempt without a result", "tools", func(t *testing.T, r *trace.Recording) {
			r.Turns[0] = with(t, r.Turns[0], `"constraints": []`, `"constraints": [{"Id":"no","Type":"Prohibition","ValidationPatterns":["found"]}]`)
			r.Outputs = append(r.Outputs, with(t, r.Outputs[0], `"attempt":0`, `"attempt":1`))
		}, []string{
			"prompt_ready", "model_response_processed", "tool_call_ready", "tool_call_result", "tool_call_ready", "tool_call_result", "retry",
			"prompt_ready", "model_response_processed", "tool_call_ready", "stage_failed",
		}},
		{"arguments without canonical form", "tools", func(t *testing.T, r *trace.Recording) {
			r.Outputs[0] = with(t, r.Outputs[0], `\"limit\": 3`, `\"limit\": 1e999`)
		}, []string{"prompt_ready", "stage_failed"}},
		{"a blank input in a thread", "references", func(t *testing.T, r *trace.Recording) {
			r.Turns[0] = with(t, r.Turns[0], `"As I asked before"`, `" "`)
		}, []string{"stage_failed"}},
		{"a candidate twice", "candidates", func(t *testing.T, r *trace.Recording) {
			r.Candidates[0] = with(t, r.Candidates[0], `"e1"`, `"e2"`)
		}, []string{"stage_failed", "prompt_ready", "model_response_processed", "passed", "applied", "applied"}},
		{"an answer too long for a pattern", "minimal", func(t *testing.T, r *trace.Recording) {
			r.Outputs[0] = with(t, r.Outputs[0], "Arthur, please.", strings.Repeat("a", 1<<20)+"!")
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

// P1: a pattern that runs out of time may have an answer on another machine, so that it is no event.
func TestAPatternThatRunsOutOfTimeEndsTheExecution(t *testing.T) {
	recorded := read(t, filepath.Join(runs, "minimal"))
	recorded.Recording.Turns[0] = with(t, recorded.Recording.Turns[0], `"Pattern": "please"`, `"Pattern": "(a+)+$"`)
	recorded.Recording.Outputs[0] = with(t, recorded.Recording.Outputs[0], "Arthur, please.", strings.Repeat("a", 40)+"!")
	if _, _, err := executed(t, recorded.Recording, options(recorded)); !errors.Is(err, execute.ErrOutOfTime) {
		t.Errorf("error %v", err)
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
