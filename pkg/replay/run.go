package replay

import (
	"bytes"
	"errors"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/shape"
	"github.com/dmpl/dmpl/pkg/trace"
)

// RunOptions say how a native run is replayed.
type RunOptions struct {
	Findings  []finding.Finding // what verify found in the recording (E1)
	Overrides []Override        // documents of the working tree (R1)
	Profiles  trace.Profiles    // of the working tree: both sides are selected and digested again under them (R1)
	Until     int               // index of the last event that is replayed, or All (R5)
	Timeline  bool
	Stored    *Stored // what the run's store says of it; nil where none is asked
}

// Override is a document that takes the place of a recorded one (R1).
type Override struct {
	Of       func(*trace.Recording) *trace.Document
	Name     string // of the recorded file
	By       string // what takes its place, for people; empty for a file of the working tree
	Document trace.Document
}

// Replayed is a run that was executed again.
type Replayed struct {
	Result finding.Result
	End    *execute.End // nil where the run could not be executed to its end
}

// Run executes a recorded run again and compares what it makes with the recording (R1–R7). The error is an *execute.Error about
// a document of the working tree; what is wrong with the recording is a finding.
func Run(recorded *trace.Trace, o RunOptions) (*Replayed, error) {
	r := &replayed{recorded: recorded, o: o}
	if recorded.Recording.CutShort != "" {
		r.o.Stored = nil // the recording says nothing that a store could vouch for
		return &Replayed{Result: r.undecided()}, nil
	}
	r.fromStore = r.startsFromStore()
	answered := r.answered()
	given, err := r.execute(o.Overrides, func(at [2]int, sum string) bool { return answered[at] != sum })
	if err != nil {
		var wrong *execute.Error
		if errors.As(err, &wrong) && slices.ContainsFunc(o.Overrides, func(v Override) bool {
			return v.Document.Path == wrong.Path && v.Of(recorded.Recording).Path != wrong.Path
		}) {
			return nil, err
		}
		return &Replayed{Result: r.undecided(notExecuted(recorded, err))}, nil
	}
	r.made = given
	rebuilt, err := r.rebuild()
	if err != nil {
		return nil, err
	}
	r.result = equiv.Compare(
		equiv.Side{Trace: r.prefix(recorded), Findings: r.inherited()}, equiv.Side{Trace: r.prefix(rebuilt)},
		equiv.Options{Profiles: o.Profiles, Timeline: o.Timeline},
	)
	r.rebuilt = rebuilt
	r.judge()
	return &Replayed{Result: r.result, End: given.end}, nil
}

// replayed is a run while it is replayed.
type replayed struct {
	recorded, rebuilt *trace.Trace
	o                 RunOptions
	fromStore         bool // the start snapshot is that of the store
	made              *made
	result            finding.Result
}

// answered gives the digests of the prompts that the recorded outputs answered, by turn and attempt: none for a place that is
// there twice.
func (r *replayed) answered() map[[2]int]string {
	sums := map[[2]int]string{}
	for _, d := range r.recorded.Recording.Outputs {
		at, _ := placeOf(d)
		_, twice := sums[at]
		if sums[at] = d.Field("/prompt_digest").Text(); twice {
			sums[at] = ""
		}
	}
	return sums
}

// rebuild gives what was made as a trace. R1: an identity that an override changes is no difference of the run, so that the
// rebuilt trace keeps the recorded one.
func (r *replayed) rebuild() (*trace.Trace, error) {
	envelope := []byte(`{}`)
	if r.made.end != nil {
		envelope = r.made.end.Envelope
	}
	twin := r.twin()
	events := r.made.events
	same := twin != nil && len(events) == len(twin.Events) && alike(events, func(i int) trace.Field { return twin.Events[i].Field })
	if same {
		events = nil
	}
	text := append(bytes.Clone(envelope[:len(envelope)-1]), ',')
	if len(envelope) == 2 {
		text = text[:1]
	}
	text = append(append(append(text, `"events":[`...), bytes.Join(events, []byte(","))...), `]}`...)
	t, _, err := shape.ReadTrace(r.recorded.Path, text, twin)
	if err != nil {
		return nil, err
	}
	if same {
		t.Events = twin.Events
	}
	t.Recording = r.made.documents
	if err := r.rebuildRows(t, twin); err != nil {
		return nil, err
	}
	for _, same := range []func(*trace.Trace) *trace.Field{
		func(t *trace.Trace) *trace.Field { return &t.RunID },
		func(t *trace.Trace) *trace.Field { return &t.WorkflowID },
		func(t *trace.Trace) *trace.Field { return &t.SnapshotID },
		func(t *trace.Trace) *trace.Field { return &t.Visibility },
		func(t *trace.Trace) *trace.Field { return &t.ModelConfigID },
		func(t *trace.Trace) *trace.Field { return &t.PolicySetID },
		func(t *trace.Trace) *trace.Field { return &t.SchemaVersion },
	} {
		if r.made.end == nil || len(r.o.Overrides) > 0 {
			*same(t) = *same(r.recorded)
		}
	}
	t.TakePreimages()
	return t, nil
}

