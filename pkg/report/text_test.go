package report_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/report"
)

func text(s string) finding.Value { return finding.Value(`"` + s + `"`) }

// lineWith is the line of a text that holds a mark.
func lineWith(t *testing.T, out, mark string) string {
	t.Helper()
	for line := range strings.Lines(out) {
		if strings.Contains(line, mark) {
			return strings.TrimSpace(line)
		}
	}
	t.Fatalf("no line holds %q:\n%s", mark, out)
	return ""
}

func TestRootFindingComesFirstInTheStatedForm(t *testing.T) {
	out := asText(t, of("diff", divergent()), report.TextOptions{})
	lines := strings.Split(out, "\n")
	want := `  event 3, tool call 0 (search): arguments differ at /q: left "cats", right "dogs"`
	if lines[2] != want {
		t.Errorf("got  %q\nwant %q", lines[2], want)
	}
}

func TestRootComesFirstAlsoBehindOthers(t *testing.T) {
	a := difference(finding.EquivRole, finding.Independent, 1, "", "/events/1/role", `"x"`, `"y"`)
	b := difference(finding.EquivDecision, finding.Root, 2, "", "/events/2/decision_type", `"x"`, `"y"`)
	out := asText(t, of("diff", finding.Result{Name: "n", Verdict: finding.Divergent, Findings: []finding.Finding{a, b}}), report.TextOptions{})
	if strings.Index(out, "decision type differs") > strings.Index(out, "role differs") {
		t.Errorf("the root is not first:\n%s", out)
	}
}

func TestValueWording(t *testing.T) {
	cases := []struct {
		code          finding.Code
		left, right   string
		rightArtifact string
		want          string
	}{
		{finding.EquivRole, `"a"`, `"b"`, "r", `role differs: left "a", right "b"`},
		{finding.EquivSideEffect, ``, `null`, "r", `side effect differs: left absent, right null`},
		{finding.EquivRole, `"a"`, ``, "", `role differs: left "a", right absent`},
		{finding.DigestMismatch, `"a"`, `"b"`, "", `stored digest does not match its preimage: stated "a", computed "b"`},
		{finding.DigestMismatch, `"a"`, ``, "", `stored digest does not match its preimage: stated "a"`},
		{finding.DigestOpaque, ``, `"b"`, "", `fingerprint is no SHA-256 digest: found "b"`},
		{finding.ShapeType, `"string"`, `7`, "", `field has the wrong type: expected "string", found 7`},
		{finding.ShapeValue, ``, `{"a": [1, 2]}`, "", `value is outside its closed list: found {"a":[1,2]}`},
		{finding.ShapeMissing, ``, ``, "", `required field is missing`},
		{"unknown.code", ``, ``, "", `unknown.code`},
	}
	for _, c := range cases {
		f := difference(c.code, finding.Independent, finding.NoEvent, "", "/p", c.left, c.right)
		f.Severity, f.RightArtifact, f.RightPointer = finding.Error, c.rightArtifact, ""
		out := asText(t, of("x", finding.Result{Verdict: finding.Fail, Findings: []finding.Finding{f}}), report.TextOptions{})
		if got := strings.TrimSpace(strings.Split(out, "\n")[2]); got != c.want {
			t.Errorf("%s: got %q, want %q", c.code, got, c.want)
		}
	}
}

func TestLongValuesAreCutToTheWidthAndSaySo(t *testing.T) {
	long := finding.Value("[" + strings.Repeat("1000, ", 500) + `"é\u001b"]`)
	out := asText(t, withValues(long, finding.Value(`[1]`)), report.TextOptions{Width: 60})
	got := lineWith(t, out, "… (")
	if !strings.HasSuffix(got, fmt.Sprintf("… (%d bytes)", len(long))) || utf8.RuneCountInString(got) > 60 {
		t.Errorf("%d characters: %s", utf8.RuneCountInString(got), got)
	}
	if wide := lineWith(t, asText(t, withValues(long, finding.Value(`[1]`)), report.TextOptions{}), "… ("); len(wide) < 400 {
		t.Errorf("without a width the value is cut to %d bytes", len(wide))
	}
}

