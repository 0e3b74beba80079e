package equiv

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/jsondiff"
	"github.com/dmpl/dmpl/pkg/thread"
)

// configured is where a DECISION names what it was made under. Required ones are compared also where a side has none.
var configured = []struct {
	pointer  string
	required bool
}{
	{"/policy/policy_id", true},
	{"/policy/policy_version", true},
	{"/policy/policy_config_digest", true},
	{"/boundary/context_config_digest", false},
	{"/context_spec/retrieval/normalization/config_digest", false},
}

// comparedInDecision is compared in the normal form that the decision's digest has.
var comparedInDecision = []string{"reasons", "result", "transforms"}

var differsInDecision = map[string]finding.Code{
	"reasons": finding.StreamDiffReasons, "result": finding.StreamDiffResult, "transforms": finding.StreamDiffTransforms,
}

// compareDecision compares configuration, result, reasons, transforms and context of two DECISIONs.
func (c *streamComparer) compareDecision(e eventPair) {
	for _, at := range configured {
		left, _ := e.leftPayload.At(at.pointer)
		right, _ := e.rightPayload.At(at.pointer)
		there := left.Kind() == canon.String && right.Kind() == canon.String
		bothAbsent := absent(left) && absent(right)
		if (at.required && !bothAbsent || there) && !same(left, right) {
			c.reportConfigured(e.below(at.pointer), at.pointer, left, right)
		}
	}
	for _, name := range comparedInDecision {
		c.comparePart(e, name)
	}
	c.compareContexts(e)
	c.noteRest(e)
}

// reportConfigured reports another configuration once; the finding counts further decisions.
func (c *streamComparer) reportConfigured(p streamPlace, pointer string, left, right canon.Value) {
	if at, ok := c.identities[pointer]; ok {
		c.configured[at].Detail = "the streams are not comparable: " + pointer + " differs here and in later decisions"
		return
	}
	c.identities[pointer] = len(c.configured)
	c.errors++
	c.configured = append(c.configured, c.difference(finding.StreamDiffConfiguration, p, left.Raw(), right.Raw(), "the streams are not comparable: "+pointer+" differs"))
}

func (c *streamComparer) comparePart(e eventPair, name string) {
	left, right := member(e.leftPayload, name), member(e.rightPayload, name)
	if left.Kind() == right.Kind() && bytes.Equal(left.Raw(), right.Raw()) {
		return
	}
	l, errLeft := decisionPart(name, left)
	r, errRight := decisionPart(name, right)
	if c.noForm(e.below("/"+name), errLeft, errRight) || l == r {
		return
	}
	c.report(differsInDecision[name], e.below("/"+name), left.Raw(), right.Raw(), "")
}

// decisionPart digests a decision that has one member of its own and is empty otherwise, so that the member is compared
// in the one normal form that decisions have.
func decisionPart(name string, value canon.Value) (thread.Digest, error) {
	return emptyDecision(func(other string) []byte {
		switch {
		case other != name:
			return nil
		case !absent(value):
			return value.Raw()
		case name == "result":
			return []byte("null") // a decision without a result is none
		}
		return nil
	})
}

// emptyParts are the members that a decision must have, with values that say nothing.
var emptyParts = []struct{ name, value string }{
	{"policy", `{"policy_id":"-","policy_version":"-"}`},
	{"assembly_digest", "null"},
	{"context_digest", "null"},
	{"result", `"ALLOW"`},
	{"reasons", "[]"},
	{"transforms", "[]"},
}

// emptyDecision digests the empty decision with some members replaced.
func emptyDecision(replaced func(name string) []byte) (thread.Digest, error) {
	var out []byte
	for _, part := range emptyParts {
		value := replaced(part.name)
		if value == nil {
			value = []byte(part.value)
		}
		out = fmt.Appendf(out, ",%q:%s", part.name, value)
	}
	return digestDecision(out)
}

// digestDecision digests a decision given as its members, each after a comma.
func digestDecision(members []byte) (thread.Digest, error) {
	v, err := thread.Read(append(append([]byte{'{'}, members[1:]...), '}'))
	if err != nil {
		return thread.Digest{}, err
	}
	return thread.DecisionDigest(v)
}