// rebuildRows adds the retrieval trace, where the recording has one.
func (r *replayed) rebuildRows(t, twin *trace.Trace) (err error) {
	recorded, rows := r.recorded.Retrieval, r.made.rows
	if recorded == nil {
		return nil
	}
	if twin != nil && len(rows) == len(recorded.Rows) && alike(rows, func(i int) trace.Field { return recorded.Rows[i].Field }) {
		again := *recorded
		t.Retrieval = &again
		return nil
	}
	text := append(append([]byte{'['}, bytes.Join(rows, []byte(","))...), ']')
	t.Retrieval, _, err = shape.ReadRetrieval(recorded.Path, text, twin)
	return err
}

// alike says that every text is the recorded one of its place.
func alike(made [][]byte, recorded func(i int) trace.Field) bool {
	for i := range made {
		if !bytes.Equal(made[i], recorded(i).Raw) {
			return false
		}
	}
	return true
}

// twin gives the recording, of which nothing that is made again in the same bytes need be read again; nil where its own shape is in doubt.
func (r *replayed) twin() *trace.Trace {
	if slices.ContainsFunc(r.o.Findings, func(f finding.Finding) bool { return f.Rule() == "V1" }) {
		return nil
	}
	return r.recorded
}

// prefix gives the part of a trace that is compared: that up to the asked index, and of a truncated recording what was kept (R5).
func (r *replayed) prefix(t *trace.Trace) *trace.Trace {
	most := len(t.Events)
	if r.o.Until != All {
		most = min(most, r.o.Until+1)
	}
	if r.truncated() {
		most = min(most, len(r.recorded.Events))
	}
	if most == len(t.Events) && r.o.Until == All {
		return t
	}
	part := *t
	part.Events = nil
	linked := map[string]bool{}
	for i := range t.Events {
		e := &t.Events[i]
		if n, ok := e.Stated(); ok && n >= most {
			continue
		}
		part.Events = append(part.Events, *e)
		for _, link := range e.Links {
			linked[link.Text()] = true
		}
	}
	if t.Retrieval != nil {
		rows := *t.Retrieval
		rows.Rows = slices.DeleteFunc(slices.Clone(rows.Rows), func(w trace.Row) bool { return !linked[w.ID.Text()] })
		part.Retrieval = &rows
	}
	if r.o.Until != All {
		part.Output, part.Commit = trace.Output{}, trace.Commit{}
	}
	return &part
}

func (r *replayed) truncated() bool { return string(r.recorded.Truncated.Raw) == "true" }

// inherited gives what verify found, as it counts for a replay. R6: recorded outputs stand for the model, so that its seed does
// not matter.
func (r *replayed) inherited() []finding.Finding {
	fs := slices.Clone(r.o.Findings)
	for i := range fs {
		if fs[i].Code == finding.ClaimUnseeded {
			fs[i].Severity = finding.Note
		}
	}
	return fs
}

// undecided is the result of a run of which nothing could be made again.
func (r *replayed) undecided(more ...finding.Finding) finding.Result {
	said, checks := r.stored()
	result := finding.Result{Findings: slices.Concat(r.inherited(), more, said)}
	result.Checks = append([]finding.Check{{ID: "R1", Status: finding.NotChecked, Count: 1, Reason: "the run was not executed again"}}, checks...)
	result.Judge(true)
	return result
}

// notExecuted says why a recording cannot be executed.
func notExecuted(t *trace.Trace, err error) finding.Finding {
	f := finding.New(finding.ReplayNotExecuted)
	f.Artifact, f.Detail = t.Path, err.Error()
	var wrong *execute.Error
	if errors.As(err, &wrong) {
		f.Artifact, f.Pointer, f.Detail = wrong.Path, wrong.Pointer, wrong.Detail
	}
	return f
}

// committed gives the digest of the state that a replayed run leaves; false where it committed nothing.
func (p *Replayed) committed() (canon.Sum, bool) {
	if p.End == nil || p.End.Buffer.State != memory.CommitApplied {
		return canon.Sum{}, false
	}
	sum, err := p.End.State.Digest()
	return sum, err == nil
}
