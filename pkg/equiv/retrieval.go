package equiv

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// compareRetrievals applies E6: the same retrievals, linked from the same indices in the same order, with the same
// records in the same rank order.
func compareRetrievals(c *comparer) {
	left, right := c.left.Retrieval, c.right.Retrieval
	if left == nil || right == nil {
		c.missingRetrieval(left, right)
		return
	}
	if !usable(left) || !usable(right) {
		c.tally("E6", finding.NotChecked, "the retrieval trace of a side is malformed")
		return
	}
	mark := c.begin()
	if len(left.Rows) != len(right.Rows) {
		c.report(finding.EquivRetrievalCount, c.rows(left, right), count(len(left.Rows)), count(len(right.Rows)),
			"number of retrievals differs")
	}
	pairs := c.pairRows(left, right)
	for _, p := range pairs {
		c.compareRow(p, left, right)
	}
	c.hold("E6", mark)
}

// missingRetrieval: on neither side and none named, E6 holds; else nothing can be decided.
func (c *comparer) missingRetrieval(left, right *trace.Retrieval) {
	p := c.at(finding.NoEvent, "")
	switch {
	case left != nil || right != nil:
		side := "left"
		if right != nil {
			side = "right"
		}
		c.report(finding.EquivRetrievalNotGiven, p, nil, nil, "only the %s side has a retrieval trace", side)
	case links(c.left) || links(c.right):
		c.report(finding.EquivRetrievalNotGiven, p, nil, nil, "events name retrievals, and neither side has a retrieval trace")
	default:
		c.tally("E6", finding.Passed, "")
		return
	}
	c.tally("E6", finding.NotChecked, "retrieval trace not given on both sides")
}

func links(t *trace.Trace) bool {
	for i := range t.Events {
		if len(t.Events[i].Links) > 0 {
			return true
		}
	}
	return false
}

// usable says that the list of rows can be compared: no element of it is malformed (CONTRACT E1).
func usable(r *trace.Retrieval) bool {
	if !r.RowList.Ok() || r.SchemaVersion.State == trace.Malformed {
		return false
	}
	for i := range r.Rows {
		if !r.Rows[i].Ok() || !r.Rows[i].ID.Ok() {
			return false
		}
	}
	return true
}

// rows gives the place of the list of rows in both retrieval files.
func (c *comparer) rows(left, right *trace.Retrieval) place {
	return place{
		index: finding.NoEvent, leftFile: left.Path, rightFile: right.Path, leftPointer: left.Prefix, rightPointer: right.Prefix,
	}
}

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

// rowFields are those that E6 compares.
var rowFields = []struct {
	name  string
	code  finding.Code
	field func(*trace.Row) trace.Field
}{
	{"policy_id", finding.EquivRetrievalPolicy, func(w *trace.Row) trace.Field { return w.PolicyID }},
	{"policy_version", finding.EquivRetrievalPolicy, func(w *trace.Row) trace.Field { return w.PolicyVersion }},
	{"query_fingerprint", finding.EquivRetrievalQuery, func(w *trace.Row) trace.Field { return w.QueryFingerprint }},
	{"query_normalization_version", finding.EquivRetrievalQuery, func(w *trace.Row) trace.Field { return w.QueryNormalization }},
	{"retrieval_mode", finding.EquivRetrievalQuery, func(w *trace.Row) trace.Field { return w.Mode }},
}

// notedFields are logged and need not be equal.
var notedFields = []struct {
	name  string
	field func(*trace.Row) trace.Field
}{
	{"candidate_count", func(w *trace.Row) trace.Field { return w.CandidateCount }},
	{"applied_filters", func(w *trace.Row) trace.Field { return w.Filters }},
}

func (c *comparer) compareRow(at pair, left, right *trace.Retrieval) {
	if at.left.SchemaVersion.State == trace.Malformed || at.right.SchemaVersion.State == trace.Malformed {
		c.tally("E6", finding.NotChecked, "the schema version of a row is not known")
		return
	}
	p := place{ // the row's own file
		index: at.index, leftFile: left.Path, rightFile: right.Path,
		leftPointer: left.RowPointer(at.left.Position), rightPointer: right.RowPointer(at.right.Position),
		subject: fmt.Sprintf("retrieval %d", at.left.Position),
	}
	mark := c.here()
	for _, f := range rowFields {
		l, r := f.field(at.left), f.field(at.right)
		differ := l.Ok() && r.Ok() && !l.Same(r)
		if f.name == "query_fingerprint" {
			differ = differ && !l.SameDigest(r)
		}
		if differ {
			c.report(f.code, p.member(f.name), l.Raw, r.Raw, "%s differs", f.name)
		}
	}
	for _, f := range notedFields {
		if l, r := f.field(at.left), f.field(at.right); l.Ok() && r.Ok() && !l.Same(r) {
			c.report(finding.EquivRetrievalNote, p.member(f.name), l.Raw, r.Raw, "%s differs", f.name)
		}
	}
	cascade := c.errorsSince(mark)
	at2 := c.here()
	c.compareRecords(p.member("selected_records"), at.left, at.right)
	if cascade {
		c.cascade(at2)
	}
}

func (c *comparer) errorsSince(mark int) bool {
	for _, f := range c.result.Findings[mark:] {
		if f.Severity == finding.Error {
			return true
		}
	}
	return false
}

// compareRecords holds record ids together rank by rank; scores and types are notes.
func (c *comparer) compareRecords(p place, left, right *trace.Row) {
	l, okLeft := left.ByRank()
	r, okRight := right.ByRank()
	if !okLeft || !okRight {
		c.tally("E6", finding.NotChecked, "selected_records are malformed on a side")
		return
	}
	if len(l) != len(r) {
		c.report(finding.EquivRecords, p, ids(l), ids(r), "number of records differs: %d on the left, %d on the right", len(l), len(r))
		return
	}
	scores, types := 0, 0
	for i := range l {
		if !l[i].ID.Same(r[i].ID) {
			at := p.below("/"+strconv.Itoa(l[i].Position), "/"+strconv.Itoa(r[i].Position))
			c.report(finding.EquivRecords, at.member("record_id"), l[i].ID.Raw, r[i].ID.Raw, "record at rank %d differs", i+1)
			continue
		}
		if !l[i].Score.Same(r[i].Score) {
			scores++
		}
		if !l[i].Type.Same(r[i].Type) {
			types++
		}
	}
	if scores+types > 0 {
		c.report(finding.EquivRetrievalNote, p, nil, nil, "of %d equal records %d scores and %d types differ", len(l), scores, types)
	}
}

// ids lists record ids in rank order as a JSON text.
func ids(records []*trace.Record) finding.Value {
	raw := make([]string, len(records))
	for i, r := range records {
		raw[i] = string(r.ID.Raw)
	}
	return finding.Value("[" + strings.Join(raw, ",") + "]")
}
