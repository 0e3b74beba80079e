package verify

import (
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/trace"
)

// checkLines holds the lines of each file to their order: each place once, turns without a gap (CONTRACT V2).
func checkLines(c *checker) {
	mark := c.mark()
	r := c.t.Recording
	for i, d := range r.Turns {
		if n, ok := d.Int("turn"); ok && n != i {
			c.line(finding.RunLineOrder, d, "turn %d stands in line %d: turns are 0…n-1", n, i)
		}
	}
	for _, file := range []struct {
		lines []trace.Document
		by    []string
	}{
		{r.Outputs, []string{"turn", "attempt"}},
		{r.ToolResults, []string{"turn", "attempt", "call"}},
		{r.Prompts, []string{"turn", "attempt"}},
	} {
		for i := 1; i < len(file.lines); i++ {
			if !follows(file.lines[i-1], file.lines[i], file.by) {
				c.line(finding.RunLineOrder, file.lines[i], "the line does not come after the one before by %v", file.by)
			}
		}
	}
	for i := 1; i < len(r.Candidates); i++ {
		if before, d := r.Candidates[i-1], r.Candidates[i]; !follows(before, d, []string{"turn"}) && !(sameTurn(before, d) && kindFollows(before, d)) {
			c.line(finding.RunLineOrder, d, "the candidates of a turn and kind stand out of order or there twice")
		}
	}
	c.hold(mark)
}

func (c *checker) line(code finding.Code, d trace.Document, format string, args ...any) {
	c.report(code, d.Path, d.At, finding.NoEvent, format, args...)
}

// follows says that a line has greater numbers than the one before; a malformed number is V1's finding.
func follows(before, after trace.Document, by []string) bool {
	for _, name := range by {
		a, okA := before.Int(name)
		b, okB := after.Int(name)
		if !okA || !okB || a < b {
			return true
		}
		if a > b {
			return false
		}
	}
	return false
}

// kindFollows says that the kind of a line comes later in the order of retrieval; a malformed kind is V1's finding.
func kindFollows(before, after trace.Document) bool {
	x, y := memory.KindPlace(before.Field("/kind").Text()), memory.KindPlace(after.Field("/kind").Text())
	return x < 0 || y < 0 || x < y
}

func sameTurn(a, b trace.Document) bool {
	x, _ := a.Int("turn")
	y, _ := b.Int("turn")
	return x == y
}

// rest says which lines a kind of event rests on.
type rest struct {
	lines         func(*trace.Recording) []trace.Document
	what          string
	user, carrier string // the event that cannot be without the line, and the event that each line belongs to
	call          bool
}

var rests = []rest{
	{func(r *trace.Recording) []trace.Document { return r.Outputs }, "output", trace.ModelAnswered, trace.PromptReady, false},
	{func(r *trace.Recording) []trace.Document { return r.ToolResults }, "tool result", trace.ToolAnswered, trace.ToolReady, true},
}

// checkRecorded holds events and recorded lines to one another: what an event rests on is there, and what is there belongs to
// an event (CONTRACT V2, R2). A truncated trace has lost events, so that a line without one says nothing (V4).
func checkRecorded(c *checker) {
	mark := c.mark()
	r := c.t.Recording
	whole := !isTrue(c.t.Truncated) && c.t.EventList.Ok()
	for _, on := range rests {
		has := map[stagePlace]bool{}
		for _, d := range on.lines(r) {
			at := placeOf(d, on.call)
			has[at] = true
			if _, ok := c.stages().at(on.carrier, at.turn, at.attempt, at.call); !ok && whole {
				c.line(finding.RunUnlinked, d, "no event %s belongs to this %s", on.carrier, on.what)
			}
		}
		for i := range c.t.Events {
			e := &c.t.Events[i]
			kind, ok := e.KindOf()
			if !ok || kind.Name() != on.user || !placed(e, kind) {
				continue
			}
			at := stagePlace{"", e.Stage.Turn, e.Stage.Attempt, -1}
			if on.call {
				at.call = e.Stage.Call
			}
			if !has[at] {
				c.event(finding.RunUnlinked, e, "", "no %s is recorded for turn %d, attempt %d", on.what, at.turn, at.attempt)
			}
		}
	}
	c.checkTurns(whole)
	c.checkToolResults()
	c.hold(mark)
}

func placeOf(d trace.Document, call bool) stagePlace {
	at := stagePlace{call: -1}
	at.turn, _ = d.Int("turn")
	at.attempt, _ = d.Int("attempt")
	if call {
		at.call, _ = d.Int("call")
	}
	return at
}

// checkTurns holds the turns of the events to those that are recorded, and each candidate list to its turn.
func (c *checker) checkTurns(whole bool) {
	r := c.t.Recording
	seen := map[int]bool{}
	for i := range c.t.Events {
		e := &c.t.Events[i]
		kind, ok := e.KindOf()
		if !ok || kind.OfRun || !placed(e, kind) || seen[e.Stage.Turn] {
			continue
		}
		seen[e.Stage.Turn] = true
		if _, ok := r.Turn(e.Stage.Turn); !ok {
			c.event(finding.RunUnlinked, e, "/stage/turn", "turn %d is not recorded", e.Stage.Turn)
		}
	}
	for _, d := range r.Turns {
		if n, ok := d.Int("turn"); ok && !seen[n] && whole {
			c.line(finding.RunUnlinked, d, "no event belongs to turn %d", n)
		}
	}
	for _, d := range r.Candidates {
		if n, ok := d.Int("turn"); ok {
			if _, there := r.Turn(n); !there {
				c.line(finding.RunUnlinked, d, "turn %d is not recorded", n)
			}
		}
	}
}

// checkToolResults holds a tool event to the result that answers it.
func (c *checker) checkToolResults() {
	for i := range c.t.Events {
		e := &c.t.Events[i]
		kind, ok := e.KindOf()
		if !ok || !kind.Call || !placed(e, kind) || len(e.Calls) != 1 {
			continue
		}
		if call := &e.Calls[0]; call.Name.Ok() && call.ProfileVersion.Ok() {
			if _, known := c.recorded.For(call.Name.Text(), call.ProfileVersion.Text()); !known {
				c.event(finding.RunDisagrees, e, "/tool_calls/0/tool_profile_version", "the run has no profile of this tool and version")
			}
		}
		if d, ok := c.t.Recording.ToolResult(e.Stage.Turn, e.Stage.Attempt, e.Stage.Call); ok {
			c.agree(in(d, "/tool_name"), c.inTrace(e.Pointer()+"/tool_calls/0/tool_name", e.Calls[0].Name), "tool_name")
			if e.Calls[0].SideEffect.Ok() && e.Calls[0].RawSideEffect.State == trace.Absent {
				c.line(finding.RunUnlinked, d, "the call has a side-effect fingerprint and its side effects are not recorded")
			}
		}
	}
}
