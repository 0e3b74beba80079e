// Package replay builds recorded turns again and compares them with what was recorded.
package replay

import (
	"fmt"
	"slices"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// All is the Until that replays everything.
const All = -1

// Options say how a stream is replayed.
type Options struct {
	Config  thread.Config
	Unknown []string // pointers into the configuration: what it holds and nobody knows (X4)
	Ledger  Ledger   // what references are resolved against; nil: the events themselves (X5)
	Until   int      // index of the last event that is replayed, or All (R5)
}

// Ledger gives the history of a thread from a store (X5).
type Ledger interface {
	// History gives the events of a thread up to and including the event at a position of the store, from 0.
	History(threadID string, position int) thread.History
}

// Stream is an event stream while it is replayed: Event for each event in stored order, then Result.
type Stream struct {
	options  Options
	logs     logs // nil where a ledger answers
	turns    map[turnKey]*built
	position int // of the next event
	last     int // index of the event before
	disorder *finding.Finding

	gapped bool     // an event is missing before this one
	tally  [2]tally // before and after the first missing event
}

// turnKey is what an INTENT and its DECISION have in common.
type turnKey struct{ threadID, turnID, correlationID string }

// built is the context of a turn that awaits its decision, or the reason for none.
type built struct {
	context thread.Context
	err     error
}

// tally counts what the turns of a part of the stream came to.
type tally struct {
	equal, changed int
	notChecked     map[string]int // by reason
	echoes         int            // differences that only repeat the configuration
	pins           []pin
	findings       []finding.Finding
}

// pin is a configuration other than the one of the replay, and the decisions that were made under it.
type pin struct {
	digest  string
	pointer string // of the first one
	count   int
}

// New begins the replay of a stream.
func New(o Options) *Stream {
	s := &Stream{options: o, turns: map[turnKey]*built{}, last: -1}
	if o.Ledger == nil {
		s.logs = logs{}
	}
	for i := range s.tally {
		s.tally[i].notChecked = map[string]int{}
	}
	return s
}

// Event takes the next event in stored order. Its payload need be valid during the call only. The error is the ledger's.
func (s *Stream) Event(e thread.Event) error {
	position := s.position
	s.position++
	if s.options.Until != All && e.Index > s.options.Until {
		return nil // R5
	}
	s.order(e, position)
	if s.logs != nil {
		s.logs.add(e)
	}
	key := turnKey{e.ThreadID, e.TurnID, e.CorrelationID}
	switch e.Kind {
	case thread.Intent:
		return s.build(key, e, position)
	case thread.Decision:
		s.decide(key, e, position)
	}
	return nil
}

// order holds the index to V2: it ascends by one from 0. What follows a gap in a part of a store is not judged.
func (s *Stream) order(e thread.Event, position int) {
	ascends := e.Index > s.last
	s.last = e.Index
	if e.Index == position && ascends {
		return
	}
	s.gapped = true
	if s.disorder != nil {
		return
	}
	f := finding.New(finding.TraceIndexSet)
	f.EventIndex, f.Pointer = e.Index, pointerTo(position, "/index")
	f.Expected, f.Actual = number(position), number(e.Index)
	f.Detail = "the index is not the position in the stream"
	s.disorder = &f
}

// build builds the context of a turn when its INTENT passes: the history is then what it was.
func (s *Stream) build(key turnKey, e thread.Event, position int) error {
	payload, err := e.Read()
	if err != nil {
		s.turns[key] = &built{err: err}
		return nil
	}
	var history thread.History = s.logs[e.ThreadID]
	if s.options.Ledger != nil {
		history = s.options.Ledger.History(e.ThreadID, position)
	}
	ctx, err := thread.Build(payload, e.IntentType, s.options.Config, history, thread.Gateway)
	if err != nil && !belongsToTurn(err) {
		return err
	}
	s.turns[key] = &built{ctx, err}
	return nil
}

// Result gives the report, shape findings of the reader included. Whole says that the events are the whole store; where
// they are not, reason says why.
func (s *Stream) Result(whole bool, reason string, shape ...finding.Finding) finding.Result {
	t := s.tally[0]
	if whole {
		t = t.with(s.tally[1])
	}
	r := finding.Result{Findings: slices.Concat(shape, t.findings)}
	r.Findings = append(r.Findings, s.remarks(t)...)
	if whole && s.disorder != nil {
		r.Findings = append(r.Findings, *s.disorder)
	}
	if !whole {
		r.Findings = append(r.Findings, note(finding.ReplayNotWhole, reason))
	}
	if t.equal+t.changed == 0 {
		r.Findings = append(r.Findings, finding.New(finding.ReplayNothing))
	}
	r.Checks = appendCount(t.checks(), finding.NotChecked, len(s.turns), "no decision follows the INTENT")
	if !whole {
		r.Checks = appendCount(r.Checks, finding.NotChecked, s.tally[1].turns(), "an earlier event is missing")
	}
	if t.echoes > 0 {
		r.Ignored = []finding.Ignored{{What: echoText, Count: t.echoes, Reason: "they repeat the configuration, which is another one (X4)"}}
	}
	r.Judge(true)
	return r
}

// remarks say first what the verdict rests on (X4, R5).
func (s *Stream) remarks(t tally) []finding.Finding {
	var fs []finding.Finding
	given := s.options.Config.Digest.String()
	for _, p := range t.pins {
		f := note(finding.ReplayConfigDiffers, fmt.Sprintf("decisions made under another configuration: %d", p.count))
		f.Pointer, f.Expected, f.Actual = p.pointer, quoted(p.digest), quoted(given)
		fs = append(fs, f)
	}
	for _, pointer := range s.options.Unknown {
		fs = append(fs, note(finding.ReplayConfigUnknown, "the configuration holds "+pointer+", which nobody knows"))
	}
	if s.options.Until != All {
		fs = append(fs, note(finding.ReplayPrefix, fmt.Sprintf("the events up to index %d were replayed", s.options.Until)))
	}
	return fs
}

func note(code finding.Code, detail string) finding.Finding {
	f := finding.New(code)
	f.Detail = detail
	return f
}
