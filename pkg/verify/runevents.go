package verify

import (
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// stages finds the events of a run by their place.
type stages map[stagePlace]*trace.Event

type stagePlace struct {
	kind                string
	turn, attempt, call int // -1 where the kind has none
}

func (s stages) at(kind string, turn, attempt, call int) (*trace.Event, bool) {
	e, ok := s[stagePlace{kind, turn, attempt, call}]
	return e, ok
}

// stages gives the events of the run by their place; the first where two claim one.
func (c *checker) stages() stages {
	if c.byPlace != nil {
		return c.byPlace
	}
	c.byPlace = stages{}
	for i := range c.t.Events {
		e := &c.t.Events[i]
		kind, ok := e.KindOf()
		if !ok || kind.OfRun || !placed(e, kind) {
			continue
		}
		at := stagePlace{kind.Name(), e.Stage.Turn, e.Stage.Attempt, -1}
		if kind.Call {
			at.call = e.Stage.Call
		}
		if c.byPlace[at] == nil {
			c.byPlace[at] = e
		}
	}
	return c.byPlace
}

// placed says that an event states its turn, attempt and, where its kind has one, call.
func placed(e *trace.Event, kind *trace.EventKind) bool {
	return e.Stage != nil && e.Stage.Ok() && e.Stage.TurnField.Ok() && e.Stage.AttemptField.Ok() && (!kind.Call || e.Stage.CallField.Ok())
}

// checkCatalogue holds the events to the closed table: kind, members, calls, role and order (CONTRACT P7, E10).
func checkCatalogue(c *checker) {
	ordered, ok := c.t.ByIndex()
	if !ok {
		c.tally(finding.NotChecked, "the events cannot be ordered")
		return
	}
	mark := c.mark()
	o := order{c: c, turn: -1}
	for _, e := range ordered {
		kind, ok := e.KindOf()
		if !ok {
			if e.Interceptor.Ok() && e.Decision.Ok() {
				c.event(finding.RunEventUnknown, e, "/decision_type", "%s/%s is no event of the catalogue", e.Interceptor.Text(), e.Decision.Text())
			}
			o.lost = true
			continue
		}
		c.checkMembers(e, kind)
		o.next(e, kind)
	}
	o.end()
	c.hold(mark)
}

// event reports something about an event.
func (c *checker) event(code finding.Code, e *trace.Event, below, format string, args ...any) {
	pointer, _, index := place(e, -1)
	c.report(code, c.t.Path, pointer+below, index, format, args...)
}

// checkMembers holds an event to its row of the catalogue. A digest that is none cannot be compared with anything.
func (c *checker) checkMembers(e *trace.Event, kind *trace.EventKind) {
	calls := 0
	if kind.Call {
		calls = 1
	}
	if len(e.Calls) != calls && e.CallList.Ok() {
		c.event(finding.RunEventOrder, e, "/tool_calls", "%s has %s, not %d", kind.Name(), finding.Counted(len(e.Calls), "tool call"), calls)
	}
	if e.Stage == nil {
		c.event(finding.RunStageMissing, e, "/stage", "stage is missing")
		return
	}
	if !kind.OfRun && !placed(e, kind) && e.Stage.Ok() {
		c.event(finding.RunStageMissing, e, "/stage", "the stage does not state its turn, attempt or call")
	}
	needs := kind.Needs
	if kind.Name() == trace.PromptReady && c.refers(e.Stage.Turn) {
		needs = append(slices.Clone(needs), trace.ContextDigest) // E10: with references
	}
	for _, m := range needs {
		f := m.Field(e.Stage)
		switch isList := m.Name == trace.DispatchedIntents.Name; {
		case f.Missing():
			c.event(finding.RunStageMissing, e, "/stage/"+m.Name, "%s is missing", m.Name)
		case f.Ok() && !isList && !f.IsDigest():
			c.event(finding.RunStageMissing, e, "/stage/"+m.Name, "%s is no SHA-256 digest", m.Name)
		}
	}
	c.checkRole(e, kind)
}

// refers says that a turn declares references.
func (c *checker) refers(turn int) bool {
	doc, ok := c.t.Recording.Turn(turn)
	references, _ := doc.Value.Get("references")
	return ok && len(references.Elements()) > 0
}

// checkRole holds the role to the turn's npc_id, or to agent where that is empty or the event is the run's (P7).
func (c *checker) checkRole(e *trace.Event, kind *trace.EventKind) {
	want := trace.Agent
	if !kind.OfRun {
		doc, ok := c.t.Recording.Turn(e.Stage.Turn)
		if !ok {
			return
		}
		if npc := doc.Field("/npc_id").Text(); npc != "" {
			want = npc
		}
	}
	if e.Role.Ok() && !e.Role.Is(want) {
		c.event(finding.RunDisagrees, e, "/role", "the role is not %s", strconv.Quote(want))
	}
}

// order walks the events and says which cannot stand where they do.
type order struct {
	c             *checker
	last          *trace.EventKind
	turn, attempt int
	lost          bool // after an event that is not known, nothing is said about the next
}

// next takes the next event. Turns follow one another, and attempts within a turn: each rule speaks about the event alone.
func (o *order) next(e *trace.Event, kind *trace.EventKind) {
	defer func() { o.last, o.lost = kind, false }()
	if o.last != nil && o.last.OfRun {
		o.c.event(finding.RunEventOrder, e, "", "%s follows the end of the run", kind.Name())
		return
	}
	if kind.OfRun {
		if o.last != nil && !o.last.Ends && !o.lost {
			o.c.event(finding.RunEventOrder, e, "", "%s cannot follow %s", kind.Name(), o.last.Name())
		}
		return
	}
	if !placed(e, kind) {
		o.lost = true
		return
	}
	turn, attempt := e.Stage.Turn, e.Stage.Attempt
	begins := o.last == nil || o.last.Ends
	before, wantTurn, wantAttempt := trace.Start, o.turn+1, 0
	if !begins {
		before, wantTurn, wantAttempt = o.last.Name(), o.turn, o.attempt
		if before == trace.GateRetry {
			wantAttempt++
		}
	}
	switch {
	case o.lost:
	case !slices.Contains(kind.After, before):
		if begins {
			before = "the beginning of a turn"
		}
		o.c.event(finding.RunEventOrder, e, "", "%s cannot follow %s", kind.Name(), before)
	case turn != wantTurn || attempt != wantAttempt:
		o.c.event(finding.RunEventOrder, e, "/stage", "turn %d, attempt %d cannot stand here: turn %d, attempt %d is next", turn, attempt, wantTurn, wantAttempt)
	}
	o.turn, o.attempt = turn, attempt
}

// end says what is missing after the last event. A truncated trace may end anywhere (V4).
func (o *order) end() {
	t := o.c.t
	if isTrue(t.Truncated) || o.lost {
		return
	}
	buffered := t.Visibility.Is("buffered_write")
	switch {
	case buffered && (o.last == nil || !o.last.OfRun):
		o.c.report(finding.RunEventOrder, t.Path, "/events", finding.NoEvent, "the run has buffered writes and no event commit/… at its end")
	case !buffered && o.last != nil && o.last.OfRun:
		o.c.report(finding.RunEventOrder, t.Path, "/events", finding.NoEvent, "the run has no buffered writes and an event %s", o.last.Name())
	case o.last != nil && !o.last.OfRun && !o.last.Ends:
		o.c.report(finding.RunEventOrder, t.Path, "/events", finding.NoEvent, "the last turn ends with %s", o.last.Name())
	}
}
