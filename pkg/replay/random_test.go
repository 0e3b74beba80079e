package replay_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/record"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Output implements execute.Source.
func (m *maker) Output(int, int, string) (execute.Output, error) {
	if m.chance(30) {
		return execute.Output{}, execute.ErrNone
	}
	out := execute.Output{Text: m.text() + "Good day.", Truncated: m.chance(20)}
	if !m.chance(4) {
		calls := []fields{}
		for range m.Intn(3) * m.Intn(2) {
			arguments := m.some(2, fields{
				"q": m.text(), "limit": m.number(), "day": 1, "at": one(m, "2024-01-01T00:00:00.500+02:00", "soon"), "deep": fields{"a": []any{m.number(), nil}},
			})
			calls = append(calls, fields{"functionName": one(m, called...), "arguments": arguments, "callId": "c"})
		}
		changes := []fields{}
		for range 1 + m.Intn(3) {
			target := "nobody"
			if ids := m.ids[one(m, 0, 3)]; len(ids) > 0 {
				target = ids[m.Intn(len(ids))]
			}
			kind := one(m, "AppendEpisodic", "AppendEpisodic", "TransformBelief", "TransformRelationship", "EmitWorldIntent")
			changes = append(changes, fields{"type": kind, "target": target, "content": m.text() + "z", "confidence": m.share()})
		}
		answer := fields{
			"dialogueText": m.text() + "Yes.", "proposedMutations": changes, "functionCalls": calls,
			"worldIntents": []fields{{"intentType": "open", "target": m.text(), "priority": 1, "parameters": fields{"a": m.text()}}},
		}
		text, err := json.Marshal(answer)
		if m.chance(2) {
			text, err = json.MarshalIndent(answer, "", "\r\t")
		}
		if err != nil {
			return out, err
		}
		out.Text = strings.ReplaceAll(string(text), "HALF", `\ud83d`)
	}
	return out, nil
}

// Call implements execute.Source.
func (m *maker) Call(execute.Call) (execute.CallResult, error) {
	if m.chance(20) {
		return execute.CallResult{}, execute.ErrNone
	}
	r := execute.CallResult{Result: fmt.Appendf(nil, `{"status": "ok", "n": %s , "e\u0301": null}`, m.number())}
	if m.chance(4) {
		r.Result = []byte(one(m, "null", `""`, "7", "[]", "{\n \"status\" : \"ok\"\n}\n", "1e20", `{"at":"2024-01-01T00:00:00.500+02:00","n":1.005}`))
	}
	if m.chance(2) {
		r.SideEffects = []byte(one(m, `{"calendar": {"id": 1.50}}`, "{\n\"calendar\":\r\n{\"id\":\"x\"}}\n", "null", `{"calendar": {"id": "caf\u0065\u0301"}}`, ` [ 1 ]`))
	}
	return r, nil
}

// given gives a document in one of two layouts.
func (m *maker) given(t *testing.T, value any) record.Text {
	t.Helper()
	text, err := json.Marshal(value)
	if m.chance(2) && err == nil {
		text, err = json.MarshalIndent(value, "", "\t")
	}
	if err != nil {
		t.Fatal(err)
	}
	return record.Text{Path: "document", JSON: text}
}

