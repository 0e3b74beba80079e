package equiv

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// pair is two rows that correspond, and the event that links them (NoEvent when unlinked).
type pair struct {
	index       int
	left, right *trace.Row
}

// pairing remembers which rows correspond: one row may be linked from several events, always to the same one.
type pairing struct {
	pairs          []pair
	toRight        map[*trace.Row]*trace.Row
	toLeft         map[*trace.Row]*trace.Row
	leftID, rightR map[string]*trace.Row
}

// pairRows matches linked rows by the events that link them, then the others in row order.
func (c *comparer) pairRows(left, right *trace.Retrieval) []pair {
	m := &pairing{
		toRight: map[*trace.Row]*trace.Row{}, toLeft: map[*trace.Row]*trace.Row{}, leftID: byID(left), rightR: byID(right),
	}
	for i := range min(len(c.leftEvents), len(c.rightEvents)) {
		c.pairLinks(m, i)
	}
	leftRest, rightRest := c.unlinked(c.left, left, m.leftID), c.unlinked(c.right, right, m.rightR)
	for i := range min(len(leftRest), len(rightRest)) {
		m.pairs = append(m.pairs, pair{finding.NoEvent, leftRest[i], rightRest[i]})
	}
	return m.pairs
}

func byID(r *trace.Retrieval) map[string]*trace.Row {
	rows := make(map[string]*trace.Row, len(r.Rows))
	for i := range r.Rows {
		name := r.Rows[i].ID.Text()
		if _, twice := rows[name]; !twice {
			rows[name] = &r.Rows[i]
		}
	}
	return rows
}

// unlinked gives the rows that no event names, in row order; all of them where events cannot be ordered.
func (c *comparer) unlinked(t *trace.Trace, r *trace.Retrieval, rows map[string]*trace.Row) []*trace.Row {
	linked := map[*trace.Row]bool{}
	if c.leftEvents != nil && c.rightEvents != nil {
		for i := range t.Events {
			for _, link := range t.Events[i].Links {
				linked[rows[link.Text()]] = true
			}
		}
	}
	var rest []*trace.Row
	for i := range r.Rows {
		if !linked[&r.Rows[i]] {
			rest = append(rest, &r.Rows[i])
		}
	}
	return rest
}

// pairLinks compares the links of one index.
func (c *comparer) pairLinks(m *pairing, i int) {
	left, right := c.leftEvents[i], c.rightEvents[i]
	if len(left.Links)+len(right.Links) == 0 && left.LinkList.Ok() && right.LinkList.Ok() {
		return
	}
	l, okLeft := texts(left.LinkList, left.Links)
	r, okRight := texts(right.LinkList, right.Links)
	if !okLeft || !okRight {
		c.tally("E6", finding.NotChecked, "retrieval_event_ids are malformed on a side")
		return
	}
	p := c.in(i, left, right).member("retrieval_event_ids")
	if len(l) != len(r) {
		c.report(finding.EquivRetrievalLinks, p, left.LinkList.Raw, right.LinkList.Raw,
			"number of linked retrievals differs: %d on the left, %d on the right", len(l), len(r))
		return
	}
	leftRows, rightRows := named(l, m.leftID), named(r, m.rightR)
	if reordered(leftRows, rightRows) {
		c.report(finding.EquivRetrievalLinks, p, left.LinkList.Raw, right.LinkList.Raw, "the event names the same retrievals in another order")
		rightRows = inOrderOf(leftRows, rightRows)
	}
	for j := range l {
		if !m.match(i, leftRows[j], rightRows[j]) {
			c.report(finding.EquivRetrievalLinks, p.member(strconv.Itoa(j)), left.Links[j].Raw, right.Links[j].Raw,
				"the link names another retrieval than before")
		}
	}
}

// named gives the rows that links name; nil for a dangling link, which is V2's finding.
func named(links []string, rows map[string]*trace.Row) []*trace.Row {
	out := make([]*trace.Row, len(links))
	for i, link := range links {
		out[i] = rows[link]
	}
	return out
}

// reordered says that two lists hold the same retrievals in different orders.
func reordered(left, right []*trace.Row) bool {
	if len(left) < 2 || slices.Contains(left, nil) || slices.Contains(right, nil) {
		return false
	}
	if slices.EqualFunc(left, right, func(l, r *trace.Row) bool { return bytes.Equal(l.Raw, r.Raw) }) {
		return false
	}
	l, r := keys(left), keys(right)
	if slices.Equal(l, r) {
		return false
	}
	slices.SortFunc(l, compareKeys)
	slices.SortFunc(r, compareKeys)
	return slices.Equal(l, r)
}

func keys(rows []*trace.Row) [][32]byte {
	out := make([][32]byte, len(rows))
	for i, row := range rows {
		out[i] = row.Key()
	}
	return out
}

func compareKeys(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) }

// inOrderOf sorts right so that equal retrievals stand at equal places.
func inOrderOf(left, right []*trace.Row) []*trace.Row {
	rest := make(map[[32]byte][]*trace.Row, len(right))
	for i, key := range keys(right) {
		rest[key] = append(rest[key], right[i])
	}
	out := make([]*trace.Row, len(left))
	for i, key := range keys(left) {
		out[i], rest[key] = rest[key][0], rest[key][1:]
	}
	return out
}

// match pairs two rows, or says that one of them corresponds to another row already. A dangling link is V2's finding.
func (m *pairing) match(index int, left, right *trace.Row) bool {
	if left == nil || right == nil {
		return true
	}
	knownRight, seenLeft := m.toRight[left]
	knownLeft, seenRight := m.toLeft[right]
	if seenLeft || seenRight {
		return knownRight == right && knownLeft == left
	}
	m.toRight[left], m.toLeft[right] = right, left
	m.pairs = append(m.pairs, pair{index, left, right})
	return true
}
