package memory

import (
	"cmp"
	"slices"

	"github.com/dmpl/dmpl/pkg/document"
)

// readTrust reads a trust or a source of M11, 0 to 100.
func readTrust(o *document.Object, name string) int {
	return within(o, name, 0, int(CanonicalAuthority))
}

// someTexts is nil where there are none, so that an empty list and a missing one are the same state.
func someTexts(texts []string) []string {
	if len(texts) == 0 {
		return nil
	}
	return texts
}

// TrustLevel gives the trust in an entry, 0 to 100 (M11).
func (e Entry) TrustLevel() int {
	if e.Trust != nil {
		return *e.Trust
	}
	return int(e.Source)
}

// setTrust keeps a trust; the authority of the source is what an entry has without one.
func (e *Entry) setTrust(trust int) {
	e.Trust = nil
	if trust != int(e.Source) {
		e.Trust = &trust
	}
}

// entry is any kind of memory.
type entry interface{ entry() *Entry }

func (e *Entry) entry() *Entry { return e }

// bySequence gives the entries by sequence number; equal numbers keep their order. The given list stays as it is.
func bySequence[T any, P interface {
	*T
	entry
}](list []T) []T {
	places := make([]int, len(list))
	for i := range list {
		places[i] = i
	}
	number := func(i int) int64 { return P(&list[i]).entry().Sequence }
	compare := func(a, b int) int { return cmp.Compare(number(a), number(b)) }
	if slices.IsSortedFunc(places, compare) {
		return list
	}
	slices.SortStableFunc(places, compare)
	sorted := make([]T, len(list))
	for i, place := range places {
		sorted[i] = list[place]
	}
	return sorted
}
