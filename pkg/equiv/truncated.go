package equiv

import (
	"slices"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// dropped leaves out of the comparison what one native run still has and the other dropped at its cap: that it is not there is
// no difference of the runs (CONTRACT V4, R5). What both kept is compared.
func (c *comparer) dropped() {
	left, right := c.left, c.right
	if left.Recording == nil || right.Recording == nil {
		return
	}
	for _, side := range []struct {
		truncated *trace.Trace
		other     **trace.Trace
	}{{left, &c.right}, {right, &c.left}} {
		if whole := *side.other; isTruncated(side.truncated) && len(side.truncated.Events) < len(whole.Events) {
			*side.other = firstEvents(whole, len(side.truncated.Events))
			c.tally("E3", finding.NotChecked, "a side dropped its last events at the cap")
		}
	}
}

func isTruncated(t *trace.Trace) bool { return string(t.Truncated.Raw) == "true" }

// firstEvents gives a trace without the events from an index on and without the rows that they alone read.
func firstEvents(t *trace.Trace, n int) *trace.Trace {
	part := *t
	part.Events = nil
	kept, gone := map[string]bool{}, map[string]bool{}
	for i := range t.Events {
		e := &t.Events[i]
		index, ok := e.Stated()
		later := ok && index >= n
		for _, link := range e.Links {
			if later {
				gone[link.Text()] = true
			} else {
				kept[link.Text()] = true
			}
		}
		if !later {
			part.Events = append(part.Events, *e)
		}
	}
	if t.Retrieval != nil {
		rows := *t.Retrieval
		rows.Rows = slices.DeleteFunc(slices.Clone(rows.Rows), func(w trace.Row) bool { return gone[w.ID.Text()] && !kept[w.ID.Text()] })
		part.Retrieval = &rows
	}
	return &part
}
