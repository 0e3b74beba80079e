package report_test

import (
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/finding"
)

const (
	leftPath  = "runs/a/memory_trace.json"
	rightPath = "runs/b/memory_trace.json"
)

func difference(code finding.Code, class finding.Class, event int, subject, pointer string, left, right string) finding.Finding {
	f := finding.New(code)
	f.Class, f.EventIndex, f.Subject = class, event, subject
	f.Artifact, f.RightArtifact = leftPath, rightPath
	f.Pointer, f.RightPointer = pointer, pointer
	if left != "" {
		f.Expected = finding.Value(left)
	}
	if right != "" {
		f.Actual = finding.Value(right)
	}
	return f
}

func inputs() []finding.Input {
	return []finding.Input{
		{Path: leftPath, Dialect: "orket", Kind: "determinism_trace", Bytes: 4711, SHA256: strings.Repeat("0a", 32)},
		{Path: rightPath, Dialect: "orket", Kind: "determinism_trace", Bytes: 4712, SHA256: strings.Repeat("0b", 32)},
	}
}

// divergent is the result that a diff of two runs with one changed argument gives.
func divergent() finding.Result {
	search := "tool call 0 (search)"
	args := difference(finding.EquivArguments, finding.Root, 3, search, "/events/3/tool_calls/0/normalized_args/q", `"cats"`, `"dogs"`)
	args.Detail = "arguments differ at /q"
	args.RightPointer = "/events/4/tool_calls/0/normalized_args/q"
	result := difference(finding.EquivResult, finding.Cascade, 3, search, "/events/3/tool_calls/0/tool_result_fingerprint", `"11"`, `"22"`)
	records := difference(finding.EquivRecords, finding.Independent, 5, "retrieval 0", "/events/1/selected_records/0/record_id", `"m1"`, ``)
	records.Artifact, records.RightArtifact = "runs/a/memory_retrieval_trace.json", "runs/b/memory_retrieval_trace.json"
	output := difference(finding.EquivOutputShape, finding.Independent, finding.NoEvent, "", "/output/output_shape_hash",
		`"`+strings.Repeat("a", 64)+`"`, `"`+strings.Repeat("b", 64)+`"`)
	note := difference(finding.EquivRetrievalNote, finding.Independent, 5, "retrieval 0", "/events/1/selected_records/0/score", "0.25", "0.250001")
	warning := finding.New(finding.DigestOpaque)
	warning.Artifact, warning.Pointer, warning.EventIndex, warning.Subject = rightPath, "/events/1/tool_calls/0/tool_result_fingerprint", 1, "tool call 0 (read_file)"
	warning.Actual = finding.Value(`"no-result"`)
	r := finding.Result{
		Name: leftPath + " ↔ " + rightPath, Inputs: inputs(),
		Checks: []finding.Check{
			{ID: "E3", Status: finding.Passed, Count: 12},
			{ID: "E4", Status: finding.Failed, Count: 1},
			{ID: "E8", Status: finding.Failed, Count: 1},
			{ID: "V5.output_shape_hash", Status: finding.NotChecked, Count: 2, Reason: "no preimage"},
			{ID: "E10", Status: finding.NotChecked, Count: 1, Reason: "the runs never had these stages"},
			{ID: "V5.context_digest", Status: finding.NotApplicable, Count: 1},
		},
		Findings: []finding.Finding{args, result, result, records, note, warning, output},
		Ignored:  []finding.Ignored{{What: "equiv.side_effect", Count: 2, Reason: "--ignore"}},
		Alignment: &finding.Alignment{
			LeftEvents: 9, RightEvents: 10, Note: "one extra event at 3; 4…9 equal 3…8",
			Edits: []finding.Edit{{Kind: finding.Same, Count: 3}, {Kind: finding.RightOnly, Left: 3, Right: 3, Count: 1}},
		},
		Context: []finding.Row{
			row("left", 2, "before_prompt/prompt_ready", "1111"), row("left", 3, "before_tool/tool_call_ready", "2222", "search"), row("left", 4, "after_tool/tool_call_result", "3333", "search"),
			row("right", 2, "before_prompt/prompt_ready", "1111"), row("right", 3, "before_tool/tool_call_ready", "4444", "search"), row("right", 4, "after_tool/tool_call_result", "5555", "search"),
		},
		Timeline: slices.Values([]finding.Row{row("left", 2, "before_prompt/prompt_ready", "1111"), row("right", 3, "before_tool/tool_call_ready", "4444", "search", "open")}),
		Coverage: &finding.Coverage{Checked: 12, Claims: 15},
	}
	r.Judge(true)
	return r
}

