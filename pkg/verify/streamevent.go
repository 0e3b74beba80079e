package verify

import (
	"strings"
	"unicode"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// V5, X6: the digest of an event, its length, and of an EXECUTION the trace are recomputed.
func checkEventDigest(s *Stream) {
	s.chain = thread.NextVDigest(s.chain, s.at.Index, s.at.Digest)
	d, err := thread.EventDigest(s.at.Kind, s.at.CorrelationID, s.at.payload)
	s.as("trace_digest", func() { s.traceDigest(err) })
	if err != nil {
		s.fail("/digest", nil, textValue(s.at.Digest), "the event has no digest: %s", err)
		s.as("canon_len", func() { s.skip("the event has no digest") })
		return
	}
	if s.at.digest == computed(d) {
		s.pass()
	} else {
		s.fail("/digest", textValue(d.String()), textValue(s.at.Digest), "the stored digest is not the digest of the event")
	}
	s.as("canon_len", func() {
		if d.Len == s.at.CanonLen {
			s.pass()
			return
		}
		s.fail("/canon_len", numberValue(d.Len), numberValue(s.at.CanonLen), "the stored length is not that of the canonical bytes")
	})
}

// traceDigest looks at the trace alone only where the event has no digest: else it was right.
func (s *Stream) traceDigest(err error) {
	if s.at.Kind != thread.Execution {
		return
	}
	if err != nil {
		err = thread.CheckTrace(s.at.payload)
	}
	if err == nil {
		s.pass()
		return
	}
	s.fail("/payload/trace_digest", nil, s.member("/trace_digest").Raw(), "the trace does not give its digest: %s", err)
}

// X6: each event names the one before it.
func checkPrevious(s *Stream) {
	neighbour := s.at.Index == 0
	if n := s.at.position; n > 0 {
		neighbour = int(s.memory.row(n-1).index)+1 == s.at.Index
	}
	const detail = "prev_event_digest is not the digest of the event before"
	want := s.before
	if s.at.PrevEventDigest == want {
		s.pass()
		return
	}
	if neighbour {
		s.fail("/prev_event_digest", textValue(want), textValue(s.at.PrevEventDigest), detail)
		return
	}
	s.missing("/prev_event_digest", textValue(want), textValue(s.at.PrevEventDigest), detail)
}

// X6: an event's index is its place.
func checkIndex(s *Stream) {
	if s.at.Index == s.at.position {
		s.pass()
		return
	}
	s.missing("/index", numberValue(s.at.position), numberValue(s.at.Index), "the index of an event is not its place in the store")
}

// X6: an EXECUTION comes after a DECISION of the same turn.
func checkOrder(s *Stream) {
	key := s.at.key
	if _, ok := s.memory.decided[turnOnly{key.thread, key.turn}]; ok {
		s.pass()
		return
	}
	s.missing("", nil, nil, "an EXECUTION without an earlier DECISION of its turn")
}

// X6: identities stated inside a payload are those of the columns, which no digest covers.
func checkIdentityColumns(s *Stream) {
	e := &s.at
	identity := e.payload
	switch e.Kind {
	case thread.Intent:
	case thread.Decision:
		identity = s.member("/context_spec/identity")
	default:
		return
	}
	stated := 0
	for _, c := range []struct {
		name, column string
		there        bool
	}{{"thread_id", e.ThreadID, true}, {"turn_id", e.TurnID, true}, {"parent_turn_id", e.ParentTurnID, e.HasParent}} {
		v, _ := identity.Get(c.name)
		if v.Kind() == canon.Invalid {
			continue
		}
		stated++
		text, isText := v.Text()
		same := isText && c.there && trimmed(text) == trimmed(c.column) || v.Kind() == canon.Null && !c.there
		if !same {
			s.fail("/"+c.name, clone(v.Raw()), columnValue(c.column, c.there), "the column %s contradicts the payload", c.name)
			return
		}
	}
	if stated == 0 {
		s.skip("the payload states no identity")
		return
	}
	s.pass()
}

// trimmed takes white space from both ends as the gateway does: U+001C to U+001F count (dbl-gateway.md §1).
func trimmed(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1C && r <= 0x1F })
}

func columnValue(text string, there bool) finding.Value {
	if !there {
		return finding.Value("null")
	}
	return textValue(text)
}

// clone takes a value out of the payload, which is valid for the time of one event.
func clone(raw []byte) finding.Value { return append(finding.Value(nil), raw...) }

// X6: lane, stream, intent type and parent are the same in all events of a turn and correlation id.
func checkTurnColumns(s *Stream) {
	e, r, t := &s.at, &s.memory, s.at.turn
	parent := int32(-1)
	if e.HasParent {
		parent = r.id(e.ParentTurnID)
	}
	lane, stream, intentType := r.id(e.Lane), r.id(e.StreamID), r.id(e.IntentType)
	if !t.known {
		t.known, t.lane, t.stream, t.intentType, t.parent = true, lane, stream, intentType, parent
		s.pass()
		return
	}
	for _, c := range []struct {
		name      string
		want, got int32
	}{{"lane", t.lane, lane}, {"stream_id", t.stream, stream}, {"intent_type", t.intentType, intentType}, {"parent_turn_id", t.parent, parent}} {
		if c.want != c.got {
			s.fail("/"+c.name, r.column(c.want), r.column(c.got), "%s differs from the first event of the turn", c.name)
			return
		}
	}
	s.pass()
}

func (r *record) column(id int32) finding.Value {
	if id < 0 {
		return finding.Value("null")
	}
	return textValue(r.text(id))
}
