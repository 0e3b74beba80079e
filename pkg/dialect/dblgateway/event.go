package dblgateway

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// textNames are the members that are text, and the columns of a trail under the same names.
var textNames = []string{
	"kind", "prev_event_digest", "lane", "thread_id", "turn_id", "actor", "intent_type", "stream_id", "correlation_id", "digest",
}

// textFields are the fields of textNames.
func textFields(e *thread.Event) []*string {
	return []*string{
		(*string)(&e.Kind), &e.PrevEventDigest, &e.Lane, &e.ThreadID, &e.TurnID, &e.Actor, &e.IntentType, &e.StreamID, &e.CorrelationID, &e.Digest,
	}
}

// members are the literals of one event of a snapshot, as spans of its document.
type members struct {
	texts                                        [10]canon.Span
	index, canonLen, parent, payload, decisional canon.Span
	document                                     canon.Value // of payload
}

// eventReader reads one event of a snapshot after the other.
type eventReader struct {
	members
	parser canon.Parser
	before thread.Event // its texts mostly stand again in the next one
}

// span gives the place of a member by name; nil for one that the model does not hold.
func (m *members) span(name string) *canon.Span {
	switch name {
	case "index":
		return &m.index
	case "canon_len":
		return &m.canonLen
	case "parent_turn_id":
		return &m.parent
	case "payload":
		return &m.payload
	case "is_authoritative":
		return &m.decisional
	}
	if i := slices.Index(textNames, name); i >= 0 {
		return &m.texts[i]
	}
	return nil
}

// read finds the members of an event that is all of doc. Errors are [canon.Error] and typeFault.
func (r *eventReader) read(doc []byte) error {
	if _, err := r.readFirst(doc, 0); err != nil {
		return err
	}
	return r.parser.End()
}

// readFirst finds the members of the event that doc begins with, inside depth arrays and objects, and gives its end.
func (r *eventReader) readFirst(doc []byte, depth int) (end int, err error) {
	r.members = members{}
	r.parser.Reset(doc, depth)
	if kind := r.parser.Kind(); kind != canon.Object && kind != canon.Invalid {
		return 0, typeFault{finding.ShapeType, "", "an event is an object, not " + kind.String()}
	}
	err = r.parser.Members(r.member)
	return r.parser.Offset(), err
}

func (r *eventReader) member(name []byte) error {
	place := r.span(string(name))
	if place == &r.payload {
		var err error
		r.document, err = thread.ReadSparse(&r.parser)
		end := r.parser.Offset()
		r.payload = canon.Span{Start: end - len(r.document.Raw()), End: end}
		return err
	}
	span, err := r.parser.Skip()
	if place != nil {
		*place = span
	}
	return err
}

// typeFault is a member that is missing or has the wrong type.
type typeFault struct {
	code    finding.Code
	pointer string // below the event
	detail  string
}

// Error gives the detail.
func (f typeFault) Error() string { return f.detail }

func (f typeFault) problem(path, pointer string) *dialect.Problem {
	return &dialect.Problem{Code: f.code, Path: path, Offset: -1, Pointer: pointer + f.pointer, Detail: f.detail}
}

// event gives the event of the literals in doc, the document as it stands. Errors are [canon.Error] and typeFault.
func (r *eventReader) event(doc []byte) (thread.Event, error) {
	e := r.before
	e.PrevEventDigest, e.HasParent = e.Digest, false
	for i, field := range textFields(&e) {
		if err := readText(doc, r.texts[i], textNames[i], field); err != nil {
			return e, err
		}
	}
	if string(literal(doc, r.parent)) != "null" {
		if err := readText(doc, r.parent, "parent_turn_id", &e.ParentTurnID); err != nil {
			return e, err
		}
		e.HasParent = true
	} else {
		e.ParentTurnID = ""
	}
	var err error
	if e.Index, err = readCount(literal(doc, r.index), "index"); err != nil {
		return e, err
	}
	if e.CanonLen, err = readCount(literal(doc, r.canonLen), "canon_len"); err != nil {
		return e, err
	}
	r.before = e
	e.Payload, e.Document = literal(doc, r.payload), r.document
	return e, objectPayload(e.Payload)
}

func literal(doc []byte, s canon.Span) []byte { return doc[s.Start:s.End] }

func objectPayload(payload []byte) error {
	if len(payload) == 0 {
		return missing("payload")
	}
	if payload[0] != '{' {
		return typeFault{finding.ShapeType, "/payload", "payload is no object"}
	}
	return nil
}

func missing(name string) typeFault {
	return typeFault{finding.ShapeMissing, "/" + name, name + " is missing"}
}

func readText(doc []byte, span canon.Span, name string, field *string) error {
	raw := literal(doc, span)
	if len(raw) == 0 {
		return missing(name)
	}
	if raw[0] != '"' {
		return typeFault{finding.ShapeType, "/" + name, name + " is no text"}
	}
	// The document was read strictly before: what has no escape is text as it stands, and what is left to decide are lone
	// surrogates, kept as thread.Event has them.
	if bytes.IndexByte(raw, '\\') < 0 {
		if text := raw[1 : len(raw)-1]; *field != string(text) {
			*field = string(text)
		}
		return nil
	}
	value, err := canon.ParseAs(canon.DBL, raw)
	if err != nil {
		return shifted(err, span.Start, "/"+name)
	}
	*field, _ = value.Text()
	return nil
}

// readCount reads an integer from 0.
func readCount(raw []byte, name string) (int, error) {
	if len(raw) == 0 {
		return 0, missing(name)
	}
	n, ok := canon.Integer(raw)
	if !ok && !isNumber(raw[0]) {
		return 0, typeFault{finding.ShapeType, "/" + name, name + " is no number"}
	}
	if !ok || n < 0 || n > thread.MostEvents {
		return 0, typeFault{finding.ShapeRange, "/" + name, fmt.Sprintf("%s is %.40s, not an integer from 0", name, raw)}
	}
	return int(n), nil
}

func isNumber(first byte) bool { return first == '-' || first >= '0' && first <= '9' }

// authority holds is_authoritative, which is another word for the kind and enters no digest (dbl-gateway.md §2).
func (m *members) authority(doc []byte, e thread.Event, pointer string) []finding.Finding {
	stated := string(literal(doc, m.decisional))
	want := "false"
	if e.Kind == thread.Decision {
		want = "true"
	}
	if stated == want || stated == "" {
		return nil
	}
	f := finding.New(finding.ShapeValue)
	f.EventIndex, f.Pointer = e.Index, pointer+"/is_authoritative"
	f.Expected, f.Actual = finding.Value(want), finding.Value(stated)
	f.Detail = "is_authoritative contradicts the kind"
	return []finding.Finding{f}
}
