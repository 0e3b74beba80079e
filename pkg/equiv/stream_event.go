package equiv

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// eventPair is two events at one index with their payloads.
type eventPair struct {
	streamPlace
	left, right               streamEvent
	leftPayload, rightPayload canon.Value
}

// compareEvent applies X8 at one index: kind and turn first, since nothing else can be compared where they differ.
func (c *streamComparer) compareEvent(l, r int) error {
	e := eventPair{
		left: c.left.event(l), right: c.right.event(r),
	}
	e.streamPlace = streamPlace{e.left.Index, eventPointer(l), eventPointer(r)}
	before := c.errors
	if e.left.Kind != e.right.Kind {
		c.report(finding.StreamDiffKind, e.below("/kind"), text(string(e.left.Kind)), text(string(e.right.Kind)), "")
		c.hold("X8.kind", before)
		return nil
	}
	c.compareTurn(e)
	c.hold("X8.kind", before)
	var err error
	if e.leftPayload, err = readPayload(c.left, l); err != nil {
		return err
	}
	if e.rightPayload, err = readPayload(c.right, r); err != nil {
		return err
	}
	e.streamPlace = e.below("/payload")
	before = c.errors
	switch e.left.Kind {
	case thread.Intent:
		c.compareIntent(e)
		c.hold("X8.intent", before)
	case thread.Decision:
		c.compareDecision(e)
		c.hold("X8.decision", before)
	case thread.Proof:
		c.compareProof(e)
		c.hold("X8.proof", before)
	case thread.Execution:
		c.compareExecution(e)
		c.hold("X8.execution", before)
	default:
		c.compareUnknown(e)
		c.hold("X8.kind", before)
	}
	return nil
}

// hold tallies a rule: failed when an error was reported since there were before errors.
func (c *streamComparer) hold(id string, before int) {
	if c.errors > before {
		c.tally(id, finding.Failed, "")
		return
	}
	c.tally(id, finding.Passed, "")
}

func text(s string) []byte { return canon.QuoteASCII(nil, []byte(s)) }

func readPayload(s *Stream, position int) (canon.Value, error) {
	raw, err := s.Payload(position)
	if err != nil {
		return canon.Value{}, err
	}
	return thread.Read(raw)
}

// compareTurn compares what links an event to its turn.
func (c *streamComparer) compareTurn(e eventPair) {
	for _, m := range []struct{ name, left, right string }{
		{"thread_id", e.left.threadID, e.right.threadID},
		{"turn_id", e.left.turnID, e.right.turnID},
		{"correlation_id", e.left.correlationID, e.right.correlationID},
	} {
		if m.left != m.right {
			c.report(finding.StreamDiffTurn, e.below("/"+m.name), text(m.left), text(m.right), m.name+" differs")
		}
	}
}

// compareIntent compares INTENTs by their digest, computed anew: a stored one may be stale.
func (c *streamComparer) compareIntent(e eventPair) {
	if bytes.Equal(e.leftPayload.Raw(), e.rightPayload.Raw()) {
		return
	}
	// Another correlation id is reported as another turn, and only there.
	left, errLeft := thread.EventDigest(thread.Intent, "-", e.leftPayload)
	right, errRight := thread.EventDigest(thread.Intent, "-", e.rightPayload)
	if c.noForm(e.streamPlace, errLeft, errRight) || left == right {
		return
	}
	c.reportMembers(finding.StreamDiffIntent, e, []string{"_obs"})
}

// compareProof compares the payload digest where the contexts are identical, and the other members always.
func (c *streamComparer) compareProof(e eventPair) {
	left, right := member(e.leftPayload, "payload_digest"), member(e.rightPayload, "payload_digest")
	if !c.otherContext[e.left.correlationID] && !same(left, right) {
		c.report(finding.StreamDiffProofDigest, e.below("/payload_digest"), left.Raw(), right.Raw(), "")
	}
	c.reportMembers(finding.StreamDiffProof, e, []string{"_obs", "payload_digest"})
}

// notInExecution is what a note about an EXECUTION does not look at, beside its error.
var notInExecution = []string{"_obs", "context_digest", "error", "release_digest", "trace", "trace_digest", "usage"}

