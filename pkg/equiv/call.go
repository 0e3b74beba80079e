package equiv

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/jsondiff"
	"github.com/dmpl/dmpl/pkg/trace"
)

// compareCalls applies E4 and E7 to the tool calls of one index. Bytes are compared first: what is written alike is
// alike.
func (c *comparer) compareCalls(p place, left, right *trace.Event) {
	if !left.CallList.Ok() || !right.CallList.Ok() {
		c.tally("E4", finding.NotChecked, "tool calls are malformed on a side")
		c.tally("E7", finding.NotChecked, "tool calls are malformed on a side")
		return
	}
	if c.o.Profiles == nil && bytes.Equal(left.CallList.Raw, right.CallList.Raw) && wellFormed(left.Calls) {
		c.tally("E4", finding.Passed, "")
		c.tally("E7", finding.Passed, "")
		return
	}
	mark := c.mark()
	p = p.member("tool_calls")
	if len(left.Calls) != len(right.Calls) && objects(left.Calls) && objects(right.Calls) {
		c.report(finding.EquivCallCount, p, left.CallList.Raw, right.CallList.Raw,
			"number of tool calls differs: %d on the left, %d on the right", len(left.Calls), len(right.Calls))
	}
	for j := range min(len(left.Calls), len(right.Calls)) {
		c.compareCall(p.member(strconv.Itoa(j)), j, left, right)
	}
	c.hold("E4", mark)
	c.hold("E7", mark)
}

func wellFormed(calls []trace.Call) bool {
	return !slices.ContainsFunc(calls, func(c trace.Call) bool {
		return !c.Ok() || !c.Name.Ok() || !c.Args.Ok() || !c.Normalization.Ok() || !c.ProfileVersion.Ok() || !c.Result.Ok() ||
			c.SideEffect.State == trace.Malformed
	})
}

func objects(calls []trace.Call) bool {
	return !slices.ContainsFunc(calls, func(c trace.Call) bool { return !c.Ok() })
}

func (c *comparer) compareCall(p place, j int, leftEvent, rightEvent *trace.Event) {
	left, right := &leftEvent.Calls[j], &rightEvent.Calls[j]
	if !left.Ok() || !right.Ok() {
		c.tally("E4", finding.NotChecked, "a tool call is malformed on a side")
		return
	}
	p.subject = fmt.Sprintf("tool call %d (%s)", j, left.Name.Text())
	mark := c.mark()
	c.different(finding.EquivToolName, p.member("tool_name"), left.Name, right.Name)
	l, r := c.normalize(leftEvent, left, c.left, c.leftResults), c.normalize(rightEvent, right, c.right, c.rightResults)
	if !c.comparable(p, left, right, l.profile != nil && l.profile == r.profile) {
		return
	}
	if !left.Normalization.Ok() || !right.Normalization.Ok() {
		c.tally("E4", finding.NotChecked, "normalization_version is missing or malformed on a side")
		c.tally("E7", finding.NotChecked, "normalization_version is missing or malformed on a side")
		return
	}
	c.compareArguments(p.member("normalized_args"), left, right, l, r)
	cascade := c.mark() > mark // E11: a fingerprint after the same call's name or arguments
	at := c.mark()
	c.compareFingerprint(finding.EquivResult, p.member("tool_result_fingerprint"), left.Result, right.Result, l.result, r.result)
	c.compareSideEffects(p.member("side_effect_fingerprint"), left, right, l, r)
	if cascade {
		c.cascade(at)
	}
}

// comparable holds both calls to the same profile and normalisation version (CONTRACT E4). An override makes another
// profile version a note.
func (c *comparer) comparable(p place, left, right *trace.Call, override bool) bool {
	fields := []struct {
		name        string
		left, right trace.Field
		override    bool
	}{
		{"tool_profile_version", left.ProfileVersion, right.ProfileVersion, override},
		{"normalization_version", left.Normalization, right.Normalization, false},
	}
	for _, f := range fields {
		stated := len(f.left.Raw) > 0 && len(f.right.Raw) > 0 && f.left.State != trace.Null && f.right.State != trace.Null
		if !stated || f.left.Same(f.right) {
			continue
		}
		code, ok := finding.EquivProfileVersion, false
		if f.override {
			code, ok = finding.EquivOverride, true
		}
		c.report(code, p.member(f.name), f.left.Raw, f.right.Raw, "%s differs", f.name)
		if !ok {
			return false
		}
	}
	return true
}

