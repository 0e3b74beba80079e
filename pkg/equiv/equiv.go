// Package equiv compares two recorded runs or two event streams, event index by event index (CONTRACT E1–E11, X8).
package equiv

import (
	"fmt"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Side is one of the two runs, with what verify found in it.
type Side struct {
	Trace    *trace.Trace
	Findings []finding.Finding
}

// Options say how two runs are compared. The zero value applies the contract and nothing else.
type Options struct {
	Profiles trace.Profiles // re-normalise arguments and recompute fingerprints where preimages are there
	// Ignore holds reason codes, and JSON Pointers to leave differences out: a pointer covers what is below it, * stands
	// for one token, and /retrieval leads into the retrieval traces.
	Ignore   []string
	Timeline bool // add one row an event and side to the result
	Alike    Alike
}

// Alike is what both sides have besides their traces and in the same bytes, so that comparing it is counting it.
type Alike struct {
	Events  int           // well-formed, each with its stage
	Answers int           // of the model
	Rows    []finding.Row // of the timeline: one an event, without a side
}

// Compare gives the result of comparing two runs: verdict, findings with the root first, checks and alignment.
// The result has no name and no inputs yet.
func Compare(left, right Side, o Options) finding.Result {
	c := &comparer{left: left.Trace, right: right.Trace, o: o}
	c.dropped()
	c.leftResults, c.rightResults = c.left.Results(), c.right.Results()
	c.takeOver("E1.left", left)
	c.takeOver("E1.right", right)
	if c.cutShort() {
		c.conclude()
		return c.result
	}
	compareEligibility(c)
	if c.knownVersions() {
		compareEvents(c)
		compareRetrievals(c)
		compareOutputs(c)
		compareCommits(c)
		compareStages(c)
		compareAnswers(c)
	}
	c.conclude()
	return c.result
}

// cutShort says that a side is a run that was not finished: nothing is known about what is missing, so nothing is compared
// (CONTRACT V4, R5).
func (c *comparer) cutShort() bool {
	for _, t := range []*trace.Trace{c.left, c.right} {
		if t.Recording != nil && t.Recording.CutShort != "" {
			c.tally("E2", finding.NotChecked, "a run is cut short")
			return true
		}
	}
	return false
}

// comparer collects what the rules see of two runs.
type comparer struct {
	left, right  *trace.Trace
	o            Options
	leftEvents   []*trace.Event // by index; nil where a side's events cannot be ordered
	rightEvents  []*trace.Event
	leftResults  *trace.Results
	rightResults *trace.Results
	shift        func(index int) bool // says that the alignment shifts an index
	result       finding.Result
	unprofiled   map[string]bool // tools of which no profile is given, and that is said
	uncompared   bool            // the rule at work met a field that is not well formed on both sides
}

// takeOver makes a side's violations findings of the comparison (CONTRACT E1). A file over the size cap is a whole
// file all the same, so V4 is a warning here.
func (c *comparer) takeOver(id string, side Side) {
	status := finding.Passed
	for _, f := range side.Findings {
		if f.Rule() == "V6" || f.Rule() == "C10" {
			continue // blind checks and other canonical forms are each side's own matter
		}
		if f.Rule() == "V4" {
			f.Severity = finding.Warning
		}
		if f.Severity == finding.Error {
			status = finding.Failed
		}
		c.result.Findings = append(c.result.Findings, f)
	}
	c.result.Checks = append(c.result.Checks, finding.Check{ID: id, Status: status, Count: 1})
}

// knownVersions says that both sides follow the rules below: those of a version that is stated and not known, or that
// the sides state differently, are others (CONTRACT E1).
func (c *comparer) knownVersions() bool {
	if c.left.SchemaVersion.State != trace.Malformed && c.right.SchemaVersion.State != trace.Malformed {
		return true
	}
	for _, id := range []string{"E3", "E4", "E5", "E6", "E7", "E8", "E9", "E10"} {
		c.tally(id, finding.NotChecked, "the schema version of a side is not known")
	}
	return false
}

func (c *comparer) tally(id string, status finding.Status, reason string) {
	tallyOf(&c.result, id, status, reason, 1)
}

// alike tallies a rule for each of n things that are the same on both sides.
func (c *comparer) alike(id string, n int) {
	if n > 0 {
		tallyOf(&c.result, id, finding.Passed, "", n)
	}
}

// tallyOf counts an outcome of a rule, n times.
func tallyOf(r *finding.Result, id string, status finding.Status, reason string, n int) {
	for i := range r.Checks {
		if c := &r.Checks[i]; c.ID == id && c.Status == status && c.Reason == reason {
			c.Count += n
			return
		}
	}
	r.Checks = append(r.Checks, finding.Check{ID: id, Status: status, Count: n, Reason: reason})
}

// hold tallies a rule: failed when it has reported a difference since the mark, not checked when a field that it looks at
// could not be compared, else passed.
func (c *comparer) hold(id string, mark int) { c.holdAs(id, id, mark) }

// holdAs tallies a part of a rule under a name of its own.
func (c *comparer) holdAs(id, rule string, mark int) {
	for _, f := range c.result.Findings[mark:] {
		if f.Severity == finding.Error && f.Rule() == rule {
			c.tally(id, finding.Failed, "")
			return
		}
	}
	if c.uncompared {
		c.tally(id, finding.NotChecked, "a field is missing or malformed on a side")
		return
	}
	c.tally(id, finding.Passed, "")
}

// begin remembers where the findings of a rule begin, and that it has left out nothing yet.
func (c *comparer) begin() int {
	c.uncompared = false
	return c.here()
}

func (c *comparer) here() int { return len(c.result.Findings) }

// place is where a rule looks on both sides: pointers are below the two events where there are any. They are put together
// only when there is something to report.
type place struct {
	index                     int
	subject                   string
	leftFile, rightFile       string
	leftEvent, rightEvent     *trace.Event
	leftPointer, rightPointer string
}

// at gives the place of a pointer in both traces.
func (c *comparer) at(index int, pointer string) place {
	return place{index: index, leftFile: c.left.Path, rightFile: c.right.Path, leftPointer: pointer, rightPointer: pointer}
}

// in gives the place of two events.
func (c *comparer) in(index int, left, right *trace.Event) place {
	return place{index: index, leftFile: c.left.Path, rightFile: c.right.Path, leftEvent: left, rightEvent: right}
}

// member gives the place of a member of both values.
func (p place) member(name string) place { return p.below("/"+name, "/"+name) }

// below gives the place of a pointer below each side's value.
func (p place) below(left, right string) place {
	p.leftPointer += left
	p.rightPointer += right
	return p
}

func (p place) pointers() (left, right string) {
	left, right = p.leftPointer, p.rightPointer
	if p.leftEvent != nil {
		left = p.leftEvent.Pointer() + left
	}
	if p.rightEvent != nil {
		right = p.rightEvent.Pointer() + right
	}
	return left, right
}

// report adds a difference. The slices are spans of the inputs, never copies.
func (c *comparer) report(code finding.Code, p place, left, right []byte, format string, args ...any) *finding.Finding {
	f := finding.New(code)
	f.EventIndex, f.Subject = p.index, p.subject
	f.Artifact, f.RightArtifact = p.leftFile, p.rightFile
	f.Pointer, f.RightPointer = p.pointers()
	f.Expected, f.Actual = left, right
	f.Detail = fmt.Sprintf(format, args...)
	f.Hint = finding.Lookup(code).Action
	c.result.Findings = append(c.result.Findings, f)
	return &c.result.Findings[len(c.result.Findings)-1]
}

// different compares one member of both sides; a field that is not well formed on both is never compared (CONTRACT E1).
func (c *comparer) different(code finding.Code, p place, name string, left, right trace.Field) bool {
	if !left.Ok() || !right.Ok() {
		c.uncompared = true
		return false
	}
	if left.Same(right) {
		return false
	}
	c.report(code, p.member(name), left.Raw, right.Raw, "%s", finding.Lookup(code).Title)
	return true
}

// identity is one field of the envelope that comparable runs have in common.
type identity struct {
	name  string
	field func(*trace.Trace) trace.Field
}

// stated says that a field can be compared. A schema version that is not known is malformed, and still another one.
func (i identity) stated(f trace.Field) bool {
	return f.Ok() || f.State == trace.Malformed && i.name == "determinism_trace_schema_version"
}

// eligibility holds what two comparable runs have in common (CONTRACT E2).
var eligibility = []identity{
	{"workflow_id", func(t *trace.Trace) trace.Field { return t.WorkflowID }},
	{"model_config_id", func(t *trace.Trace) trace.Field { return t.ModelConfigID }},
	{"policy_set_id", func(t *trace.Trace) trace.Field { return t.PolicySetID }},
	{"memory_snapshot_id", func(t *trace.Trace) trace.Field { return t.SnapshotID }},
	{"visibility_mode", func(t *trace.Trace) trace.Field { return t.Visibility }},
	{"determinism_trace_schema_version", func(t *trace.Trace) trace.Field { return t.SchemaVersion }},
}

// compareEligibility applies E2: another identity makes runs not comparable, and the rest is still reported.
func compareEligibility(c *comparer) {
	for _, e := range eligibility {
		mark := c.begin()
		left, right := e.field(c.left), e.field(c.right)
		if !e.stated(left) || !e.stated(right) {
			c.tally("E2", finding.NotChecked, e.name+" is missing or malformed on a side")
			continue
		}
		if !left.Same(right) {
			p := c.at(finding.NoEvent, "/"+e.name)
			c.report(finding.EquivIdentity, p, left.Raw, right.Raw, "%s differs: the runs are not comparable", e.name)
		}
		c.hold("E2", mark)
	}
}
