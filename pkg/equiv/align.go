package equiv

import (
	"fmt"
	"strings"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// alignEvents reports that the event counts differ and says which events are extra (CONTRACT E11). The finding stands at
// the first extra event.
func (c *comparer) alignEvents() {
	left, right := identities(c.leftEvents, c.rightEvents)
	edits := align(left, right)
	c.result.Alignment = &finding.Alignment{
		LeftEvents: len(left), RightEvents: len(right), Edits: edits, Note: alignmentNote(edits),
	}
	c.shift = shifted(edits)
	p := c.at(c.firstShifted(), "/events")
	c.report(finding.EquivEventCount, p, count(len(left)), count(len(right)), "number of events differs")
}

func count(n int) finding.Value { return fmt.Append(nil, n) }

// firstShifted is the first index that does not hold corresponding events: that of the first extra event.
func (c *comparer) firstShifted() int {
	i := 0
	for !c.shift(i) {
		i++
	}
	return i
}

// identities numbers events by what is compared of them: equal events get equal numbers.
func identities(left, right []*trace.Event) (l, r []int) {
	numbers := map[[32]byte]int{}
	var scratch []byte
	number := func(events []*trace.Event) []int {
		out := make([]int, len(events))
		for i, e := range events {
			var key [32]byte
			key, scratch = e.Key(scratch)
			n, ok := numbers[key]
			if !ok {
				n = len(numbers)
				numbers[key] = n
			}
			out[i] = n
		}
		return out
	}
	return number(left), number(right)
}

// align gives the shortest edit script of two lists as runs, in linear space (the middle-snake method). Of several
// shortest scripts it is the same one whichever list is left: the shorter list is always aligned with the longer one.
func align(left, right []int) []finding.Edit {
	a := &aligner{left: left, right: right}
	if len(left) <= len(right) {
		a.split(0, len(left), 0, len(right))
		return a.edits
	}
	other := map[finding.EditKind]finding.EditKind{
		finding.Same: finding.Same, finding.LeftOnly: finding.RightOnly, finding.RightOnly: finding.LeftOnly,
	}
	for _, e := range align(right, left) {
		a.add(other[e.Kind], e.Right, e.Left, e.Count)
	}
	return a.edits
}

type aligner struct {
	left, right []int
	edits       []finding.Edit
}

// add appends a run, or lengthens the last one. Of neighbours that one side alone has, the left one comes first.
func (a *aligner) add(kind finding.EditKind, left, right, count int) {
	if count == 0 {
		return
	}
	n := len(a.edits)
	switch {
	case n > 0 && a.edits[n-1].Kind == kind:
		a.edits[n-1].Count += count
	case n > 0 && kind == finding.LeftOnly && a.edits[n-1].Kind == finding.RightOnly:
		last := a.edits[n-1]
		a.edits = a.edits[:n-1]
		a.add(kind, left, last.Right, count)
		a.add(last.Kind, left+count, last.Right, last.Count)
	default:
		a.edits = append(a.edits, finding.Edit{Kind: kind, Left: left, Right: right, Count: count})
	}
}

// split aligns left[l0:l1] with right[r0:r1].
func (a *aligner) split(l0, l1, r0, r1 int) {
	head := 0
	for l0+head < l1 && r0+head < r1 && a.left[l0+head] == a.right[r0+head] {
		head++
	}
	a.add(finding.Same, l0, r0, head)
	l0, r0 = l0+head, r0+head
	tail := 0
	for l0 < l1-tail && r0 < r1-tail && a.left[l1-tail-1] == a.right[r1-tail-1] {
		tail++
	}
	l1, r1 = l1-tail, r1-tail
	if l0 == l1 || r0 == r1 {
		a.add(finding.LeftOnly, l0, r0, l1-l0)
		a.add(finding.RightOnly, l1, r0, r1-r0)
	} else if l, r, ok := a.middle(l0, l1, r0, r1); ok {
		a.split(l0, l, r0, r)
		a.split(l, l1, r, r1)
	} else {
		a.add(finding.LeftOnly, l0, r0, l1-l0)
		a.add(finding.RightOnly, l1, r0, r1-r0)
	}
	a.add(finding.Same, l1, r1, tail)
}

// mostEdits bounds the work on lists that have little in common: past it a block counts as replaced.
const mostEdits = 4000

// middle finds a point on a shortest path by searching from both ends at once.
func (a *aligner) middle(l0, l1, r0, r1 int) (l, r int, ok bool) {
	n, m := l1-l0, r1-r0
	delta := n - m
	most := min((n+m+1)/2, mostEdits)
	off := most + 1
	forward, backward := make([]int, 2*off+1), make([]int, 2*off+1)
	for d := 0; d <= most; d++ {
		for k := -d; k <= d; k += 2 {
			x := furthest(forward, off, d, k)
			y := x - k
			for x < n && y < m && x >= 0 && y >= 0 && a.left[l0+x] == a.right[r0+y] {
				x, y = x+1, y+1
			}
			forward[off+k] = x
			if back := delta - k; delta&1 != 0 && back > -d && back < d && x+backward[off+back] >= n {
				return a.inside(l0, r0, x, y, n, m)
			}
		}
		for k := -d; k <= d; k += 2 {
			x := furthest(backward, off, d, k)
			y := x - k
			for x < n && y < m && x >= 0 && y >= 0 && a.left[l1-x-1] == a.right[r1-y-1] {
				x, y = x+1, y+1
			}
			backward[off+k] = x
			if fore := delta - k; delta&1 == 0 && fore >= -d && fore <= d && x+forward[off+fore] >= n {
				return a.inside(l0, r0, n-x, m-y, n, m)
			}
		}
	}
	return 0, 0, false
}

// inside refuses a point that would not make the problem smaller.
func (a *aligner) inside(l0, r0, x, y, n, m int) (l, r int, ok bool) {
	if x < 0 || y < 0 || x > n || y > m || x == 0 && y == 0 || x == n && y == m {
		return 0, 0, false
	}
	return l0 + x, r0 + y, true
}

func furthest(v []int, off, d, k int) int {
	if k == -d || k != d && v[off+k-1] < v[off+k+1] {
		return v[off+k+1]
	}
	return v[off+k-1] + 1
}

// shifted says whether an index holds events that the alignment pairs with other indices. Where as many events were
// taken away as were added, the indices match again.
func shifted(edits []finding.Edit) func(index int) bool {
	type stretch struct{ from, to int }
	var in []stretch // indices that stand in place
	for i := 0; i < len(edits); i++ {
		e := edits[i]
		switch e.Kind {
		case finding.Same:
			if e.Left == e.Right {
				in = append(in, stretch{e.Left, e.Left + e.Count})
			}
		case finding.LeftOnly:
			if i+1 < len(edits) && edits[i+1].Kind == finding.RightOnly && e.Left == e.Right {
				in = append(in, stretch{e.Left, e.Left + min(e.Count, edits[i+1].Count)})
			}
		}
	}
	return func(index int) bool {
		for _, s := range in {
			if index >= s.from && index < s.to {
				return false
			}
		}
		return true
	}
}

// alignmentNote puts the script into words: "one extra event on the right at 3; 4…9 equal 3…8".
func alignmentNote(edits []finding.Edit) string {
	const most = 6
	var parts []string
	for _, e := range edits {
		switch e.Kind {
		case finding.Same:
			if e.Left != e.Right {
				parts = append(parts, fmt.Sprintf("right %s equal left %s", span(e.Right, e.Count), span(e.Left, e.Count)))
			}
		case finding.LeftOnly:
			parts = append(parts, fmt.Sprintf("%s on the left at %s", extra(e.Count), span(e.Left, e.Count)))
		case finding.RightOnly:
			parts = append(parts, fmt.Sprintf("%s on the right at %s", extra(e.Count), span(e.Right, e.Count)))
		}
	}
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("%d more runs", len(parts)-most))
	}
	return strings.Join(parts, "; ")
}

func extra(n int) string {
	if n == 1 {
		return "one extra event"
	}
	return fmt.Sprintf("%d extra events", n)
}

func span(from, count int) string {
	if count == 1 {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d…%d", from, from+count-1)
}
