package report_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/report"
)

func TestVisible(t *testing.T) {
	cases := []struct{ in, want string }{
		{"", ""},
		{"plain text, /a/b~1c, naïve, 日本語, 😀, e\u0301", "plain text, /a/b~1c, naïve, 日本語, 😀, e\u0301"},
		{"\x1b[31mred\x1b[0m", `\u001b[31mred\u001b[0m`},
		{"a\u009b31mb", `a\u009b31mb`},
		{"a\x9b31mb", `a\x9b31mb`},
		{"a\nb\rc\td\x00e", `a\u000ab\u000dc\u0009d\u0000e`},
		{"\x7f\u0080\u009f\u00a0", "\\u007f\\u0080\\u009f\u00a0"},
		{"soft\u00adhyphen", `soft\u00adhyphen`},
		{"\u061c\u180e\u200b\u200c\u200d\u200e\u200f", `\u061c\u180e\u200b\u200c\u200d\u200e\u200f`},
		{"\u2028\u2029\u202a\u202e\u2060\u2066\u2069", `\u2028\u2029\u202a\u202e\u2060\u2066\u2069`},
		{"\ufeffbom\ufff9", `\ufeffbom\ufff9`},
		{"tag\U000e0041", `tag\udb40\udc41`},
		{"half \xed\xa0\x80 pair", `half \xed\xa0\x80 pair`},
		{"cut \xe2\x82", `cut \xe2\x82`},
		{"a real \ufffd stays", "a real \ufffd stays"},
		{`a literal \u001b stays`, `a literal \u001b stays`},
	}
	for _, c := range cases {
		if got := report.Visible(c.in); got != c.want {
			t.Errorf("Visible(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// dangerous names the first character of s that Z5 forbids, or "". Line ends are the renderer's own.
func dangerous(s string) string {
	if !utf8.ValidString(s) {
		return "invalid UTF-8"
	}
	for _, r := range s {
		switch {
		case r == '\n':
		case r < ' ', r >= 0x7f && r <= 0x9f, r == 0x61c, r >= 0x200b && r <= 0x200f,
			r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff, r >= 0xe0000 && r <= 0xe0fff:
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}

// hostile puts a text into every field that an artifact, a path or a flag can reach.
func hostile(s string) finding.Report {
	value, err := json.Marshal(map[string]string{s: s})
	if err != nil {
		panic(err)
	}
	f := finding.Finding{
		Code: finding.EquivArguments, Severity: finding.Error, Class: finding.Root, EventIndex: 1,
		Artifact: s, RightArtifact: s, Subject: s, Pointer: "/" + s, RightPointer: "/" + s,
		Expected: value, Actual: finding.Value(`"` + s + `"`), Detail: s, Hint: s,
	}
	cascade, warning, note, other, broken := f, f, f, f, f
	cascade.Class = finding.Cascade
	warning.Severity, note.Severity = finding.Warning, finding.Note
	other.Class, other.Code = finding.Independent, finding.Code("x."+s)
	other.Expected, other.Actual = finding.Value(`"a word or two `+s+` and more words"`), finding.Value(`"a word or three `+s+s+` and more words"`)
	broken.Code, broken.Class = finding.CanonInvalidJSON, finding.Independent
	r := finding.Result{
		Name: s, Inputs: []finding.Input{{Path: s, Dialect: s, Kind: s, SHA256: s}}, Verdict: finding.Divergent,
		Checks: []finding.Check{
			{ID: s, Status: finding.NotChecked, Count: 1, Reason: s},
			{ID: s, Status: finding.NotApplicable, Count: 1},
			{ID: s, Status: finding.NotChecked, Count: 1},
		},
		Findings:  []finding.Finding{f, cascade, warning, note, other, broken},
		Ignored:   []finding.Ignored{{What: s, Count: 1, Reason: s}},
		Alignment: &finding.Alignment{Note: s},
		Context:   []finding.Row{{Side: "left", Role: s, Decision: s, Tools: []string{s}, Digest: s}, {Side: "right", Role: s + s, Decision: s + s}},
		Timeline:  slices.Values([]finding.Row{{Side: s, Role: s, Decision: s, Tools: []string{s, s}, Digest: s}}),
	}
	unnamed, holding, open, failed := r, r, r, r
	unnamed.Name, unnamed.Verdict, unnamed.Trouble = "", finding.Undecided, true
	holding.Verdict, open.Verdict, failed.Verdict = finding.Equivalent, finding.Undecided, finding.Fail
	return finding.Report{Command: s, Version: s, Results: []finding.Result{r, unnamed, holding, open, failed}}
}

// one is the same report for a single result.
func one(r finding.Report, i int) finding.Report {
	r.Results = r.Results[i : i+1]
	return r
}

var attacks = []string{
	"\x1b[2J\x1b]0;title\x07", "\u009b2J", "\x9b2J", "\u202egnp.exe\u202c", "\u2066x\u2069", "line\nbreak", "over\rwrite",
	"back\b\bspace", "nul\x00", "\u2028\u2029", "\ufeff\u200b\u200d\u2060", "\xff\xfe", "\xed\xa0\x80", "tag\U000e0020",
	"quote\"back\\slash", "\x7f\u0085", "::error::x", "",
}

func TestTextFromArtifactsNeverReachesTheOutputRaw(t *testing.T) {
	for _, s := range attacks {
		r := hostile(s)
		reports := []finding.Report{r}
		for i := range r.Results {
			reports = append(reports, one(r, i))
		}
		for _, r := range reports {
			for _, o := range []report.TextOptions{{}, {Width: 40}, {Quiet: true}} {
				if c := dangerous(asText(t, r, o)); c != "" {
					t.Errorf("text of %q holds %s raw with %+v", s, c, o)
				}
			}
			checkJSON(t, asJSON(t, r))
		}
	}
}

func TestALineBreakInAnArtifactBeginsNoLine(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n", "\u0085", "\u2028", "\v"} {
		out := asText(t, hostile("x"+end+"INJECTED"), report.TextOptions{})
		if strings.Contains("\n"+out, "\nINJECTED") {
			t.Errorf("%q begins a line:\n%s", end, out)
		}
	}
}

func TestColorAddsNothingButSequencesOfOurOwn(t *testing.T) {
	r := hostile("\x1b[5m\x1b]8;;x\x07")
	painted := asText(t, r, report.TextOptions{Color: true})
	for rest := painted; ; {
		_, after, more := strings.Cut(rest, "\x1b")
		if !more {
			break
		}
		end := strings.IndexByte(after, 'm')
		if end < 0 || strings.Trim(after[:end], "[0123456789;") != "" || strings.HasPrefix(after, "[5m") {
			t.Fatalf("a sequence that is no colour of ours: %q", after[:min(len(after), 10)])
		}
		rest = after
	}
}

func checkJSON(t *testing.T, out string) {
	t.Helper()
	if !json.Valid([]byte(out)) {
		t.Errorf("not valid JSON:\n%s", out)
	}
	if c := dangerous(out); c != "" {
		t.Errorf("JSON holds %s raw", c)
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range attacks {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := report.Visible(s)
		if c := dangerous(once); c != "" || strings.Contains(once, "\n") {
			t.Errorf("Visible(%q) holds %s", s, c)
		}
		if report.Visible(once) != once {
			t.Errorf("Visible(%q) changes when made visible again", s)
		}
	})
}

func FuzzReports(f *testing.F) {
	for _, s := range attacks {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := hostile(s)
		checkJSON(t, asJSON(t, r))
		for i := range r.Results {
			if c := dangerous(asText(t, one(r, i), report.TextOptions{Width: 30})); c != "" {
				t.Errorf("text holds %s raw", c)
			}
		}
	})
}
