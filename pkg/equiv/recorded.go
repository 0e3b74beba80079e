package equiv

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// compareAnswers compares what the model answered, verbatim (CONTRACT W, R2): a digest of the trace alone would show it neither
// of an answer that could not be parsed nor of one that was edited afterwards. Where the parsed answers differ already, that is
// said, and this says nothing.
func compareAnswers(c *comparer) {
	if c.left.Recording == nil || c.right.Recording == nil {
		return
	}
	for _, at := range answered(c.left.Recording, c.right.Recording) {
		mark := c.begin()
		c.compareAnswer(at)
		c.holdAs("E10.answers", "E10", mark)
	}
	c.alike("E10.answers", c.o.Alike.Answers)
}

// attempt is a turn and one of its attempts.
type attempt struct{ turn, number int }

// answered lists the attempts that a side has an answer of.
func answered(sides ...*trace.Recording) []attempt {
	var all []attempt
	for _, side := range sides {
		for _, d := range side.Outputs {
			turn, okTurn := d.Int("turn")
			number, okNumber := d.Int("attempt")
			if okTurn && okNumber {
				all = append(all, attempt{turn, number})
			}
		}
	}
	slices.SortFunc(all, func(a, b attempt) int { return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.number, b.number)) })
	return slices.Compact(all)
}

func (c *comparer) compareAnswer(at attempt) {
	left, okLeft := c.left.Recording.Output(at.turn, at.number)
	right, okRight := c.right.Recording.Output(at.turn, at.number)
	l, r := left.Field("/text"), right.Field("/text")
	if okLeft && okRight && isText(l) && isText(r) && (bytes.Equal(l.Raw, r.Raw) || l.Same(r)) {
		return
	}
	event, told := c.parsed(at)
	p := place{
		index: event, subject: fmt.Sprintf("turn %d, attempt %d", at.turn, at.number),
		leftFile: left.Path, rightFile: right.Path, leftPointer: left.At, rightPointer: right.At,
	}
	switch {
	case okLeft != okRight:
		p.leftFile, p.rightFile = cmp.Or(left.Path, c.left.Path), cmp.Or(right.Path, c.right.Path)
		c.report(finding.StageOutput, p, left.Value.Raw(), right.Value.Raw(), "only one side has this answer")
	case !isText(l) || !isText(r):
		c.uncompared = true
	case !told:
		c.report(finding.StageOutput, p.member("text"), l.Raw, r.Raw, "the model answered something else, and no digest of the trace shows it")
	}
}

func isText(f trace.Field) bool { return f.Ok() && f.Raw[0] == '"' }

// parsed gives the event that an answer belongs to, and says whether the parsed answers there differ.
func (c *comparer) parsed(at attempt) (event int, differ bool) {
	event = finding.NoEvent
	for i, e := range c.leftEvents {
		if e.Stage == nil || e.Stage.Turn != at.turn || e.Stage.Attempt != at.number {
			continue
		}
		left := trace.ParseDigest.Field(e.Stage)
		if event == finding.NoEvent || left.Ok() {
			event = i
		}
		if !left.Ok() {
			continue
		}
		if i < len(c.rightEvents) && c.rightEvents[i].Stage != nil {
			right := trace.ParseDigest.Field(c.rightEvents[i].Stage)
			differ = !right.Ok() || !left.SameDigest(right)
		}
		break
	}
	return event, differ
}