// compareExecution compares whether there is an error, and its code. Everything else is what the model did: a note.
func (c *streamComparer) compareExecution(e eventPair) {
	left, right := member(e.leftPayload, "error"), member(e.rightPayload, "error")
	switch {
	case absent(left) != absent(right):
		c.report(finding.StreamDiffExecutionError, e.below("/error"), left.Raw(), right.Raw(), "only one side has an error")
	case !same(member(left, "code"), member(right, "code")):
		c.report(finding.StreamDiffExecutionError, e.below("/error/code"), member(left, "code").Raw(), member(right, "code").Raw(), "the error has another code")
	case !same(left, right):
		c.report(finding.StreamDiffExecutionNote, e.below("/error"), left.Raw(), right.Raw(), "the text of the error differs")
	}
	c.reportMembers(finding.StreamDiffExecutionNote, e, notInExecution)
}

// compareUnknown is for kinds that no rule knows: whole payloads, since nothing says what may differ.
func (c *streamComparer) compareUnknown(e eventPair) {
	if !same(e.leftPayload, e.rightPayload) {
		c.report(finding.StreamDiffKind, e.streamPlace, e.leftPayload.Raw(), e.rightPayload.Raw(), "payloads of an unknown kind differ")
	}
}

// reportMembers reports the members of two payloads that differ, but for some names.
func (c *streamComparer) reportMembers(code finding.Code, e eventPair, but []string) {
	for _, name := range memberNames(e.leftPayload, e.rightPayload) {
		left, right := member(e.leftPayload, name), member(e.rightPayload, name)
		if !slices.Contains(but, name) && !same(left, right) {
			c.report(code, e.below(canon.AppendToken("", name)), left.Raw(), right.Raw(), "")
		}
	}
}

// memberNames gives the names of both objects, sorted, each once.
func memberNames(left, right canon.Value) []string {
	var names []string
	for _, m := range slices.Concat(left.Members(), right.Members()) {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// noForm reports that an event has no form to be compared in, if an error says so.
func (c *streamComparer) noForm(p streamPlace, errs ...error) bool {
	for _, err := range errs {
		if err != nil {
			c.report(finding.StreamDiffNoForm, p, nil, nil, "cannot be compared: "+err.Error())
			return true
		}
	}
	return false
}

func member(v canon.Value, name string) canon.Value {
	m, _ := v.Get(name)
	return m
}

func absent(v canon.Value) bool { return v.Kind() == canon.Invalid || v.Kind() == canon.Null }

// same says that two values are equal under the profile dbl, or letter by letter where one has no form there. Missing is
// not null (CONTRACT C3).
func same(left, right canon.Value) bool {
	if left.Kind() != right.Kind() {
		return false
	}
	return bytes.Equal(left.Raw(), right.Raw()) || canon.Equal(left.Raw(), right.Raw(), canon.Form{Profile: canon.DBL})
}

// streamNumbers numbers events by what is compared of them: equal events get equal numbers. Contexts are left out, since
// they hold the indices of other events.
func streamNumbers(s *Stream, order []int, numbers map[[32]byte]int) ([]int, error) {
	out := make([]int, len(order))
	for i, position := range order {
		payload, err := readPayload(s, position)
		if err != nil {
			return nil, err
		}
		key := streamKey(s.event(position), payload)
		n, ok := numbers[key]
		if !ok {
			n = len(numbers)
			numbers[key] = n
		}
		out[i] = n
	}
	return out, nil
}

func streamKey(e streamEvent, payload canon.Value) [32]byte {
	var key []byte
	for _, s := range []string{string(e.Kind), e.threadID, e.turnID, e.correlationID} {
		key = append(key, text(s)...)
	}
	switch e.Kind {
	case thread.Intent:
		if d, err := thread.EventDigest(thread.Intent, "-", payload); err == nil {
			key = append(key, d.Sum[:]...)
		}
	case thread.Decision:
		for _, name := range comparedInDecision {
			if d, err := decisionPart(name, member(payload, name)); err == nil {
				key = append(key, d.Sum[:]...)
			}
		}
	}
	return sha256.Sum256(key)
}
