// Package thread models a conversation as a stream of events: what its references mean, who may see them, and the digests over them.
package thread

import (
	"bytes"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Kind is the kind of an event. The zero value is none.
type Kind string

// The kinds. Other texts are kept as they are: such an event has no digest.
const (
	Intent    Kind = "INTENT"    // what was asked: normative (X2)
	Decision  Kind = "DECISION"  // what the policy said
	Execution Kind = "EXECUTION" // what the model did: observational (X2)
	Proof     Kind = "PROOF"     // what was released to the model
)

// The intent types that the gateway treats in a way of their own.
const (
	chatMessage    = "chat.message"
	artifactHandle = "artifact.handle"
)

// MostEvents bounds the integers of an event, its index and its canonical length: the same on every platform.
const MostEvents = 1<<31 - 1

// Event is one row of a stream. Texts may hold lone surrogates, as three bytes each.
type Event struct {
	Index           int    // from 0, over the whole store
	Kind            Kind   // as stored
	PrevEventDigest string // the digest of the event before it, ChainSeed for the first
	Lane            string
	ThreadID        string
	TurnID          string
	ParentTurnID    string // empty where HasParent is false
	HasParent       bool   // parent_turn_id is there and not null
	Actor           string
	IntentType      string
	StreamID        string
	CorrelationID   string
	Payload         []byte      // JSON as stored; floats keep their text
	Document        canon.Value // of Payload, where somebody has read it: it counts while Payload is the very bytes it was read from
	Digest          string      // as stored, with prefix
	CanonLen        int         // bytes, as stored
}

// seldom are the large members of a payload: no digest covers the one, and one digest all of the other.
var seldom = []string{"_obs", "trace"}

// ReadSparse passes the payload at the cursor of a parser. What stands deep in it where checks seldom look is folded. The
// error is a *canon.Error.
func ReadSparse(p *canon.Parser) (canon.Value, error) { return p.Sparse(seldom...) }

// Read gives the payload as the gateway reads it. The error is a *canon.Error.
func (e Event) Read() (canon.Value, error) {
	if raw := e.Document.Raw(); len(raw) > 0 && len(raw) == len(e.Payload) && &raw[0] == &e.Payload[0] {
		return e.Document, nil
	}
	return Read(e.Payload)
}

// ParseEvent gives the event of a snapshot. Missing texts are empty and unknown members are left out. The error is an
// *Error with CodeInvalidEvent and a pointer into v.
func ParseEvent(v canon.Value) (Event, error) {
	if v.Kind() != canon.Object {
		return Event{}, fault(CodeInvalidEvent, "", "an event is an object, not "+v.Kind().String())
	}
	var e Event
	var kind string
	texts := []struct {
		name   string
		target *string
	}{
		{"kind", &kind},
		{"prev_event_digest", &e.PrevEventDigest},
		{"lane", &e.Lane},
		{"thread_id", &e.ThreadID},
		{"turn_id", &e.TurnID},
		{"parent_turn_id", &e.ParentTurnID},
		{"actor", &e.Actor},
		{"intent_type", &e.IntentType},
		{"stream_id", &e.StreamID},
		{"correlation_id", &e.CorrelationID},
		{"digest", &e.Digest},
	}
	for _, t := range texts {
		field := member(v, t.name)
		text, ok := field.Text()
		if !ok && !isAbsent(field) {
			return Event{}, fault(CodeInvalidEvent, "/"+t.name, "expected a string, found "+field.Kind().String())
		}
		*t.target = text
	}
	e.Kind, e.HasParent = Kind(kind), !isAbsent(member(v, "parent_turn_id"))
	var err error
	if e.Index, err = integerOf(v, "index"); err != nil {
		return Event{}, err
	}
	if e.CanonLen, err = integerOf(v, "canon_len"); err != nil {
		return Event{}, err
	}
	e.Document = member(v, "payload")
	e.Payload = e.Document.Raw()
	return e, nil
}

func integerOf(v canon.Value, name string) (int, error) {
	n, ok := canon.Integer(member(v, name).Raw())
	if !ok || n > MostEvents || n < -MostEvents {
		return 0, fault(CodeInvalidEvent, "/"+name, "expected an integer")
	}
	return int(n), nil
}

// isTiming says of a member that it is left out of a trace before it is digested, at any depth.
func isTiming(name string) bool {
	switch name {
	case "runtime_ms", "duration_ms", "latency_ms", "timing_ms", "perf_ms", "runtime_ns", "duration_ns", "latency_ns":
		return true
	}
	return false
}

// EventDigest computes the digest of an event. It covers kind, correlation id and payload, for a DECISION the decision
// alone, and no other column. The error is an *Error: an unknown kind, an empty correlation id, a float, a trace whose
// own digest is wrong.
func EventDigest(kind Kind, correlationID string, payload canon.Value) (Digest, error) {
	switch kind {
	case Decision:
		return decisionEventDigest(payload)
	case Intent, Execution, Proof:
	default:
		return Digest{}, fault(CodeInvalidEvent, "/kind", "not one of INTENT, DECISION, EXECUTION, PROOF")
	}
	if correlationID == "" {
		return Digest{}, fault(CodeInvalidEvent, "/correlation_id", "must be a non-empty string")
	}
	if payload.Kind() != canon.Object {
		return Digest{}, fault(CodeInvalidEvent, "/payload", "must be an object")
	}
	left := []string{"_obs"}
	if kind == Execution {
		// The trace counts here, and only here, as far as floats go.
		if err := hasForm(payload, left); err != nil {
			return Digest{}, err
		}
		if err := CheckTrace(payload); err != nil {
			return Digest{}, err
		}
		left = append(left, "trace")
	}
	return digestObject(func(o *object) {
		o.text("correlation_id", correlationID)
		o.object("data", func(data *object) { data.without(payload, left...) })
		o.text("event_kind", string(kind))
	})
}

// hasForm tells whether an object has a form under dbl, less its members of some names.
func hasForm(v canon.Value, left []string) error {
	if allInDBL(v, left) {
		return nil
	}
	var o object
	o.without(v, left...)
	_, err := canonical(o.literal())
	return err
}

func allInDBL(v canon.Value, left []string) bool {
	members := v.Members()
	for i := range members { // in place: a member is large to copy
		if !members[i].Value.InDBL() && !slices.Contains(left, members[i].Name) {
			return false
		}
	}
	return true
}

// CheckTrace holds the trace of an EXECUTION payload to its trace_digest. The error is an *Error.
func CheckTrace(payload canon.Value) error {
	stated, _ := member(payload, "trace_digest").Text()
	if stated == "" {
		return fault(CodeInvalidTrace, "/payload/trace_digest", "must be a non-empty string")
	}
	trace := member(payload, "trace")
	if trace.Kind() != canon.Object {
		return fault(CodeInvalidTrace, "/payload/trace", "must be an object")
	}
	covered := literalOf(trace)
	if hasTiming(trace) {
		r := takeRoom()
		defer r.leave()
		covered = r.withoutTiming(trace)
	}
	d, err := digestOf(covered)
	if err != nil {
		return err
	}
	if d.Sum.Hex() != stated {
		return fault(CodeInvalidTrace, "/payload/trace_digest", "the trace gives "+d.Sum.Hex())
	}
	return nil
}

// withoutTiming gives a value without timing keys.
func (r *room) withoutTiming(v canon.Value) literal {
	switch v.Kind() {
	case canon.Object:
		var o object
		for _, m := range v.Members() {
			if !isTiming(m.Name) {
				o.raw(m.Name, r.withoutTiming(m.Value))
			}
		}
		return o.literal()
	case canon.Array:
		items := make([]literal, len(v.Elements()))
		for i, e := range v.Elements() {
			items[i] = r.withoutTiming(e)
		}
		return r.list(items)
	}
	return literalOf(v)
}

func hasTiming(v canon.Value) bool {
	// Timing keys end alike, and stand in the form of dbl as they are.
	if v.InDBL() && !bytes.Contains(v.Raw(), []byte(`_ms"`)) && !bytes.Contains(v.Raw(), []byte(`_ns"`)) {
		return false
	}
	if v.Kind() == canon.Array {
		return slices.ContainsFunc(v.Elements(), hasTiming)
	}
	members := v.Members()
	for i := range members {
		if isTiming(members[i].Name) || hasTiming(members[i].Value) {
			return true
		}
	}
	return false
}