// compareArguments applies E4 to the canonical arguments, and names each place where they differ.
func (c *comparer) compareArguments(p place, left, right *trace.Call, l, r normal) {
	if l.args == nil || r.args == nil {
		if !left.Args.Ok() || !right.Args.Ok() || left.Args.Same(right.Args) {
			return
		}
		l.args, r.args = left.Args.Raw, right.Args.Raw
	}
	ds, ok := differences(l.args, r.args)
	if !ok {
		c.report(finding.EquivNoCanonical, p, left.Args.Raw, right.Args.Raw, "%s", finding.Lookup(finding.EquivNoCanonical).Title)
	}
	for _, d := range ds {
		at := p
		at.leftPointer += d.Pointer
		at.rightPoint += d.Pointer
		where := d.Pointer
		if where == "" {
			where = "the top"
		}
		c.report(finding.EquivArguments, at, d.Left.Raw(), d.Right.Raw(), "arguments differ at %s", where)
	}
}

// differences compares two JSON values under json-v1; false when one has no canonical form.
func differences(left, right []byte) ([]jsondiff.Difference, bool) {
	l, okLeft := canonical(left)
	r, okRight := canonical(right)
	if !okLeft || !okRight {
		return nil, false
	}
	return jsondiff.Compare(l, r), true
}

func canonical(raw []byte) (canon.Value, bool) {
	out, err := canon.Append(nil, raw, canon.JSONv1)
	if err != nil {
		return canon.Value{}, false
	}
	value, err := canon.Parse(out)
	return value, err == nil
}

// compareFingerprint applies E7 to one fingerprint. With profiles, recomputed digests are compared where both sides have
// a preimage; where one has none, equal recorded digests still prove equality, and different ones prove nothing.
func (c *comparer) compareFingerprint(code finding.Code, p place, left, right trace.Field, recomputedLeft, recomputedRight recomputed) {
	switch {
	case recomputedLeft.asked && recomputedRight.asked && recomputedLeft.digest != nil && recomputedRight.digest != nil:
		if !bytes.Equal(recomputedLeft.digest, recomputedRight.digest) {
			c.report(code, p, recomputedLeft.digest, recomputedRight.digest, "%s under the given profile", finding.Lookup(code).Title)
		}
	case !left.Ok() || !right.Ok() || left.SameDigest(right):
	case recomputedLeft.asked || recomputedRight.asked:
		c.report(finding.EquivNoPreimage, p, left.Raw, right.Raw, "fingerprints differ and a side has no preimage to apply the profile to")
	default:
		c.report(code, p, left.Raw, right.Raw, "%s", finding.Lookup(code).Title)
	}
}

// compareSideEffects applies E7 whenever either side has a fingerprint; null and absent mean the same (CONTRACT D2).
func (c *comparer) compareSideEffects(p place, left, right *trace.Call, l, r normal) {
	a, b := left.SideEffect, right.SideEffect
	if a.State == trace.Malformed || b.State == trace.Malformed {
		return
	}
	if a.Missing() != b.Missing() {
		c.report(finding.EquivSideEffect, p, a.Raw, b.Raw, "only one side has a side-effect fingerprint")
		return
	}
	c.compareFingerprint(finding.EquivSideEffect, p, a, b, l.sideEffect, r.sideEffect)
}

// normal is what the given profiles make of a call; the zero value where no profile applies.
type normal struct {
	profile            *trace.ToolProfile
	args               []byte // selected again; nil where there are no raw arguments
	result, sideEffect recomputed
}

// recomputed is a fingerprint made again from its preimage: a JSON string, or nil where there is no preimage.
type recomputed struct {
	asked  bool
	digest []byte
}

func (c *comparer) normalize(e *trace.Event, call *trace.Call, t *trace.Trace, results *trace.Results) normal {
	if c.o.Profiles == nil || !call.Name.Ok() {
		return normal{}
	}
	profile, ok := c.o.Profiles.For(call.Name.Text(), call.ProfileVersion.Text())
	if !ok {
		return normal{}
	}
	n := normal{profile: profile}
	if raw := t.RawArgs(call); raw != nil {
		n.args, _ = profile.Select(raw, profile.Args)
	}
	if e.Interceptor.Text() == trace.BeforeTool {
		return n
	}
	raw, doubt := results.Of(e, call)
	if doubt != "" {
		raw = nil
	}
	n.result = recompute(profile, raw, profile.Result)
	n.sideEffect = recompute(profile, call.RawSideEffect.Raw, profile.SideEffects)
	return n
}

func recompute(profile *trace.ToolProfile, raw []byte, entries []string) recomputed {
	r := recomputed{asked: true}
	if raw == nil {
		return r
	}
	if hex, err := profile.Fingerprint(raw, entries); err == nil {
		r.digest = canon.Quote(nil, []byte(hex))
	}
	return r
}
