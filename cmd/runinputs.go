package cmd

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
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
		for _, line := range lines {
			doc, err := record.Parse(line)
			if err != nil {
				return nil, err
			}
			*d.to = append(*d.to, doc)
		}
		slices.SortStableFunc(*d.to, byPlace)
	}
	var err error
	if in.turns, err = a.runLines(o, run.TurnsFile, true); err != nil {
		return nil, err
	}
	if len(in.turns) == 0 {
		return nil, &execute.Error{Path: run.TurnsFile, Detail: "there is no turn, and a run has one at least"}
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
	doc, err := record.Parse(record.Text{Path: path, JSON: f.Data})
	in.refusal = execute.Refusal(doc)
	return err
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

func (in *inputs) snapshotID() string {
	value, err := canon.Parse(in.documents.Snapshot.JSON)
	if err != nil {
		return ""
	}
	return trace.Document{Value: value}.Field("/memory_snapshot_id").Text()
}
