package finding_test

import (
	"fmt"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
)

// One code of each effect.
const (
	note    = finding.TraceStoredOrder
	fails   = finding.DigestMismatch
	rejects = finding.ClaimUnknown
	differs = finding.EquivRole
	trouble = finding.InputUnreadable
)

func judged(comparison bool, codes ...finding.Code) finding.Result {
	var r finding.Result
	for _, c := range codes {
		f := finding.New(c)
		if finding.Lookup(c).Code == "" {
			f.Severity = finding.Error
		}
		r.Findings = append(r.Findings, f)
	}
	r.Judge(comparison)
	return r
}

func TestVerdictFollowsFromEffects(t *testing.T) {
	cases := []struct {
		codes      []finding.Code
		single     finding.Verdict
		comparison finding.Verdict
		exit       [2]int // single, comparison
	}{
		{nil, finding.Pass, finding.Equivalent, [2]int{0, 0}},
		{[]finding.Code{note}, finding.Pass, finding.Equivalent, [2]int{0, 0}},
		{[]finding.Code{fails}, finding.Fail, finding.Undecided, [2]int{1, 3}},
		{[]finding.Code{rejects}, finding.Undecided, finding.Undecided, [2]int{3, 3}},
		{[]finding.Code{differs}, finding.Fail, finding.Divergent, [2]int{1, 1}},
		{[]finding.Code{trouble}, finding.Undecided, finding.Undecided, [2]int{2, 2}},
		{[]finding.Code{fails, rejects}, finding.Fail, finding.Undecided, [2]int{1, 3}},
		{[]finding.Code{rejects, differs}, finding.Fail, finding.Divergent, [2]int{1, 1}},
		{[]finding.Code{fails, differs}, finding.Fail, finding.Divergent, [2]int{1, 1}},
		{[]finding.Code{trouble, differs}, finding.Fail, finding.Divergent, [2]int{2, 2}},
		{[]finding.Code{note, rejects}, finding.Undecided, finding.Undecided, [2]int{3, 3}},
		{[]finding.Code{"unknown.code"}, finding.Undecided, finding.Undecided, [2]int{3, 3}},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.codes), func(t *testing.T) {
			single, pair := judged(false, c.codes...), judged(true, c.codes...)
			if single.Verdict != c.single || pair.Verdict != c.comparison {
				t.Errorf("verdicts %s and %s, want %s and %s", single.Verdict, pair.Verdict, c.single, c.comparison)
			}
			if got := [2]int{single.ExitCode(), pair.ExitCode()}; got != c.exit {
				t.Errorf("exit codes %v, want %v", got, c.exit)
			}
		})
	}
}

func TestSeverityDecidesWhetherAFindingWeighs(t *testing.T) {
	f := finding.New(finding.TraceVisibility)
	f.Severity = finding.Warning // V2: in a foreign runtime's trace
	r := finding.Result{Findings: []finding.Finding{f}}
	r.Judge(false)
	if r.Verdict != finding.Pass {
		t.Errorf("a warning made the verdict %s", r.Verdict)
	}
}

func TestRootIsTheLowestError(t *testing.T) {
	with := func(f finding.Finding, c finding.Class) finding.Finding { f.Class = c; return f }
	cases := map[string]struct {
		in         []finding.Finding
		comparison bool
		want       []finding.Class // in sorted order
	}{
		"the lowest by event": {
			[]finding.Finding{found(finding.EquivRole, 4, "/b"), found(finding.EquivRole, 2, "/a")},
			true,
			[]finding.Class{finding.Root, finding.Independent},
		},
		"a note is no root": {
			[]finding.Finding{found(finding.EquivRetrievalNote, 0, ""), found(finding.EquivRole, 2, "")},
			true,
			[]finding.Class{finding.Independent, finding.Root},
		},
		"a cascade is no root": {
			[]finding.Finding{with(found(finding.EquivResult, 1, ""), finding.Cascade), found(finding.EquivRole, 2, "")},
			true,
			[]finding.Class{finding.Cascade, finding.Root},
		},
		"what is wrong with a side can be the root of a divergence": {
			[]finding.Finding{found(finding.ShapeMissing, finding.NoEvent, "/run_id"), found(finding.EquivRole, 2, "")},
			true,
			[]finding.Class{finding.Root, finding.Independent},
		},
		"only cascades": {
			[]finding.Finding{with(found(finding.EquivResult, 1, ""), finding.Cascade)},
			true,
			[]finding.Class{finding.Cascade},
		},
		"one artifact has no root": {
			[]finding.Finding{found(finding.DigestMismatch, 1, "")},
			false,
			[]finding.Class{finding.Independent},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := finding.Result{Findings: c.in}
			r.Judge(c.comparison)
			for i, f := range r.Findings {
				if f.Class != c.want[i] {
					t.Errorf("finding %d (%s) is %s, want %s", i, f.Code, f.Class, c.want[i])
				}
			}
		})
	}
}

func TestReportExitCode(t *testing.T) {
	holds, failed := finding.Result{Verdict: finding.Pass}, finding.Result{Verdict: finding.Divergent}
	open, broken := finding.Result{Verdict: finding.Undecided}, finding.Result{Verdict: finding.Undecided, Trouble: true}
	cases := []struct {
		name                   string
		results                []finding.Result
		noFail, allowUndecided bool
		verdict                finding.Verdict
		code                   int
	}{
		{"nothing was looked at", nil, false, false, finding.Undecided, finding.ExitUndecided},
		{"all hold", []finding.Result{holds, {Verdict: finding.Equivalent}}, false, false, finding.Pass, finding.ExitHolds},
		{"undecided before holds", []finding.Result{holds, open}, false, false, finding.Undecided, finding.ExitUndecided},
		{"failed before undecided", []finding.Result{open, failed, holds}, false, false, finding.Divergent, finding.ExitFailed},
		{"trouble before failed", []finding.Result{failed, broken}, false, false, finding.Undecided, finding.ExitTrouble},
		{"no verdict is undecided", []finding.Result{{}}, false, false, "", finding.ExitUndecided},
		{"--no-fail keeps the verdict", []finding.Result{failed}, true, false, finding.Divergent, finding.ExitHolds},
		{"--no-fail is about failures only", []finding.Result{open}, true, false, finding.Undecided, finding.ExitUndecided},
		{"--allow-undecided keeps the verdict", []finding.Result{open}, false, true, finding.Undecided, finding.ExitHolds},
		{"--allow-undecided is about undecided only", []finding.Result{failed}, false, true, finding.Divergent, finding.ExitFailed},
		{"nothing allows trouble", []finding.Result{broken}, true, true, finding.Undecided, finding.ExitTrouble},
		{"--no-fail hides no undecided result", []finding.Result{failed, open}, true, false, finding.Divergent, finding.ExitUndecided},
		{"--allow-undecided hides no failure", []finding.Result{open, failed}, false, true, finding.Divergent, finding.ExitFailed},
		{"both flags", []finding.Result{open, failed}, true, true, finding.Divergent, finding.ExitHolds},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := finding.Report{Results: c.results, NoFail: c.noFail, AllowUndecided: c.allowUndecided}
			if r.Verdict() != c.verdict || r.ExitCode() != c.code {
				t.Errorf("verdict %q, exit code %d, want %q and %d", r.Verdict(), r.ExitCode(), c.verdict, c.code)
			}
		})
	}
}
