package shape

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/trace"
)

// takeOver adds the element at the cursor to its list if it is written as its twin is. Two runs write the same but for ids of
// their own: the first member of the schema, a text, may be another.
func takeOver[T any](r *reader, list *[]T, spec []member[T], field func(*T) *trace.Field, twin *T) bool {
	known := field(twin)
	if !known.Ok() {
		return false
	}
	if r.src.SkipSame(known.Raw) {
		*list = append(*list, *twin)
		return true
	}
	id := spec[0].field(twin)
	at := id.Offset(known.Raw)
	text, ok := r.src.SkipSameBut(known.Raw, canon.Span{Start: at, End: at + len(id.Raw)})
	if !ok {
		return false
	}
	*list = append(*list, *twin)
	i := len(*list) - 1
	t := &(*list)[i]
	field(t).Raw = r.data[text.Start-at : r.src.Offset()]
	id = spec[0].field(t)
	id.Raw = r.data[text.Start:text.End]
	r.push(step{index: i})
	r.push(step{name: spec[0].name})
	spec[0].check(r, t, id)
	r.pop()
	r.pop()
	return true
}
