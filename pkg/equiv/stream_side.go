package equiv

import (
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// Stream is one of two event streams, with what verify found in it (CONTRACT E1). Payloads are read again when they are
// compared, so that a stream need not be kept in memory.
type Stream struct {
	Path     string
	Partial  string // why the whole store is not there; "" when it is
	Findings []finding.Finding
	Payload  func(position int) ([]byte, error) // of the event at a position in stored order, as JSON

	rows  thread.List[streamRow] // in stored order
	turns thread.List[turn]      // the events of a turn share one
	kinds []thread.Kind
	known map[thread.Kind]int32 // places in kinds
}

// streamRow is what is kept of an event, in as few bytes as will do: streams have very many.
type streamRow struct{ index, kind, turn int32 }

// turn is what links an event to its turn, as stored beside the payload.
type turn struct{ threadID, turnID, correlationID string }

// streamEvent is an event as the rules look at it: its place, and the turn that it belongs to.
type streamEvent struct {
	Index int // from 0, over the whole store
	Kind  thread.Kind
	*turn
}

// Add appends the next event in stored order.
func (s *Stream) Add(e thread.Event) {
	kind, ok := s.known[e.Kind]
	if !ok {
		if s.known == nil {
			s.known = map[thread.Kind]int32{}
		}
		kind = int32(len(s.kinds))
		s.known[e.Kind], s.kinds = kind, append(s.kinds, e.Kind)
	}
	of := turn{e.ThreadID, e.TurnID, e.CorrelationID}
	if n := s.turns.Count(); n == 0 || *s.turns.At(n - 1) != of {
		s.turns.Add(of)
	}
	s.rows.Add(streamRow{int32(e.Index), kind, int32(s.turns.Count() - 1)})
}

// Count gives the number of events.
func (s *Stream) Count() int { return s.rows.Count() }

func (s *Stream) event(position int) streamEvent {
	r := s.rows.At(position)
	return streamEvent{int(r.index), s.kinds[r.kind], s.turns.At(int(r.turn))}
}
