package equiv

import (
	"bytes"
	"cmp"
	"errors"
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

// evidence is what one side has to show for a fingerprint, or for its arguments, when profiles are given.
type evidence struct {
	recorded trace.Field
	asked    bool   // a profile applies
	again    []byte // made again under it; nil where there is no preimage
	own      bool   // the profile is of the version that the call was recorded under
	foreign  bool   // the runtime writes values as they are, whatever the profile
	form     canon.Form
}

// stands says that what was recorded is what the given profile makes.
func (e evidence) stands() bool {
	switch {
	case e.foreign:
		return false
	case e.again != nil:
		return canon.Equal(e.again, e.recorded.Raw, e.form)
	}
	return e.own
}

// basis says which values of two sides may be compared under the given profiles: those made again where both sides have
// a preimage, else the recorded ones where they are the profile's too, or are equal as they are.
func basis(l, r evidence) (left, right []byte, ok bool) {
	switch {
	case l.again != nil && r.again != nil:
		return l.again, r.again, true
	case !l.asked && !r.asked, l.stands() && r.stands(), l.foreign && r.foreign && l.recorded.SameDigest(r.recorded):
		return l.recorded.Raw, r.recorded.Raw, true
	}
	return nil, nil, false
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

// normal is what the given profiles make of a call; the zero value where no profile applies.
type normal struct {
	profile    *trace.ToolProfile
	own        bool   // the profile is of the recorded version
	foreign    bool   // the trace is
	before     bool   // recorded before the tool ran: there is no result to select from
	args       []byte // selected again; nil where there are no raw arguments
	result     []byte // digested again, as a JSON string; nil where there is no preimage
	sideEffect []byte
	err        error // why the profile cannot be applied
}

func (n normal) arguments(call *trace.Call) evidence {
	return evidence{recorded: call.Args, asked: n.profile != nil, again: n.args, own: n.own, foreign: n.foreign, form: n.form()}
}

// form is the precision that the profile states (CONTRACT C5).
func (n normal) form() canon.Form {
	if n.profile == nil {
		return canon.Form{}
	}
	return canon.Form{Decimals: n.profile.Decimals}
}

func (n normal) fingerprint(recorded trace.Field, again []byte) evidence {
	return evidence{recorded: recorded, asked: n.profile != nil && !n.before, again: again, own: n.own, foreign: n.foreign}
}

func (c *comparer) normalize(e *trace.Event, call *trace.Call, t *trace.Trace, results *trace.Results) normal {
	if c.o.Profiles == nil || !call.Name.Ok() {
		return normal{}
	}
	version := call.ProfileVersion.Text()
	profile, ok := c.o.Profiles.Override(call.Name.Text(), version)
	if !ok {
		return normal{}
	}
	n := normal{
		profile: profile, own: profile.Version == version, foreign: t.Foreign, before: e.Interceptor.Is(trace.BeforeTool),
	}
	if raw := t.RawArgs(call); raw != nil {
		n.args, n.err = profile.Select(raw, profile.Args)
	}
	if n.before {
		return n
	}
	if raw, doubt := results.Of(e, call); doubt == "" {
		n.result = n.digest(raw, profile.Result)
	}
	n.sideEffect = n.digest(call.RawSideEffect.Raw, profile.SideEffects)
	return n
}

func (n *normal) digest(raw []byte, entries []string) []byte {
	if raw == nil {
		return nil
	}
	hex, err := n.profile.Fingerprint(raw, entries)
	if err != nil {
		n.err = cmp.Or(n.err, err)
		return nil
	}
	return canon.Quote(nil, []byte(hex))
}

// usable reports a side whose values the profile cannot be applied to, such as a declared datetime that cannot be read
// (CONTRACT C5, C8).
func (c *comparer) usable(p place, sides ...normal) bool {
	for i, n := range sides {
		if n.err == nil {
			continue
		}
		code := finding.EquivNoCanonical
		var bad *canon.Error
		if errors.As(n.err, &bad) {
			code = finding.Code(bad.Code)
		}
		side := [...]string{"left", "right"}[i]
		c.report(code, p, nil, nil, "the profile's fields have no canonical form on the %s: %s", side, n.err)
		return false
	}
	return true
}
