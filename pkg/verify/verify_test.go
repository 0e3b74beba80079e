package verify_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/orket"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
	"github.com/dmpl/dmpl/pkg/verify"
)

const noDigest = "0000000000000000000000000000000000000000000000000000000000000000"

// small is the text of a valid native trace with one event, one call and the given further members.
func small(call, root string) string {
	return `{"run_id":"r","workflow_id":"w","memory_snapshot_id":"1","visibility_mode":"buffered_write","model_config_id":"m","policy_set_id":"p",
	"determinism_trace_schema_version":"memory.determinism_trace.v1","events":[{"event_id":"e","index":0,"role":"a","interceptor":"after_tool",
	"decision_type":"d","tool_calls":[{"tool_name":"t","tool_profile_version":"v1","normalized_args":{"q":"x"},"normalization_version":"json-v1",
	"tool_result_fingerprint":"` + noDigest + `"` + call + `}],"guardrails_triggered":[],"retrieval_event_ids":[]}],
	"output":{"output_type":"table","output_shape_hash":"` + noDigest + `","normalization_version":"json-v1"}` + root + `}`
}

func parse(t *testing.T, text, rows string) *dialect.Artifact {
	t.Helper()
	o := dialect.Options{}
	if rows != "" {
		o.Retrieval, o.Stdin = "-", strings.NewReader(rows)
	}
	a, err := orket.Reader{}.Read(&dialect.File{Path: "-", Data: []byte(text)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// digestOf is the digest of a JSON text under json-v1.
func digestOf(t *testing.T, text string) string {
	t.Helper()
	sum, err := canon.Digest(canon.JSONv1, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sum.Hex()
}

// status gives how a check ended, each outcome once.
func status(r finding.Result, id string) string {
	var out []string
	for _, c := range r.Checks {
		if c.ID == id {
			out = append(out, string(c.Status))
		}
	}
	return strings.Join(out, " ")
}

// V5, D1, D2: what a preimage, a profile and a digest say together.
func TestClaims(t *testing.T) {
	profiles := trace.Profiles{{
		Name: "t", Version: "v1", Args: []string{"q"}, Result: []string{"hits"}, SideEffects: []string{"rows"}, Datetimes: []string{"/when"},
	}}
	right := digestOf(t, `{"rows":1}`)
	tests := []struct {
		name, call string
		profiles   trace.Profiles
		check      string
		want       string
		code       finding.Code
	}{
		{"raw args without a profile, equal", `,"args":{"q":"x"}`, nil, "V5.normalized_args", "pass", ""},
		{"raw args without a profile, different", `,"args":{"q":"x","r":1}`, nil, "V5.normalized_args", "not_checked", ""},
		{"raw args selected", `,"args":{"q":"x","r":1}`, profiles, "V5.normalized_args", "pass", ""},
		{"raw args selected, different", `,"args":{"q":"y"}`, profiles, "V5.normalized_args", "fail", finding.DigestArguments},
		{"raw args without a canonical form", `,"args":{"q":1e400}`, profiles, "V5.normalized_args", "fail", finding.CanonNumberRange},
		{"no raw args", ``, profiles, "V5.normalized_args", "not_checked", ""},
		{"result wrong", `,"result":{"hits":1}`, profiles, "V5.tool_result_fingerprint", "fail", finding.DigestMismatch},
		{"result wrong, no profile", `,"result":{"hits":1}`, nil, "V5.tool_result_fingerprint", "not_checked", ""},
		{"result without a canonical form", `,"result":{"hits":1e400}`, profiles, "V5.tool_result_fingerprint", "fail", finding.CanonNumberRange},
		{"no result", ``, profiles, "V5.tool_result_fingerprint", "not_checked", ""},
		{"side effect right", `,"side_effects":{"rows":1,"x":2},"side_effect_fingerprint":"` + right + `"`, profiles, "V5.side_effect_fingerprint", "pass", ""},
		{"side effect of the whole", `,"side_effects":{"rows":1},"side_effect_fingerprint":"` + right + `"`, nil, "V5.side_effect_fingerprint", "pass", ""},
		{"side effect wrong", `,"side_effects":{"rows":2},"side_effect_fingerprint":"` + right + `"`, profiles, "V5.side_effect_fingerprint", "fail", finding.DigestMismatch},
		{"side effect wrong, no profile", `,"side_effects":{"rows":2},"side_effect_fingerprint":"` + right + `"`, nil, "V5.side_effect_fingerprint", "not_checked", ""},
		{"side effect without a canonical form", `,"side_effects":{"rows":1e400},"side_effect_fingerprint":"` + right + `"`, profiles, "V5.side_effect_fingerprint", "fail", finding.CanonNumberRange},
		{"side effect without a preimage", `,"side_effect_fingerprint":"` + right + `"`, profiles, "V5.side_effect_fingerprint", "not_checked", ""},
		{"side effect required", ``, profiles, "V5.side_effect_fingerprint", "fail", finding.DigestSideEffect},
		{"side effect opaque", `,"side_effect_fingerprint":"ok"`, profiles, "V5.side_effect_fingerprint", "not_checked", finding.DigestOpaque},
		{"no side effect", ``, nil, "V5.side_effect_fingerprint", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := parse(t, small(tt.call, ""), "")
			r := verify.Trace(a.Trace, a.Shape, verify.Options{Profiles: tt.profiles})
			if got := status(r, tt.check); got != tt.want {
				t.Errorf("%s: %q, want %q", tt.check, got, tt.want)
			}
			if tt.code != "" && !slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
				return f.Code == tt.code && strings.HasPrefix(f.Pointer, "/events/0/tool_calls/0/")
			}) {
				t.Errorf("no %s in %v", tt.code, codes(r.Findings, func(finding.Finding) bool { return true }))
			}
		})
	}
}

// V3, D4: exactly one of a seed and the statement that there is none; a recorded guarantee stands for a seed.
func TestSeed(t *testing.T) {
	tests := []struct {
		config, want string
	}{
		{`{"seed":7}`, "pass"},
		{`{"seed":0}`, "pass"},
		{`{"seed":null}`, "fail"},
		{`{}`, "fail"},
		{`{"stochastic_unseeded":true}`, "fail"},
		{`{"seed":7,"stochastic_unseeded":true}`, "fail"},
		{`{"seed":7,"stochastic_unseeded":false}`, "pass"},
		{`{"stochastic_unseeded":true,"provider_guarantee":"greedy decoding is deterministic"}`, "pass"},
		{`{"stochastic_unseeded":true,"provider_guarantee":""}`, "fail"},
		{`{"stochastic_unseeded":true,"provider_guarantee":true}`, "fail"},
	}
	for _, tt := range tests {
		a := parse(t, small("", `,"model_config":`+tt.config), "")
		r := verify.Trace(a.Trace, a.Shape, verify.Options{})
		if got := status(r, "V3.seed"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.config, got, tt.want)
		}
	}
	a := parse(t, small("", ""), "")
	if got := status(verify.Trace(a.Trace, a.Shape, verify.Options{}), "V3.seed"); got != "not_checked" {
		t.Errorf("no configuration: %q", got)
	}
}

