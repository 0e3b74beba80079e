// Package verify checks one artifact: is it complete, and is every digest what it claims to be (CONTRACT V1–V6)?
package verify

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// DefaultMaxBytes is the size cap of one trace file, in bytes (CONTRACT V4).
const DefaultMaxBytes = 10 << 20

// Options say how strictly an artifact is checked. The zero value is the contract's own strictness.
type Options struct {
	MaxBytes int64          // cap of a determinism or retrieval trace; 0: [DefaultMaxBytes]
	Profiles trace.Profiles // tool profiles, for CONTRACT D1 and D2
	Coverage int            // least percentage of claims that must be checked (CONTRACT V5); 0: none
	InFolder bool           // one of several traces: what never varies is judged over all of them, by [Folder] (CONTRACT V6)
}

// Trace checks a determinism trace and what belongs to it. Shape holds what its reader found (CONTRACT V1).
// The result has no inputs and no name yet.
func Trace(t *trace.Trace, shape []finding.Finding, o Options) finding.Result {
	c := &checker{t: t, o: o, results: t.Results()}
	rules := rules
	if r := t.Recording; r != nil {
		if r.CutShort != "" {
			return cutShort(r)
		}
		c.recorded = r.Profiles
		rules = slices.Concat(rules, runRules)
	}
	c.result.Findings = append(c.result.Findings, shape...)
	for i := range c.result.Findings {
		if f := &c.result.Findings[i]; f.Hint == "" {
			f.Hint = finding.Lookup(f.Code).Action
		}
	}
	outcomes := make([][]finding.Check, len(rules))
	for i, r := range rules {
		if r.run != nil && !(r.alone && o.InFolder) {
			c.outcomes = &outcomes[i]
			r.run(c)
		}
	}
	c.eachCall(func(e *trace.Event, j int, call *trace.Call) {
		for _, i := range callRules {
			c.outcomes = &outcomes[i]
			rules[i].call(c, e, j, call)
		}
	})
	for i, r := range rules {
		for _, check := range outcomes[i] {
			check.ID = r.id
			c.result.Checks = append(c.result.Checks, check)
		}
	}
	c.coverage()
	c.result.Judge(false)
	return c.result
}

// rule looks at the artifact as a whole, or at one tool call.
type rule struct {
	id   string
	run  func(c *checker)
	call func(c *checker, e *trace.Event, j int, call *trace.Call)
	// alone: [Folder] judges it where there are several traces (CONTRACT V6).
	alone bool
}

// rules in the order of the contract. A new check is one function and one line here.
var rules = []rule{
	{id: "V1.shape", run: checkShape},
	{id: "V2.indices", run: checkIndices},
	{id: "V2.links", run: checkLinks},
	{id: "V2.ranks", run: checkRanks},
	{id: "V2.scores", run: checkScores},
	{id: "V2.visibility", run: checkVisibility},
	{id: "V3.identities", run: checkIdentities},
	{id: "V3.tool_profile_version", call: checkProfileVersion},
	{id: "V3.visibility", run: checkLive},
	{id: "V3.seed", run: checkSeed},
	{id: "V3.truncation", run: checkTruncation},
	{id: "V3.versions", run: checkVersions},
	{id: "V4.size", run: checkSize},
	{id: "V5.normalized_args", call: checkArguments},
	{id: "V5.tool_result_fingerprint", call: checkResult},
	{id: "V5.side_effect_fingerprint", call: checkSideEffect},
	{id: "V5.query_fingerprint", run: checkQueries},
	{id: "V5.output_shape_hash", run: checkOutput},
	{id: "V5.model_config_id", run: checkModelConfig},
	{id: "V5.commit_id", run: checkCommitID},
	{id: "V5.commit_payload_fingerprint", run: checkPayload},
	{id: "V6.fingerprints", run: checkConstantFingerprints, alone: true},
	{id: "V6.structure", run: checkConstantStructure, alone: true},
}

