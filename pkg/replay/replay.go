// Package replay builds recorded turns again and compares them with what was recorded.
package replay

import (
	"fmt"
	"slices"
	"strings"

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

// Stream is an event stream while it is replayed: Event for each event in stored order, then Compare, then Result. Of an event
// it keeps what references name it by, and of payloads a bounded number of bytes.
type Stream struct {
	options   Options
	archive   thread.Archive // empty where a ledger answers
	essences  thread.Essences
	turns     map[turnKey]*intent // that await their decision
	names     map[string]string   // of threads and intent types, each once
	decisions []decision
	position  int // of the next event
	last      int // index of the event before
	disorder  *finding.Finding

	gapped bool     // an event is missing before this one
	tally  [2]tally // before and after the first missing event
}

// turnKey is what an INTENT and its DECISION have in common.
type turnKey struct{ threadID, turnID, correlationID string }

// built is the context of a turn, or the reason for none.
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
	findings       finding.List
}

// pin is a configuration other than the one of the replay, and the decisions that were made under it.
type pin struct {
	digest  string
	pointer string // of the first one
	count   int
}

// New begins the replay of a stream.
func New(o Options) *Stream {
	s := &Stream{options: o, turns: map[turnKey]*intent{}, names: map[string]string{}, last: -1}
	for i := range s.tally {
		s.tally[i].notChecked = map[string]int{}
	}
	return s
}

// Event takes the next event in stored order. Its payload need be valid during the call only.
func (s *Stream) Event(e thread.Event) {
	position := s.position
	s.position++
	if s.options.Ledger == nil {
		s.archive.Add(e)
	}
	if s.options.Until != All && e.Index > s.options.Until {
		return // R5
	}
	s.order(e, position)
	if payload, err := e.Read(); err == nil {
		s.essences.Add(position, e.Kind, payload)
	}
	switch e.Kind {
	case thread.Intent:
		key := turnKey{s.name(e.ThreadID), strings.Clone(e.TurnID), strings.Clone(e.CorrelationID)}
		s.turns[key] = &intent{int32(position), key.threadID, s.name(e.IntentType)}
	case thread.Decision:
		s.decide(e, position)
	}
}

// name gives the one copy of a text.
func (s *Stream) name(text string) string {
	if known, ok := s.names[text]; ok {
		return known
	}
	text = strings.Clone(text)
	s.names[text] = text
	return text
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

// Result gives the report, shape findings of the reader included. Whole says that the events are the whole store; where
// they are not, reason says why.
func (s *Stream) Result(whole bool, reason string, shape ...finding.Finding) finding.Result {
	t := s.tally[0]
	if whole {
		t = t.with(s.tally[1])
	}
	r := finding.Result{Findings: slices.Concat(shape, t.findings.All())}
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
