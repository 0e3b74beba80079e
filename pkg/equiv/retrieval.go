package equiv

import (
	"fmt"
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
