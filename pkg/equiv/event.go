package equiv

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// compareEvents applies E3, E4, E5 and E7 at each index. Where a side's events cannot be ordered, no rule about events
// applies (CONTRACT E1).
func compareEvents(c *comparer) {
	left, okLeft := c.left.ByIndex()
	right, okRight := c.right.ByIndex()
	if !okLeft || !okRight {
		for _, id := range []string{"E3", "E4", "E5", "E7"} {
			c.tally(id, finding.NotChecked, "the events of a side cannot be ordered")
		}
		return
	}
	c.leftEvents, c.rightEvents = left, right
	mark := c.begin()
	if len(left) != len(right) {
		c.alignEvents()
	}
	c.hold("E3", mark)
	for i := range min(len(left), len(right)) {
		c.compareEvent(i, left[i], right[i])
	}
	for _, id := range []string{"E3", "E4", "E7", "E5"} {
		c.alike(id, c.o.Alike.Events)
	}
}

// eventFields are those that E3 compares.
var eventFields = []struct {
	name  string
	code  finding.Code
	field func(*trace.Event) trace.Field
}{
	{"role", finding.EquivRole, func(e *trace.Event) trace.Field { return e.Role }},
	{"interceptor", finding.EquivInterceptor, func(e *trace.Event) trace.Field { return e.Interceptor }},
	{"decision_type", finding.EquivDecision, func(e *trace.Event) trace.Field { return e.Decision }},
}

func (c *comparer) compareEvent(i int, left, right *trace.Event) {
	mark := c.begin()
	p := c.in(i, left, right)
	for _, f := range eventFields {
		c.different(f.code, p, f.name, f.field(left), f.field(right))
	}
	c.hold("E3", mark)
	c.compareCalls(p, left, right)
	c.compareGuardrails(p, left, right)
}

// compareGuardrails applies E5: the same ids, as a multiset.
func (c *comparer) compareGuardrails(p place, left, right *trace.Event) {
	if len(left.Guardrails)+len(right.Guardrails) == 0 && left.GuardrailList.Ok() && right.GuardrailList.Ok() {
		c.tally("E5", finding.Passed, "")
		return
	}
	mark := c.begin()
	l, okLeft := texts(left.GuardrailList, left.Guardrails)
	r, okRight := texts(right.GuardrailList, right.Guardrails)
	if !okLeft || !okRight {
		c.tally("E5", finding.NotChecked, "guardrails are malformed on a side")
		return
	}
	slices.Sort(l)
	slices.Sort(r)
	if !slices.Equal(l, r) {
		c.report(finding.EquivGuardrails, p.member("guardrails_triggered"), left.GuardrailList.Raw, right.GuardrailList.Raw, "guardrails differ%s", onlySides(l, r))
	}
	c.hold("E5", mark)
}

// texts gives the texts of a list of strings, or false when the list or an element is malformed.
func texts(list trace.Field, elements []trace.Field) ([]string, bool) {
	if !list.Ok() {
		return nil, false
	}
	var out []string
	for _, e := range elements {
		if !e.Ok() {
			return nil, false
		}
		out = append(out, e.Text())
	}
	return out, true
}

// onlySides says what each of two sorted lists has that the other has not.
func onlySides(left, right []string) string {
	var onlyLeft, onlyRight []string
	for len(left) > 0 || len(right) > 0 {
		switch {
		case len(right) == 0 || len(left) > 0 && left[0] < right[0]:
			onlyLeft, left = append(onlyLeft, left[0]), left[1:]
		case len(left) == 0 || right[0] < left[0]:
			onlyRight, right = append(onlyRight, right[0]), right[1:]
		default:
			left, right = left[1:], right[1:]
		}
	}
	return side("only left", onlyLeft) + side("only right", onlyRight)
}

func side(label string, ids []string) string {
	const most = 5
	if len(ids) == 0 {
		return ""
	}
	more := ""
	if len(ids) > most {
		more = " and " + strconv.Itoa(len(ids)-most) + " more"
		ids = ids[:most]
	}
	return "; " + label + ": " + strings.Join(ids, ", ") + more
}