func TestProseIsWrappedAtTheWidth(t *testing.T) {
	out := asText(t, of("diff", divergent()), report.TextOptions{Width: 70})
	for line := range strings.Lines(out) {
		prose := strings.Contains(line, "hint") || strings.Contains(line, "·") || strings.Contains(line, "alignment")
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); prose && n > 70 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

func TestSummary(t *testing.T) {
	at := func(code finding.Code, class finding.Class, event int) finding.Finding {
		return difference(code, class, event, "", "/p", "", "")
	}
	pair := func(fs ...finding.Finding) finding.Result {
		r := finding.Result{Findings: fs}
		r.Judge(true)
		return r
	}
	one := finding.Result{Verdict: finding.Pass, Checks: []finding.Check{{Status: finding.Passed, Count: 1}}}
	warned := equivalent()
	warned.Findings = []finding.Finding{finding.New(finding.BlindFingerprint), finding.New(finding.InputSkipped)}
	warned.Ignored = []finding.Ignored{{What: "/x", Count: 3}}
	cases := []struct {
		name string
		r    finding.Report
		want string
	}{
		{"divergent", of("diff", divergent()), "divergent at event 3: arguments differ (1 root, 2 independent, 2 cascades)"},
		{"divergent at no event", of("diff", pair(at(finding.EquivOutputType, finding.Root, finding.NoEvent))), "divergent: output type differs (1 root, 0 independent, 0 cascades)"},
		{"a violation and a difference", of("diff", pair(at(finding.ClaimUnknown, finding.Independent, finding.NoEvent), at(finding.EquivRole, finding.Independent, 2))), "divergent at event 2: role differs (1 root, 1 independent, 0 cascades)"},
		{"not comparable and a difference", of("diff", pair(at(finding.EquivIdentity, finding.Independent, finding.NoEvent), at(finding.EquivRole, finding.Independent, 2))), "undecided: runs are not comparable (and 1 more)"},
		{"equivalent", of("diff", equivalent()), "equivalent: 18 checks, 2 not checked"},
		{"equivalent with warnings", of("diff", warned), "equivalent: 18 checks, 2 not checked, 3 ignored, 1 warning"},
		{"pass", of("verify", passing("a")), "pass: 24 checks hold, 3 not checked"},
		{"pass by one check", of("verify", one), "pass: 1 check holds"},
		{"fail", of("verify", failing()), "fail: required field is missing (3 findings)"},
		{"undecided", of("verify", unprovable()), "undecided: envelope: model_config_id is unknown"},
		{"undecided for several reasons", of("diff", pair(at(finding.EquivIdentity, finding.Independent, finding.NoEvent), at(finding.EquivIdentity, finding.Independent, finding.NoEvent))), "undecided: runs are not comparable (and 1 more)"},
		{"undecided without a reason", of("verify", finding.Result{}), "undecided: nothing was checked"},
		{"fail without a finding", of("verify", finding.Result{Verdict: finding.Fail}), "fail"},
		{"trouble", of("verify", unreadable()), "trouble: x/memory_trace.json: input is not valid JSON: the text ends inside a string, at byte 1742, at /events/3"},
		{"trouble without a finding", of("verify", finding.Result{Trouble: true}), "trouble: the input could not be read"},
		{"several", of("verify", passing("a"), failing(), passing("b"), unreadable()), "4 results: 2 pass, 1 fail, 1 trouble"},
		{"none", of("verify"), "undecided: nothing was looked at"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := report.Summary(c.r); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestQuietIsOneLine(t *testing.T) {
	for _, r := range []finding.Report{of("diff", divergent()), of("verify", failing(), passing("a"), unreadable()), of("verify"), hostile("a\nb")} {
		if out := asText(t, r, report.TextOptions{Quiet: true}); strings.Count(out, "\n") != 1 || !strings.HasSuffix(out, "\n") {
			t.Errorf("got %q", out)
		}
	}
}

func TestAFlagThatChangesTheExitCodeIsNamed(t *testing.T) {
	failed, open := of("verify", failing()), of("verify", unprovable())
	failed.NoFail, open.AllowUndecided = true, true
	for want, r := range map[string]finding.Report{
		"\nexit code 0 by --no-fail\n":         failed,
		"\nexit code 0 by --allow-undecided\n": open,
	} {
		if out := asText(t, r, report.TextOptions{}); !strings.HasSuffix(out, want) {
			t.Errorf("the end is not %q:\n%s", want, out)
		}
	}
	useless := of("verify", passing("a"))
	useless.NoFail = true
	if out := asText(t, useless, report.TextOptions{}); strings.Contains(out, "exit code") {
		t.Errorf("a flag that changed nothing is named:\n%s", out)
	}
}

func TestRemarksOfOneCodeAreToldOnce(t *testing.T) {
	r := passing("a")
	for i := range 12 {
		f := finding.New(finding.DigestOpaque)
		f.EventIndex = i
		r.Findings = append(r.Findings, f)
	}
	r.Findings = append(r.Findings, finding.New(finding.BlindFingerprint))
	out := asText(t, of("verify", r), report.TextOptions{})
	if !strings.Contains(out, "13 warnings:\n  event 0: fingerprint is no SHA-256 digest [digest.opaque, and 11 more]\n") || strings.Count(out, "digest.opaque") != 1 {
		t.Errorf("got:\n%s", out)
	}
}

func TestFooterListsFewReasons(t *testing.T) {
	r := finding.Result{Name: "n", Verdict: finding.Pass}
	for i := range 8 {
		r.Checks = append(r.Checks, finding.Check{ID: fmt.Sprintf("C%d", i), Status: finding.NotChecked, Count: 2})
	}
	got := lineWith(t, asText(t, of("verify", r), report.TextOptions{}), "checked: 0")
	if want := "checked: 0 · not checked: 16 (2 C0; 2 C1; 2 C2; 2 C3; 2 C4; +3 more) · ignored: 0"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestContextHidesEmptyColumnsAndCutsWideCells(t *testing.T) {
	r := divergent()
	r.Context = []finding.Row{{Index: 3, Role: strings.Repeat("r", 100)}, {Index: 4}}
	out := asText(t, of("verify", r), report.TextOptions{})
	if got := lineWith(t, out, "event  role"); got != "event  role" {
		t.Errorf("header %q", got)
	}
	if got := lineWith(t, out, "rrrr"); got != ">  3      "+strings.Repeat("r", 35)+"… (100 bytes)" {
		t.Errorf("row %q", got)
	}
}

// withRoot puts an error of no event before the differences of a result.
func withRoot(f finding.Finding) finding.Result {
	r := divergent()
	r.Findings = append(r.Findings, f)
	for i := range r.Findings {
		r.Findings[i].Class = finding.Independent
	}
	r.Judge(true)
	return r
}

// E1: a violation of a side is the root, and the difference decides.
func TestContextMarksTheDecisiveEventWhenTheRootHasNone(t *testing.T) {
	root := difference(finding.ClaimUnknown, finding.Root, finding.NoEvent, "envelope", "/model_config_id", ``, `"unknown"`)
	out := asText(t, of("diff", withRoot(root)), report.TextOptions{})
	if got := lineWith(t, out, ">"); !strings.HasPrefix(got, ">  3      left") {
		t.Errorf("the mark stands at %q", got)
	}
	if got := strings.Split(out, "\n")[2]; !strings.HasPrefix(got, "  envelope: "+finding.Lookup(finding.ClaimUnknown).Title) {
		t.Errorf("the root is %q", got)
	}
}

// E2: runs that are not comparable are undecided, so no event decides and none is marked.
func TestContextMarksNoEventWhenRunsAreNotComparable(t *testing.T) {
	root := difference(finding.EquivIdentity, finding.Root, finding.NoEvent, "envelope", "/model_config_id", `"m1"`, `"m2"`)
	out := asText(t, of("diff", withRoot(root)), report.TextOptions{})
	if strings.Contains(out, ">") || !strings.HasPrefix(out, "undecided  ") {
		t.Errorf("got:\n%s", out)
	}
	if got := strings.Split(out, "\n")[2]; got != `  envelope: runs are not comparable: left "m1", right "m2"` {
		t.Errorf("the root is %q", got)
	}
}

func TestAlignmentWithoutANoteGivesTheCounts(t *testing.T) {
	r := equivalent()
	r.Alignment = &finding.Alignment{LeftEvents: 1, RightEvents: 2}
	if got := lineWith(t, asText(t, of("diff", r), report.TextOptions{}), "alignment"); got != "alignment: left has 1 event, right has 2 events" {
		t.Errorf("got %q", got)
	}
}
