package equiv

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/dmpl/dmpl/pkg/finding"
)

// CompareStreams gives the result of comparing two event streams, event index by event index (CONTRACT X8). The result has
// no name and no inputs yet; o.Profiles is not used. The error is that of a payload that cannot be read again.
func CompareStreams(left, right *Stream, o Options) (finding.Result, error) {
	c := &streamComparer{left: left, right: right, o: o, otherContext: map[string]bool{}, identities: map[string]int{}}
	c.takeOver("E1.left", left)
	c.takeOver("E1.right", right)
	leftOrder, leftFits := c.order(left)
	rightOrder, rightFits := c.order(right)
	if !leftFits || !rightFits {
		c.tally("X8", finding.NotChecked, "the events of a side cannot be ordered")
		c.conclude()
		return c.result, nil
	}
	if left.Partial == "" && right.Partial == "" && left.Count() != right.Count() {
		if err := c.alignEvents(leftOrder, rightOrder); err != nil {
			return finding.Result{}, err
		}
	}
	if err := c.compareEvents(leftOrder, rightOrder); err != nil {
		return finding.Result{}, err
	}
	c.leftOrder, c.rightOrder = leftOrder, rightOrder
	c.conclude()
	return c.result, nil
}

// streamComparer collects what the rules see of two streams.
type streamComparer struct {
	left, right           *Stream
	leftOrder, rightOrder []int
	o                     Options
	otherContext          map[string]bool // correlation ids whose last decision had no identical contexts
	identities            map[string]int  // places in configured, by the pointer of what is configured otherwise
	configured            []finding.Finding
	listed                finding.List // the other differences
	errors                int          // among them
	shift                 func(index int) bool
	result                finding.Result
}

func (c *streamComparer) tally(id string, status finding.Status, reason string) {
	tallyOf(&c.result, id, status, reason, 1)
}

// takeOver makes a side's violations findings of the comparison, and says so where a part of the store is all there is: a
// verdict about a part is none about the whole.
func (c *streamComparer) takeOver(id string, side *Stream) {
	found := side.Findings
	if side.Partial != "" {
		f := finding.New(finding.StreamDiffPartial)
		f.Artifact, f.Detail, f.Hint = side.Path, side.Partial, finding.Lookup(f.Code).Action
		found = append(slices.Clip(found), f)
	}
	status := finding.Passed
	for _, f := range found {
		if f.Severity == finding.Error {
			status = finding.Failed
		}
		c.result.Findings = append(c.result.Findings, f)
	}
	c.tally(id, status, "")
}

// order gives the positions of a side's events by index. Each index stands once; a whole store has all from 0 on.
func (c *streamComparer) order(side *Stream) ([]int, bool) {
	order := make([]int, side.Count())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(side.rows.At(a).index, side.rows.At(b).index) })
	for i, position := range order {
		index := int(side.rows.At(position).index)
		detail := ""
		switch {
		case i > 0 && int(side.rows.At(order[i-1]).index) == index:
			detail = fmt.Sprintf("index %d stands more than once", index)
		case side.Partial == "" && index != i:
			detail = fmt.Sprintf("there is no event with index %d", i)
		default:
			continue
		}
		f := finding.New(finding.StreamDiffIndexSet)
		f.Artifact, f.EventIndex, f.Pointer = side.Path, index, eventPointer(position)+"/index"
		f.Detail, f.Hint = detail, finding.Lookup(f.Code).Action
		c.result.Findings = append(c.result.Findings, f)
		return nil, false
	}
	return order, true
}

func eventPointer(position int) string { return fmt.Sprintf("/events/%d", position) }

// alignEvents says which events are extra where two whole stores differ in their number (CONTRACT E11).
func (c *streamComparer) alignEvents(leftOrder, rightOrder []int) error {
	numbers := map[[32]byte]int{}
	left, err := streamNumbers(c.left, leftOrder, numbers)
	if err != nil {
		return err
	}
	right, err := streamNumbers(c.right, rightOrder, numbers)
	if err != nil {
		return err
	}
	edits := align(left, right)
	c.result.Alignment = &finding.Alignment{
		LeftEvents: len(left), RightEvents: len(right), Edits: edits, Note: alignmentNote(edits),
	}
	c.shift = shifted(edits)
	first := 0
	for !c.shift(first) {
		first++
	}
	p := streamPlace{index: first, left: "/events", right: "/events"}
	c.report(finding.StreamDiffEventCount, p, count(len(left)), count(len(right)), "")
	c.tally("X8.count", finding.Failed, "")
	return nil
}

