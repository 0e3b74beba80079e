package cmd

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/record"
	"github.com/dmpl/dmpl/pkg/report"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/trace"
)

// The documents of a run whose inputs have none of their own.
const (
	noPolicies = `{"schema_version":"memory.policy_set.v1","retrieval":{},"admission":[],"commit":{"rules":[]},"retention":{"lanes":[]}}`
	noProfiles = `{"tool_profiles":[]}`
)

func visible(s string) string { return report.Visible(s) }

// runInputs reads the inputs of a run.
func (a *App) runInputs(o *runOptions) (*inputs, error) {
	in := &inputs{recording: &trace.Recording{}}
	one := func(name, otherwise string) (record.Text, error) {
		path, err := o.path(name, otherwise == "" && (name != run.SnapshotFile || o.store == ""))
		if err != nil || path == "" {
			return record.Text{Path: name, JSON: []byte(otherwise)}, err
		}
		f, err := dialect.ReadFile(path, a.In, int64(o.limit))
		if err != nil {
			return record.Text{}, err
		}
		return record.Text{Path: path, JSON: f.Data}, nil
	}
	for _, d := range []struct {
		name, otherwise string
		to              *record.Text
	}{
		{run.SnapshotFile, "", &in.documents.Snapshot},
		{run.ConfigFile, "", &in.documents.Config},
		{run.PoliciesFile, noPolicies, &in.documents.Policies},
		{run.ProfilesFile, noProfiles, &in.documents.Profiles},
	} {
		var err error
		if *d.to, err = one(d.name, d.otherwise); err != nil {
			return nil, err
		}
	}
	for _, d := range []struct {
		name     string
		required bool
		to       *[]trace.Document
	}{
		{run.OutputsFile, true, &in.recording.Outputs},
		{run.ToolResultsFile, false, &in.recording.ToolResults},
		{run.CandidatesFile, false, &in.recording.Candidates},
	} {
		lines, err := a.runLines(o, d.name, d.required)
		if err != nil {
			return nil, err
		}
		for i, line := range lines {
			value, err := canon.Parse(line.JSON)
			if err != nil {
				return nil, &execute.Error{Path: line.Path, Pointer: trace.LinePointer(i), Detail: err.Error()}
			}
			*d.to = append(*d.to, trace.Document{Path: line.Path, At: trace.LinePointer(i), Value: value})
		}
		slices.SortStableFunc(*d.to, byPlace)
	}
	var err error
	if in.turns, err = a.runLines(o, run.TurnsFile, true); err != nil {
		return nil, err
	}
	if err := in.turnsExist(); err != nil {
		return nil, err
	}
	if err := in.readModel(); err != nil {
		return nil, err
	}
	if err := a.readRefusal(o, in); err != nil {
		return nil, err
	}
	in.lane, err = laneOf(o.lane, in.documents.Policies)
	return in, err
}

// byPlace orders lines by turn, attempt and call, as a recording has them.
func byPlace(a, b trace.Document) int {
	for _, name := range []string{"turn", "attempt", "call"} {
		x, _ := a.Int(name)
		y, _ := b.Int(name)
		if x != y {
			return cmp.Compare(x, y)
		}
	}
	return 0
}

// path gives the file of an input, "" for one that is not there and need not be.
func (o *runOptions) path(name string, required bool) (string, error) {
	if name == run.SnapshotFile && o.startID() != "" {
		return "", nil
	}
	for i, f := range runFlags {
		if f.file == name && o.files[i] != "" {
			return o.files[i], nil
		}
	}
	path := filepath.Join(o.from, name)
	if o.from != "" {
		if _, err := os.Lstat(path); err == nil || required {
			return path, nil
		}
		return "", nil
	}
	if required {
		return "", usage("Name a folder with --from, or the file itself.", "there is no %s", name)
	}
	return "", nil
}

func (a *App) runLines(o *runOptions, name string, required bool) ([]record.Text, error) {
	path, err := o.path(name, required)
	if err != nil || path == "" {
		return nil, err
	}
	f, err := dialect.ReadFile(path, a.In, int64(o.limit))
	if err != nil {
		return nil, err
	}
	var lines []record.Text
	for line := range bytes.SplitSeq(bytes.TrimSuffix(f.Data, []byte("\n")), []byte("\n")) {
		if len(f.Data) > 0 {
			lines = append(lines, record.Text{Path: path, At: trace.LinePointer(len(lines)), JSON: line})
		}
	}
	return lines, nil
}

// turnsExist refuses a line of a turn that is not there: nothing would read it.
func (in *inputs) turnsExist() error {
	for _, d := range slices.Concat(in.recording.Outputs, in.recording.ToolResults, in.recording.Candidates) {
		if turn, ok := d.Int("turn"); !ok || turn < 0 || turn >= len(in.turns) {
			return &execute.Error{Path: d.Path, Pointer: d.At + "/turn", Detail: fmt.Sprintf("there is no such turn: %d are given", len(in.turns))}
		}
	}
	return nil
}

// readModel takes the model configuration from the outputs: it is one and the same, and a line may leave it out.
func (in *inputs) readModel() error {
	for _, d := range in.recording.Outputs {
		config := d.Field("/model_config")
		switch {
		case !config.Ok():
		case in.model == nil:
			in.model = config.Raw
		case !canon.Equal(in.model, config.Raw, canon.Form{}):
			return &execute.Error{Path: d.Path, Pointer: d.At + "/model_config", Detail: "is another one than on an earlier line: a run has one model configuration"}
		}
	}
	if in.model == nil {
		return &execute.Error{Path: run.OutputsFile, Detail: "no line states a model_config, which every run is recorded with"}
	}
	return nil
}

