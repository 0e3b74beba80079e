package thread

import (
	"cmp"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Expansion says that a turn without references was given the history of its thread (profile gateway).
type Expansion struct {
	N     int // last turns, 1 to 20
	Count int // references
}

const (
	expandMode  = "first_plus_last_n"
	mostExpands = 20 // turns
)

// transforms writes the transforms of a decision: one where the history was expanded.
func (e *Expansion) transforms(r *room) literal {
	if e == nil {
		return emptyList
	}
	params := r.object()
	params.integer("count", e.Count)
	params.text("mode", expandMode)
	params.integer("n", e.N)
	params.text("result", "expanded")
	written := params.literal()
	o := r.object()
	o.text("op", "AUTO_DECLARE_REFS")
	o.raw("params", written)
	o.text("target", "context.refs")
	return r.list([]literal{o.literal()})
}

// expansionOf tells whether a turn without references asks for the history of its thread, and for how many turns.
func expansionOf(payload canon.Value, c Config) (n int, asked bool) {
	if !c.ExpandHistory {
		return 0, false
	}
	mode := member(payload, "context_mode")
	n = c.ExpandLastN
	if text, _ := mode.Text(); text == expandMode {
		if asked := member(payload, "context_n"); countsAsInteger(asked) {
			n = clampedInteger(asked)
		}
	} else if !isAbsent(mode) || c.EmptyRefsPolicy != EmptyExpand {
		return 0, false
	}
	return min(max(n, 1), mostExpands), true
}

// clampedInteger gives an integer of any size, as far as it matters for a number of turns.
func clampedInteger(v canon.Value) int {
	literal := integerLiteral(v)
	n, ok := canon.Integer(literal)
	if !ok && literal[0] != '-' {
		n = mostExpands
	}
	return int(min(max(n, 0), mostExpands))
}

// expand gives the references to the first and the last n turns. They are in stream order and so are the input digests;
// neither the bound on references nor the thread's scope applies.
func expand(n int, c Config, h History) (Resolution, error) {
	events, err := h.Edges(n)
	if err != nil {
		return Resolution{}, err
	}
	var r Resolution
	for _, e := range events {
		admitted := ExecutionOnly
		switch {
		case e.Kind == Intent:
			admitted = Governance
		case e.Kind != Execution || !c.AllowExecutionRefs:
			continue
		}
		content, err := expandedContent(e)
		if err != nil {
			return Resolution{}, err
		}
		if content == "" {
			continue
		}
		r.add(ResolvedRef{
			Type: "event", ID: cmp.Or(e.CorrelationID, e.TurnID, "unknown"), Version: "1",
			EventIndex: e.Index, EventDigest: e.Digest, EventKind: e.Kind, AdmittedFor: admitted, Content: content,
		}, e)
	}
	return r, nil
}

// expandedContent is contentOf, but for an EXECUTION: an output_text that is a string ends the search, and a result's text
// may be any value that is not empty.
func expandedContent(e Event) (string, error) {
	if e.Kind == Intent {
		return contentOf(e)
	}
	payload, err := payloadOf(e)
	if err != nil {
		return "", err
	}
	for _, v := range []canon.Value{member(payload, "output_text"), member(payload, "result")} {
		if text, ok := v.Text(); ok {
			return strip(text), nil
		}
	}
	value := member(member(payload, "result"), "text")
	if isEmpty(value) {
		return "", nil
	}
	text, ok := textOf(value)
	if !ok {
		return "", unverifiableText
	}
	return strip(text), nil
}
