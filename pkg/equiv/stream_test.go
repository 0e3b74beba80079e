package equiv_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

const (
	threadFixtures = "../../fixtures/thread"
	gatewayVectors = "../../../shared/vectors/dbl-gateway"
)

func openStream(t testing.TB, path string) *equiv.Stream {
	t.Helper()
	s := &equiv.Stream{Path: path}
	read, err := dblgateway.Read(path, dialect.Options{}, func(e thread.Event) error {
		s.Add(e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close() })
	s.Payload, s.Findings, s.Partial = read.Payload, read.Shape, read.Reason
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
	Edits        []streamEdit
	Verdict      finding.Verdict
	Codes        []finding.Code // all errors, and the notes of the comparison
}

type streamEdit struct {
	At     string
	Value  any
	Remove bool
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

func snapshotOf(t testing.TB, stream string) any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(threadFixtures, "streams", stream, "snapshot.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func (e streamEdit) apply(v any) any {
	return edited(v, strings.Split(e.At, "/")[1:], e)
}

func edited(v any, path []string, e streamEdit) any {
	if len(path) == 0 {
		return e.Value
	}
	switch v := v.(type) {
	case map[string]any:
		if len(path) == 1 && e.Remove {
			delete(v, path[0])
			return v
		}
		v[path[0]] = edited(v[path[0]], path[1:], e)
		return v
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil {
			panic(err)
		}
		if len(path) == 1 && e.Remove {
			return slices.Delete(v, i, i+1)
		}
		v[i] = edited(v[i], path[1:], e)
		return v
	}
	panic("no such place: " + e.At)
}

func written(t testing.TB, snapshot any) string {
	t.Helper()
	raw, err := json.Marshal(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "snapshot.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
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
			snapshot := snapshotOf(t, tt.Stream)
			for _, e := range tt.Edits {
				snapshot = e.apply(snapshot)
			}
			left := openStream(t, filepath.Join(threadFixtures, "streams", tt.Stream, "trail.sqlite"))
			right := openStream(t, written(t, snapshot))
			r := compareStreams(t, left, right, equiv.Options{Timeline: true})
			codes := codesOf(r)
			if r.Verdict != tt.Verdict || !slices.Equal(codes, slices.Sorted(slices.Values(tt.Codes))) {
				t.Errorf("%s with %v, want %s with %v: %+v", r.Verdict, codes, tt.Verdict, tt.Codes, r.Findings)
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
	snapshot := streamEdit{At: "/events/4/payload/message", Value: "other"}.apply(snapshotOf(t, "s01_chat_refs"))
	left := openStream(t, filepath.Join(threadFixtures, "streams", "s01_chat_refs", "snapshot.json"))
	r := compareStreams(t, left, openStream(t, written(t, snapshot)), equiv.Options{Ignore: []string{"/events/*/payload/message"}})
	if r.Verdict != finding.Equivalent || len(r.Findings) > 0 {
		t.Errorf("%s with %+v", r.Verdict, r.Findings)
	}
}

// E11: an event that one side has not shifts the others, which is said once.
func TestAMissingEventIsAlignedInStreams(t *testing.T) {
	snapshot := streamEdit{At: "/events/7", Remove: true}.apply(snapshotOf(t, "s01_chat_refs"))
	snapshot = streamEdit{At: "/length", Value: 31}.apply(snapshot)
	for i := 7; i < 31; i++ {
		snapshot = streamEdit{At: fmt.Sprintf("/events/%d/index", i), Value: i}.apply(snapshot)
	}
	left := openStream(t, filepath.Join(threadFixtures, "streams", "s01_chat_refs", "snapshot.json"))
	r := compareStreams(t, left, openStream(t, written(t, snapshot)), equiv.Options{})
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
		for _, e := range snapshot.(map[string]any)["events"].([]any) {
			event := e.(map[string]any)
			if event["kind"] == "EXECUTION" {
				event["payload"] = otherTexts(event["payload"], &changed)
			}
		}
		if changed < 50 {
			t.Fatalf("%s: only %d texts were changed", name, changed)
		}
		left := openStream(t, filepath.Join(threadFixtures, "streams", name, "snapshot.json"))
		r := compareStreams(t, left, openStream(t, written(t, snapshot)), equiv.Options{})
		if r.Verdict != finding.Equivalent {
			t.Errorf("%s: %s with %+v", name, r.Verdict, r.Findings)
		}
	}
}

// otherTexts changes every text but the code of an error, which is no text but what kind of error it is.
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
			if name != "code" {
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
