package equiv

import (
	"cmp"
	"errors"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

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

// profiled says once of a tool that the given profiles have none for it (CONTRACT R1).
func (c *comparer) profiled(p place, tool string, l, r normal) {
	if c.o.Profiles == nil || l.profile != nil && r.profile != nil || c.unprofiled[tool] {
		return
	}
	if c.unprofiled == nil {
		c.unprofiled = map[string]bool{}
	}
	c.unprofiled[tool] = true
	c.report(finding.EquivProfileMissing, p, nil, nil, "no profile of %q is given: its calls are compared as they were recorded", tool)
}
