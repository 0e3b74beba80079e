package trace

import (
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Key digests what E3, E4, E5 and E7 compare of the event, under json-v1: equal keys are equal behaviour. Run-local
// linkage does not enter. A malformed field counts as null. The text that is digested is put into scratch, which is given
// back for the next key.
func (e *Event) Key(scratch []byte) (key [32]byte, text []byte) {
	text = append(scratch[:0], '[')
	for _, f := range []Field{e.Role, e.Interceptor, e.Decision} {
		text = append(f.appendTo(text), ',')
	}
	text = append(text, '[')
	for i := range e.Calls {
		c := &e.Calls[i]
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, '[')
		for _, f := range []Field{c.Name, c.ProfileVersion, c.Args, c.Normalization, c.Result} {
			text = append(f.appendTo(text), ',')
		}
		text = append(c.SideEffect.appendTo(text), ']')
	}
	text = append(text, "],["...)
	for i, id := range e.sortedGuardrails() {
		if i > 0 {
			text = append(text, ',')
		}
		text = canon.Quote(text, []byte(id))
	}
	text = append(text, "]]"...)
	sum, err := canon.Digest(canon.JSONv1, text)
	if err != nil {
		return [32]byte{}, text // a number beyond C5 somewhere inside: such events are all alike, and differ from every other
	}
	return sum, text
}

// Key digests what E6 compares of the retrieval, under json-v1. A malformed field counts as null.
func (r *Row) Key() [32]byte {
	text := []byte{'['}
	for _, f := range []Field{r.PolicyID, r.PolicyVersion, r.QueryFingerprint, r.QueryNormalization, r.Mode} {
		text = append(f.appendTo(text), ',')
	}
	records, _ := r.ByRank()
	text = append(text, '[')
	for i, rec := range records {
		if i > 0 {
			text = append(text, ',')
		}
		text = rec.ID.appendTo(text)
	}
	sum, err := canon.Digest(canon.JSONv1, append(text, "]]"...))
	if err != nil {
		return [32]byte{}
	}
	return sum
}

func (f Field) appendTo(text []byte) []byte {
	if !f.Ok() {
		return append(text, "null"...)
	}
	return append(text, f.Raw...)
}

func (e *Event) sortedGuardrails() []string {
	ids := make([]string, len(e.Guardrails))
	for i, g := range e.Guardrails {
		ids[i] = g.Text()
	}
	slices.Sort(ids)
	return ids
}
