package verify_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
	"github.com/dmpl/dmpl/pkg/verify"
)

const (
	gatewayFolder = "../../../shared/vectors/dbl-gateway"
	streamFolder  = "../../fixtures/thread"
)

// codeOf names the code for each check name of the vectors; docs/formats/dbl-gateway.md has the same table. The two replay
// checks re-run a policy, which cannot be had offline.
var codeOf = map[string]finding.Code{
	"event_digest_mismatch":        finding.StreamEventDigest,
	"event_digest_error":           finding.StreamEventDigest,
	"canon_len_mismatch":           finding.StreamCanonLen,
	"v_digest":                     finding.StreamVDigest,
	"prev_event_digest_chain":      finding.StreamPrevEventDigest,
	"index_gap":                    finding.StreamIndexGap,
	"assembly_digest_mismatch":     finding.StreamAssemblyDigest,
	"context_digest_mismatch":      finding.StreamContextDigest,
	"exec_context_digest_mismatch": finding.StreamExecContext,
	"config_digest_mismatch":       finding.StreamConfigDigest,
	"reassembly_mismatch":          finding.StreamReassembly,
	"reassembly_content_mismatch":  finding.StreamReassemblyContent,
	"reassembly_error":             finding.StreamReassemblyError,
	"resolved_ref_digest_mismatch": finding.StreamRefDigest,
	"resolved_ref_cross_thread":    finding.StreamCrossThread,
	"normative_not_prior_intent":   finding.StreamNormative,
	"order_violation":              finding.StreamOrder,
	"trace_digest_mismatch":        finding.StreamTraceDigest,
	"intent_link_mismatch":         finding.StreamIntentLink,
	"release_digest_mismatch":      finding.StreamReleaseDigest,
	"render_digest_mismatch":       finding.StreamRenderDigest,
	"decision_fields_inconsistent": finding.StreamDecisionFields,
	"identity_column_mismatch":     finding.StreamIdentityColumns,
	"turn_columns_inconsistent":    finding.StreamTurnColumns,
	"spec_vs_assembled_refs":       finding.StreamSpecRefs,
	"replay_mismatch":              "",
	"replay_error":                 "",
}

// beyondVectors are the checks of the seed's assertions that the vectors do not name: what fails one of them fails another too.
var beyondVectors = []finding.Code{finding.StreamConfigPin, finding.StreamGovernance, finding.StreamNormalization, finding.StreamRefOrder}

