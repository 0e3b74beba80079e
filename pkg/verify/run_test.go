package verify_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/verify"
)

// verifyRun reads and checks the run in a folder.
func verifyRun(t *testing.T, dir string) finding.Result {
	t.Helper()
	r, err := run.Read(dir, nil, 0)
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	return verify.Trace(r.Trace, r.Shape, verify.Options{InFolder: true, Coverage: 100})
}

// everyKind gives a run for each visibility and each thing that a run can have.
func everyKind() map[string]runtest.Features {
	all := map[string]runtest.Features{}
	for _, mode := range []string{"off", "read_only", "buffered_write"} {
		for name, f := range map[string]runtest.Features{
			"single turn": {},
			"turns":       {Turns: 3},
			"retry":       {Retry: true, Turns: 2},
			"fallback":    {Fallback: true, Retry: true, Turns: 2},
			"tools":       {Tools: true, Retry: true, Turns: 2},
			"references":  {References: true, Turns: 2},
			"prompts":     {Prompts: true, Retry: true},
		} {
			f.Visibility = mode
			all[mode+", "+name] = f
		}
		for _, failure := range []string{"output_missing", "reference_refused", "admission_denied", "stage_failed"} {
			all[mode+", "+failure] = runtest.Features{Visibility: mode, Turns: 2, Failure: failure}
		}
		if mode == "off" {
			continue
		}
		all[mode+", retrieval"] = runtest.Features{Visibility: mode, Retrieval: true, Turns: 2}
		all[mode+", retrieval with candidates and topics"] = runtest.Features{Visibility: mode, Retrieval: true, Candidates: true, Topics: true, Turns: 2}
	}
	for _, reason := range []string{"policy_rejected", "validation_failed", "storage_apply_failed", "payload_mismatch"} {
		all["buffered_write, aborted: "+reason] = runtest.Features{Visibility: "buffered_write", Abort: reason}
	}
	all["buffered_write, nothing written"] = runtest.Features{Visibility: "buffered_write", Empty: true}
	all["buffered_write, everything"] = runtest.Features{
		Visibility: "buffered_write", Turns: 2, Retry: true, Tools: true, Retrieval: true, Candidates: true, References: true, Topics: true, Prompts: true,
		Chain: &run.Chain{Index: 1, PreviousRunID: "run-0", PreviousCommitID: "c"},
	}
	return all
}

// V5: a complete run passes, and every claim that it stores is checked.
func TestACompleteRunPassesWithFullCoverage(t *testing.T) {
	for name, f := range everyKind() {
		t.Run(name, func(t *testing.T) {
			result := verifyRun(t, runtest.Write(t, filepath.Join(t.TempDir(), "run"), f))
			if result.Verdict != finding.Pass || len(result.Findings) > 0 {
				t.Fatalf("%s: %+v", result.Verdict, result.Findings)
			}
			if result.Coverage.Checked != result.Coverage.Claims || result.Coverage.Claims < 12 {
				t.Errorf("coverage %+v", result.Coverage)
			}
		})
	}
}