func row(side string, index int, decision, digest string, tools ...string) finding.Row {
	return finding.Row{Side: side, Index: index, Role: "coder", Decision: decision, Digest: strings.Repeat(digest, 16), Tools: tools}
}

func of(command string, results ...finding.Result) finding.Report {
	return finding.Report{Command: command, Version: "v0.1.0", Results: results}
}

func equivalent() finding.Result {
	return finding.Result{
		Name: leftPath + " ↔ " + rightPath, Inputs: inputs(), Verdict: finding.Equivalent,
		Checks: []finding.Check{{ID: "E3", Status: finding.Passed, Count: 18}, {ID: "E9", Status: finding.NotChecked, Count: 2, Reason: "no commit record"}},
	}
}

func passing(name string) finding.Result {
	return finding.Result{
		Name: name, Verdict: finding.Pass,
		Checks: []finding.Check{{ID: "V1", Status: finding.Passed, Count: 24}, {ID: "V5.tool_result_fingerprint", Status: finding.NotChecked, Count: 3, Reason: "no preimage"}},
	}
}

func failing() finding.Result {
	digest := finding.New(finding.DigestMismatch)
	digest.EventIndex, digest.Subject, digest.Artifact, digest.Pointer = 2, "tool call 1 (write_file)", "t/memory_trace.json", "/events/2/tool_calls/1/tool_result_fingerprint"
	digest.Expected, digest.Actual = finding.Value(`"`+strings.Repeat("c", 64)+`"`), finding.Value(`"`+strings.Repeat("d", 64)+`"`)
	digest.Detail = "stored digest does not match its preimage under json-v1"
	shape := finding.New(finding.ShapeType)
	shape.EventIndex, shape.Artifact, shape.Pointer = 4, "t/memory_trace.json", "/events/4/role"
	shape.Expected, shape.Actual = finding.Value(`"string"`), finding.Value(`null`)
	missing := finding.New(finding.ShapeMissing)
	missing.Artifact, missing.Pointer, missing.Subject = "t/memory_trace.json", "/policy_set_id", "envelope"
	r := finding.Result{
		Name: "t/memory_trace.json",
		Checks: []finding.Check{
			{ID: "V1", Status: finding.Passed, Count: 30},
			{ID: "V1", Status: finding.Failed, Count: 2},
			{ID: "V5.tool_result_fingerprint", Status: finding.Failed, Count: 1},
		},
		Findings: []finding.Finding{missing, digest, shape},
	}
	r.Judge(false)
	return r
}

func unprovable() finding.Result {
	f := finding.New(finding.ClaimUnknown)
	f.Artifact, f.Pointer, f.Subject = "u/memory_trace.json", "/model_config_id", "envelope"
	f.Actual = finding.Value(`"unknown-model-config"`)
	f.Detail = "model_config_id is unknown"
	r := finding.Result{Name: "u/memory_trace.json", Findings: []finding.Finding{f}, Checks: []finding.Check{{ID: "V1", Status: finding.Passed, Count: 20}}}
	r.Judge(false)
	return r
}

func unreadable() finding.Result {
	f := finding.New(finding.CanonInvalidJSON)
	f.Artifact, f.Pointer, f.Detail = "x/memory_trace.json", "/events/3", "the text ends inside a string, at byte 1742"
	r := finding.Result{Name: "x/memory_trace.json", Findings: []finding.Finding{f}}
	r.Judge(false)
	return r
}

// reworded is a difference inside a long text.
func reworded() finding.Result {
	left := "You are a careful reviewer. Read the patch below and list each defect that you find, worst first, with file and line. Do not suggest style changes."
	right := strings.Replace(strings.Replace(left, "careful reviewer", "strict but fair reviewer", 1), "worst", "most severe", 1)
	f := difference(finding.EquivArguments, finding.Root, 0, "tool call 0 (ask)", "/events/0/tool_calls/0/normalized_args/prompt", `"`+left+`"`, `"`+right+`"`)
	f.Detail = "arguments differ at /prompt"
	r := finding.Result{Name: "a.json ↔ b.json", Findings: []finding.Finding{f}, Checks: []finding.Check{{ID: "E4", Status: finding.Failed, Count: 1}}}
	r.Judge(true)
	return r
}
