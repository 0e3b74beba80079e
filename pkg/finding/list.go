package finding

import (
	"fmt"
	"slices"
)

// The most that a List lists one by one: a stream of millions of events can break a rule in each of them.
const (
	MostListed = 10_000
	mostBytes  = 16 << 20 // of texts and values
)

// List collects findings of one artifact or pair in bounded memory. What comes when it is full is counted by code, so that it is
// neither lost for the verdict nor for an --ignore of its code. The zero value is empty and ready.
type List struct {
	listed []Finding
	bytes  int
	rest   []remainder // by code, in the order of their first
}

// remainder is what is kept of findings that are not listed.
type remainder struct {
	lowest Finding // without its values
	count  int
}

// Add takes the next finding.
func (l *List) Add(f Finding) {
	size := len(f.Expected) + len(f.Actual) + len(f.Detail) + len(f.Pointer) + len(f.RightPointer)
	if len(l.rest) == 0 && len(l.listed) < MostListed && l.bytes+size <= mostBytes {
		l.listed, l.bytes = append(l.listed, f), l.bytes+size
		return
	}
	l.count(f, 1)
}

// count adds findings of one code that are not listed. A place belongs to one finding, and hides no other one from --ignore.
func (l *List) count(f Finding, n int) {
	f.Pointer, f.RightPointer, f.Subject, f.Expected, f.Actual = "", "", "", nil, nil
	i := slices.IndexFunc(l.rest, func(r remainder) bool {
		return r.lowest.Code == f.Code && r.lowest.Severity == f.Severity && r.lowest.Artifact == f.Artifact
	})
	if i < 0 {
		l.rest = append(l.rest, remainder{f, n})
		return
	}
	r := &l.rest[i]
	r.count += n
	if position(f) < position(r.lowest) {
		r.lowest.EventIndex = f.EventIndex
	}
}

// Join adds the findings of another list.
func (l *List) Join(other List) {
	for _, f := range other.listed {
		l.Add(f)
	}
	for _, r := range other.rest {
		l.count(r.lowest, r.count)
	}
}

// All gives the findings that are listed, and for each code one finding that counts the rest, at the lowest event index of these.
func (l *List) All() []Finding {
	all := slices.Clip(l.listed)
	for _, r := range l.rest {
		r.lowest.Detail = fmt.Sprintf("%d more of this kind are not listed", r.count)
		all = append(all, r.lowest)
	}
	return all
}
