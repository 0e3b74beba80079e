package equiv

import (
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// stageMembers are what E10 compares at each turn and attempt, in the order of the stages.
var stageMembers = []struct {
	code finding.Code
	trace.StageMember
}{
	{finding.StageContext, trace.ContextDigest},
	{finding.StageConstraints, trace.ConstraintsDigest},
	{finding.StagePrompt, trace.PromptDigest},
	{finding.StageParse, trace.ParseDigest},
	{finding.StageGate, trace.GateDigest},
	{finding.StageMutations, trace.MutationsDigest},
	{finding.StageIntents, trace.DispatchedIntents},
	{finding.StageState, trace.StateDigest},
}

// stagePlaces say in which turn and attempt an event stands, and for which call.
var stagePlaces = []trace.StageMember{
	{Name: "turn", Field: func(s *trace.Stage) trace.Field { return s.TurnField }},
	{Name: "attempt", Field: func(s *trace.Stage) trace.Field { return s.AttemptField }},
	{Name: "call", Field: func(s *trace.Stage) trace.Field { return s.CallField }},
}

// compareStages applies E10 to two native runs. Where a side never recorded its stages, nothing is said.
func compareStages(c *comparer) {
	left, right := c.left.Recording != nil, c.right.Recording != nil
	switch {
	case !left && !right:
		c.tally("E10", finding.NotChecked, "these runs never recorded prompts, gates and states")
		return
	case left != right:
		c.tally("E10", finding.NotChecked, "only one side recorded prompts, gates and states")
		return
	case c.leftEvents == nil:
		c.tally("E10", finding.NotChecked, "the events of a side cannot be ordered")
		return
	}
	for i := range min(len(c.leftEvents), len(c.rightEvents)) {
		c.compareStage(i, c.leftEvents[i], c.rightEvents[i])
	}
	c.alike("E10", c.o.Alike.Events)
}

func (c *comparer) compareStage(i int, left, right *trace.Event) {
	if left.Stage == nil || right.Stage == nil {
		c.tally("E10", finding.NotChecked, "the stage is missing on a side") // verify has called that side malformed
		return
	}
	mark := c.begin()
	p := c.in(i, left, right).member("stage")
	for _, m := range stagePlaces {
		c.differentStage(finding.StagePlace, p, m, left.Stage, right.Stage)
	}
	for _, m := range stageMembers {
		c.differentStage(m.code, p, m.StageMember, left.Stage, right.Stage)
	}
	c.hold("E10", mark)
}

// differentStage compares one member. What neither side has belongs to no stage of this event; one side alone differs.
func (c *comparer) differentStage(code finding.Code, p place, m trace.StageMember, left, right *trace.Stage) {
	l, r := m.Field(left), m.Field(right)
	switch {
	case l.State == trace.Malformed || r.State == trace.Malformed:
		c.uncompared = true
	case l.Missing() && r.Missing(), l.SameDigest(r):
	case l.Missing() != r.Missing():
		c.report(code, p.member(m.Name), l.Raw, r.Raw, "only one side has %s", m.Name)
	default:
		c.different(code, p, m.Name, l, r)
	}
}
