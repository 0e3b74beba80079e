package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/report"
)

// withValues is a report of one finding about two values.
func withValues(expected, actual finding.Value) finding.Report {
	f := finding.New(finding.EquivArguments)
	f.Expected, f.Actual = expected, actual
	return of("diff", finding.Result{Findings: []finding.Finding{f}, Verdict: finding.Divergent})
}

// findingLine is the line of the only finding.
func findingLine(t *testing.T, r finding.Report) string {
	t.Helper()
	for line := range strings.Lines(asJSON(t, r)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, `{"code"`) {
			return line
		}
	}
	t.Fatal("no line holds a finding")
	return ""
}

// decoded is the only finding, members as they stand.
func decoded(t *testing.T, r finding.Report) map[string]json.RawMessage {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(findingLine(t, r)), &members); err != nil {
		t.Fatal(err)
	}
	return members
}

func TestValuesAreEmbeddedCompactedAndOtherwiseAsTheyStand(t *testing.T) {
	cases := []struct{ in, want string }{
		{`null`, `null`},
		{` { "b" : [ 1 , 2.50 ,-0, 1E+3, 123456789012345678901234567890 ] , "a" : true } `, `{"b":[1,2.50,-0,1E+3,123456789012345678901234567890],"a":true}`},
		{`"a b  c"`, `"a b  c"`},
		{`"caf\u00e9 \/ \ud83d\ude00"`, `"café / 😀"`},
		{`"\u0022\u005c\b\f\n\r\t\u001b"`, `"\"\\\b\f\n\r\t\u001b"`},
		{`"\ud800 \udc00\ud800 \ud800\ud800\udc00"`, `"\ud800 \udc00\ud800 \ud800𐀀"`},
		{`"\ud800\n"`, `"\ud800\n"`},
		{"\"\u202e\u0085\x7f\ufeff\U000e0041\"", `"\u202e\u0085\u007f\ufeff\udb40\udc41"`},
		{"{\"\u202e\\u202e\":\"\"}", `{"\u202e\u202e":""}`},
		{"\"bad \xff byte\"", `"bad \ufffd byte"`},
		{`NaN`, `"NaN"`},
		{`{"cut":`, `"{\"cut\":"`},
		{``, `""`},
	}
	for _, c := range cases {
		if got := decoded(t, withValues(finding.Value(c.in), nil))["expected"]; string(got) != c.want {
			t.Errorf("%q is embedded as %s, want %s", c.in, got, c.want)
		}
	}
}

func TestAnAbsentValueIsNotNull(t *testing.T) {
	members := decoded(t, withValues(finding.Value("null"), nil))
	if string(members["expected"]) != "null" {
		t.Errorf("expected is %s", members["expected"])
	}
	if actual, there := members["actual"]; there {
		t.Errorf("an absent value is written as %s", actual)
	}
}

func TestFindingHasItsMembersInOrderAndNoOthers(t *testing.T) {
	bare, _, _ := strings.Cut(findingLine(t, of("verify", unreadable())), `,"hint"`)
	want := `{"code":"canon.invalid_json","rule":"C1","severity":"error","class":"independent","artifact":"x/memory_trace.json",` +
		`"pointer":"/events/3","title":"input is not valid JSON","detail":"the text ends inside a string, at byte 1742"`
	if bare != want {
		t.Errorf("got  %s\nwant %s", bare, want)
	}
}

func TestLongValuesAreCutWithLengthAndDigest(t *testing.T) {
	const limit = 64 << 10
	type cut struct {
		Cut    string
		Bytes  int
		SHA256 string
	}
	fill := func(n int, s string) string { return strings.Repeat("x", n) + s }
	cases := []struct {
		name, value string
		kept        int // bytes; -1 = the whole value is embedded
	}{
		{"exactly the limit", `"` + fill(limit-2, "") + `"`, -1},
		{"one byte over", `"` + fill(limit-1, "") + `"`, limit},
		{"the limit before a character", `"` + fill(limit-1, "é") + `"`, limit},
		{"the limit inside a character of two bytes", `"` + fill(limit-2, "é") + `"`, limit - 1},
		{"the limit inside a character of four bytes", `"` + fill(limit-4, "😀") + `"`, limit - 3},
		{"no character at all", `"` + strings.Repeat("\xbf", limit) + `"`, -2},
		{"a long list", "[" + strings.Repeat("1, ", limit) + "1]", limit},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := decoded(t, withValues(finding.Value(c.value), nil))["expected"]
			if c.kept == -1 {
				if string(got) != c.value {
					t.Error("the value was changed")
				}
				return
			}
			var read cut
			if err := json.Unmarshal(got, &read); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256([]byte(c.value))
			if read.Bytes != len(c.value) || read.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("%d bytes, digest %s", read.Bytes, read.SHA256)
			}
			if c.kept >= 0 && read.Cut != c.value[:c.kept] {
				t.Errorf("%d bytes are kept, want %d", len(read.Cut), c.kept)
			}
		})
	}
}