// record records a run in a folder, which it gives.
func (m *maker) record(t *testing.T) string {
	t.Helper()
	dir, config := filepath.Join(t.TempDir(), "run"), m.config()
	s := record.Settings{
		RunID: one(m, "run", "r\u00e9", "re\u0301", " "), WorkflowID: m.text() + "w", StoreID: one(m, "", "s"), KeepPrompts: m.chance(2),
		Visibility: one(m, execute.Off, execute.ReadOnly, execute.BufferedWrite, execute.BufferedWrite, execute.BufferedWrite), MaxTrace: one[int64](m, 0, 0, 0, 0, 0, 0, 9000),
		Refusal: one(m, "", "", "", memory.ValidationFailed), Lane: run.Lane{Name: "ci", Deterministic: true},
		ModelConfig: []byte(`{"provider_name": "p", "model_name":"m","decoding":{"temperature":0.0},"seed":1}`),
	}
	r, err := record.Create(dir, s, record.Documents{
		Snapshot: m.given(t, m.snapshot()), Config: m.given(t, config), Policies: m.given(t, m.policies()), Profiles: m.given(t, m.profiles()),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Abandon()
	for n := range 1 + m.Intn(one(m, 3, 6, 12)) {
		var found []record.Text
		if s.Visibility != execute.Off {
			for _, c := range m.candidates(n) {
				found = append(found, m.given(t, c))
			}
		}
		if _, err := r.Turn(m.given(t, m.turn(n, config["context"] != nil)), found, m); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// R1, P6: whatever a run is made of, its replay makes it again, and a turn in it is that turn alone. What is walked through says what
// is said of the run read whole, and so it does after edits whose manifest fits.
func TestARandomRunIsMadeAgain(t *testing.T) {
	walked, turns, written := 0, 0, 0
	for seed := range int64(60) {
		m := &maker{Rand: rand.New(rand.NewSource(seed))}
		dir, o := m.record(t), replay.RunOptions{Until: replay.All, Timeline: m.chance(2)}
		whole, _ := replayRun(t, dir, o)
		same := sameResult(t, dir, o, whole)
		claim := slices.ContainsFunc(whole.Findings, func(f finding.Finding) bool {
			return f.Severity == finding.Error && (f.Rule() == "V3" || f.Code == finding.DigestSideEffect || f.Code == finding.ReplayCandidateUnknown)
		})
		switch {
		case whole.Verdict != finding.Equivalent && !claim:
			t.Errorf("run %d is %s%s", seed, whole.Verdict, told(whole))
		case whole.Verdict == finding.Equivalent && !same && m.version != "unknown":
			t.Errorf("run %d was not walked through", seed)
		case same:
			walked++
		}
		some, wrote := turnsAlone(t, dir)
		turns, written = turns+some, written+wrote
		for list := files(t, dir); m.chance(2); {
			name := list[m.Intn(len(list))]
			runtest.Put(t, dir, name, mangled(readFile(t, dir, name), byte(m.Intn(256)), byte(m.Intn(256)), byte(m.Intn(256))))
			runtest.Repair(t, dir)
			replayRun(t, dir, o)
		}
	}
	if walked < 30 || turns < 100 || written < 10 {
		t.Errorf("%d runs were walked through, of %d turns with %d writes", walked, turns, written)
	}
}

// apart is a sink in memory, without what tells of the place of a turn in its run.
type apart struct {
	made   [][]byte
	states []string // that events state
}

var (
	placed = regexp.MustCompile(`"(retrieval_event_id|event_id)":"[er]\d+",|"index":\d+,|"retrieval_event_ids":\[[^\]]*\]|"state_digest":"[0-9a-f]*"`)
	stated = regexp.MustCompile(`"state_digest":"([0-9a-f]*)"`)
)

// Event implements execute.Sink.
func (a *apart) Event(event []byte, rows ...[]byte) error {
	for _, text := range append([][]byte{event}, rows...) {
		a.made = append(a.made, placed.ReplaceAll(text, nil))
	}
	if state := stated.FindSubmatch(event); state != nil {
		a.states = append(a.states, string(state[1]))
	}
	return nil
}

// Line implements execute.Sink.
func (a *apart) Line(file string, text func() []byte) error {
	a.made = append(a.made, []byte(file), text())
	return nil
}

// turnsAlone executes the turns of a run in the run and each alone, and gives their number and that of what they wrote. P6: what an
// execution keeps for the turns after is no input of theirs; the state is that of all writes so far.
func turnsAlone(t *testing.T, dir string) (turns, written int) {
	t.Helper()
	read, err := run.Read(dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := read.Trace.Recording
	begin := func(sink execute.Sink) *execute.Run {
		x, err := execute.Begin(r, execute.Options{
			RunID: read.Trace.RunID.Verbatim(), Visibility: read.Trace.Visibility.Text(), ModelConfig: read.Trace.ModelConfig.Raw, KeepPrompts: true,
		}, sink)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	start, err := begin(&apart{}).End()
	if err != nil {
		t.Fatal(err)
	}
	var all, alone apart
	var writes []memory.Write
	for n, whole := 0, begin(&all); n < len(r.Turns); n++ {
		candidates, err := execute.ReadCandidates(slices.DeleteFunc(slices.Clone(r.Candidates), func(d trace.Document) bool { k, _ := d.Int("turn"); return k != n }))
		if err != nil {
			t.Fatal(err)
		}
		all, alone = apart{}, apart{}
		_, errRun := whole.Turn(r.Turns[n], candidates, execute.NewRecorded(r))
		made, err := begin(&alone).Turn(r.Turns[n], candidates, execute.NewRecorded(r))
		if err := errors.Join(err, errRun); err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(all.made, alone.made, bytes.Equal) {
			t.Fatalf("%s: turn %d made\n%s\nalone it makes\n%s", dir, n, bytes.Join(all.made, []byte("\n")), bytes.Join(alone.made, []byte("\n")))
		}
		if len(all.states) == 0 {
			continue // the turn had no effects
		}
		if read.Trace.Visibility.Is(execute.BufferedWrite) {
			writes = append(writes, made.Result.Writes...)
		}
		state, err := start.State.Apply(writes, nil)
		if err != nil { // M4: nothing of them would be applied
			state = start.State
		}
		if sum, err := state.Digest(); err != nil || !slices.Equal(all.states, []string{sum.Hex()}) {
			t.Fatalf("%s: turn %d states %s, want %s, %v", dir, n, all.states, sum.Hex(), err)
		}
	}
	return len(r.Turns), len(writes)
}