// readRefusal takes from a recorded commit why the store refused it. A store is outside of what can be computed.
func (a *App) readRefusal(o *runOptions, in *inputs) error {
	if o.store != "" { // which says it itself
		return nil
	}
	path, err := o.path(run.CommitFile, false)
	if err != nil || path == "" {
		return err
	}
	f, err := dialect.ReadFile(path, a.In, int64(o.limit))
	if err != nil {
		return err
	}
	value, err := canon.Parse(f.Data)
	if err != nil {
		return &execute.Error{Path: path, Detail: err.Error()}
	}
	in.refusal = execute.Refusal(trace.Document{Path: path, Value: value})
	return nil
}

// laneOf gives the lane of a name: deterministic unless the policy set says otherwise.
func laneOf(name string, policies record.Text) (run.Lane, error) {
	lane := run.Lane{Name: name, Deterministic: true}
	set, err := memory.ReadPolicySet(policies.JSON, memory.NoHook)
	if err != nil {
		return lane, &execute.Error{Path: policies.Path, Detail: err.Error()}
	}
	if i := slices.IndexFunc(set.Lanes, func(l memory.Lane) bool { return l.Name == name }); i >= 0 {
		lane.Deterministic = set.Lanes[i].Deterministic
	}
	return lane, nil
}

// candidatesOf gives the lines of candidates of a turn.
func (in *inputs) candidatesOf(turn int) []record.Text {
	var list []record.Text
	for _, d := range in.recording.Candidates {
		if n, ok := d.Int("turn"); ok && n == turn {
			list = append(list, record.Text{Path: d.Path, At: d.At, JSON: d.Value.Raw()})
		}
	}
	return list
}

// answered refuses an answer that is known to belong to another prompt: recorded as the answer to this one it would always
// replay as equal (R2).
func (in *inputs) answered(turn int, t *execute.Turn) error {
	if t.Result == nil || in.relabel {
		return nil
	}
	for attempt := range t.Result.Attempts {
		d, ok := in.recording.Output(turn, attempt)
		if stated := d.Field("/prompt_digest"); ok && stated.Ok() && !stated.Is(t.Result.Attempts[attempt].Prompt.SHA256().Hex()) {
			return &execute.Error{
				Path: d.Path, Pointer: d.At + "/prompt_digest",
				Detail: "the output answered another prompt: leave the member out to record it as the answer to this one",
			}
		}
	}
	return nil
}

// unused refuses answers that nothing has asked for (R2): a recording holds what belongs to it.
func (in *inputs) unused(source *execute.Recorded) error {
	for _, d := range in.recording.Outputs {
		turn, _ := d.Int("turn")
		attempt, _ := d.Int("attempt")
		if !source.Outputs[[2]int{turn, attempt}] {
			return &execute.Error{Path: d.Path, Pointer: d.At, Detail: fmt.Sprintf("nothing asks for the output of turn %d, attempt %d", turn, attempt)}
		}
	}
	for _, d := range in.recording.ToolResults {
		turn, _ := d.Int("turn")
		attempt, _ := d.Int("attempt")
		call, _ := d.Int("call")
		if !source.Results[[3]int{turn, attempt, call}] {
			return &execute.Error{Path: d.Path, Pointer: d.At, Detail: fmt.Sprintf("nothing asks for the tool result of turn %d, attempt %d, call %d", turn, attempt, call)}
		}
	}
	for _, c := range source.Other {
		d, _ := in.recording.ToolResult(c.Turn, c.Attempt, c.Number)
		return &execute.Error{Path: d.Path, Pointer: d.At, Detail: fmt.Sprintf("is the result of another call: %s with %s is asked for", c.Tool, c.Args)}
	}
	return nil
}

func (in *inputs) snapshotID() string {
	value, err := canon.Parse(in.documents.Snapshot.JSON)
	if err != nil {
		return ""
	}
	return trace.Document{Value: value}.Field("/memory_snapshot_id").Text()
}

// link gives the inputs of one turn as those of a run of its own: its number is 0.
func (in *inputs) link(turn int) (*inputs, error) {
	one := *in
	text, err := numbered(in.turns[turn].JSON, 0)
	if err != nil {
		return nil, &execute.Error{Path: in.turns[turn].Path, Pointer: trace.LinePointer(turn), Detail: err.Error()}
	}
	one.turns = []record.Text{{Path: in.turns[turn].Path, At: in.turns[turn].At, JSON: text}}
	one.recording = &trace.Recording{}
	for _, lines := range []struct{ from, to *[]trace.Document }{
		{&in.recording.Outputs, &one.recording.Outputs},
		{&in.recording.ToolResults, &one.recording.ToolResults},
		{&in.recording.Candidates, &one.recording.Candidates},
	} {
		for _, d := range *lines.from {
			if n, ok := d.Int("turn"); !ok || n != turn {
				continue
			}
			text, err := numbered(d.Value.Raw(), 0)
			if err != nil {
				return nil, &execute.Error{Path: d.Path, Pointer: d.At, Detail: err.Error()}
			}
			value, err := canon.Parse(text)
			if err != nil {
				return nil, &execute.Error{Path: d.Path, Pointer: d.At, Detail: err.Error()}
			}
			*lines.to = append(*lines.to, trace.Document{Path: d.Path, At: d.At, Value: value})
		}
	}
	return &one, nil
}

// numbered gives a line another turn.
func numbered(line []byte, turn int64) ([]byte, error) {
	value, err := canon.Parse(line)
	if err != nil {
		return nil, err
	}
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		for _, m := range value.Members() {
			if m.Name == "turn" {
				w.Integer("turn", turn)
				continue
			}
			w.Raw(m.Name, m.Value.Raw())
		}
	})
	return w.Bytes(), nil
}