// V1, V3: with any one required member removed, a run is no evidence of anything: its claim is rejected, although the manifest
// was made to fit.
func TestWithoutARequiredMemberTheClaimIsRejected(t *testing.T) {
	base := runtest.Write(t, filepath.Join(t.TempDir(), "run"), everyKind()["buffered_write, everything"])
	removed := 0
	for _, file := range runFiles(t, base) {
		text, err := os.ReadFile(filepath.Join(base, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range sampleOf(file, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")) {
			for _, pointer := range members(t, line) {
				if optional(file, pointer) {
					continue
				}
				without := strings.Replace(string(text), line, remove(t, line, pointer), 1)
				runtest.Put(t, base, file, []byte(without))
				if file != run.ManifestFile {
					runtest.Repair(t, base)
				}
				removed++
				if r, err := run.Read(base, nil, 0); err == nil {
					if v := verify.Trace(r.Trace, r.Shape, verify.Options{InFolder: true}).Verdict; v == finding.Pass {
						t.Errorf("%s without %s passes", file, pointer)
					}
				}
			}
			runtest.Put(t, base, file, text)
		}
		runtest.Put(t, base, file, text)
		runtest.Repair(t, base)
	}
	if result := verifyRun(t, base); result.Verdict != finding.Pass {
		t.Fatalf("the run was not put back: %+v", result.Findings)
	}
	if removed < 300 {
		t.Errorf("only %d members were removed: too few to tell", removed)
	}
	t.Logf("%d members were removed", removed)
}

// optional are the members that no schema requires and no check needs, by file, a pointer's beginning and why.
var optionalMembers = []struct{ file, pointer, why string }{
	{"manifest.json", "/chain/previous_run_id", "the first run of a chain has none; dmpl verify holds the runs of a folder to one another"},
	{"manifest.json", "/chain/previous_commit_id", "as above"},
	{"manifest.json", "/chain", "a run on its own"},
	{"snapshot.json", "/records/*/content/", "a record says what its type says"},
	{"policies.json", "/commit/rules/*/", "refused by its reader: a rule is whole"},
	{"profiles.json", "/nothing", "every member is required"},
	{"turns.jsonl", "/references/", "replay resolves references"},
	{"turns.jsonl", "/thread_events/", "as above"},
	{"turns.jsonl", "/topics", "changes the query where something was retrieved"},
	{"commit.json", "/reason_code", "null and absent mean the same (M3)"},
	{"commit.json", "/writes/*/record/content/", "a record says what its type says"},
	{"trace.json", "/commit/reason_code", "null and absent mean the same (M3)"},
	{"trace.json", "/metadata/truncated", "absent and false mean the same (V4)"},
	{"trace.json", "/metadata/events_", "only of a truncated trace"},
	{"trace/", "/stage/dispatched_intents/*/", "an intent is as the answer had it: replay makes it again"},
	{"trace/", "/tool_calls/*/normalized_args/", "changes the arguments"},
	{"retrieval/", "/selected_records/*/created_at_ticks", "the key of a tie; there is none"},
	{"retrieval/", "/selected_records/*/sequence_number", "as above"},
	{"retrieval/", "/selected_records/*/confidence", "as above"},
	{"retrieval/", "/candidates", "a ranking may rest on the snapshot alone (R7)"},
	{"retrieval/", "/order", "absent means score,record_id"},
	{"outputs.jsonl", "/model_config/provider_guarantee", "recorded where there is one"},
	{"tool_results.jsonl", "/args/", "raw arguments that the profile may not select"},
	{"tool_results.jsonl", "/result/", "fields that the profile may not select"},
	{"tool_results.jsonl", "/side_effects/", "as above"},
}

func optional(file, pointer string) bool {
	pattern := digits.ReplaceAllString(pointer, "/*$1")
	return slices.ContainsFunc(optionalMembers, func(m struct{ file, pointer, why string }) bool {
		return strings.HasPrefix(file, m.file) && (pattern == m.pointer || strings.HasPrefix(pattern, m.pointer) && strings.HasSuffix(m.pointer, "/") ||
			strings.HasSuffix(m.pointer, "_") && strings.HasPrefix(pattern, m.pointer) || strings.HasPrefix(pattern, m.pointer+"/"))
	})
}

// sampleOf keeps the first lines of long files: later ones are alike.
func sampleOf(file string, lines []string) []string {
	if !strings.HasSuffix(file, ".jsonl") {
		return []string{strings.Join(lines, "\n")}
	}
	return lines[:min(len(lines), 20)]
}

func runFiles(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	for _, f := range mustRead(t, dir).Trace.Recording.Files {
		names = append(names, f.Name)
	}
	return append(names, run.ManifestFile)
}

func mustRead(t *testing.T, dir string) *run.Run {
	t.Helper()
	r, err := run.Read(dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// members gives the pointers of all members of a JSON text.
func members(t *testing.T, text string) []string {
	t.Helper()
	var tree any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	var all []string
	walk("", tree, func(pointer string, _ any, member bool) {
		if member {
			all = append(all, pointer)
		}
	})
	slices.Sort(all)
	return all
}

func walk(at string, value any, visit func(pointer string, value any, member bool)) {
	switch v := value.(type) {
	case map[string]any:
		for name, below := range v {
			pointer := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			visit(pointer, below, true)
			walk(pointer, below, visit)
		}
	case []any:
		for i, below := range v {
			visit(fmt.Sprintf("%s/%d", at, i), below, false)
			walk(fmt.Sprintf("%s/%d", at, i), below, visit)
		}
	}
}

func remove(t *testing.T, text, pointer string) string {
	return change(t, text, pointer, func(o map[string]any, name string) { delete(o, name) })
}

// change edits the object or the list that a pointer leads into.
func change(t *testing.T, text, pointer string, edit func(o map[string]any, name string)) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	tokens := strings.Split(pointer, "/")[1:]
	node := tree
	for i, token := range tokens {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v := node.(type) {
		case map[string]any:
			if i == len(tokens)-1 {
				edit(v, token)
			}
			node = v[token]
		case []any:
			var n int
			if _, err := fmt.Sscan(token, &n); err != nil {
				t.Fatal(err)
			}
			if i == len(tokens)-1 {
				holder := map[string]any{"": v[n]}
				edit(holder, "")
				v[n] = holder[""]
				continue
			}
			node = v[n]
		}
	}
	out, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

var digits = regexp.MustCompile(`/[0-9]+(/|$)`)

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
	{"another commit", run.CommitFile, `"run-1"`, `"run-2"`, false, finding.RunDisagrees, run.CommitFile, "/run_id"},
	{"another end of the commit", "trace/0000.jsonl", `"commit_applied"`, `"policy_rejected"`, false, finding.RunDisagrees, "trace.json", "/events/32/decision_type"},
	{"another state after the commit", run.CommitFile, `"state_digest_after":"`, `"state_digest_after":"0123456789012345678901234567890123456789012345678901234567890123","was":"`, false, finding.RunDisagrees, "trace.json", "/events/32/stage/state_digest"},
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
	{"a number twice", run.SnapshotFile, `"sequence_number":2`, `"sequence_number":1`, false, finding.RunSequence, run.SnapshotFile, "/records/1/sequence_number"},
	{"a next number that is taken", run.SnapshotFile, `"next_sequence_number":6`, `"next_sequence_number":5`, false, finding.RunSequence, run.SnapshotFile, "/next_sequence_number"},
	{"an unknown pipeline version", run.ManifestFile, `"dmpl-v1"`, `"dmpl-v2"`, false, finding.ShapeVersion, run.ManifestFile, "/pipeline_version"},
	{"another visibility", run.TraceFile, `"buffered_write"`, `"read_only"`, false, finding.TraceVisibility, "trace.json", "/commit"},
	{"nothing is read", run.TraceFile, `"buffered_write"`, `"off"`, false, finding.TraceVisibility, run.CandidatesFile, ""},
	{"live memory", run.TraceFile, `"buffered_write"`, `"live_read_write"`, false, finding.ClaimLive, "trace.json", "/visibility_mode"},
	{"a file that was changed", run.ConfigFile, `"snapshot"`, `"minimal"`, true, finding.RunFileChanged, run.ManifestFile, "/files/2/sha256"},
	{"a pinned digest", run.ManifestFile, `"snapshot": "`, `"snapshot": "0123456789012345678901234567890123456789012345678901234567890123", "was": "`, true, finding.DigestMismatch, run.ManifestFile, "/digests/snapshot"},
}

// V1–V5, D5–D9, M9, P7: each change gives its finding in the right file, and the run does not pass.
func TestEachChangeOfARunIsFound(t *testing.T) {
	base := runtest.Write(t, filepath.Join(t.TempDir(), "run"), everyKind()["buffered_write, everything"])
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
