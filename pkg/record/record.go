// Package record records native runs (dmpl.run.v1) as they happen: a Go agent hands in its turns and its model, and the folder
// that is left can be verified, compared and replayed.
package record

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Settings say what a run is. Ids and times are the caller's: nothing here makes any.
type Settings struct {
	RunID       string
	WorkflowID  string
	Visibility  string // off, read_only or buffered_write; live_read_write on a store alone
	Lane        run.Lane
	Created     int64  // run.Ticks of now; 0 for a time that is not known
	ModelConfig []byte // JSON: provider_name, model_name, decoding, seed … (D4); the tools' hash is added (D5)
	KeepPrompts bool
	Chain       *run.Chain         // nil for a run on its own
	Refusal     memory.AbortReason // why a store refused the commit; empty where it did not
	MaxTrace    int64              // bytes of the trace, at most 100 MiB: events over it are dropped (V4); 0 for these
	StoreID     string             // of the store that the start snapshot was taken from; CreateOn states its own
}

// Recorder records one run, turn by turn. It is for one goroutine.
type Recorder struct {
	writer    *run.Writer
	execution *execute.Run
	turns     int
	off       bool // the run reads no memory
	on        *session
}

// Create starts a recording in a folder that is empty or not there yet. The error is an *execute.Error for a document that is
// malformed.
func Create(dir string, s Settings, d Documents) (*Recorder, error) { return create(dir, s, d, nil) }

func create(dir string, s Settings, d Documents, on *session) (*Recorder, error) {
	recording, err := d.read()
	if err != nil {
		return nil, err
	}
	if s.ModelConfig, err = withTools(s.ModelConfig, recording); err != nil {
		return nil, err
	}
	opening := run.Opening{
		RunID: s.RunID, Pipeline: memory.DMPLv1, Lane: s.Lane, Created: s.Created, Chain: s.Chain, MaxTrace: s.MaxTrace, Profiles: map[string]string{},
		StoreID: s.StoreID, Live: s.Visibility == execute.LiveReadWrite,
	}
	if opening.Live {
		opening.Lane.Deterministic = false
	}
	for i, p := range recording.Profiles {
		if _, there := opening.Profiles[p.Name]; there { // V3: the manifest logs one version of each
			return nil, &execute.Error{Path: recording.ProfileSet.Path, Pointer: fmt.Sprintf("/tool_profiles/%d/tool_name", i), Detail: "a run has one profile of each tool"}
		}
		opening.Profiles[p.Name] = p.Version
	}
	r := &Recorder{off: s.Visibility == execute.Off, on: on}
	o := execute.Options{
		RunID: s.RunID, WorkflowID: s.WorkflowID, Visibility: s.Visibility, ModelConfig: s.ModelConfig, KeepPrompts: s.KeepPrompts, Refusal: s.Refusal,
	}
	if on != nil {
		opening.StoreID = on.storeID
		if err := on.serve(&o, recording.Policies); err != nil {
			return nil, err
		}
	}
	if r.execution, err = execute.Begin(recording, o, sink{r}); err != nil {
		return nil, err
	}
	if r.writer, err = run.Create(dir, opening); err != nil {
		return nil, err
	}
	for _, file := range []struct {
		name string
		text Text
	}{
		{run.SnapshotFile, d.Snapshot}, {run.ConfigFile, d.Config}, {run.PoliciesFile, d.Policies}, {run.ProfilesFile, d.Profiles},
	} {
		if err := r.writer.Document(file.name, trimmed(file.text.JSON)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// sink writes what the execution makes.
type sink struct{ recorder *Recorder }

func (s sink) Event(event []byte, rows ...[]byte) error {
	return s.recorder.writer.Event(event, rows...)
}

func (s sink) Line(file string, text func() []byte) error {
	return s.recorder.writer.Line(file, text())
}

// Turn executes and records the next turn, a run.turn.v1 document. Candidates are what backends returned for it, run.candidates.v1
// documents (R7). The error is an *execute.Error for a document that is malformed, or the source's or the disk's: the recording
// cannot go on after it.
func (r *Recorder) Turn(turn Text, candidates []Text, source execute.Source) (*execute.Turn, error) {
	doc, err := Read("run.turn.v1", turn)
	if err != nil {
		return nil, err
	}
	if n, _ := doc.Int("turn"); n != r.turns {
		return nil, &execute.Error{Path: turn.Path, Pointer: turn.At + "/turn", Detail: fmt.Sprintf("expected turn %d, which is next", r.turns)}
	}
	if len(candidates) > 0 && r.off { // M2
		return nil, &execute.Error{Path: candidates[0].Path, Pointer: candidates[0].At, Detail: "a run of visibility off reads nothing, and this is what a search returned"}
	}
	found := make([]trace.Document, len(candidates))
	for i, c := range candidates {
		if found[i], err = Read("run.candidates.v1", c); err != nil {
			return nil, err
		}
		if n, _ := found[i].Int("turn"); n != r.turns {
			return nil, &execute.Error{Path: c.Path, Pointer: c.At + "/turn", Detail: fmt.Sprintf("expected turn %d", r.turns)}
		}
	}
	slices.SortStableFunc(found, func(a, b trace.Document) int {
		return cmp.Compare(memory.KindPlace(a.Field("/kind").Text()), memory.KindPlace(b.Field("/kind").Text()))
	})
	answers, err := execute.ReadCandidates(found)
	if err != nil {
		return nil, err
	}
	if err := r.writer.Line(run.TurnsFile, oneLine(doc.Value)); err != nil {
		return nil, err
	}
	for _, c := range found {
		if err := r.writer.Line(run.CandidatesFile, oneLine(c.Value)); err != nil {
			return nil, err
		}
	}
	r.turns++
	return r.execution.Turn(doc, answers, onLines{source})
}

// Close ends the run and makes the recording complete.
func (r *Recorder) Close() (*execute.End, error) {
	if r.turns == 0 {
		return nil, errors.New("a run has one turn at least")
	}
	end, err := r.execution.End()
	if err != nil {
		return nil, err
	}
	if end.Commit != nil {
		if err := r.writer.Document(run.CommitFile, end.Commit); err != nil {
			return nil, err
		}
	}
	return end, r.writer.Close(end.Envelope)
}

// Abandon gives the recording up: what is there says that it is cut short, and a store forgets what was not committed. After
// Close it does nothing.
func (r *Recorder) Abandon() {
	r.writer.Abandon()
	_ = r.on.leave() // what cannot be discarded now, recovery discards (M6)
}

// Repeated says that a store had applied the commit before, so that nothing was applied again (M5).
func (r *Recorder) Repeated() bool { return r.on != nil && r.on.repeated }

// Refusal says, for people, why a store did not apply the commit; empty where it did, and without a store.
func (r *Recorder) Refusal() string {
	if r.on == nil {
		return ""
	}
	return r.on.refusal
}

// Counts says how much of the trace was written (V4).
func (r *Recorder) Counts() run.Counts { return r.writer.Counts() }
