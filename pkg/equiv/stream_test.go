package equiv_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
	"github.com/dmpl/dmpl/pkg/thread/threadtest"
	"github.com/dmpl/dmpl/pkg/verify"
)

const (
	threadFixtures = "../../fixtures/thread"
	gatewayVectors = "../../../shared/vectors/dbl-gateway"
)

// openStream reads and verifies a stream as dmpl diff does.
func openStream(t testing.TB, path string) *equiv.Stream {
	t.Helper()
	s, check := &equiv.Stream{Path: path}, verify.NewStream(verify.StreamOptions{Path: path})
	read, err := dblgateway.Read(path, dialect.Options{}, func(e thread.Event) error {
		s.Add(e)
		check.Add(e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close() })
	r, err := check.Result(verify.StreamSource{
		Length: read.Length, VDigest: read.VDigest, Whole: read.Whole, Reason: read.Reason, Shape: read.Shape, Payload: read.Payload,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Payload, s.Findings, s.Partial = read.Payload, r.Findings, read.Reason
	return s
}

func compareStreams(t testing.TB, left, right *equiv.Stream, o equiv.Options) finding.Result {
	t.Helper()
	r, err := equiv.CompareStreams(left, right, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// streamCase is a row of diff.json: a stream compared with a copy of itself in which something was changed.
type streamCase struct {
	Name, Stream string
	Edits        []threadtest.Edit
	Repair       bool
	Verdict      finding.Verdict
	Codes        []finding.Code // all errors, and the notes of the comparison
}

func streamCases(t testing.TB) []streamCase {
	t.Helper()
	var cases []streamCase
	raw, err := os.ReadFile(filepath.Join(threadFixtures, "diff.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &cases); err != nil || len(cases) < 30 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	return cases
}

func snapshotOf(t testing.TB, stream string) *threadtest.Snapshot {
	t.Helper()
	return threadtest.Load(t, filepath.Join(threadFixtures, "streams", stream, "snapshot.json"))
}

func codesOf(r finding.Result) []finding.Code {
	var codes []finding.Code
	for _, f := range r.Findings {
		codes = append(codes, f.Code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// X8: what is compared makes a difference, what is not makes none, and the mirrored comparison says the same.
func TestEachMemberOfAStreamCountsAsTheContractSays(t *testing.T) {
	for _, tt := range streamCases(t) {
		t.Run(tt.Name, func(t *testing.T) {
			snapshot := snapshotOf(t, tt.Stream).Apply(tt.Edits...)
			if tt.Repair {
				snapshot.Repair()
			}
			left := openStream(t, filepath.Join(threadFixtures, "streams", tt.Stream, "trail.sqlite"))
			right := openStream(t, snapshot.Write())
			r := compareStreams(t, left, right, equiv.Options{Timeline: true})
			codes := codesOf(r)
			if r.Verdict != tt.Verdict || !slices.Equal(codes, slices.Sorted(slices.Values(tt.Codes))) {
				t.Errorf("%s with %v, want %s with %v", r.Verdict, codes, tt.Verdict, tt.Codes)
			}
			checkStreamMirror(t, left, right, r)
			// A finding that is ignored by its code changes no verdict.
			if rest := compareStreams(t, left, right, equiv.Options{Ignore: asTexts(tt.Codes)}); len(rest.Findings) > 0 || rest.Verdict != finding.Equivalent {
				t.Errorf("with %v ignored: %s with %+v", tt.Codes, rest.Verdict, rest.Findings)
			}
		})
	}
}

func asTexts(codes []finding.Code) []string {
	var out []string
	for _, c := range codes {
		out = append(out, string(c))
	}
	return out
}

func checkStreamMirror(t *testing.T, left, right *equiv.Stream, r finding.Result) {
	t.Helper()
	mirror := compareStreams(t, right, left, equiv.Options{})
	if mirror.Verdict != r.Verdict || len(mirror.Findings) != len(r.Findings) {
		t.Fatalf("mirrored: %s with %d findings, not %s with %d", mirror.Verdict, len(mirror.Findings), r.Verdict, len(r.Findings))
	}
	for i, f := range r.Findings {
		m := mirror.Findings[i]
		if m.Code != f.Code || m.EventIndex != f.EventIndex || f.RightArtifact != "" && (!bytes.Equal(m.Expected, f.Actual) || !bytes.Equal(m.Actual, f.Expected)) {
			t.Errorf("mirrored: %+v, not %+v", m, f)
		}
	}
}

// X8: a pointer leaves out differences below it.
func TestAPointerLeavesOutDifferencesOfStreams(t *testing.T) {
	snapshot := snapshotOf(t, "s01_chat_refs").Apply(threadtest.Edit{At: "/events/30/payload/model_id", Value: "other"}).Repair()
	left := openStream(t, filepath.Join(threadFixtures, "streams", "s01_chat_refs", "snapshot.json"))
	r := compareStreams(t, left, openStream(t, snapshot.Write()), equiv.Options{Ignore: []string{"/events/*/payload/model_id", "/events/30/payload/payload_digest"}})
	if r.Verdict != finding.Equivalent || len(r.Findings) > 0 {
		t.Errorf("%s with %v", r.Verdict, codesOf(r))
	}
}

// E11: an event that one side has not shifts the others, which is said once.
func TestAMissingEventIsAlignedInStreams(t *testing.T) {
	snapshot := snapshotOf(t, "s01_chat_refs").Apply(threadtest.Edit{At: "/events/7", Remove: true}, threadtest.Edit{At: "/length", Value: 31})
	for i, e := range snapshot.Events() {
		e["index"] = i
	}
	snapshot.Repair()
	left := openStream(t, filepath.Join(threadFixtures, "streams", "s01_chat_refs", "snapshot.json"))
	r := compareStreams(t, left, openStream(t, snapshot.Write()), equiv.Options{})
	if r.Alignment == nil || r.Alignment.Note != "one extra event on the left at 7; right 7…30 equal left 8…31" {
		t.Fatalf("alignment %+v", r.Alignment)
	}
	for _, f := range r.Findings {
		if want := f.Code == finding.StreamDiffEventCount; f.Severity == finding.Error && want != (f.Class == finding.Root) {
			t.Errorf("%s at %d is %s", f.Code, f.EventIndex, f.Class)
		}
	}
}

// X8: no text of an EXECUTION makes two streams divergent, whatever it is and wherever it stands.
func TestNoTextOfAnExecutionMakesStreamsDivergent(t *testing.T) {
	for _, name := range []string{"s01_chat_refs", "s03_denies"} {
		snapshot := snapshotOf(t, name)
		changed := 0
		for _, event := range snapshot.Events() {
			if event["kind"] == "EXECUTION" {
				event["payload"] = otherTexts(event["payload"], &changed)
			}
		}
		if changed < 50 {
			t.Fatalf("%s: only %d texts were changed", name, changed)
		}
		left := openStream(t, filepath.Join(threadFixtures, "streams", name, "snapshot.json"))
		r := compareStreams(t, left, openStream(t, snapshot.Repair().Write()), equiv.Options{})
		if r.Verdict != finding.Equivalent {
			t.Errorf("%s: %s with %v", name, r.Verdict, codesOf(r))
		}
	}
}

// otherTexts changes every text but the code of an error, which says what kind of error it is, and digests.
func otherTexts(v any, changed *int) any {
	switch v := v.(type) {
	case string:
		*changed++
		return v + " changed"
	case []any:
		for i := range v {
			v[i] = otherTexts(v[i], changed)
		}
	case map[string]any:
		for name := range v {
			if name != "code" && !strings.HasSuffix(name, "_digest") {
				v[name] = otherTexts(v[name], changed)
			}
		}
	}
	return v
}

// X8: a store equals itself from JSON and SQLite.
func TestAStreamEqualsItself(t *testing.T) {
	for _, name := range []string{"s01_chat_refs", "s03_denies", "s15_lone_surrogates"} {
		dir := filepath.Join(threadFixtures, "streams", name)
		snapshot, trail := openStream(t, filepath.Join(dir, "snapshot.json")), openStream(t, filepath.Join(dir, "trail.sqlite"))
		for _, pair := range [][2]*equiv.Stream{{snapshot, snapshot}, {snapshot, trail}, {trail, snapshot}, {trail, trail}} {
			r := compareStreams(t, pair[0], pair[1], equiv.Options{})
			if r.Verdict != finding.Equivalent || slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule() == "X8" }) {
				t.Errorf("%s, %s: %s with %+v", pair[0].Path, pair[1].Path, r.Verdict, r.Findings)
			}
		}
	}
}
