// Package runtest makes native runs for tests: small, complete and consistent in every digest that a run stores besides those
// that only the pipeline can compute, which are made up.
package runtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Features say what a run has. The zero value is one turn of a read-only run that reads no memory.
type Features struct {
	RunID      string // "run-1" where empty
	Visibility string // "read_only" where empty
	Turns      int    // 1 where 0
	Retry      bool   // the first attempt of each turn is refused
	Fallback   bool   // the last attempt of each turn is refused too
	Tools      bool   // two tool calls in each attempt, one with side effects
	Retrieval  bool   // a retrieval row for each kind of record
	Candidates bool   // with what a backend returned
	References bool   // each turn declares a reference
	Topics     bool
	Prompts    bool   // prompts are kept
	Abort      string // reason for which the commit was aborted
	Failure    string // the last turn cannot go on, for this reason
	Empty      bool   // no writes
	Lane       run.Lane
	Created    int64
	Chain      *run.Chain
	Say        string // what the model answers
	SnapshotID string // SnapshotID where empty
}

type object = map[string]any

// Digest is the SHA-256 of json-v1 of a value.
func Digest(value any) string {
	sum, err := canon.Digest(canon.JSONv1, text(value))
	if err != nil {
		panic(err)
	}
	return sum.Hex()
}

// text writes a value as JSON.
func text(value any) []byte {
	out, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return out
}

func rawDigest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// SnapshotID names the start snapshot of a run that does not state another.
const SnapshotID = "00000000000000000041"

const now int64 = 638400000000000000

// Profiles are the tool profiles of every run.
var Profiles = []object{
	{
		"tool_name": "book", "tool_profile_version": "2", "normalized_args_fields": []string{"*"},
		"tool_result_fingerprint_fields": []string{"status"}, "side_effect_fingerprint_fields": []string{"/calendar/id"},
		"hash_algorithm": "sha256", "normalization_version": "json-v1",
	},
	{
		"tool_name": "search", "tool_profile_version": "search-v1", "normalized_args_fields": []string{"q"},
		"tool_result_fingerprint_fields": []string{"status", "/page/total"}, "side_effect_fingerprint_fields": []string{},
		"hash_algorithm": "sha256", "normalization_version": "json-v1",
	},
}

func modelConfig() object {
	var tools []object
	for _, p := range Profiles {
		tools = append(tools, object{"tool_name": p["tool_name"], "tool_profile_version": p["tool_profile_version"], "tool_profile_digest": Digest(p)})
	}
	return object{
		"provider_name": "example-provider", "model_name": "example-model", "decoding": object{"temperature": 0, "max_tokens": 256},
		"seed": 7, "tool_runtime_profile_hash": Digest(tools),
	}
}

func policies() object {
	return object{
		"schema_version": "memory.policy_set.v1", "retrieval": object{}, "admission": []any{},
		"commit":    object{"rules": []any{object{"id": "gate", "rule": "gate_passed"}}},
		"retention": object{"lanes": []any{}},
	}
}

