package verify

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// identity is one field of the envelope that a deterministic claim rests on.
type identity struct {
	name  string
	field func(*trace.Trace) trace.Field
}

var identities = []identity{
	{"run_id", func(t *trace.Trace) trace.Field { return t.RunID }},
	{"workflow_id", func(t *trace.Trace) trace.Field { return t.WorkflowID }},
	{"memory_snapshot_id", func(t *trace.Trace) trace.Field { return t.SnapshotID }},
	{"model_config_id", func(t *trace.Trace) trace.Field { return t.ModelConfigID }},
	{"policy_set_id", func(t *trace.Trace) trace.Field { return t.PolicySetID }},
}

// sentinelWorkflow is what Orket writes when nobody names the workflow (orket.md §2).
const sentinelWorkflow = "turn_executor"

func unknown(f trace.Field) bool { return f.HasPrefix(trace.Unknown) }

// V3: no identity is unknown. Missing and empty ones are V1's findings.
func checkIdentities(c *checker) {
	t := c.t
	mark := c.mark()
	for _, i := range identities {
		f := i.field(t)
		if unknown(f) {
			c.report(finding.ClaimUnknown, t.Path, "/"+i.name, finding.NoEvent, "%s is a placeholder", i.name).Actual = finding.Value(f.Raw)
		} else if i.name == "workflow_id" && f.Is(sentinelWorkflow) {
			c.report(finding.ClaimSentinel, t.Path, "/"+i.name, finding.NoEvent, "%s is the runtime's default", i.name).Actual = finding.Value(f.Raw)
		}
	}
	c.hold(mark)
}

// V3: no tool_profile_version is unknown.
func checkProfileVersion(c *checker, e *trace.Event, j int, call *trace.Call) {
	mark := c.mark()
	if unknown(call.ProfileVersion) {
		pointer, subject, index := place(e, j)
		found := c.report(finding.ClaimUnknown, c.t.Path, pointer+"/tool_profile_version", index, "tool_profile_version is a placeholder")
		found.Subject, found.Actual = subject, finding.Value(call.ProfileVersion.Raw)
	}
	c.hold(mark)
}

// V3: only off, read_only and buffered_write fix what a run saw.
func checkLive(c *checker) {
	mark := c.mark()
	if c.t.Visibility.Is("live_read_write") {
		c.report(finding.ClaimLive, c.t.Path, "/visibility_mode", finding.NoEvent, "the run read and wrote live memory")
	}
	c.hold(mark)
}

// V3, D4: a seed, or a recorded provider guarantee, where the model configuration is there.
func checkSeed(c *checker) {
	config, ok := modelConfig(c.t)
	if !ok {
		c.tally(finding.NotChecked, "no model_config in the trace")
		return
	}
	mark := c.mark()
	seed, seeded := config.Get("seed")
	seeded = seeded && seed.Kind() != canon.Null
	unseeded, stated := config.Get("stochastic_unseeded")
	stated = stated && string(unseeded.Raw()) == "true"
	guarantee, guaranteed := config.Get(providerGuarantee)
	guaranteed = guaranteed && guarantee.Kind() == canon.String && len(guarantee.Raw()) > len(`""`)
	switch {
	case seeded && stated:
		c.report(finding.ClaimUnseeded, c.t.Path, "/model_config/stochastic_unseeded", finding.NoEvent,
			"the model configuration has a seed and says that it has none")
	case !seeded && !guaranteed:
		c.report(finding.ClaimUnseeded, c.t.Path, "/model_config", finding.NoEvent,
			"the model configuration has no seed and records no %s", providerGuarantee)
	}
	c.hold(mark)
}

// V3: no truncation marker.
func checkTruncation(c *checker) {
	mark := c.mark()
	if isTrue(c.t.Truncated) {
		c.report(finding.ClaimTruncated, c.t.Path, "/metadata/truncated", finding.NoEvent, "the trace is marked as truncated")
	}
	if r := c.t.Retrieval; r != nil && isTrue(r.Truncated) {
		c.report(finding.ClaimTruncated, r.Path, "/metadata/truncated", finding.NoEvent, "the retrieval trace is marked as truncated")
	}
	c.hold(mark)
}

// V3: every contract version that the claim rests on is logged. Versions that are there and unknown are V1's findings.
func checkVersions(c *checker) {
	missing := c.t.SchemaVersion.Missing()
	r := c.t.Retrieval
	for i := 0; r != nil && i < len(r.Rows); i++ {
		missing = missing || r.Rows[i].SchemaVersion.Missing()
	}
	mark := c.mark()
	if r != nil && r.Prefix != "" && len(r.Rows) == 0 && r.RowList.Ok() && r.SchemaVersion.Missing() {
		c.report(finding.ClaimVersionNotLogged, r.Path, "/retrieval_trace_schema_version", finding.NoEvent,
			"the retrieval trace has no rows and does not state its schema version")
	}
	if missing {
		c.tally(finding.Failed, "a schema version is missing")
		return
	}
	c.hold(mark)
}

// V4: strictly above the cap a file must say that it was truncated.
func checkSize(c *checker) {
	limit := c.o.MaxBytes
	if limit <= 0 {
		limit = DefaultMaxBytes
	}
	mark := c.mark()
	if c.t.Recording != nil {
		c.checkParts()
		c.hold(mark)
		return
	}
	c.capped("file", c.t.Path, c.t.Size, limit, c.t.Truncated)
	if r := c.t.Retrieval; r != nil {
		c.capped("file", r.Path, r.Size, limit, r.Truncated)
	}
	c.hold(mark)
}

// checkParts holds the parts of a native run to their caps: no marker excuses a part, and one over the run's is no whole trace.
func (c *checker) checkParts() {
	all := int64(0)
	for _, f := range c.t.Recording.Files {
		if !f.Part {
			continue
		}
		all += f.Bytes
		if f.Bytes > trace.MaxPart {
			c.report(finding.SizeOverCap, f.Path, "", finding.NoEvent, "the part has %d bytes, more than %d", f.Bytes, trace.MaxPart)
		}
	}
	c.capped("trace", c.t.Path, all, trace.MaxRun, c.t.Truncated)
}

func (c *checker) capped(what, path string, size, limit int64, truncated trace.Field) {
	if size > limit && !isTrue(truncated) {
		c.report(finding.SizeOverCap, path, "/metadata/truncated", finding.NoEvent,
			"the %s has %d bytes, more than %d, and metadata.truncated is not true", what, size, limit)
	}
}

func isTrue(f trace.Field) bool { return f.Ok() && string(f.Raw) == "true" }