// compareContexts says how alike two contexts are (CONTRACT X3).
func (c *streamComparer) compareContexts(e eventPair) {
	likeness := c.likeness(e)
	if likeness == thread.Identical {
		delete(c.otherContext, e.left.correlationID)
		return
	}
	c.otherContext[e.left.correlationID] = true
	const messages = "/assembled_context/model_messages"
	left, _ := e.leftPayload.At(messages)
	right, _ := e.rightPayload.At(messages)
	switch {
	case likeness == thread.Observational && same(left, right):
		c.report(finding.StreamDiffObservational, e.below("/assembled_context/assembled_from"), nil, nil, "only the digests of earlier executions differ")
	case likeness == thread.Observational:
		c.report(finding.StreamDiffObservational, e.below(messages), left.Raw(), right.Raw(), "")
	case likeness == thread.Different && !same(left, right):
		c.report(finding.StreamDiffContext, e.below(messages), left.Raw(), right.Raw(), "")
	case likeness == thread.Different:
		c.reportInContext(e)
	}
}

// likeness compares the stored contexts; "" says that they cannot be compared, which is reported.
func (c *streamComparer) likeness(e eventPair) thread.Likeness {
	spec, otherSpec := member(e.leftPayload, "context_spec"), member(e.rightPayload, "context_spec")
	assembled, otherAssembled := member(e.leftPayload, "assembled_context"), member(e.rightPayload, "assembled_context")
	none, noneOnRight := absent(spec) && absent(assembled), absent(otherSpec) && absent(otherAssembled)
	switch {
	case none && noneOnRight, bytes.Equal(spec.Raw(), otherSpec.Raw()) && bytes.Equal(assembled.Raw(), otherAssembled.Raw()):
		return thread.Identical
	case none != noneOnRight:
		return thread.Different
	}
	likeness, err := thread.CompareContexts(spec, assembled, otherSpec, otherAssembled)
	c.noForm(e.streamPlace, err)
	return likeness
}

// reportInContext reports the first place where contexts with equal messages differ, of those that count if there is one.
func (c *streamComparer) reportInContext(e eventPair) {
	var first *contextDifference
	for _, name := range []string{"context_spec", "assembled_context"} {
		left, right := canonicalForm(member(e.leftPayload, name)), canonicalForm(member(e.rightPayload, name))
		for _, d := range jsondiff.Compare(left, right) {
			d.Pointer = "/" + name + d.Pointer
			if first == nil || first.runLocal && !runLocal(d.Pointer) {
				first = &contextDifference{d, runLocal(d.Pointer)}
			}
		}
	}
	if first != nil {
		c.report(finding.StreamDiffContext, e.below(first.Pointer), first.Left.Raw(), first.Right.Raw(), "")
	}
}

// contextDifference is one place where contexts differ.
type contextDifference struct {
	jsondiff.Difference
	runLocal bool
}

// runLocal says that a member of a context changes from run to run, or is in no digest.
func runLocal(pointer string) bool {
	for _, name := range []string{"/event_digest", "/content", "/event_kind"} {
		if strings.HasSuffix(pointer, name) {
			return true
		}
	}
	return false
}

// canonicalForm gives a value in the form that differences are looked for in; as it stands where it has none.
func canonicalForm(v canon.Value) canon.Value {
	form, err := canon.Append(nil, v.Raw(), canon.DBL)
	if err != nil {
		return v
	}
	out, err := thread.Read(form)
	if err != nil {
		return v
	}
	return out
}

// noteRest notes that members differ which enter the decision's digest and which X8 does not compare.
func (c *streamComparer) noteRest(e eventPair) {
	left, right := restOf(e.leftPayload), restOf(e.rightPayload)
	if bytes.Equal(left, right) {
		return
	}
	l, errLeft := digestDecision(left)
	r, errRight := digestDecision(right)
	if errLeft == nil && errRight == nil && l == r {
		return
	}
	c.report(finding.StreamDiffDecisionNote, e.streamPlace, nil, nil, "")
}

// restOf gives the members of a decision but those that are compared, which stand there empty.
func restOf(payload canon.Value) []byte {
	var out []byte
	for _, part := range emptyParts {
		out = fmt.Appendf(out, ",%q:%s", part.name, part.value)
	}
next:
	for _, m := range payload.Members() {
		for _, part := range emptyParts {
			if m.Name == part.name {
				continue next
			}
		}
		switch m.Name {
		case "_obs", "context_spec", "assembled_context", "boundary", "decision", "reason_codes", "policy_id", "policy_version":
			continue
		}
		out = append(append(append(out, ','), text(m.Name)...), ':')
		out = append(out, m.Value.Raw()...)
	}
	return out
}