// V5: coverage is checked claims over all claims; nothing to check is no coverage.
func TestCoverage(t *testing.T) {
	a := parse(t, strings.Replace(small(``, ``), `"normalization_version":"json-v1"}}`, `"normalization_version":"json-v1","structure":{"type":"table"}}}`, 1), "")
	a.Trace.Output.ShapeHash.Raw = []byte(`"` + digestOf(t, `{"type":"table"}`) + `"`)
	tests := []struct {
		least int
		want  finding.Verdict
	}{{0, finding.Pass}, {50, finding.Pass}, {51, finding.Fail}, {100, finding.Fail}}
	for _, tt := range tests {
		r := verify.Trace(a.Trace, a.Shape, verify.Options{Coverage: tt.least})
		if r.Verdict != tt.want || *r.Coverage != (finding.Coverage{Checked: 1, Claims: 2}) {
			t.Errorf("at least %d %%: %s, %+v", tt.least, r.Verdict, *r.Coverage)
		}
	}
	empty := verify.Trace(&trace.Trace{}, nil, verify.Options{Coverage: 1})
	if empty.Verdict != finding.Fail || empty.Coverage.Claims != 0 {
		t.Errorf("no claims: %s", empty.Verdict)
	}
}

var statedDigest = regexp.MustCompile(
	`"(tool_result_fingerprint|side_effect_fingerprint|output_shape_hash|model_config_id|commit_id|commit_payload_fingerprint)": "(sha256:)?[0-9a-f]{64}"`)

