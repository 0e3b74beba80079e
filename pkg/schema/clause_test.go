package schema_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
)

// CONTRACT M3: an abort has one of four reasons, and nothing else has one.
func TestCommitReasonBelongsToAbort(t *testing.T) {
	trace := string(examplesOf(t, determinism)[1])
	before := `"buffer_state": "commit_applied",
        "reason_code": null,`
	if !strings.Contains(trace, before) {
		t.Fatal("the second example has no applied commit")
	}
	for _, c := range []struct {
		state, reason string
		valid         bool
	}{
		{`"buffer_open"`, ``, true},
		{`"commit_pending"`, `null`, true},
		{`"commit_applied"`, ``, true},
		{`"commit_applied"`, `"policy_rejected"`, false},
		{`"commit_applied"`, `""`, false},
		{`"commit_aborted"`, `"policy_rejected"`, true},
		{`"commit_aborted"`, `"validation_failed"`, true},
		{`"commit_aborted"`, `"storage_apply_failed"`, true},
		{`"commit_aborted"`, `"payload_mismatch"`, true},
		{`"commit_aborted"`, `"changed_my_mind"`, false},
		{`"commit_aborted"`, `null`, false},
		{`"commit_aborted"`, ``, false},
		{`"closed"`, ``, false},
		{`null`, ``, false},
	} {
		members := `"buffer_state": ` + c.state + `,`
		if c.reason != "" {
			members += `"reason_code": ` + c.reason + `,`
		}
		doc := strings.Replace(trace, before, members, 1)
		if violations := validate(t, determinism, []byte(doc)); (len(violations) == 0) != c.valid {
			t.Errorf("%s: %v, want valid=%v", members, violations, c.valid)
		}
	}
}

// CONTRACT C4: an integer has any size; what JSON Schema takes for one although the typed checks do not is stated.
func TestIntegersAsJSONSchemaSeesThem(t *testing.T) {
	doc := examplesOf(t, profile)[1]
	for literal, valid := range map[string]bool{
		"0": true, "15": true, "16": false, "-1": false, "1.5": false,
		"1e1": true, "2.0": true, "-0": true, // the typed checks refuse the first two
		"123456789012345678901234567890": false,
	} {
		mutated := bytes.Replace(doc, []byte(`"float_decimals": 2`), []byte(`"float_decimals": `+literal), 1)
		if bytes.Equal(mutated, doc) {
			t.Fatal("the second example has no float_decimals")
		}
		if violations := validate(t, profile, mutated); (len(violations) == 0) != valid {
			t.Errorf("%s: %v, want valid=%v", literal, violations, valid)
		}
	}
}

// CONTRACT Z3: the schema knows every code, clause, severity and class that a report can hold.
func TestReportHoldsEveryCode(t *testing.T) {
	const form = `{"schema_version":"dmpl.report.v1","tool":{"name":"dmpl","version":""},"command":"verify","verdict":%q,` +
		`"exit_code":%d,"summary":"","results":[{"name":"","inputs":[],"verdict":%q,"checks":[{"id":"V1","status":%q,"count":0,` +
		`"reason":""}],"counts":{"pass":0,"fail":0,"not_checked":0},"findings":[{"code":%q,"rule":%q,"severity":%q,"class":%q,` +
		`"artifact":"","pointer":"","title":%q,"detail":"","hint":""}],"ignored":[]}]}`
	verdicts := []finding.Verdict{finding.Pass, finding.Fail, finding.Equivalent, finding.Divergent, finding.Undecided}
	exits := []int{finding.ExitHolds, finding.ExitFailed, finding.ExitTrouble, finding.ExitUndecided, finding.ExitInterrupt}
	statuses := []finding.Status{finding.Passed, finding.Failed, finding.NotChecked, finding.NotApplicable}
	classes := []finding.Class{finding.Root, finding.Cascade, finding.Independent}
	for i, e := range finding.Entries() {
		verdict := verdicts[i%len(verdicts)]
		doc := fmt.Sprintf(form, verdict, exits[i%len(exits)], verdict, statuses[i%len(statuses)],
			e.Code, e.Rule, e.Severity, classes[i%len(classes)], e.Title)
		if violations := validate(t, report, []byte(doc)); len(violations) != 0 {
			t.Errorf("%s: %v", e.Code, violations)
		}
	}
}

// CONTRACT Z4: no absolute path reaches a report.
func TestReportRefusesAbsolutePaths(t *testing.T) {
	doc := examplesOf(t, report)[0]
	for _, member := range []string{"path", "artifact", "right_artifact"} {
		mutated := bytes.Replace(doc, []byte(`"`+member+`": "`), []byte(`"`+member+`": "/`), 1)
		if bytes.Equal(mutated, doc) {
			t.Fatalf("the example has no %s", member)
		}
		if violations := validate(t, report, mutated); len(violations) == 0 {
			t.Errorf("absolute %s accepted", member)
		}
	}
}
