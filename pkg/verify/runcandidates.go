package verify

import (
	"bytes"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/trace"
)

// candidateAgreement holds what a backend returned to the retrieval that ranked it: both files have the list (CONTRACT R7, V2). The rows
// of a turn are those of its first prompt, one for each kind in the order of retrieval.
func (c *checker) candidateAgreement() {
	r := c.t.Recording
	if c.t.Retrieval == nil {
		return
	}
	rows := map[string]*trace.Row{}
	for i := range c.t.Retrieval.Rows {
		row := &c.t.Retrieval.Rows[i]
		rows[row.ID.Text()] = row
	}
	ranked := map[*trace.Row]bool{}
	for _, d := range r.Candidates {
		turn, _ := d.Int("turn")
		kind := memory.KindPlace(d.Field("/kind").Text())
		e, ok := c.stages().at(trace.PromptReady, turn, 0, -1)
		if !ok || kind < 0 || kind >= len(e.Links) {
			continue // V1 or V2.recorded have said so, or the turn never came to its retrieval
		}
		if row := rows[e.Links[kind].Text()]; row != nil {
			ranked[row] = true
			c.sameCandidates(d, row)
		}
	}
	for i := range c.t.Retrieval.Rows {
		if row := &c.t.Retrieval.Rows[i]; !ranked[row] && bytes.Contains(row.Raw, []byte(`"candidates"`)) {
			if v := c.rowValue(row); v.field.Ok() {
				c.report(finding.RunUnlinked, v.path, v.pointer, finding.NoEvent, "no candidates are recorded for this retrieval")
			}
		}
	}
}

// rowValue gives the candidates of a row.
func (c *checker) rowValue(row *trace.Row) value {
	v := value{path: c.t.Retrieval.Path, pointer: c.t.Retrieval.RowPointer(row.Position) + "/candidates"}
	if parsed, err := canon.Parse(row.Raw); err == nil {
		v.field = trace.Document{Value: parsed}.Field("/candidates")
	}
	return v
}

// sameCandidates compares the lists, one by one: a line may state more of a candidate than was ranked.
func (c *checker) sameCandidates(d trace.Document, row *trace.Row) {
	whole := c.rowValue(row)
	list, err := canon.Parse(whole.field.Raw)
	given, _ := d.Value.Get("candidates")
	if err != nil || len(list.Elements()) != len(given.Elements()) {
		c.agree(whole, in(d, "/candidates"), "the list of candidates")
		return
	}
	for i := range list.Elements() {
		for _, name := range []string{"record_id", "score"} {
			at := "/" + strconv.Itoa(i) + "/" + name
			member := trace.Document{Value: list}.Field(at)
			c.agree(value{whole.path, whole.pointer + at, member}, in(d, "/candidates"+at), "the "+name+" of a candidate")
		}
	}
}
