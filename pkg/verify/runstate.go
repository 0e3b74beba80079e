package verify

import (
	"errors"
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/trace"
)

// checkSnapshot loads the start snapshot: what is there twice, or is no record, makes it none (CONTRACT M9, P2(d)).
func checkSnapshot(c *checker) {
	snapshot := c.t.Recording.Snapshot
	if !snapshot.Ok() {
		c.tally(finding.NotChecked, "there is no snapshot")
		return
	}
	mark := c.mark()
	state, err := loaded(snapshot)
	var wrong *document.Error
	if errors.As(err, &wrong) {
		c.report(finding.RunSnapshot, snapshot.Path, wrong.Pointer, finding.NoEvent, "the snapshot cannot be loaded: %s", wrong.Detail)
	} else if next, ok := canon.Integer(snapshot.Field("/next_sequence_number").Raw); ok && next <= state.Highest() {
		c.report(finding.RunSnapshot, snapshot.Path, "/next_sequence_number", finding.NoEvent,
			"the next sequence number is not greater than %d", state.Highest())
	}
	c.hold(mark)
}

func loaded(snapshot trace.Document) (memory.State, error) {
	o := document.Open(snapshot.Value)
	state := memory.ReadSnapshot(o)
	return state, o.Err()
}

// recordName is what a record is found by: ids of two types may be equal.
type recordName struct{ kind, id string }

// checkRead holds what was read to the start snapshot: every selected record is in it (CONTRACT M1). Candidates are held to it by
// replay, which ranks them (CONTRACT R7).
func checkRead(c *checker) {
	list, ok := c.t.Recording.Snapshot.Value.Get("records")
	if !ok {
		c.tally(finding.NotChecked, "there is no snapshot")
		return
	}
	if c.t.Visibility.Is("live_read_write") { // V3 rejects its claim
		c.tally(finding.NotChecked, "the run read a memory that changed, and not its start snapshot")
		return
	}
	mark := c.mark()
	records := map[recordName][]trace.Document{}
	for _, e := range list.Elements() {
		d := trace.Document{Value: e}
		name := recordName{d.Field("/record_type").Text(), d.Field("/record_id").Text()}
		records[name] = append(records[name], d)
	}
	for i := 0; c.t.Retrieval != nil && i < len(c.t.Retrieval.Rows); i++ {
		row := &c.t.Retrieval.Rows[i]
		for j := range row.Records {
			if r := &row.Records[j]; r.WellFormed() && !among(records, r) {
				at := c.t.Retrieval.RowPointer(i) + "/selected_records/" + strconv.Itoa(j)
				c.report(finding.RunDisagrees, c.t.Retrieval.Path, at, finding.NoEvent, "the start snapshot has no such record").Actual = finding.Value(r.Raw)
			}
		}
	}
	c.hold(mark)
}

// among looks a selected record up, by type, id and the keys that both state: an id may be there twice (CONTRACT P2(d)).
func among(records map[recordName][]trace.Document, r *trace.Record) bool {
	return slices.ContainsFunc(records[recordName{r.Type.Text(), r.ID.Text()}], func(d trace.Document) bool {
		for _, key := range []string{"created_at_ticks", "sequence_number"} {
			if f := r.Key(key); f.Ok() && !f.Same(d.Field("/"+key)) {
				return false
			}
		}
		return true
	})
}

// checkStateAfter recomputes what became of the memory: start snapshot and writes, or the start snapshot alone where nothing was
// applied (CONTRACT P2(g), M4). Commits of other runs do not matter to it.
func checkStateAfter(c *checker) {
	record := c.t.Recording.Commit
	if !record.Ok() {
		c.tally(finding.NotApplicable, "no commit record")
		return
	}
	stated := in(record, "/state_digest_after")
	if !stated.field.Ok() {
		return // V1 has said so
	}
	k := claim{path: stated.path, pointer: stated.pointer, stated: stated.field}
	k.preimage, k.reason = c.stateAfter(record)
	c.check(&k)
}

// stateAfter gives the state as a snapshot has it, or why there is none to compare with.
func (c *checker) stateAfter(record trace.Document) (state []byte, reason string) {
	if !c.t.Recording.Config.Field("/pipeline_version").Is(memory.DMPLv1.String()) {
		return nil, "the writes of this pipeline version are not applied here"
	}
	after, err := loaded(c.t.Recording.Snapshot)
	if err != nil {
		return nil, "the snapshot cannot be loaded"
	}
	if record.Field("/buffer_state").Is("commit_applied") {
		o := document.Open(record.Value)
		writes := memory.ReadWrites(o, "writes")
		if o.Err() != nil {
			return nil, "the writes cannot be read"
		}
		if after, err = after.Apply(writes, nil); err != nil {
			return nil, "the writes cannot be applied"
		}
	}
	w := document.NewWriter(document.Style{})
	w.Object("", func() { memory.WriteSnapshot(w, after) })
	return w.Bytes(), ""
}
