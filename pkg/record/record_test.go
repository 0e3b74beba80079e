package record_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/record"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/verify"
)

const inputs = "../../fixtures/native/inputs"

func file(t *testing.T, name, document string) record.Text {
	t.Helper()
	path := filepath.Join(inputs, name, document)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return record.Text{Path: path, JSON: text}
}

func lines(t *testing.T, name, document string) []record.Text {
	t.Helper()
	whole := file(t, name, document)
	var list []record.Text
	for _, line := range strings.Split(strings.TrimSpace(string(whole.JSON)), "\n") {
		list = append(list, record.Text{Path: whole.Path, JSON: []byte(line)})
	}
	return list
}

// tools gives the documents of the run with tool calls.
func tools(t *testing.T) (record.Settings, record.Documents) {
	t.Helper()
	s := record.Settings{
		RunID: "r", WorkflowID: "w", Visibility: execute.ReadOnly, Lane: run.Lane{Name: "ci", Deterministic: true},
		ModelConfig: []byte(`{"provider_name":"p","model_name":"m","decoding":{"temperature":0},"seed":1}`),
	}
	d := record.Documents{
		Snapshot: file(t, "tools", run.SnapshotFile), Config: file(t, "tools", run.ConfigFile), Policies: file(t, "tools", run.PoliciesFile),
		Profiles: file(t, "tools", run.ProfilesFile),
	}
	return s, d
}

// said is a model that answers what it is told to.
type said string

func (s said) Answer(context.Context, string) (execute.Output, error) {
	if s == "" {
		return execute.Output{}, errOffline
	}
	return execute.Output{Text: string(s)}, nil
}

var errOffline = errors.New("the model is offline")

const asks = `{"dialogueText":"I found it.","functionCalls":[{"functionName":"search","arguments":{"q":"gate"}}]}`

