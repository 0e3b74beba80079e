package equiv

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// cascade marks every difference since the mark as following from an earlier one (CONTRACT E11).
func (c *comparer) cascade(mark int) {
	for i := mark; i < c.here(); i++ {
		if c.result.Findings[i].Severity == finding.Error {
			c.result.Findings[i].Class = finding.Cascade
		}
	}
}

// neverCompared is what no rule looks at, for the report's list of what was left out.
var neverCompared = []finding.Ignored{
	{What: "run_id, event_id, retrieval_event_id", Reason: "run-local linkage: compared by what it links (CONTRACT W)"},
	{What: "scores, record types, candidate counts, filters", Reason: "logged, not compared: differences are notes (CONTRACT E6)"},
	{What: "members that the schema does not name", Reason: "additive within v1"},
}

// conclude classifies the findings, applies the flags that ignore some, orders the rest and names the root.
func (c *comparer) conclude() {
	r := &c.result
	if c.shift != nil {
		for i := range r.Findings {
			f := &r.Findings[i]
			if f.EventIndex != finding.NoEvent && f.Code != finding.EquivEventCount && f.Severity == finding.Error &&
				strings.HasPrefix(f.Rule(), "E") && c.shift(f.EventIndex) {
				f.Class = finding.Cascade // E11: anything at an index that the alignment shifts
			}
		}
	}
	r.Ignored = append(r.Ignored, neverCompared...)
	for _, what := range c.o.Ignore {
		r.Ignored = append(r.Ignored, c.ignore(what))
	}
	promote(r)
	r.Judge(true)
	c.showContext()
	if c.o.Timeline {
		r.Timeline = timeline(slices.Values(c.timelineOf("left", c.leftEvents)), slices.Values(c.timelineOf("right", c.rightEvents)))
	}
}

// ignore takes findings out of the verdict and says how many there were: those with a code, or the differences at or
// below a pointer. What is wrong with a side is ignored by its code only, never by where it stands.
func (c *comparer) ignore(what string) finding.Ignored {
	r := &c.result
	kept := r.Findings[:0]
	out := finding.Ignored{What: what, Reason: "--ignore"}
	for _, f := range r.Findings {
		if c.ignored(f, what) {
			out.Count++
			continue
		}
		kept = append(kept, f)
	}
	r.Findings = kept
	return out
}

// inRetrieval begins a pointer into the retrieval traces.
const inRetrieval = "/retrieval"

func (c *comparer) ignored(f finding.Finding, what string) bool {
	if !strings.HasPrefix(what, "/") {
		return string(f.Code) == what
	}
	if !strings.HasPrefix(f.Rule(), "E") {
		return false
	}
	left, right := f.Pointer, f.RightPointer
	if r := c.left.Retrieval; r != nil && f.Artifact == r.Path {
		left, right = inRetrieval+left, inRetrieval+right
	}
	return below(left, what) || below(right, what)
}

// promote makes the lowest of the cascades independent where what they follow from is ignored: a divergence has a root
// (CONTRACT E11).
func promote(r *finding.Result) {
	finding.Sort(r.Findings)
	lowest := -1
	for i, f := range r.Findings {
		switch {
		case f.Severity != finding.Error:
		case f.Class != finding.Cascade:
			return
		case lowest < 0:
			lowest = i
		}
	}
	if lowest >= 0 {
		r.Findings[lowest].Class = finding.Independent
	}
}

// below says that a pointer is pattern or lies under it; the token * stands for any one token.
func below(pointer, pattern string) bool {
	have, want := strings.Split(pointer, "/"), strings.Split(pattern, "/")
	if len(have) < len(want) {
		return false
	}
	for i, token := range want {
		if token != "*" && token != have[i] {
			return false
		}
	}
	return true
}

// around is the number of events shown before and after the root.
const around = 2

// showContext adds the events around the root finding, of both sides.
func (c *comparer) showContext() {
	for _, f := range c.result.Findings {
		if f.Class != finding.Root || f.EventIndex == finding.NoEvent {
			continue
		}
		c.result.Context = append(rows("left", window(c.leftEvents, f.EventIndex), row), rows("right", window(c.rightEvents, f.EventIndex), row)...)
	}
}

func window(events []*trace.Event, index int) []*trace.Event {
	from, to := max(0, index-around), min(len(events), index+around+1)
	if from >= to {
		return nil
	}
	return events[from:to]
}

// timelineOf gives the rows of a side's events, and of those that are alike.
func (c *comparer) timelineOf(side string, events []*trace.Event) []finding.Row {
	out := append(rows(side, events, Row), c.o.Alike.Rows...)
	for i := range out {
		out[i].Side = side
	}
	return out
}

func rows(side string, events []*trace.Event, of func(*trace.Event) finding.Row) []finding.Row {
	out := make([]finding.Row, len(events))
	for i, e := range events {
		out[i] = of(e)
		out[i].Side = side
	}
	return out
}

// Row gives an event's row of a timeline, without a side.
func Row(e *trace.Event) finding.Row {
	out := row(e)
	key, _ := e.Key(nil)
	out.Digest = hex.EncodeToString(key[:])
	return out
}

// row is Row without the digest, which nobody is shown.
func row(e *trace.Event) finding.Row {
	out := finding.Row{Index: e.Index, Role: e.Role.Text(), Decision: e.Interceptor.Text() + "/" + e.Decision.Text()}
	for j := range e.Calls {
		out.Tools = append(out.Tools, e.Calls[j].Name.Text())
	}
	return out
}