// V5: every digest that counts as checked can fail. One digit of it is changed, and it is a mismatch, or, where the
// selection is not known, no longer checked.
func TestEveryCheckedDigestCanFail(t *testing.T) {
	checked := 0
	paths, err := filepath.Glob(checkFolder + "/*/memory_trace.json")
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d traces, %v", len(paths), err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		o := verify.Options{}
		if folder := filepath.Join(filepath.Dir(path), "profiles"); exists(folder) {
			if o.Profiles, _, err = orket.ReadProfiles(folder, 0); err != nil {
				t.Fatal(err)
			}
		}
		before, ok := verifyText(t, path, data, o)
		if !ok || before.Verdict != finding.Pass {
			continue
		}
		failing := 0
		for _, at := range statedDigest.FindAllIndex(data, -1) {
			changed := bytes.Clone(data)
			digit := &changed[at[1]-2]
			*digit = map[bool]byte{true: '1', false: '0'}[*digit == '0']
			after, _ := verifyText(t, path, changed, o)
			mismatch := slices.ContainsFunc(after.Findings, func(f finding.Finding) bool { return f.Code == finding.DigestMismatch })
			if mismatch || after.Coverage.Checked < before.Coverage.Checked {
				failing++
			}
		}
		if failing != before.Coverage.Checked {
			t.Errorf("%s: %d digests are checked and %d of them can fail", path, before.Coverage.Checked, failing)
		}
		checked += failing
	}
	if checked < 20 {
		t.Errorf("%d digests in all the fixtures", checked)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func verifyText(t *testing.T, path string, data []byte, o verify.Options) (finding.Result, bool) {
	t.Helper()
	a, err := orket.Reader{}.Read(&dialect.File{Path: path, Data: data}, dialect.Options{})
	if err != nil {
		return finding.Result{}, false
	}
	return verify.Trace(a.Trace, a.Shape, o), true
}

// V2: links and rows of every kind; one row of each id counts.
func TestLinks(t *testing.T) {
	row := func(id, run, event string) string {
		return fmt.Sprintf(`{"retrieval_event_id":%q,"run_id":%q,"event_id":%q,"policy_id":"p","policy_version":"v1","query_normalization_version":"json-v1",
		"query_fingerprint":"q","retrieval_mode":"m","candidate_count":0,"selected_records":[],"applied_filters":{},
		"retrieval_trace_schema_version":"memory.retrieval_trace.v1"}`, id, run, event)
	}
	tests := []struct {
		name, links, rows string
		want              []string
		status            string
	}{
		{"linked", `["r0"]`, "[" + row("r0", "r", "e") + "]", nil, "pass"},
		{"dangling", `["r1"]`, "[" + row("r0", "r", "e") + "]", []string{"trace.link_dangling", "trace.row_unlinked"}, "fail"},
		{"other run", `["r0"]`, "[" + row("r0", "s", "e") + "]", []string{"trace.link_elsewhere"}, "fail"},
		{"other event", `["r0"]`, "[" + row("r0", "r", "f") + "]", []string{"trace.link_elsewhere"}, "fail"},
		{"twice", `["r0"]`, "[" + row("r0", "r", "e") + "," + row("r0", "r", "e") + "]", []string{"trace.row_twice", "trace.row_unlinked"}, "fail"},
		{"unlinked", `[]`, "[" + row("r0", "r", "e") + "]", []string{"trace.row_unlinked"}, "pass"},
		{"no rows given", `["r0"]`, "", nil, "not_checked"},
		{"no rows given and none named", `[]`, "", nil, "pass"},
		{"malformed rows", `["r0"]`, `{"events":7}`, []string{"shape.type"}, "not_checked"},
		{"no text", `[7]`, "[]", []string{"shape.type"}, "pass"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(small("", ""), `"retrieval_event_ids":[]`, `"retrieval_event_ids":`+tt.links, 1)
			a := parse(t, text, tt.rows)
			r := verify.Trace(a.Trace, a.Shape, verify.Options{})
			got := codes(r.Findings, func(f finding.Finding) bool {
				return strings.HasPrefix(string(f.Code), "trace.") || strings.HasPrefix(string(f.Code), "shape.")
			})
			if !slices.Equal(got, tt.want) || status(r, "V2.links") != tt.status {
				t.Errorf("%v, %s; want %v, %s", got, status(r, "V2.links"), tt.want, tt.status)
			}
		})
	}
}
