package verify_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// edit is one change of a run, with the manifest made to fit or left alone, and the one finding that must come of it.
type edit struct {
	what, file, before, after string
	alone                     bool // the manifest is left alone
	code                      finding.Code
	in, pointer               string
}

var edits = []edit{
	{"an event that nobody knows", "trace/0000.jsonl", `"prompt_ready"`, `"prompt_made"`, false, finding.RunEventUnknown, "trace.json", "/events/0/decision_type"},
	{"a stage that is missing", "trace/0000.jsonl", `"stage":`, `"stages":`, false, finding.RunStageMissing, "trace.json", "/events/0/stage"},
	{"a stage that has no place", "trace/0000.jsonl", `"attempt":0,`, ``, false, finding.RunStageMissing, "trace.json", "/events/0/stage"},
	{"a digest that is missing", "trace/0000.jsonl", `"parse_digest"`, `"parse"`, false, finding.RunStageMissing, "trace.json", "/events/1/stage/parse_digest"},
	{"a digest that is none", "trace/0000.jsonl", `"parse_digest":"`, `"parse_digest":"x`, false, finding.RunStageMissing, "trace.json", "/events/1/stage/parse_digest"},
	{"a context that is missing", "trace/0000.jsonl", `"context_digest"`, `"context"`, false, finding.RunStageMissing, "trace.json", "/events/0/stage/context_digest"},
	{"another role", "trace/0000.jsonl", `"role":"guard"`, `"role":"thief"`, false, finding.RunDisagrees, "trace.json", "/events/0/role"},
	{"another turn", "trace/0000.jsonl", `"turn":0`, `"turn":1`, false, finding.RunEventOrder, "trace.json", "/events/0/stage"},
	{"an event out of order", "trace/0000.jsonl", `"interceptor":"after_model"`, `"interceptor":"gate"`, false, finding.RunEventUnknown, "trace.json", "/events/1/decision_type"},
	{"a stage out of order", "trace/0000.jsonl", `"decision_type":"retry"`, `"decision_type":"passed"`, false, finding.RunEventOrder, "trace.json", "/events/7"},
	{"a tool event without its call", "trace/0000.jsonl", `"interceptor":"before_tool","retrieval_event_ids":[],"role":"guard","stage":{"attempt":0,"call":0,"turn":0},"tool_calls":[`, `"interceptor":"before_tool","retrieval_event_ids":[],"role":"guard","stage":{"attempt":0,"call":0,"turn":0},"tool_calls":[],"was":[`, false, finding.RunEventOrder, "trace.json", "/events/2/tool_calls"},
	{"an extra call", "trace/0000.jsonl", `"tool_calls":[]`, `"tool_calls":[{}]`, false, finding.RunEventOrder, "trace.json", "/events/0/tool_calls"},
	{"another run id", run.ManifestFile, `"run-1"`, `"run-2"`, false, finding.RunDisagrees, "trace.json", "/run_id"},
	{"another snapshot", run.SnapshotFile, `"00000000000000000041"`, `"00000000000000000042"`, false, finding.RunDisagrees, "trace.json", "/memory_snapshot_id"},
	{"another pipeline", run.ConfigFile, `"dmpl-v1"`, `"llamabrain-v1"`, false, finding.RunDisagrees, run.ConfigFile, "/pipeline_version"},
	{"another lane", run.TraceFile, `"lane":"ci"`, `"lane":"cd"`, false, finding.RunDisagrees, "trace.json", "/metadata/lane"},
	{"another profile version", run.ManifestFile, `"search-v1"`, `"search-v2"`, false, finding.RunDisagrees, run.ManifestFile, "/contract_versions/tool_profile_versions/search"},
	{"a profile too many", run.ManifestFile, `"book": "2"`, `"book": "2", "cook": "1"`, false, finding.RunDisagrees, run.ManifestFile, "/contract_versions/tool_profile_versions/cook"},
	{"a tool with two profiles", run.ProfilesFile, `"search"`, `"book"`, false, finding.RunDisagrees, run.ProfilesFile, "/tool_profiles/1"},
	{"another commit", run.CommitFile, `"run-1"`, `"run-2"`, false, finding.RunDisagrees, run.CommitFile, "/run_id"},
	{"another end of the commit", "trace/0000.jsonl", `"commit_applied"`, `"policy_rejected"`, false, finding.RunDisagrees, "trace.json", "/events/32/decision_type"},
	{"another state after the commit", run.CommitFile, `"state_digest_after":"`, `"state_digest_after":"0123456789012345678901234567890123456789012345678901234567890123","was":"`, false, finding.RunDisagrees, "trace.json", "/events/32/stage/state_digest"},
	{"a state that the writes do not make", run.CommitFile, `"state_digest_after":"`, `"state_digest_after":"0123456789012345678901234567890123456789012345678901234567890123","was":"`, false, finding.DigestMismatch, run.CommitFile, "/state_digest_after"},
	{"a memory changed", run.SnapshotFile, `"open"`, `"shut"`, false, finding.DigestMismatch, run.CommitFile, "/state_digest_after"},
	{"a memory of no kind", run.SnapshotFile, `"Fact"`, `"Fcat"`, false, finding.RunSnapshot, run.SnapshotFile, "/records/0/content/Fcat"},
	{"a write changed", run.CommitFile, `"turn 0"`, `"turn 9"`, false, finding.DigestMismatch, "trace.json", "/commit/commit_payload_fingerprint"},
	{"another tool", run.ToolResultsFile, `"tool_name":"search"`, `"tool_name":"find"`, false, finding.RunDisagrees, "trace.json", "/events/2/tool_calls/0/tool_name"},
	{"a result changed", run.ToolResultsFile, `"status":"ok"`, `"status":"no"`, false, finding.DigestMismatch, "trace.json", "/events/3/tool_calls/0/tool_result_fingerprint"},
	{"a side effect changed", run.ToolResultsFile, `"id":0`, `"id":9`, false, finding.DigestMismatch, "trace.json", "/events/5/tool_calls/0/side_effect_fingerprint"},
	{"an argument changed", run.ToolResultsFile, `"gate 0"`, `"gate 9"`, false, finding.DigestArguments, "trace.json", "/events/2/tool_calls/0/normalized_args"},
	{"a fingerprint before the tool ran", "trace/0000.jsonl", `"tool_result_fingerprint":"4`, `"tool_result_fingerprint":"5`, false, finding.DigestMismatch, "trace.json", "/events/2/tool_calls/0/tool_result_fingerprint"},
	{"a result without an event", run.ToolResultsFile, `"turn":1}`, `"turn":2}`, false, finding.RunLineOrder, run.ToolResultsFile, "/5"},
	{"an output out of order", run.OutputsFile, `"turn":0}`, `"turn":3}`, false, finding.RunLineOrder, run.OutputsFile, "/1"},
	{"a prompt out of order", run.PromptsFile, `"turn":0}`, `"turn":3}`, false, finding.RunLineOrder, run.PromptsFile, "/1"},
	{"candidates out of order", run.CandidatesFile, `"kind":"belief","turn":0}`, `"kind":"episodic","turn":0}`, false, finding.RunLineOrder, run.CandidatesFile, "/1"},
	{"another candidate score", run.CandidatesFile, `"score":0.5`, `"score":0.6`, false, finding.RunDisagrees, run.CandidatesFile, "/0/candidates/0/score"},
	{"another candidate", run.CandidatesFile, `"record_id":"e1"`, `"record_id":"e9"`, false, finding.RunDisagrees, run.CandidatesFile, "/0/candidates/0/record_id"},
	{"a candidate more", run.CandidatesFile, `"candidates":[`, `"candidates":[{"record_id":"e1","score":1},`, false, finding.RunDisagrees, run.CandidatesFile, "/0/candidates"},
	{"a row without its candidates", "retrieval/0000.jsonl", `"candidates":`, `"candid":`, false, finding.RunDisagrees, run.CandidatesFile, "/0/candidates"},
	{"a row with candidates of nobody", run.CandidatesFile, `"kind":"episodic","turn":0}`, `"kind":"world","turn":0}`, false, finding.RunUnlinked, "retrieval/0000.jsonl", "/2/candidates"},
	{"a turn out of order", run.TurnsFile, `"turn":0}`, `"turn":3}`, false, finding.RunLineOrder, run.TurnsFile, "/0"},
	{"another prompt digest", run.OutputsFile, `"prompt_digest":"`, `"prompt_digest":"0123456789012345678901234567890123456789012345678901234567890123","was":"`, false, finding.RunDisagrees, run.OutputsFile, "/0/prompt_digest"},
	{"another model", run.OutputsFile, `"seed":7`, `"seed":8`, false, finding.DigestMismatch, run.OutputsFile, "/0/model_config"},
	{"another prompt", run.PromptsFile, `"prompt of`, `"Prompt of`, false, finding.DigestMismatch, run.PromptsFile, "/0/text"},
	{"another constraint", run.TurnsFile, `"Prohibition"`, `"Permission"`, false, finding.DigestMismatch, "trace.json", "/events/0/stage/constraints_digest"},
	{"another question", run.TurnsFile, `Who  guards`, `Who builds`, false, finding.DigestMismatch, "retrieval/0000.jsonl", "/0/query_fingerprint"},
	{"other topics", run.TurnsFile, `"topics":["gate"]`, `"topics":["fate"]`, false, finding.DigestMismatch, "retrieval/0000.jsonl", "/0/query_fingerprint"},
	{"another policy", run.PoliciesFile, `"gate"`, `"fate"`, false, finding.DigestMismatch, "trace.json", "/policy_set_id"},
	{"a policy that nobody knows", run.PoliciesFile, `"gate_passed"`, `"luck"`, false, finding.ShapeValue, run.PoliciesFile, "/commit/rules/0/rule"},
	{"another profile", run.ProfilesFile, `"/page/total"`, `"/page"`, false, finding.DigestMismatch, "trace.json", "/model_config/tool_runtime_profile_hash"},
	{"a number twice", run.SnapshotFile, `"sequence_number":2`, `"sequence_number":1`, false, finding.RunSnapshot, run.SnapshotFile, "/records"},
	{"a next number that is taken", run.SnapshotFile, `"next_sequence_number":8`, `"next_sequence_number":7`, false, finding.RunSnapshot, run.SnapshotFile, "/next_sequence_number"},
	{"an unknown pipeline version", run.ManifestFile, `"dmpl-v1"`, `"dmpl-v2"`, false, finding.ShapeVersion, run.ManifestFile, "/pipeline_version"},
	{"a record that is not in the snapshot", "retrieval/0000.jsonl", `"record_id":"f1"`, `"record_id":"f9"`, false, finding.RunDisagrees, "retrieval/0000.jsonl", "/0/selected_records/0"},
	{"a record of another time", "retrieval/0000.jsonl", `"sequence_number":3`, `"sequence_number":4`, false, finding.RunDisagrees, "retrieval/0000.jsonl", "/2/selected_records/0"},
	{"a profile that is not there", "trace/0000.jsonl", `"search-v1"`, `"search-v0"`, false, finding.RunDisagrees, "trace.json", "/events/2/tool_calls/0/tool_profile_version"},
	{"another visibility", run.TraceFile, `"buffered_write"`, `"read_only"`, false, finding.TraceVisibility, "trace.json", "/commit"},
	{"nothing is read", run.TraceFile, `"buffered_write"`, `"off"`, false, finding.TraceVisibility, run.CandidatesFile, ""},
	{"live memory", run.TraceFile, `"buffered_write"`, `"live_read_write"`, false, finding.ClaimLive, "trace.json", "/visibility_mode"},
	{"a file that was changed", run.ConfigFile, `"snapshot"`, `"minimal"`, true, finding.RunFileChanged, run.ManifestFile, "/files/2/sha256"},
	{"a pinned digest", run.ManifestFile, `"snapshot": "`, `"snapshot": "0123456789012345678901234567890123456789012345678901234567890123", "was": "`, true, finding.DigestMismatch, run.ManifestFile, "/digests/snapshot"},
}

// V1–V5, D5–D9, M9, P7: each change gives its finding in the right file, and the run does not pass.
func TestEachChangeOfARunIsFound(t *testing.T) {
	base := runtest.Write(t, filepath.Join(t.TempDir(), "run"), everything)
	for _, e := range edits {
		t.Run(e.what, func(t *testing.T) {
			dir := runtest.Copy(t, base, filepath.Join(t.TempDir(), "run"))
			runtest.Replace(t, dir, e.file, e.before, e.after)
			if !e.alone {
				runtest.Repair(t, dir)
			}
			result := verifyRun(t, dir)
			if result.Verdict == finding.Pass {
				t.Error("the run passes")
			}
			if !slices.ContainsFunc(result.Findings, func(f finding.Finding) bool {
				return f.Code == e.code && f.Pointer == e.pointer && f.Artifact == filepath.Join(dir, filepath.FromSlash(e.in))
			}) {
				t.Errorf("no %s in %s at %s: %s", e.code, e.in, e.pointer, said(result))
			}
		})
	}
}

func said(r finding.Result) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "\n  %s %s %s: %s", f.Code, filepath.Base(f.Artifact), f.Pointer, f.Detail)
	}
	return b.String()
}