func TestJSONIsTheSameEachTimeAndMayHoldEverything(t *testing.T) {
	r := of("diff", divergent(), unreadable(), failing())
	first := asJSON(t, r)
	for range 3 {
		if asJSON(t, r) != first {
			t.Fatal("two renderings of one report differ")
		}
	}
	var read struct {
		SchemaVersion string `json:"schema_version"`
		Verdict       string
		ExitCode      int `json:"exit_code"`
		Results       []struct{ Findings, Inputs, Checks, Ignored []any }
	}
	if err := json.Unmarshal([]byte(first), &read); err != nil {
		t.Fatal(err)
	}
	if read.SchemaVersion != finding.SchemaVersion || read.Verdict != "undecided" || read.ExitCode != 2 || len(read.Results) != 3 {
		t.Errorf("read %+v", read)
	}
	for i, result := range read.Results {
		if result.Findings == nil || result.Inputs == nil || result.Checks == nil || result.Ignored == nil {
			t.Errorf("result %d has a list that is null", i)
		}
	}
}

func TestReportWithoutResultsHasAnEmptyList(t *testing.T) {
	var read map[string]any
	if err := json.Unmarshal([]byte(asJSON(t, of("verify"))), &read); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(read["results"], []any{}) || read["verdict"] != "undecided" || read["exit_code"] != 3.0 {
		t.Errorf("got %v", read)
	}
}

// chunks counts what a renderer hands over at once.
type chunks struct{ total, largest int }

func (c *chunks) Write(p []byte) (int, error) {
	c.total += len(p)
	c.largest = max(c.largest, len(p))
	return len(p), nil
}

func huge() finding.Report {
	f := difference(finding.EquivArguments, finding.Independent, 3, "tool call 0 (search)", "/events/3/tool_calls/0/normalized_args/q", `"cats"`, `"dogs"`)
	return of("diff", finding.Result{Verdict: finding.Divergent, Findings: slices.Repeat([]finding.Finding{f}, 50_000)})
}

func TestHugeReportIsStreamed(t *testing.T) {
	r := huge()
	var out chunks
	if err := report.JSON(&out, r); err != nil {
		t.Fatal(err)
	}
	if out.total < 50_000*400 || out.largest > 64<<10 {
		t.Errorf("%d bytes, %d at once", out.total, out.largest)
	}
	perFinding := testing.AllocsPerRun(1, func() { _ = report.JSON(&out, r) }) / 50_000
	if perFinding > 4 {
		t.Errorf("%.1f allocations a finding", perFinding)
	}
	text := asText(t, r, report.TextOptions{})
	if !strings.Contains(text, "+49979 more, see --format json") || len(text) > 20_000 {
		t.Errorf("%d bytes of text for 50000 findings", len(text))
	}
}

// full refuses everything.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrorsAreGivenBack(t *testing.T) {
	r := of("diff", divergent())
	for name, err := range map[string]error{
		"text":    report.Text(full{}, r, report.TextOptions{}),
		"quiet":   report.Text(full{}, r, report.TextOptions{Quiet: true}),
		"json":    report.JSON(full{}, r),
		"long":    report.JSON(full{}, huge()),
		"explain": report.Explain(full{}, finding.Lookup(finding.EquivRole), false),
		"reasons": report.Reasons(full{}),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	r := huge()
	var size bytes.Buffer
	if err := report.JSON(&size, r); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(size.Len()))
	for b.Loop() {
		if err := report.JSON(&chunks{}, r); err != nil {
			b.Fatal(err)
		}
	}
}