// compareEvents compares what stands at the same index on both sides.
func (c *streamComparer) compareEvents(leftOrder, rightOrder []int) error {
	for len(leftOrder) > 0 && len(rightOrder) > 0 {
		l, r := leftOrder[0], rightOrder[0]
		switch order := cmp.Compare(c.left.rows.At(l).index, c.right.rows.At(r).index); {
		case order < 0:
			leftOrder = leftOrder[1:]
		case order > 0:
			rightOrder = rightOrder[1:]
		default:
			if err := c.compareEvent(l, r); err != nil {
				return err
			}
			leftOrder, rightOrder = leftOrder[1:], rightOrder[1:]
		}
	}
	return nil
}

// streamPlace is where a rule looks on both sides.
type streamPlace struct {
	index       int
	left, right string // RFC 6901
}

func (p streamPlace) below(pointer string) streamPlace {
	p.left += pointer
	p.right += pointer
	return p
}

// report adds a difference. The values are copied: they are parts of payloads that nobody keeps.
func (c *streamComparer) report(code finding.Code, p streamPlace, left, right []byte, detail string) {
	f := c.difference(code, p, left, right, detail)
	if f.Severity == finding.Error {
		c.errors++
	}
	c.listed.Add(f)
}

func (c *streamComparer) difference(code finding.Code, p streamPlace, left, right []byte, detail string) finding.Finding {
	f := finding.New(code)
	f.EventIndex, f.Pointer, f.RightPointer = p.index, p.left, p.right
	f.Artifact, f.RightArtifact = c.left.Path, c.right.Path
	f.Expected, f.Actual = slices.Clone(left), slices.Clone(right)
	f.Detail, f.Hint = cmp.Or(detail, finding.Lookup(code).Title), finding.Lookup(code).Action
	return f
}

// neverComparedInStreams is what no rule of X8 looks at. Both sides are verified on their own (CONTRACT E1).
var neverComparedInStreams = []finding.Ignored{
	{What: "_obs, trace, trace_digest, usage with its timing keys", Reason: "they change on every run (CONTRACT X8)"},
	{What: "digest and release_digest of EXECUTION events", Reason: "they cover clocks and a random run id (CONTRACT X8)"},
	{What: "prev_event_digest, v_digest", Reason: "the chains cover digests of EXECUTION events (CONTRACT X8)"},
	{What: "stored digests and canon_len", Reason: "INTENTs and contexts are digested anew"},
	{What: "lane, actor, intent_type, stream_id and parent_turn_id beside the payload", Reason: "no digest covers them"},
	{What: "contexts assembled again from their events", Reason: "that needs the configuration: dmpl verify --context-config"},
}

// conclude classifies the findings, applies the flags that ignore some, orders the rest and names the root.
func (c *streamComparer) conclude() {
	r := &c.result
	r.Findings = slices.Concat(r.Findings, c.configured, c.listed.All())
	if c.shift != nil {
		for i := range r.Findings {
			f := &r.Findings[i]
			if f.Severity == finding.Error && f.Rule() == "X8" && f.Code != finding.StreamDiffEventCount && c.shift(f.EventIndex) {
				f.Class = finding.Cascade // E11: anything at an index that the alignment shifts
			}
		}
	}
	r.Ignored = append(r.Ignored, neverComparedInStreams...)
	for _, what := range c.o.Ignore {
		r.Ignored = append(r.Ignored, ignoreDifferences(r, what))
	}
	promote(r)
	r.Judge(true)
	c.showContext()
	if c.o.Timeline {
		r.Timeline = timeline(streamRows("left", c.left, c.leftOrder), streamRows("right", c.right, c.rightOrder))
	}
}

// showContext adds the events around the root finding, of both sides.
func (c *streamComparer) showContext() {
	for _, f := range c.result.Findings {
		if f.Class != finding.Root || f.EventIndex == finding.NoEvent {
			continue
		}
		c.result.Context = slices.Collect(timeline(
			streamRows("left", c.left, near(c.left, c.leftOrder, f.EventIndex)),
			streamRows("right", c.right, near(c.right, c.rightOrder, f.EventIndex))))
	}
}

// near gives the positions of the events around an index.
func near(side *Stream, order []int, index int) []int {
	var out []int
	for _, position := range order {
		if at := int(side.rows.At(position).index); at >= index-around && at <= index+around {
			out = append(out, position)
		}
	}
	return out
}

// timeline gives the rows of both sides.
func timeline(left, right iter.Seq[finding.Row]) iter.Seq[finding.Row] {
	return func(yield func(finding.Row) bool) {
		for _, side := range []iter.Seq[finding.Row]{left, right} {
			for row := range side {
				if !yield(row) {
					return
				}
			}
		}
	}
}

func streamRows(side string, s *Stream, order []int) iter.Seq[finding.Row] {
	return func(yield func(finding.Row) bool) {
		for _, position := range order {
			e := s.event(position)
			if !yield(finding.Row{Side: side, Index: e.Index, Role: string(e.Kind), Decision: e.threadID + "/" + e.turnID}) {
				return
			}
		}
	}
}
