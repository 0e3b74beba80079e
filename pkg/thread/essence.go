package thread

import "github.com/dmpl/dmpl/pkg/canon"

// essentials gives the members of a payload that a context can be made of, in the order of dbl. Of other kinds nothing
// reaches a context.
func essentials(kind Kind) []string {
	switch kind {
	case Intent:
		return []string{
			"context_mode", "context_n", "declared_refs", "message", "parent_turn_id", "payload", "thread_id", "turn_id",
		}
	case Execution:
		return []string{"output_text", "result"}
	}
	return nil
}

// AppendEssence appends a payload that gives the same contexts as the whole one of an event and is mostly much smaller. The
// payload must be an object.
func AppendEssence(dst []byte, kind Kind, payload canon.Value) []byte {
	o := object{out: dst, start: len(dst)}
	for _, name := range essentials(kind) {
		if v, ok := payload.Get(name); ok {
			o.raw(name, literalOf(v))
		}
	}
	o.end()
	return o.out
}

// Essences keeps small payloads of the events of a stream, by position, so that few are read again. It keeps a bounded
// number of bytes: the first that come. The zero value is empty and ready.
type Essences struct {
	text  []byte
	spans map[int32]span
}

type span struct{ from, to int32 }

// mostEssence is how many bytes are kept.
const mostEssence = 2 << 20

// Add keeps what a context can be made of the event at a position.
func (e *Essences) Add(position int, kind Kind, payload canon.Value) {
	if kind != Intent && kind != Execution || payload.Kind() != canon.Object || len(e.text) >= mostEssence {
		return
	}
	if e.spans == nil {
		e.spans = map[int32]span{}
	}
	from := len(e.text)
	text := AppendEssence(e.text, kind, payload)
	if len(text) > mostEssence {
		return
	}
	e.text = text
	e.spans[int32(position)] = span{int32(from), int32(len(text))}
}

// Get gives what Add kept of a position; false where it kept nothing.
func (e *Essences) Get(position int) ([]byte, bool) {
	s, ok := e.spans[int32(position)]
	return e.text[s.from:s.to:s.to], ok
}
