package verify

import (
	"bytes"
	"errors"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// claim is one stored digest, and where it stands: in a field of a call of an event, or at a pointer of a file.
type claim struct {
	event    *trace.Event // nil: not in a call
	call     int
	path     string
	pointer  string
	stated   trace.Field
	preimage []byte // nil: not checked, for this reason
	reason   string
	lenient  string // not empty: a mismatch is not checked, for this reason
	form     canon.Form
}

// check recomputes a claim (CONTRACT V5, C10). A foreign runtime may have a canonical form of its own: a match under it
// passes and is noted; in a native trace only json-v1 is right.
func (c *checker) check(k *claim) {
	c.cover.Claims++
	if !k.stated.IsDigest() {
		c.found(k, finding.DigestOpaque, "the fingerprint is no SHA-256 digest: compared as text, never recomputed").
			Actual = finding.Value(k.stated.Raw)
		c.tally(finding.NotChecked, "fingerprint is no SHA-256 digest")
		return
	}
	if k.preimage == nil {
		c.tally(finding.NotChecked, k.reason)
		return
	}
	stated, _ := k.stated.Digest()
	form := k.form
	outcome := canon.Claim{Profile: canon.JSONv1, Form: &form, Encoding: canon.Hex, Preimage: k.preimage, Stated: stated}.Check()
	switch {
	case outcome.Status == canon.StatusPass:
		c.passed(k, canon.JSONv1)
	case outcome.Found && outcome.Matched == canon.PySorted && c.t.Foreign:
		c.passed(k, canon.PySorted)
	case outcome.Status == canon.StatusFail && k.lenient == "":
		c.cover.Checked++
		f := c.found(k, finding.DigestMismatch, "the stored digest does not match its preimage: it "+outcome.Reason)
		f.Expected, f.Actual = finding.Value(k.stated.Raw), quoted(outcome.Computed)
		c.tally(finding.Failed, "")
	case outcome.Status == canon.StatusFail:
		c.tally(finding.NotChecked, k.lenient)
	default:
		c.tally(finding.NotChecked, outcome.Reason)
	}
}

func (c *checker) passed(k *claim, p canon.Profile) {
	c.cover.Checked++
	if p == canon.JSONv1 {
		c.tally(finding.Passed, "")
		return
	}
	c.found(k, finding.DigestOtherProfile, "the stored digest matches under "+p.String())
	c.tally(finding.Passed, "matches under "+p.String())
}

func (c *checker) found(k *claim, code finding.Code, detail string) *finding.Finding {
	pointer, subject, index := k.pointer, "", finding.NoEvent
	if k.event != nil {
		pointer, subject, index = place(k.event, k.call)
		pointer += k.pointer
	}
	f := c.report(code, k.path, pointer, index, "%s", detail)
	f.Subject = subject
	return f
}

func quoted(text string) finding.Value { return canon.Quote(nil, []byte(text)) }

// eachCall visits every call that is an object.
func (c *checker) eachCall(visit func(e *trace.Event, j int, call *trace.Call)) {
	for i := range c.t.Events {
		e := &c.t.Events[i]
		for j := range e.Calls {
			if e.Calls[j].Ok() {
				visit(e, j, &e.Calls[j])
			}
		}
	}
}

// callClaim states a claim about one field of a call.
func (c *checker) callClaim(field string, e *trace.Event, j int, stated trace.Field) claim {
	return claim{path: c.t.Path, event: e, call: j, pointer: field, stated: stated}
}

// D1: normalized_args are the profile's selection of the raw arguments.
func checkArguments(c *checker, e *trace.Event, j int, call *trace.Call) {
	if call.Args.Ok() && call.Beyond { // C5: whatever the profile selects, this is no json-v1
		k := c.callClaim("/normalized_args", e, j, call.Args)
		c.found(&k, finding.DigestArguments, "normalized_args hold a number of 10^309 or more, which has no canonical form").
			Actual = finding.Value(call.Args.Raw)
		c.tally(finding.Failed, "")
		return
	}
	if !call.RawArgs.Ok() || !call.Args.Ok() {
		if call.Args.Ok() {
			c.tally(finding.NotChecked, "no raw args in the trace")
		}
		return
	}
	profile, ok := c.profile(call)
	if !ok {
		if call.RawArgs.Same(call.Args) {
			c.tally(finding.Passed, "")
			return
		}
		c.tally(finding.NotChecked, noProfile)
		return
	}
	k := c.callClaim("/normalized_args", e, j, call.Args)
	if !c.selected(&k, profile, call.RawArgs.Raw, profile.Args) {
		return
	}
	if canon.Equal(k.preimage, call.Args.Raw, canon.Form{Decimals: profile.Decimals}) {
		c.tally(finding.Passed, "")
		return
	}
	f := c.found(&k, finding.DigestArguments, "normalized_args are not what the profile selects")
	f.Expected, f.Actual = k.preimage, finding.Value(call.Args.Raw)
	c.tally(finding.Failed, "")
}

const (
	noPreimage = "no preimage in the artifact"
	noProfile  = "no tool profile given for the tool (--profiles)"
)

// D2: tool_result_fingerprint is the digest of the profile's selection of the result.
func checkResult(c *checker, e *trace.Event, j int, call *trace.Call) {
	if !call.Result.Ok() {
		return
	}
	k := c.callClaim("/tool_result_fingerprint", e, j, call.Result)
	raw, doubt := c.results.Of(e, call)
	k.lenient = doubt
	switch {
	case call.RawResult.Ok():
		if !c.resultPreimage(&k, call) {
			return
		}
	case raw != nil && canon.Valid(raw) != nil:
		k.reason = "the tool result file is no strict JSON"
	case raw != nil:
		k.preimage = raw
	case e.Interceptor.Is(trace.BeforeTool) && c.t.Recording != nil:
		k.preimage = []byte(`{}`) // P7: there is no result yet, and the fingerprint is that of nothing
	case e.Interceptor.Is(trace.BeforeTool):
		k.reason = "recorded before the tool ran"
	default:
		k.reason = noPreimage
	}
	c.check(&k)
}

// resultPreimage applies the tool profile to a recorded result. Without one the selection is not known: the result as a
// whole can prove the digest right, and nothing can prove it wrong.
func (c *checker) resultPreimage(k *claim, call *trace.Call) bool {
	profile, ok := c.profile(call)
	if !ok {
		k.preimage, k.lenient = call.RawResult.Raw, noProfile
		return true
	}
	return c.selected(k, profile, call.RawResult.Raw, profile.Result)
}

// selected makes a profile's selection the preimage. A value that has none, such as a declared datetime that cannot be
// read, is an error of the evidence (CONTRACT C5, C8).
func (c *checker) selected(k *claim, profile *trace.ToolProfile, raw []byte, entries []string) bool {
	selection, err := profile.Select(raw, entries)
	if err == nil {
		k.preimage, k.form = selection, canon.Form{Decimals: profile.Decimals} // C5: the precision that the profile states
		return true
	}
	code := finding.DigestMismatch
	var bad *canon.Error
	if errors.As(err, &bad) {
		code = finding.Code(bad.Code)
	}
	c.found(k, code, "the profile's fields have no canonical form: "+err.Error())
	c.tally(finding.Failed, "")
	return false
}

// D2: side_effect_fingerprint is required exactly where the profile lists fields.
func checkSideEffect(c *checker, e *trace.Event, j int, call *trace.Call) {
	profile, known := c.profile(call)
	k := c.callClaim("/side_effect_fingerprint", e, j, call.SideEffect)
	if known && !e.Interceptor.Is(trace.BeforeTool) {
		if asked := len(profile.SideEffects) > 0; asked == call.SideEffect.Missing() {
			detail := "the profile lists side-effect fields and the call has no fingerprint"
			if !asked {
				detail = "the call has a side-effect fingerprint and the profile lists no fields"
			}
			c.found(&k, finding.DigestSideEffect, detail)
			c.tally(finding.Failed, "")
			return
		}
	}
	if !call.SideEffect.Ok() {
		return
	}
	switch {
	case call.RawSideEffect.State == trace.Absent:
		k.reason = noPreimage
	case known:
		if !c.selected(&k, profile, call.RawSideEffect.Raw, profile.SideEffects) {
			return
		}
	default:
		k.preimage, k.lenient = call.RawSideEffect.Raw, noProfile
	}
	c.check(&k)
}

// D6: a query fingerprint can be recomputed only where the query is recorded: in a native run, never in a single trace.
func checkQueries(c *checker) {
	r := c.t.Retrieval
	queries := c.queries()
	var asked trace.Document // the preimage of the row before, which a turn's rows have in common
	var version, mode, preimage []byte
	for i := 0; r != nil && i < len(r.Rows); i++ {
		row := &r.Rows[i]
		if f := row.QueryFingerprint; f.Ok() {
			k := claim{path: r.Path, pointer: r.RowPointer(i) + "/query_fingerprint", stated: f, reason: noPreimage}
			if turn, ok := queries[row.ID.Text()]; ok {
				if turn.At != asked.At || !bytes.Equal(version, row.QueryNormalization.Raw) || !bytes.Equal(mode, row.Mode.Raw) {
					asked, version, mode = turn, row.QueryNormalization.Raw, row.Mode.Raw
					preimage = turn.Query(row.QueryNormalization.Text(), row.Mode.Text())
				}
				k.preimage = preimage
			}
			c.check(&k)
		}
	}
}

// queries gives the turn that asked, by the id of the retrieval; empty where turns are not recorded.
func (c *checker) queries() map[string]trace.Document {
	asked := map[string]trace.Document{}
	for i := range c.t.Events {
		e := &c.t.Events[i]
		if c.t.Recording == nil || e.Stage == nil || !e.Stage.TurnField.Ok() {
			continue
		}
		turn, ok := c.t.Recording.Turn(e.Stage.Turn)
		for _, link := range e.Links {
			if ok {
				asked[link.Text()] = turn
			}
		}
	}
	return asked
}

// D3: output_shape_hash is the digest of the structure.
func checkOutput(c *checker) {
	o := c.t.Output
	if !o.ShapeHash.Ok() {
		c.tally(finding.NotChecked, "output_shape_hash is malformed")
		return
	}
	k := claim{path: c.t.Path, pointer: "/output/output_shape_hash", stated: o.ShapeHash, reason: noPreimage}
	if o.Structure.Ok() {
		k.preimage = o.Structure.Raw
	}
	c.check(&k)
}
