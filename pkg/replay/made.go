package replay

import (
	"bytes"
	"fmt"

	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// made is what an execution records, kept in memory as far as the recording does not have it.
type made struct {
	recorded  *trace.Trace
	documents *trace.Recording
	source    *execute.Recorded
	found     map[int][]trace.Document // candidates by turn
	events    [][]byte
	rows      [][]byte
	prompts   map[[2]int]prompt // by turn and attempt
	keep      func(at [2]int, sum string) bool
	unknown   []finding.Finding // R7
	end       *execute.End
}

// prompt is a prompt that was made again.
type prompt struct {
	event int // index
	sum   string
	text  string // empty where nobody asks for it
}

// Event implements execute.Sink.
func (m *made) Event(event []byte, rows ...[]byte) error {
	n := len(m.events)
	m.events = append(m.events, kept(event, n < len(m.recorded.Events), func() trace.Field { return m.recorded.Events[n].Field }))
	for _, row := range rows {
		n, there := len(m.rows), m.recorded.Retrieval
		m.rows = append(m.rows, kept(row, there != nil && n < len(there.Rows), func() trace.Field { return there.Rows[n].Field }))
	}
	return nil
}

// kept gives a text that can be kept: the recorded one of its place where that is the same.
func kept(text []byte, there bool, recorded func() trace.Field) []byte {
	if there {
		if f := recorded(); bytes.Equal(f.Raw, text) {
			return f.Raw
		}
	}
	return bytes.Clone(text)
}

// Line implements execute.Sink: lines are what the recording has already.
func (m *made) Line(string, func() []byte) error { return nil }

// documents gives those of the recording, with the store's start snapshot and some of the working tree in the place of recorded ones.
func (r *replayed) documents(overrides []Override) *trace.Recording {
	documents := *r.recorded.Recording
	if r.fromStore { // M1: by its id
		documents.Snapshot.Value = r.o.Stored.Snapshot.Value
	}
	for _, v := range overrides {
		*v.Of(&documents) = v.Document
	}
	return &documents
}

// options say what the run is besides its documents: what it says of itself.
func (r *replayed) options(documents *trace.Recording, keepPrompts bool) execute.Options {
	t := r.recorded
	return execute.Options{
		RunID: t.RunID.Verbatim(), WorkflowID: t.WorkflowID.Verbatim(), Visibility: t.Visibility.Text(), KeepPrompts: keepPrompts,
		ModelConfig: t.ModelConfig.Raw, Refusal: execute.Refusal(documents.Commit),
	}
}

// execute runs the recorded turns, with some documents in the place of recorded ones.
// What keep asks for of the prompts, by place and digest, is kept as text.
func (r *replayed) execute(overrides []Override, keep func(at [2]int, sum string) bool) (*made, error) {
	documents := r.documents(overrides)
	m := &made{
		recorded: r.recorded, documents: documents, source: execute.NewRecorded(documents),
		found: map[int][]trace.Document{}, prompts: map[[2]int]prompt{}, keep: keep,
	}
	x, err := execute.Begin(documents, r.options(documents, false), m)
	if err != nil {
		return nil, err
	}
	for _, d := range documents.Candidates {
		if n, ok := d.Int("turn"); ok {
			m.found[n] = append(m.found[n], d)
		}
	}
	for n, doc := range documents.Turns {
		if r.o.Until != All && len(m.events) > r.o.Until {
			return m, nil // R5
		}
		if err := m.turn(x, n, doc); err != nil {
			return nil, err
		}
	}
	m.end, err = x.End()
	return m, err
}

func (m *made) turn(x *execute.Run, n int, doc trace.Document) error {
	candidates, err := execute.ReadCandidates(m.found[n])
	if err != nil {
		return err
	}
	at := len(m.events)
	turn, err := x.Turn(doc, candidates, m.source)
	if err != nil || turn.Result == nil {
		return err
	}
	m.keepPrompts(n, at, turn)
	for _, kind := range turn.Result.Retrieval.Kinds() {
		for _, c := range kind.Unknown {
			m.unknown = append(m.unknown, m.unknownCandidate(n, at, kind.Kind, c.RecordID))
		}
	}
	return nil
}

// keepPrompts notes the prompts of a turn with their events: those of prompt_ready, in order.
func (m *made) keepPrompts(n, from int, turn *execute.Turn) {
	attempt := 0
	for i := from; i < len(m.events) && attempt < len(turn.Result.Attempts); i++ {
		if bytes.Contains(m.events[i], []byte(`"decision_type":"prompt_ready"`)) {
			at, made := [2]int{n, attempt}, &turn.Result.Attempts[attempt].Prompt
			one := prompt{event: i, sum: made.SHA256().Hex()}
			if m.keep(at, one.sum) {
				one.text = made.UTF8()
			}
			m.prompts[at] = one
			attempt++
		}
	}
}

// unknownCandidate is a candidate that the start snapshot does not have (R7).
func (m *made) unknownCandidate(turn, event int, kind, id string) finding.Finding {
	f := finding.New(finding.ReplayCandidateUnknown)
	f.EventIndex, f.Detail = event, fmt.Sprintf("the candidate %q of kind %s is not in the start snapshot", id, kind)
	f.Artifact = m.documents.Snapshot.Path
	if d, ok := m.documents.CandidatesOf(turn, kind); ok {
		f.Artifact, f.Pointer = d.Path, d.At
	}
	return f
}
