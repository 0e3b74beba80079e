package verify

import (
	"path"
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// runRules are the checks of a native run besides those of its trace, in the order of the contract.
var runRules = []rule{
	{id: "V1.preimages", run: checkPreimages},
	{id: "V1.rank_keys", run: checkRankKeys},
	{id: "V2.catalogue", run: checkCatalogue},
	{id: "V2.lines", run: checkLines},
	{id: "V2.recorded", run: checkRecorded},
	{id: "V2.agreement", run: checkAgreement},
	{id: "V2.snapshot", run: checkSnapshot},
	{id: "V2.read", run: checkRead},
	{id: "V5.files", run: checkFiles},
	{id: "V5.pinned", run: checkPinned},
	{id: "V5.policy_set_id", run: checkPolicySet},
	{id: "V5.tool_runtime_profile_hash", run: checkToolRuntime},
	{id: "V5.output_model_config", run: checkOutputModels},
	{id: "V5.constraints_digest", run: checkConstraints},
	{id: "V5.prompt_digest", run: checkPrompts},
	{id: "V5.state_digest_after", run: checkStateAfter},
	{id: "V5.stages", run: listStages},
}

// cutShort is the one check of a run that was not finished: nothing is known about the rest (CONTRACT V3, V4).
func cutShort(r *trace.Recording) finding.Result {
	f := finding.New(finding.RunCutShort)
	f.Artifact, f.Detail, f.Hint = r.Dir, "the run is cut short: "+r.CutShort, finding.Lookup(finding.RunCutShort).Action
	result := finding.Result{
		Findings: []finding.Finding{f}, Coverage: &finding.Coverage{},
		Checks: []finding.Check{{ID: "V3.recording", Status: finding.Failed, Count: 1}},
	}
	result.Judge(false)
	return result
}

// value is one value of a run that stands in two places: a member of a document, or of the trace.
type value struct {
	path, pointer string
	field         trace.Field
}

func in(d trace.Document, pointer string) value {
	return value{path: d.Path, pointer: d.At + pointer, field: d.Field(pointer)}
}

// inTrace gives a member of the trace's envelope.
func (c *checker) inTrace(pointer string, f trace.Field) value {
	return value{path: c.t.Path, pointer: pointer, field: f}
}

// agree reports a second value that is not the first. Where one is missing or malformed, that is a finding of V1. Absent and
// null are the same where both may be (CONTRACT D2).
func (c *checker) agree(first, second value, what string) {
	if first.field.Missing() && second.field.Missing() || first.field.State == trace.Malformed || second.field.State == trace.Malformed {
		return
	}
	if first.field.Ok() && second.field.Ok() && first.field.Same(second.field) {
		return
	}
	// Z4: a path as typed stands in the findings' artifacts alone.
	f := c.report(finding.RunDisagrees, second.path, second.pointer, finding.NoEvent, "%s is not what %s states at %s", what, path.Base(first.path), first.pointer)
	f.Expected, f.Actual = finding.Value(first.field.Raw), finding.Value(second.field.Raw)
}

// checkPreimages asks for what a native run keeps beside its digests, so that each can be recomputed (CONTRACT D8).
func checkPreimages(c *checker) {
	mark := c.mark()
	for _, kept := range []struct {
		pointer string
		field   trace.Field
		of      string
	}{
		{"/model_config", c.t.ModelConfig, "model_config_id"},
		{"/output/structure", c.t.Output.Structure, "output_shape_hash"},
	} {
		if kept.field.State == trace.Absent {
			c.report(finding.ShapeMissing, c.t.Path, kept.pointer, finding.NoEvent, "%s is missing: a native run keeps what %s is the digest of", kept.pointer[1:], kept.of)
		}
	}
	c.hold(mark)
}

// checkAgreement holds what stands in two places of a run to one value (CONTRACT V2).
func checkAgreement(c *checker) {
	mark := c.mark()
	t, r := c.t, c.t.Recording
	c.agree(in(r.Manifest, "/run_id"), c.inTrace("/run_id", t.RunID), "run_id")
	c.agree(in(r.Snapshot, "/memory_snapshot_id"), c.inTrace("/memory_snapshot_id", t.SnapshotID), "memory_snapshot_id")
	c.agree(in(r.Manifest, "/pipeline_version"), in(r.Config, "/pipeline_version"), "pipeline_version")
	c.agree(in(r.Manifest, "/lane/name"), c.inTrace("/metadata/lane", t.Lane), "the lane")
	c.eventCounts()
	c.profileVersions()
	if r.Commit.Ok() && t.Commit.Ok() {
		c.commitAgreement()
	}
	for _, out := range r.Outputs {
		c.outputAgreement(out)
	}
	c.candidateAgreement()
	c.hold(mark)
}

// eventCounts holds what the metadata counts to the events that are there: all of them, unless the writer dropped some (CONTRACT V4).
func (c *checker) eventCounts() {
	kept, ok := canon.Integer(c.t.EventsKept.Raw)
	if !ok || !c.t.EventList.Ok() {
		return // a schema does not ask for the counts
	}
	if n := int64(len(c.t.Events)); kept != n {
		c.report(finding.RunDisagrees, c.t.Path, "/metadata/events_kept", finding.NoEvent, "the trace has %s", finding.Counted(n, "event"))
	}
	if total, ok := canon.Integer(c.t.EventsTotal.Raw); ok && (total > kept) != isTrue(c.t.Truncated) {
		c.report(finding.RunDisagrees, c.t.Path, "/metadata/events_total", finding.NoEvent, "a trace keeps all of its events, or says that it is truncated")
	}
}

// profileVersions holds the versions that the manifest logs to the profiles (CONTRACT V3).
func (c *checker) profileVersions() {
	r := c.t.Recording
	logged, ok := r.Manifest.Value.At("/contract_versions/tool_profile_versions")
	list, _ := r.ProfileSet.Value.Get("tool_profiles")
	if !ok || len(r.Profiles) != len(list.Elements()) {
		return // V1 has said so
	}
	for i, p := range r.Profiles {
		if slices.ContainsFunc(r.Profiles[:i], func(other trace.ToolProfile) bool { return other.Name == p.Name }) {
			c.report(finding.RunDisagrees, r.ProfileSet.Path, "/tool_profiles/"+strconv.Itoa(i), finding.NoEvent, "the tool %q has a profile already", p.Name)
			continue
		}
		at := "/contract_versions/tool_profile_versions" + canon.AppendToken("", p.Name)
		c.agree(in(r.ProfileSet, "/tool_profiles/"+strconv.Itoa(i)+"/tool_profile_version"), in(r.Manifest, at), "the version of tool "+p.Name)
	}
	for _, m := range logged.Members() {
		if !slices.ContainsFunc(r.Profiles, func(p trace.ToolProfile) bool { return p.Name == m.Name }) {
			c.report(finding.RunDisagrees, r.Manifest.Path, "/contract_versions/tool_profile_versions"+canon.AppendToken("", m.Name), finding.NoEvent,
				"the run has no profile of this tool")
		}
	}
}

// commitAgreement holds the commit record to the envelope and to the event that tells of it (CONTRACT D7, P7).
func (c *checker) commitAgreement() {
	t, record := c.t, c.t.Recording.Commit
	for _, same := range []struct {
		name  string
		at    string
		field trace.Field
	}{
		{"run_id", "/run_id", t.RunID},
		{"memory_snapshot_id", "/memory_snapshot_id", t.SnapshotID},
		{"policy_set_id", "/policy_set_id", t.PolicySetID},
		{"commit_id", "/commit/commit_id", t.Commit.ID},
		{"commit_payload_fingerprint", "/commit/commit_payload_fingerprint", t.Commit.Payload},
		{"buffer_state", "/commit/buffer_state", t.Commit.Buffer},
		{"reason_code", "/commit/reason_code", t.Commit.Reason},
	} {
		c.agree(c.inTrace(same.at, same.field), in(record, "/"+same.name), same.name)
	}
	for i := range t.Events {
		e := &t.Events[i]
		if kind, ok := e.KindOf(); !ok || !kind.OfRun {
			continue
		}
		told := record.Field("/buffer_state")
		if record.Field("/reason_code").Ok() {
			told = record.Field("/reason_code")
		}
		c.agree(value{record.Path, "/buffer_state", told}, c.inTrace(e.Pointer()+"/decision_type", e.Decision), "what became of the commit")
		if e.Stage != nil {
			c.agree(in(record, "/state_digest_after"), c.inTrace(e.Pointer()+"/stage/state_digest", e.Stage.State), "the state after the commit")
		}
	}
}

// outputAgreement holds a recorded output to the prompt that it answered (CONTRACT R2).
func (c *checker) outputAgreement(out trace.Document) {
	turn, okTurn := out.Int("turn")
	attempt, okAttempt := out.Int("attempt")
	if !okTurn || !okAttempt {
		return
	}
	if e, ok := c.stages().at(trace.PromptReady, turn, attempt, -1); ok {
		c.agree(c.inTrace(e.Pointer()+"/stage/prompt_digest", e.Stage.Prompt), in(out, "/prompt_digest"), "prompt_digest")
	}
}
