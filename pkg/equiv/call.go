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
	mark := c.begin()
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

// wellFormed says that equal bytes prove the calls equal: every field that is compared has a canonical form.
func wellFormed(calls []trace.Call) bool {
	return !slices.ContainsFunc(calls, func(c trace.Call) bool {
		return !c.Ok() || c.Beyond || !c.Name.Ok() || !c.Args.Ok() || !c.Normalization.Ok() || !c.ProfileVersion.Ok() || !c.Result.Ok() ||
			c.SideEffect.State == trace.Malformed
	})
}

func objects(calls []trace.Call) bool {
	return !slices.ContainsFunc(calls, func(c trace.Call) bool { return !c.Ok() })
}

func (c *comparer) compareCall(p place, j int, leftEvent, rightEvent *trace.Event) {
	left, right := &leftEvent.Calls[j], &rightEvent.Calls[j]
	if !left.Ok() || !right.Ok() {
		c.uncompared = true
		return
	}
	p.subject = fmt.Sprintf("tool call %d (%s)", j, left.Name.Text())
	mark := c.here()
	c.different(finding.EquivToolName, p, "tool_name", left.Name, right.Name)
	l, r := c.normalize(leftEvent, left, c.left, c.leftResults), c.normalize(rightEvent, right, c.right, c.rightResults)
	c.profiled(p, left.Name.Text(), l, r)
	// E1: arguments and fingerprints rest on the versions that chose them.
	versions := left.Normalization.Ok() && right.Normalization.Ok() && left.ProfileVersion.Ok() && right.ProfileVersion.Ok()
	if !c.usable(p, l, r) || !c.comparable(p, left, right, l.profile != nil && l.profile == r.profile) || !versions {
		c.uncompared = true
		return
	}
	c.compareArguments(p.member("normalized_args"), left, right, l, r)
	cascade := c.here() > mark // E11: a fingerprint after the same call's name or arguments
	at := c.here()
	c.compareFingerprint(finding.EquivResult, p.member("tool_result_fingerprint"), l.fingerprint(left.Result, l.result), r.fingerprint(right.Result, r.result))
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
	if !left.Args.Ok() || !right.Args.Ok() {
		c.uncompared = true
		return
	}
	a, b, ok := basis(l.arguments(left), r.arguments(right))
	if !ok {
		c.report(finding.EquivNoPreimage, p, left.Args.Raw, right.Args.Raw, "a side has no raw arguments to apply the given profile to")
		return
	}
	form := l.form()
	if canon.Equal(a, b, form) {
		return
	}
	if c.shift != nil && c.shift(p.index) {
		c.report(finding.EquivArguments, p, a, b, "arguments differ") // calls of events that do not correspond: where is no news
		return
	}
	ds, ok := differences(a, b, form)
	if !ok {
		c.report(finding.EquivNoCanonical, p, left.Args.Raw, right.Args.Raw, "%s", finding.Lookup(finding.EquivNoCanonical).Title)
	}
	for _, d := range ds {
		where := d.Pointer
		if where == "" {
			where = "the top"
		}
		c.report(finding.EquivArguments, p.below(d.Pointer, d.Pointer), d.Left.Raw(), d.Right.Raw(), "arguments differ at %s", where)
	}
}

// differences compares two JSON values under json-v1; false when one has no canonical form.
func differences(left, right []byte, form canon.Form) ([]jsondiff.Difference, bool) {
	l, okLeft := canonical(left, form)
	r, okRight := canonical(right, form)
	if !okLeft || !okRight {
		return nil, false
	}
	return jsondiff.Compare(l, r), true
}

func canonical(raw []byte, form canon.Form) (canon.Value, bool) {
	out, err := canon.AppendForm(nil, raw, form)
	if err != nil {
		return canon.Value{}, false
	}
	value, err := canon.Parse(out)
	return value, err == nil
}

// compareFingerprint applies E7 to one fingerprint.
func (c *comparer) compareFingerprint(code finding.Code, p place, l, r evidence) {
	if !l.recorded.Ok() || !r.recorded.Ok() {
		c.uncompared = true
		return
	}
	left, right, ok := basis(l, r)
	switch {
	case !ok:
		c.report(finding.EquivNoPreimage, p, l.recorded.Raw, r.recorded.Raw, "a side has no preimage to apply the given profile to")
	case l.again != nil && r.again != nil:
		if !bytes.Equal(left, right) {
			c.report(code, p, left, right, "%s under the given profile", finding.Lookup(code).Title)
		}
	case !l.recorded.SameDigest(r.recorded):
		c.report(code, p, left, right, "%s", finding.Lookup(code).Title)
	}
}

// compareSideEffects applies E7 whenever either side has a fingerprint; null and absent mean the same (CONTRACT D2).
func (c *comparer) compareSideEffects(p place, left, right *trace.Call, l, r normal) {
	a, b := left.SideEffect, right.SideEffect
	switch {
	case a.State == trace.Malformed || b.State == trace.Malformed:
		c.uncompared = true
		return
	case a.Missing() != b.Missing():
		c.report(finding.EquivSideEffect, p, a.Raw, b.Raw, "only one side has a side-effect fingerprint")
		return
	case a.Missing():
		return
	}
	c.compareFingerprint(finding.EquivSideEffect, p, l.fingerprint(a, l.sideEffect), r.fingerprint(b, r.sideEffect))
}