// callRules are the places in rules of those that look at calls: a trace can have very many.
var callRules = func() (places []int) {
	for i, r := range rules {
		if r.call != nil {
			places = append(places, i)
		}
	}
	return places
}()

// checker collects what the rules see of one trace.
type checker struct {
	t        *trace.Trace
	o        Options
	results  *trace.Results
	byPlace  stages         // of a native run
	recorded trace.Profiles // of a native run
	proved   claim          // the last that passed; empty before there is one
	result   finding.Result
	cover    finding.Coverage
	outcomes *[]finding.Check // of the rule that is at work
}

// tally counts one outcome of the rule that is at work.
func (c *checker) tally(status finding.Status, reason string) {
	for i := range *c.outcomes {
		if o := &(*c.outcomes)[i]; o.Status == status && o.Reason == reason {
			o.Count++
			return
		}
	}
	*c.outcomes = append(*c.outcomes, finding.Check{Status: status, Count: 1, Reason: reason})
}

// hold tallies a structural check that passed unless it reported an error since the mark.
func (c *checker) hold(mark int) {
	for _, f := range c.result.Findings[mark:] {
		if f.Severity == finding.Error {
			c.tally(finding.Failed, "")
			return
		}
	}
	c.tally(finding.Passed, "")
}

func (c *checker) mark() int { return len(c.result.Findings) }

// checkShape takes over the reader's findings as check V1.
func checkShape(c *checker) { c.hold(0) }

// profile gives the tool profile that a call was recorded under, where it is among those given, or those of a native run.
func (c *checker) profile(call *trace.Call) (*trace.ToolProfile, bool) {
	for _, profiles := range []trace.Profiles{c.o.Profiles, c.recorded} {
		if len(profiles) == 0 {
			continue
		}
		if p, ok := profiles.For(call.Name.Text(), call.ProfileVersion.Text()); ok {
			return p, true
		}
	}
	return nil, false
}

// report adds a finding about a place in a file.
func (c *checker) report(code finding.Code, path, pointer string, event int, format string, args ...any) *finding.Finding {
	f := finding.New(code)
	f.Artifact, f.Pointer, f.EventIndex = path, pointer, event
	f.Detail = fmt.Sprintf(format, args...)
	f.Hint = finding.Lookup(code).Action
	c.result.Findings = append(c.result.Findings, f)
	return &c.result.Findings[len(c.result.Findings)-1]
}

// coverage is checked claims over all claims; structural checks do not count (CONTRACT V5).
func (c *checker) coverage() { requireCoverage(&c.result, &c.cover, c.o.Coverage, c.t.Path) }

// requireCoverage holds the claims of an artifact at path to the least percentage that must be checked; 0 asks for none
// (CONTRACT V5).
func requireCoverage(r *finding.Result, cover *finding.Coverage, least int, path string) {
	r.Coverage = &finding.Coverage{Checked: cover.Checked, Claims: cover.Claims} // not a part of what holds the artifact
	if least == 0 {
		return
	}
	percent := 0
	if cover.Claims > 0 {
		percent = 100 * cover.Checked / cover.Claims
	}
	check := finding.Check{ID: "V5.coverage", Status: finding.Passed, Count: 1}
	if percent < least {
		check.Status = finding.Failed
		f := finding.New(finding.DigestCoverage)
		f.Artifact, f.Hint = path, finding.Lookup(finding.DigestCoverage).Action
		f.Detail = fmt.Sprintf("%d of %d claims were checked (%d %%), %d %% are required", cover.Checked, cover.Claims, percent, least)
		r.Findings = append(r.Findings, f)
	}
	r.Checks = append(r.Checks, check)
}

// place names an event and a call of it for findings.
func place(e *trace.Event, call int) (pointer, subject string, index int) {
	index, ok := e.Stated()
	if !ok {
		index = finding.NoEvent
	}
	pointer = e.Pointer()
	if call >= 0 {
		pointer += "/tool_calls/" + strconv.Itoa(call)
		subject = fmt.Sprintf("tool call %d (%s)", call, e.Calls[call].Name.Text())
	}
	return pointer, subject, index
}
