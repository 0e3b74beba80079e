package verify

import (
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// V2: indices are exactly 0…n-1, each once; another array order is a note.
func checkIndices(c *checker) {
	t := c.t
	if !t.EventList.Ok() {
		c.tally(finding.NotChecked, "events are malformed")
		return
	}
	mark := c.mark()
	holder := make([]*trace.Event, len(t.Events))
	ordered, complete := true, true
	for i := range t.Events {
		e := &t.Events[i]
		if !e.IndexField.Ok() {
			complete = false
			continue
		}
		ordered = ordered && e.Index == i
		switch {
		case e.Index >= len(holder):
			c.badIndex(e, "index %s of %s: the indices are not 0…%d", e.IndexField.Raw, finding.Counted(len(holder), "event"), len(holder)-1)
		case holder[e.Index] != nil:
			c.badIndex(e, "index %d is also the index of %s", e.Index, holder[e.Index].Pointer())
		default:
			holder[e.Index] = e
		}
	}
	if complete && !ordered && c.mark() == mark {
		c.report(finding.TraceStoredOrder, t.Path, "/events", finding.NoEvent, "events are stored in another order than their indices")
	}
	if !complete && c.mark() == mark {
		c.tally(finding.Failed, "")
		return
	}
	c.hold(mark)
}

func (c *checker) badIndex(e *trace.Event, format string, args ...any) {
	pointer, _, index := place(e, -1)
	c.report(finding.TraceIndexSet, c.t.Path, pointer+"/index", index, format, args...)
}

// V2: every retrieval_event_ids entry names a retrieval row of the same run and event.
func checkLinks(c *checker) {
	t := c.t
	named := 0
	for i := range t.Events {
		named += len(t.Events[i].Links)
	}
	switch {
	case t.Retrieval == nil && named == 0:
		c.tally(finding.Passed, "")
		return
	case t.Retrieval == nil:
		c.tally(finding.NotChecked, "no retrieval trace given")
		return
	case !t.Retrieval.RowList.Ok():
		c.tally(finding.NotChecked, "retrieval trace is malformed")
		return
	}
	mark := c.mark()
	linked := make([]bool, len(t.Retrieval.Rows))
	rows := c.rowsByID()
	for i := range t.Events {
		for j, link := range t.Events[i].Links {
			if link.Ok() {
				c.checkLink(&t.Events[i], j, link.Text(), rows, linked)
			}
		}
	}
	c.hold(mark)
	for i, is := range linked {
		if !is {
			c.report(finding.TraceRowUnlinked, t.Retrieval.Path, t.Retrieval.RowPointer(i), finding.NoEvent, "no event names this retrieval")
		}
	}
}

func (c *checker) rowsByID() map[string]*trace.Row {
	r := c.t.Retrieval
	rows := make(map[string]*trace.Row, len(r.Rows))
	for i := range r.Rows {
		row := &r.Rows[i]
		if !row.ID.Ok() {
			continue
		}
		name := row.ID.Text()
		if other, twice := rows[name]; twice {
			c.report(finding.TraceRowTwice, r.Path, r.RowPointer(row.Position)+"/retrieval_event_id", finding.NoEvent,
				"the id is also that of row %d", other.Position)
			continue
		}
		rows[name] = row
	}
	return rows
}

func (c *checker) checkLink(e *trace.Event, j int, name string, rows map[string]*trace.Row, linked []bool) {
	pointer, _, index := place(e, -1)
	pointer += "/retrieval_event_ids/" + strconv.Itoa(j)
	row, ok := rows[name]
	if !ok {
		c.report(finding.TraceLinkDangling, c.t.Path, pointer, index, "no retrieval row has this id").
			Actual = finding.Value(e.Links[j].Raw)
		return
	}
	linked[row.Position] = true
	if row.RunID.Ok() && c.t.RunID.Ok() && !row.RunID.Same(c.t.RunID) {
		f := c.report(finding.TraceLinkOther, c.t.Path, pointer, index, "the retrieval row belongs to another run")
		f.Expected, f.Actual = finding.Value(c.t.RunID.Raw), finding.Value(row.RunID.Raw)
	}
	if row.EventID.Ok() && e.ID.Ok() && !row.EventID.Same(e.ID) {
		f := c.report(finding.TraceLinkOther, c.t.Path, pointer, index, "the retrieval row belongs to another event")
		f.Expected, f.Actual = finding.Value(e.ID.Raw), finding.Value(row.EventID.Raw)
	}
}

// V2: ranks are 1…k; records stored in another order are a note.
func checkRanks(c *checker) {
	c.eachRow(func(r *trace.Retrieval, row *trace.Row) {
		pointer := r.RowPointer(row.Position) + "/selected_records"
		seen := make([]bool, len(row.Records))
		ordered := true
		for i := range row.Records {
			rec := &row.Records[i]
			if !rec.RankField.Ok() {
				return
			}
			if rec.Rank > len(seen) || seen[rec.Rank-1] {
				c.report(finding.TraceRankSet, r.Path, pointer+"/"+strconv.Itoa(i)+"/rank", finding.NoEvent,
					"rank %s of %s: the ranks are not 1…%d, each once", rec.RankField.Raw, finding.Counted(len(seen), "record"), len(seen))
				return
			}
			seen[rec.Rank-1] = true
			ordered = ordered && rec.Rank == i+1
		}
		if !ordered {
			c.report(finding.TraceRecordOrder, r.Path, pointer, finding.NoEvent, "records are stored in another order than their ranks")
		}
	})
}

// V2: scores are finite and descending by rank; equal scores stand in the event's order (CONTRACT P3).
func checkScores(c *checker) {
	c.eachRow(func(r *trace.Retrieval, row *trace.Row) {
		pointer := r.RowPointer(row.Position) + "/selected_records/"
		for i := range row.Records {
			if s := row.Records[i].Score; s.Ok() && !canon.Finite(s.Raw) {
				c.report(finding.TraceScoreNotFinite, r.Path, pointer+strconv.Itoa(i)+"/score", finding.NoEvent, "score is 10^309 or more in magnitude").
					Actual = finding.Value(s.Raw)
				return
			}
		}
		ranked, ok := row.ByRank()
		if !ok {
			return
		}
		order := row.Order.Text()
		for i := 1; i < len(ranked); i++ {
			c.checkNeighbours(r, order, pointer, ranked[i-1], ranked[i])
		}
	})
}

func (c *checker) checkNeighbours(r *trace.Retrieval, order, pointer string, before, after *trace.Record) {
	byScore := 1
	if order != trace.OrderID {
		byScore = canon.CompareNumbers(before.Score.Raw, after.Score.Raw)
	}
	switch {
	case byScore < 0:
		f := c.report(finding.TraceScoreOrder, r.Path, pointer+strconv.Itoa(after.Position)+"/score", finding.NoEvent,
			"rank %d has a higher score than rank %d", after.Rank, before.Rank)
		f.Expected, f.Actual = finding.Value(before.Score.Raw), finding.Value(after.Score.Raw)
	case byScore == 0 && tieKeys[order] != nil:
		c.checkTie(r, tieKeys[order], pointer, before, after)
	case byScore == 0 && (order == "" || order == trace.OrderScoreID) && before.ID.Verbatim() > after.ID.Verbatim(),
		order == trace.OrderID && byUnits(before.ID, after.ID) > 0:
		f := c.report(finding.TraceTieOrder, r.Path, pointer+strconv.Itoa(after.Position)+"/record_id", finding.NoEvent,
			"rank %d must not stand behind rank %d", after.Rank, before.Rank)
		f.Expected, f.Actual = finding.Value(before.ID.Raw), finding.Value(after.ID.Raw)
	}
}

// eachRow runs a check over the well-formed record lists of the retrieval trace.
func (c *checker) eachRow(check func(*trace.Retrieval, *trace.Row)) {
	r := c.t.Retrieval
	if r == nil {
		c.tally(finding.NotApplicable, "no retrieval trace given")
		return
	}
	mark := c.mark()
	for i := range r.Rows {
		if r.Rows[i].RecordList.Ok() {
			check(r, &r.Rows[i])
		}
	}
	c.hold(mark)
}

// V2: visibility and trace agree. In traces of foreign runtimes a disagreement is a warning.
func checkVisibility(c *checker) {
	t := c.t
	if !t.Visibility.Ok() {
		c.tally(finding.NotChecked, "visibility_mode is malformed")
		return
	}
	mark := c.mark()
	mode := t.Visibility.Text()
	if mode == "off" && t.Retrieval != nil && len(t.Retrieval.Rows) > 0 {
		c.report(finding.TraceVisibility, t.Path, "/visibility_mode", finding.NoEvent,
			"visibility is off and the retrieval trace has rows (%d)", len(t.Retrieval.Rows))
	}
	if mode != "buffered_write" && t.Commit.State != trace.Absent {
		c.report(finding.TraceVisibility, t.Path, "/commit", finding.NoEvent, "visibility is %s and there is a commit record", mode)
	}
	if r := t.Recording; r != nil {
		c.recordedVisibility(r, mode)
	}
	if t.Foreign {
		for i := mark; i < c.mark(); i++ {
			c.result.Findings[i].Severity = finding.Warning
		}
	}
	c.hold(mark)
}

// recordedVisibility holds the files of a native run to the mode: a buffered write ends in a commit record, and where nothing
// is read there are no candidates.
func (c *checker) recordedVisibility(r *trace.Recording, mode string) {
	t := c.t
	buffered := mode == "buffered_write"
	if buffered && !t.Commit.Ok() {
		c.report(finding.TraceVisibility, t.Path, "/commit", finding.NoEvent, "visibility is buffered_write and there is no commit record")
	}
	if buffered != r.Commit.Ok() {
		c.report(finding.TraceVisibility, t.Path, "/visibility_mode", finding.NoEvent, "visibility is %s, and commit.json is there: %t", mode, r.Commit.Ok())
	}
	if marked := isTrue(r.Manifest.Field("/non_deterministic")); marked != (mode == "live_read_write") {
		c.report(finding.TraceVisibility, r.Manifest.Path, "/non_deterministic", finding.NoEvent, "visibility is %s, and the run is marked as not deterministic: %t", mode, marked)
	}
	if made := r.Commit.Field("/resulting_snapshot_id"); made.Ok() && (!t.Commit.Buffer.Is("commit_applied") || made.Text() <= t.SnapshotID.Text()) { // M1, M4
		f := c.report(finding.RunDisagrees, r.Commit.Path, "/resulting_snapshot_id", finding.NoEvent, "only an applied commit makes a snapshot, and a later one than the run starts at")
		f.Actual = finding.Value(made.Raw)
	}
	if mode == "off" && len(r.Candidates) > 0 {
		c.report(finding.TraceVisibility, r.Candidates[0].Path, "", finding.NoEvent, "visibility is off and there are candidates")
	}
}