// Write writes the run into a folder and gives the folder.
func Write(t testing.TB, dir string, f Features) string {
	t.Helper()
	f = f.filled()
	w, err := run.Create(dir, run.Opening{
		RunID: f.RunID, Pipeline: memory.DMPLv1, Lane: f.Lane, Created: f.Created, Chain: f.Chain,
		Profiles: map[string]string{"book": "2", "search": "search-v1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abandon()
	b := &builder{t: t, f: f, w: w, policySet: Digest(policies()), model: modelConfig()}
	b.document(run.SnapshotFile, b.start())
	b.document(run.ConfigFile, object{"schema_version": "pipeline.config.v1", "pipeline_version": "dmpl-v1", "mode": "snapshot"})
	b.document(run.PoliciesFile, policies())
	b.document(run.ProfilesFile, object{"tool_profiles": Profiles})
	for turn := range f.Turns {
		b.turn(turn)
	}
	envelope := b.envelope()
	if f.Visibility == "buffered_write" {
		b.commit(envelope)
	}
	if err := w.Close(text(envelope)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// CommitID gives the commit_id of a run (CONTRACT D7).
func CommitID(f Features) string {
	f = f.filled()
	return Digest(object{"memory_snapshot_id": f.SnapshotID, "policy_set_id": Digest(policies()), "run_id": f.RunID})
}

func (f Features) filled() Features {
	if f.RunID == "" {
		f.RunID = "run-1"
	}
	if f.Visibility == "" {
		f.Visibility = "read_only"
	}
	if f.Turns == 0 {
		f.Turns = 1
	}
	if f.Lane.Name == "" {
		f.Lane = run.Lane{Name: "ci", Deterministic: true}
	}
	if f.SnapshotID == "" {
		f.SnapshotID = SnapshotID
	}
	if f.Say == "" {
		f.Say = "I guard the gate."
	}
	return f
}

// builder writes one run.
type builder struct {
	t         testing.TB
	f         Features
	w         *run.Writer
	policySet string
	model     object
	events    int
	rows      int
}

func (b *builder) check(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *builder) document(name string, value any) {
	b.t.Helper()
	b.check(b.w.Document(name, text(value)))
}

func (b *builder) line(name string, value any) {
	b.t.Helper()
	b.check(b.w.Line(name, text(value)))
}

func (b *builder) event(interceptor, decision string, stage object, more object, rows ...object) {
	b.t.Helper()
	e := object{
		"event_id": fmt.Sprint("e", b.events), "index": b.events, "role": "guard", "interceptor": interceptor, "decision_type": decision,
		"tool_calls": []any{}, "guardrails_triggered": []any{}, "retrieval_event_ids": []any{}, "stage": stage,
	}
	for name, value := range more {
		e[name] = value
	}
	var ids []string
	var lines [][]byte
	for _, row := range rows {
		row["event_id"] = e["event_id"]
		ids = append(ids, row["retrieval_event_id"].(string))
		lines = append(lines, text(row))
	}
	if ids != nil {
		e["retrieval_event_ids"] = ids
	}
	b.events++
	b.check(b.w.Event(text(e), lines...))
}

func (b *builder) envelope() object {
	structure := object{"type": "text", "sections": []string{"body"}}
	return object{
		"run_id": b.f.RunID, "workflow_id": "guard-the-gate", "memory_snapshot_id": b.f.SnapshotID, "visibility_mode": b.f.Visibility,
		"model_config_id": Digest(b.model), "policy_set_id": b.policySet, "determinism_trace_schema_version": trace.SchemaVersion,
		"model_config": b.model,
		"output":       object{"output_type": "text", "output_shape_hash": Digest(structure), "normalization_version": "json-v1", "structure": structure},
	}
}

func (b *builder) commit(envelope object) {
	b.t.Helper()
	writes := b.writes()
	state, decision := "commit_applied", "commit_applied"
	var reason any
	if b.f.Abort != "" {
		state, decision, reason = "commit_aborted", b.f.Abort, b.f.Abort
	}
	kept := writes
	if b.f.Abort != "" {
		kept = nil
	}
	after := stateAfter(b.start(), kept)
	id := CommitID(b.f)
	b.event("commit", decision, object{"state_digest": after}, object{"role": trace.Agent})
	record := object{"buffer_state": state, "reason_code": reason, "commit_id": id, "commit_payload_fingerprint": Digest(writes)}
	envelope["commit"] = record
	b.document(run.CommitFile, object{
		"schema_version": "memory.commit.v1", "run_id": b.f.RunID, "memory_snapshot_id": b.f.SnapshotID, "policy_set_id": b.policySet,
		"buffer_state": state, "reason_code": reason, "commit_id": id, "commit_payload_fingerprint": record["commit_payload_fingerprint"],
		"writes": writes, "state_digest_after": after,
	})
}
