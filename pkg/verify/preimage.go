package verify

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// providerGuarantee is the member of a model configuration in which a provider's guarantee of determinism is recorded
// (CONTRACT D4, V3): a text that is not empty. The configuration's id does not cover it.
const providerGuarantee = "provider_guarantee"

// modelIdentity holds the members of a model configuration that its id covers (CONTRACT D4).
var modelIdentity = []string{
	"provider_name", "model_name", "model_revision", "decoding", "seed", "stochastic_unseeded", "tool_runtime_profile_hash",
}

func modelConfig(t *trace.Trace) (canon.Value, bool) {
	if !t.ModelConfig.Ok() {
		return canon.Value{}, false
	}
	value, err := canon.Parse(t.ModelConfig.Raw)
	return value, err == nil
}

// D4: model_config_id is the digest of the members that identify the configuration.
func checkModelConfig(c *checker) {
	if !c.t.ModelConfig.Ok() || !c.t.ModelConfigID.Ok() {
		c.tally(finding.NotApplicable, "no model_config in the trace")
		return
	}
	k := claim{path: c.t.Path, pointer: "/model_config_id", stated: c.t.ModelConfigID}
	if c.selected(&k, &trace.ToolProfile{}, c.t.ModelConfig.Raw, modelIdentity) {
		c.check(&k)
	}
}

// D7: commit_id is the digest of run, snapshot and policy set.
func checkCommitID(c *checker) {
	t := c.t
	if !t.Commit.Ok() || !t.Commit.ID.Ok() {
		c.tally(finding.NotApplicable, "no commit record")
		return
	}
	k := claim{path: t.Path, pointer: "/commit/commit_id", stated: t.Commit.ID, reason: "an identity is malformed"}
	if t.RunID.Ok() && t.SnapshotID.Ok() && t.PolicySetID.Ok() {
		k.preimage = commitPreimage(t)
	}
	c.check(&k)
}

func commitPreimage(t *trace.Trace) []byte {
	preimage := append([]byte(`{"memory_snapshot_id":`), t.SnapshotID.Raw...)
	preimage = append(append(preimage, `,"policy_set_id":`...), t.PolicySetID.Raw...)
	preimage = append(append(preimage, `,"run_id":`...), t.RunID.Raw...)
	return append(preimage, '}')
}

// D7: commit_payload_fingerprint is the digest of the ordered write list.
func checkPayload(c *checker) {
	t := c.t
	if !t.Commit.Ok() || !t.Commit.Payload.Ok() {
		c.tally(finding.NotApplicable, "no commit record")
		return
	}
	k := claim{
		path: t.Path, pointer: "/commit/commit_payload_fingerprint",
		stated: t.Commit.Payload, reason: noPreimage,
	}
	if t.Commit.Writes.Ok() {
		k.preimage = t.Commit.Writes.Raw
	}
	c.check(&k)
}
