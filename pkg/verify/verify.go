// Package verify checks one artifact: is it complete, and is every digest what it claims to be (CONTRACT V1–V6)?
package verify

import (
	"fmt"
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
	c := &checker{t: t, o: o}
	c.shape(shape)
	for _, r := range rules {
		r.run(c, r.id)
	}
	if !o.InFolder {
		checkConstantFingerprints(c, "V6.fingerprints")
		checkConstantStructure(c, "V6.structure")
	}
	c.coverage()
	c.result.Judge(false)
	return c.result
}

// rules in the order of the contract. A new check is one function and one line here.
var rules = []struct {
	id  string
	run func(c *checker, id string)
}{
	{"V2.indices", checkIndices},
	{"V2.links", checkLinks},
	{"V2.ranks", checkRanks},
	{"V2.scores", checkScores},
	{"V2.visibility", checkVisibility},
	{"V3.identities", checkIdentities},
	{"V3.visibility", checkLive},
	{"V3.seed", checkSeed},
	{"V3.truncation", checkTruncation},
	{"V3.versions", checkVersions},
	{"V4.size", checkSize},
	{"V5.normalized_args", checkArguments},
	{"V5.tool_result_fingerprint", checkResults},
	{"V5.side_effect_fingerprint", checkSideEffects},
	{"V5.query_fingerprint", checkQueries},
	{"V5.output_shape_hash", checkOutput},
	{"V5.model_config_id", checkModelConfig},
	{"V5.commit_id", checkCommitID},
	{"V5.commit_payload_fingerprint", checkPayload},
}

// checker collects what the rules see of one trace.
type checker struct {
	t      *trace.Trace
	o      Options
	result finding.Result
	cover  finding.Coverage
}

// tally counts one outcome of a check.
func (c *checker) tally(id string, status finding.Status, reason string) {
	checks := c.result.Checks
	for i := len(checks) - 1; i >= 0 && checks[i].ID == id; i-- {
		if checks[i].Status == status && checks[i].Reason == reason {
			checks[i].Count++
			return
		}
	}
	c.result.Checks = append(checks, finding.Check{ID: id, Status: status, Count: 1, Reason: reason})
}

// hold tallies a structural check that passed unless it reported an error since the mark.
func (c *checker) hold(id string, mark int) {
	for _, f := range c.result.Findings[mark:] {
		if f.Severity == finding.Error {
			c.tally(id, finding.Failed, "")
			return
		}
	}
	c.tally(id, finding.Passed, "")
}

func (c *checker) mark() int { return len(c.result.Findings) }

// profile gives the tool profile that a call was recorded under, where it is among those given.
func (c *checker) profile(call *trace.Call) (*trace.ToolProfile, bool) {
	if len(c.o.Profiles) == 0 {
		return nil, false
	}
	return c.o.Profiles.For(call.Name.Text(), call.ProfileVersion.Text())
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

// shape takes over the reader's findings as check V1.
func (c *checker) shape(shape []finding.Finding) {
	c.result.Findings = append(c.result.Findings, shape...)
	for i := range c.result.Findings {
		f := &c.result.Findings[i]
		if f.Hint == "" {
			f.Hint = finding.Lookup(f.Code).Action
		}
	}
	c.hold("V1.shape", 0)
}

// coverage is checked claims over all claims; structural checks do not count (CONTRACT V5).
func (c *checker) coverage() {
	c.result.Coverage = &c.cover
	if c.o.Coverage == 0 {
		return
	}
	id := "V5.coverage"
	percent := 0
	if c.cover.Claims > 0 {
		percent = 100 * c.cover.Checked / c.cover.Claims
	}
	if percent >= c.o.Coverage {
		c.tally(id, finding.Passed, "")
		return
	}
	c.report(finding.DigestCoverage, c.t.Path, "", finding.NoEvent, "%d of %d claims were checked (%d %%), %d %% are required",
		c.cover.Checked, c.cover.Claims, percent, c.o.Coverage)
	c.tally(id, finding.Failed, "")
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