// P1, V5: a live run with a tool call is a recording that passes verify with every claim checked; where no tool answers, the
// turn ends and the recording holds all the same.
func TestALiveRunIsRecorded(t *testing.T) {
	search := func(_ context.Context, tool string, args []byte) (execute.CallResult, error) {
		if tool != "search" || string(args) != `{"q":"gate"}` {
			t.Errorf("called %s with %s", tool, args)
		}
		return execute.CallResult{Result: []byte(`{"status":"ok","page":{"total":1}}`)}, nil
	}
	for _, c := range []struct {
		tools   record.Tools
		failure string
	}{{search, ""}, {nil, execute.StageFailed}} {
		s, d := tools(t)
		dir := filepath.Join(t.TempDir(), "run")
		r, err := record.Create(dir, s, d)
		if err != nil {
			t.Fatal(err)
		}
		turn, err := r.Turn(lines(t, "tools", run.TurnsFile)[0], nil, record.Live(context.Background(), said(asks), c.tools))
		if err != nil || turn.Failure != c.failure {
			t.Fatalf("%+v, %v", turn, err)
		}
		if _, err := r.Close(); err != nil {
			t.Fatal(err)
		}
		read, err := run.Read(dir, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if result := verify.Trace(read.Trace, read.Shape, verify.Options{InFolder: true, Coverage: 100}); result.Verdict != finding.Pass {
			t.Errorf("%s: %+v", result.Verdict, result.Findings)
		}
		if r.Counts().Total != len(read.Trace.Events) {
			t.Errorf("%+v", r.Counts())
		}
	}
}

// heard is a model that answers the same to every prompt and keeps the prompts.
type heard struct {
	answer  string
	prompts []string
}

func (h *heard) Answer(_ context.Context, prompt string) (execute.Output, error) {
	h.prompts = append(h.prompts, prompt)
	return execute.Output{Text: h.answer}, nil
}

// C1: what a retry says of an answer may end within a surrogate pair. The half is U+FFFD for the model and where the prompt is kept.
func TestAPromptThatEndsWithinAPairIsKept(t *testing.T) {
	s, d := tools(t)
	s.KeepPrompts, d.Config = true, file(t, "single", run.ConfigFile)
	dir := filepath.Join(t.TempDir(), "run")
	r, err := record.Create(dir, s, d)
	if err != nil {
		t.Fatal(err)
	}
	turn := lines(t, "tools", run.TurnsFile)[0]
	turn.JSON = bytes.Replace(turn.JSON, []byte(`"constraints": []`), []byte(`"constraints": [{"Id":"no","Type":"Prohibition","ValidationPatterns":["gold"]}]`), 1)
	model := &heard{answer: "gold" + strings.Repeat("x", 19) + "\U0001F409 for all."}
	if _, err = r.Turn(turn, nil, record.Live(context.Background(), model, nil)); err == nil {
		_, err = r.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(model.prompts) < 2 || !strings.Contains(model.prompts[1], strings.Repeat("x", 19)+"\uFFFD") {
		t.Errorf("the model was asked %q", model.prompts)
	}
	read, err := run.Read(dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if result := verify.Trace(read.Trace, read.Shape, verify.Options{InFolder: true, Coverage: 100}); result.Verdict != finding.Pass {
		t.Errorf("%s: %+v", result.Verdict, result.Findings)
	}
}

// C1, D3: a heading with half a surrogate pair, which JSON of a model can have, is in the structure with U+FFFD.
func TestAHeadingWithHalfAPairIsRecorded(t *testing.T) {
	s, d := tools(t)
	dir := filepath.Join(t.TempDir(), "run")
	r, err := record.Create(dir, s, d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = r.Turn(lines(t, "tools", run.TurnsFile)[0], nil, record.Live(context.Background(), said(`{"dialogueText":"# A \ud83d gate"}`), nil)); err == nil {
		_, err = r.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	read, err := run.Read(dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	structure := string(read.Trace.Output.Structure.Raw)
	if result := verify.Trace(read.Trace, read.Shape, verify.Options{InFolder: true}); result.Verdict != finding.Pass || structure != `{"type":"text","sections":["A \ufffd gate"]}` {
		t.Errorf("%s: %s", result.Verdict, structure)
	}
}

// D8: tools answer in any layout, and a line holds each answer; what is no JSON ends the recording.
func TestToolsAnswerInAnyLayout(t *testing.T) {
	for result, want := range map[string]string{"\n{\r\n \"status\": \"ok\"\n}\n": `"result":{   "status": "ok" },"side_effects":[1, 2]`, "{": "", "": "", `"\ud800"`: ""} {
		s, d := tools(t)
		dir := filepath.Join(t.TempDir(), "run")
		r, err := record.Create(dir, s, d)
		if err != nil {
			t.Fatal(err)
		}
		search := func(context.Context, string, []byte) (execute.CallResult, error) {
			return execute.CallResult{Result: []byte(result), SideEffects: []byte("[1,\n2]\n")}, nil
		}
		_, err = r.Turn(lines(t, "tools", run.TurnsFile)[0], nil, record.Live(context.Background(), said(asks), search))
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "turn 0, attempt 0, call 0: what the tool search answered is no JSON that can be recorded: ") {
				t.Errorf("%q: %v", result, err)
			}
			r.Abandon()
			continue
		}
		if _, errClose := r.Close(); err != nil || errClose != nil {
			t.Fatal(err, errClose)
		}
		if text, err := os.ReadFile(filepath.Join(dir, run.ToolResultsFile)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s, %v", text, err)
		}
	}
}

// V4: a recording that was given up, or whose model failed, says that it is cut short.
func TestAFailedRecordingIsCutShort(t *testing.T) {
	s, d := tools(t)
	dir := filepath.Join(t.TempDir(), "run")
	r, err := record.Create(dir, s, d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Turn(lines(t, "tools", run.TurnsFile)[0], nil, record.Live(context.Background(), said(""), nil)); !errors.Is(err, errOffline) {
		t.Errorf("error %v", err)
	}
	r.Abandon()
	read, err := run.Read(dir, nil, 0)
	if err != nil || read.Trace.Recording.CutShort == "" {
		t.Errorf("%+v, %v", read, err)
	}
}

// V1: what is malformed is named, and nothing is recorded of it.
func TestMalformedDocumentsAreRefused(t *testing.T) {
	swap := func(text record.Text, before, after string) record.Text {
		if !bytes.Contains(text.JSON, []byte(before)) {
			t.Fatalf("%s does not hold %s", text.Path, before)
		}
		text.JSON = bytes.Replace(text.JSON, []byte(before), []byte(after), 1)
		return text
	}
	for want, change := range map[string]func(*record.Settings, *record.Documents){
		"snapshot.json at /records/0/source: ": func(_ *record.Settings, d *record.Documents) {
			d.Snapshot = swap(d.Snapshot, `"source": 100`, `"source": "x"`)
		},
		"config.json: ":                     func(_ *record.Settings, d *record.Documents) { d.Config.JSON = []byte(`{`) },
		"policies.json: ":                   func(_ *record.Settings, d *record.Documents) { d.Policies.JSON = []byte(`{"a":1,"a":2}`) },
		"profiles.json at /tool_profiles/0": func(_ *record.Settings, d *record.Documents) { d.Profiles = swap(d.Profiles, `"book"`, `7`) },
		"profiles.json at /tool_profiles/1/tool_name: a run has one profile of each tool": func(_ *record.Settings, d *record.Documents) {
			d.Profiles = swap(d.Profiles, `"search"`, `"book"`)
		},
		"is no JSON object": func(s *record.Settings, _ *record.Documents) { s.ModelConfig = []byte(`[]`) },
		"states tool_runtime_profile_hash": func(s *record.Settings, _ *record.Documents) {
			s.ModelConfig = []byte(`{"tool_runtime_profile_hash":"x"}`)
		},
		"is none of off, read_only, buffered_write": func(s *record.Settings, _ *record.Documents) { s.Visibility = "write" },
		"live_read_write needs a memory":            func(s *record.Settings, _ *record.Documents) { s.Visibility = "live_read_write" },
	} {
		s, d := tools(t)
		change(&s, &d)
		dir := filepath.Join(t.TempDir(), "run")
		_, err := record.Create(dir, s, d)
		if err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(want, ": ")) {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: something was recorded", want)
		}
	}
}

// V2, M2: turns come one after the other, and candidates with their turn; a run that reads nothing has none.
func TestTurnsComeInTheirOrder(t *testing.T) {
	turns, found := lines(t, "candidates", run.TurnsFile), lines(t, "candidates", run.CandidatesFile)
	for _, c := range []struct {
		turn       record.Text
		candidates []record.Text
		visibility string
		want       string
	}{
		{turns[1], nil, execute.ReadOnly, "expected turn 0, which is next"},
		{turns[0], found[2:], execute.ReadOnly, "expected turn 0"},
		{turns[0], []record.Text{{Path: "c", JSON: []byte(`{"turn":0}`)}}, execute.ReadOnly, "kind is missing"},
		{record.Text{Path: "t", JSON: []byte(`{}`)}, nil, execute.ReadOnly, "turn is missing"},
		{turns[0], []record.Text{found[0], found[0]}, execute.ReadOnly, "are given twice"},
		{turns[0], found[:1], execute.Off, "reads nothing"},
	} {
		s, d := tools(t)
		s.Visibility = c.visibility
		r, err := record.Create(filepath.Join(t.TempDir(), "run"), s, d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Turn(c.turn, c.candidates, record.Live(context.Background(), said("Hm."), nil)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
		if _, err := r.Close(); err == nil {
			t.Error("a run without turns was closed")
		}
		r.Abandon()
	}
}