func contextConfig(t *testing.T, dir string) *thread.Config {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "context.json"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := thread.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	c, err := thread.ParseConfig(v)
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

func verifyStream(t testing.TB, path string, c *thread.Config) finding.Result {
	t.Helper()
	return verifyStreamWith(t, verify.StreamOptions{Path: path, Config: c})
}

func verifyStreamWith(t testing.TB, o verify.StreamOptions) finding.Result {
	t.Helper()
	path := o.Path
	s := verify.NewStream(o)
	stream, err := dblgateway.Read(path, dialect.Options{}, func(e thread.Event) error { s.Add(e); return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	r, err := s.Result(verify.StreamSource{
		Length: stream.Length, VDigest: stream.VDigest, Whole: stream.Whole, Reason: stream.Reason, Shape: stream.Shape, Payload: stream.Payload,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// streamFiles gives the streams of a folder, snapshots and trails.
func streamFiles(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"snapshot.json*", "*.sqlite", "*.sqlite.gz"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	// The log of our live store is compressed, so that nobody opens it in place: without it there is no stream.
	if _, err := os.Stat(filepath.Join(dir, "live.sqlite-wal.gz")); err == nil {
		files = slices.DeleteFunc(files, func(f string) bool { return filepath.Base(f) == "live.sqlite" })
	}
	if len(files) == 0 {
		t.Fatalf("no stream in %s", dir)
	}
	return files
}

func folders(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// vectors gives the given streams of a kind; none, and loudly, where they are missing.
func vectors(t *testing.T, name string) []string {
	t.Helper()
	given := filepath.Join(gatewayFolder, name)
	if _, err := os.Stat(given); err != nil {
		t.Logf("VECTORS NOT RUN, THEY ARE MISSING: %s", given)
		return nil
	}
	return folders(t, given)
}

func errorsOf(r finding.Result) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f finding.Finding) bool { return f.Severity != finding.Error })
}

// X6: every stream of the real gateway is clean, from the snapshot and from the trail.
func TestStreamsVerifyClean(t *testing.T) {
	for _, dir := range append(folders(t, filepath.Join(streamFolder, "streams")), vectors(t, "streams")...) {
		for _, path := range streamFiles(t, dir) {
			t.Run(filepath.Base(dir)+"/"+filepath.Base(path), func(t *testing.T) {
				r := verifyStream(t, path, contextConfig(t, dir))
				if r.Verdict != finding.Pass || len(errorsOf(r)) > 0 {
					t.Errorf("verdict %s: %+v", r.Verdict, errorsOf(r))
				}
			})
		}
	}
}

// failedChecks are check names with the places where they fail: an index, an object with one, or true.
type failedChecks map[string]json.RawMessage

func (f failedChecks) indices(t *testing.T, name string) []int {
	t.Helper()
	var entries []json.RawMessage
	if string(f[name]) == "true" {
		return []int{finding.NoEvent}
	}
	if err := json.Unmarshal(f[name], &entries); err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, e := range entries {
		var at struct{ Index int }
		if err := json.Unmarshal(e, &at.Index); err != nil {
			if err := json.Unmarshal(e, &at); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, at.Index)
	}
	return out
}

// X6: every tampering is found where the vectors say that it shows, and what no check covers passes.
func TestTamperedStreamsFail(t *testing.T) {
	for _, dir := range vectors(t, "tampered") {
		text, err := os.ReadFile(filepath.Join(dir, "oracle.json"))
		if err != nil {
			t.Fatal(err)
		}
		var oracle struct {
			Failed failedChecks `json:"new_failed_checks"`
		}
		if err := json.Unmarshal(text, &oracle); err != nil {
			t.Fatal(err)
		}
		for _, path := range streamFiles(t, dir) {
			t.Run(filepath.Base(dir)+"/"+filepath.Base(path), func(t *testing.T) {
				checkTampered(t, verifyStream(t, path, contextConfig(t, dir)), oracle.Failed)
			})
		}
	}
}

func checkTampered(t *testing.T, r finding.Result, failed failedChecks) {
	t.Helper()
	expected := map[finding.Code][]int{}
	for name := range failed {
		code, ok := codeOf[name]
		if !ok {
			t.Fatalf("the check %s has no code", name)
		}
		if code != "" {
			expected[code] = append(expected[code], failed.indices(t, name)...)
		}
	}
	got := errorsOf(r)
	for code, indices := range expected {
		for _, index := range indices {
			if !slices.ContainsFunc(got, func(f finding.Finding) bool { return f.Code == code && f.EventIndex == index }) {
				t.Errorf("no %s at event %d", code, index)
			}
		}
	}
	for _, f := range got {
		// A trail states the number of its events besides their indices: a gap shows twice.
		ofStore := f.EventIndex == finding.NoEvent && expected[f.Code] != nil
		if !slices.Contains(expected[f.Code], f.EventIndex) && !ofStore && !slices.Contains(beyondVectors, f.Code) {
			t.Errorf("not expected: %s at event %d: %s (%s, %s)", f.Code, f.EventIndex, f.Detail, f.Expected, f.Actual)
		}
	}
	if (len(expected) == 0) != (r.Verdict == finding.Pass) {
		t.Errorf("verdict %s for %v", r.Verdict, expected)
	}
	if len(r.Ignored) == 0 {
		t.Error("the report does not say what no check covers")
	}
}

// Z5: the page of the format names each check of the vectors with its code.
func TestFormatPageNamesEveryCheck(t *testing.T) {
	page, err := os.ReadFile("../../docs/formats/dbl-gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, code := range codeOf {
		row := "| `" + name + "` | `" + string(code) + "` |"
		if code == "" {
			row = "| `" + name + "` | not checked |"
		}
		if !strings.Contains(string(page), row) {
			t.Errorf("the page has no row %s", row)
		}
	}
	for _, code := range beyondVectors {
		if !strings.Contains(string(page), " | `"+string(code)+"` |") {
			t.Errorf("the page has no row for %s", code)
		}
	}
}

// dbl-gateway.md §2, V5: a page fails nothing, and says which checks it cannot make.
func TestPagesSayWhatTheyCannotShow(t *testing.T) {
	pages := filepath.Join(gatewayFolder, "pages_of_s04")
	if _, err := os.Stat(pages); err != nil {
		t.Logf("VECTORS NOT RUN, THEY ARE MISSING: %s", pages)
		return
	}
	for _, name := range []string{"page_1", "page_2", "page_3", "lane_agent", "lane_and_stream_page", "stream_billing", "past_the_end"} {
		t.Run(name, func(t *testing.T) {
			r := verifyStream(t, filepath.Join(pages, name+".json"), nil)
			if r.Verdict != finding.Pass {
				t.Errorf("verdict %s: %+v", r.Verdict, errorsOf(r))
			}
			i := slices.IndexFunc(r.Checks, func(c finding.Check) bool { return c.ID == "X6.v_digest" })
			if i < 0 || r.Checks[i].Status != finding.NotChecked || !strings.Contains(r.Checks[i].Reason, "of 96 events") {
				t.Errorf("v_digest of a page: %+v", r.Checks)
			}
		})
	}
}

// X4, V5: without a configuration nothing fails, and what needs one is not checked.
func TestStreamWithoutConfigurationSaysWhatIsNotChecked(t *testing.T) {
	r := verifyStream(t, filepath.Join(streamFolder, "streams", "s01_chat_refs", "snapshot.json"), nil)
	if r.Verdict != finding.Pass {
		t.Errorf("verdict %s", r.Verdict)
	}
	for _, id := range []string{"X6.config_digest", "X6.reassembly", "X7.policy"} {
		i := slices.IndexFunc(r.Checks, func(c finding.Check) bool { return c.ID == id })
		if i < 0 || r.Checks[i].Status != finding.NotChecked || r.Checks[i].Count != 8 {
			t.Errorf("%s: %+v", id, r.Checks)
		}
	}
}

// V5: checked claims over all claims must reach what is required.
func TestStreamCoverage(t *testing.T) {
	dir := filepath.Join(streamFolder, "streams", "s01_chat_refs")
	for _, tt := range []struct {
		percent int
		config  *thread.Config
		want    finding.Verdict
	}{{0, nil, finding.Pass}, {1, contextConfig(t, dir), finding.Pass}, {100, nil, finding.Fail}} {
		r := verifyStreamWith(t, verify.StreamOptions{Path: filepath.Join(dir, "snapshot.json"), Config: tt.config, Coverage: tt.percent})
		short := slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Code == finding.DigestCoverage })
		if r.Verdict != tt.want || short != (tt.want == finding.Fail) {
			t.Errorf("%d %%: %s, %+v of the claims", tt.percent, r.Verdict, *r.Coverage)
		}
	}
}

// BenchmarkStream checks a stream of 2,000 turns with its contexts assembled again.
func BenchmarkStream(b *testing.B) {
	path := filepath.Join(gatewayFolder, "streams", "s10_large_2000", "snapshot.json.gz")
	if _, err := os.Stat(path); err != nil {
		b.Skipf("NOT RUN, VECTORS MISSING: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "context.json"))
	if err != nil {
		b.Fatal(err)
	}
	v, err := thread.Read(text)
	if err != nil {
		b.Fatal(err)
	}
	c, err := thread.ParseConfig(v)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		verifyStream(b, path, &c)
	}
}
