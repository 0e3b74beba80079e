package dblgateway_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

const (
	fixtures = "../../../fixtures/thread/streams"
	vectors  = "../../../../shared/vectors/dbl-gateway"
)

// vectorFolder gives a folder of the given vectors, or says loudly that nothing was checked against them.
func vectorFolder(t *testing.T, name string) (string, bool) {
	t.Helper()
	dir := filepath.Join(vectors, name)
	if _, err := os.Stat(dir); err != nil {
		t.Logf("!! NOT CHECKED: %s is not there, only %s was read", dir, fixtures)
		return "", false
	}
	return dir, true
}

// read reads a whole stream and keeps its events.
func read(t *testing.T, path string, o dialect.Options) (*dblgateway.Stream, []thread.Event) {
	t.Helper()
	s, events, err := tryRead(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, events
}

// sameValue compares two documents member by member: one of them may be folded.
func sameValue(a, b canon.Value) bool {
	return bytes.Equal(a.Raw(), b.Raw()) && a.InDBL() == b.InDBL() && slices.EqualFunc(a.Elements(), b.Elements(), sameValue) &&
		slices.EqualFunc(a.Members(), b.Members(), func(a, b canon.Member) bool { return a.Name == b.Name && sameValue(a.Value, b.Value) })
}

func tryRead(path string, o dialect.Options) (*dblgateway.Stream, []thread.Event, error) {
	var events []thread.Event
	s, err := dblgateway.Read(path, o, func(e thread.Event) error {
		document, err := e.Read()
		if again, errAgain := thread.Read(e.Payload); err != nil || errAgain != nil || !sameValue(document, again) {
			return fmt.Errorf("%s: the document of event %d is not its payload: %v, %v", path, e.Index, err, errAgain)
		}
		e.Payload, e.Document = bytes.Clone(e.Payload), canon.Value{} // both are the reader's
		events = append(events, e)
		return nil
	})
	return s, events, err
}

// sameEvents holds two lists of events to each other. Payloads are equal as values: a snapshot is UTF-8, a trail ASCII.
func sameEvents(t *testing.T, a, b []thread.Event) {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%d events against %d", len(a), len(b))
	}
	for i := range a {
		if !samePayload(a[i].Payload, b[i].Payload) {
			t.Errorf("event %d: payloads differ:\n%s\n%s", i, a[i].Payload, b[i].Payload)
		}
		x, y := a[i], b[i]
		x.Payload, y.Payload = nil, nil
		if !reflect.DeepEqual(x, y) {
			t.Errorf("event %d:\n%+v\n%+v", i, x, y)
		}
	}
}

// samePayload compares under py-sorted, which keeps floats and normalises no text; it has no form for lone surrogates.
func samePayload(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, err := canon.Append(nil, a, canon.PySorted)
	if err != nil {
		return false
	}
	y, err := canon.Append(nil, b, canon.PySorted)
	return err == nil && bytes.Equal(x, y)
}

func codes(fs []finding.Finding) []finding.Code {
	var codes []finding.Code
	for _, f := range fs {
		codes = append(codes, f.Code)
	}
	return codes
}

// folders gives the folders of streams below a root that hold both forms.
func folders(t *testing.T, root string) []string {
	t.Helper()
	snapshots, err := filepath.Glob(filepath.Join(root, "*", "snapshot.json*"))
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, name := range snapshots {
		if _, err := os.Stat(trailOf(name)); err == nil {
			dirs = append(dirs, filepath.Dir(name))
		}
	}
	if len(dirs) == 0 {
		t.Fatalf("no streams below %s", root)
	}
	return dirs
}

func trailOf(snapshot string) string {
	return strings.Replace(snapshot, "snapshot.json", "trail.sqlite", 1)
}

func TestSnapshotAndTrailGiveTheSameModel(t *testing.T) {
	dirs := folders(t, fixtures)
	for _, name := range []string{"streams", "tampered"} {
		if root, ok := vectorFolder(t, name); ok {
			dirs = append(dirs, folders(t, root)...)
		}
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			snapshot := filepath.Join(dir, "snapshot.json")
			if _, err := os.Stat(snapshot); err != nil {
				snapshot += ".gz"
			}
			s, events := read(t, snapshot, dialect.Options{})
			tr, rows := read(t, trailOf(snapshot), dialect.Options{})
			sameEvents(t, events, rows)
			if s.Kind != dblgateway.KindSnapshot || tr.Kind != dblgateway.KindTrail {
				t.Errorf("kinds %s and %s", s.Kind, tr.Kind)
			}
			if !s.Whole || !tr.Whole || s.Reason != "" || s.VDigest != tr.VDigest || s.VDigest == "" || s.Count != len(events) || tr.Count != len(events) {
				t.Errorf("snapshot %+v\ntrail %+v", s, tr)
			}
			// A snapshot's length is the number of rows; the trail keeps the index of its last event.
			gap := int64(0)
			if strings.HasSuffix(dir, "drop_gap") {
				gap = 1
			}
			if *s.Length+gap != *tr.Length || *s.Offset != *tr.Offset {
				t.Errorf("length %d, offset %d against %d, %d", *s.Length, *s.Offset, *tr.Length, *tr.Offset)
			}
			if len(codes(s.Shape)) != len(codes(tr.Shape)) {
				t.Errorf("findings %v against %v", s.Shape, tr.Shape)
			}
			for i, e := range events {
				for _, stream := range []*dblgateway.Stream{s, tr} {
					again, err := stream.Payload(i)
					if err != nil || !samePayload(again, e.Payload) {
						t.Fatalf("payload %d read again: %v", i, err)
					}
				}
			}
		})
	}
}

func TestEventHasEveryMember(t *testing.T) {
	for _, name := range []string{"snapshot.json", "trail.sqlite"} {
		s, events := read(t, filepath.Join(fixtures, "s01_chat_refs", name), dialect.Options{})
		if s.Count != 32 || *s.Length != 32 || s.VDigest != "5b47ab9bc4db568f218d84f169a76966af5c65d73332688117905f5ff26e5ca5" {
			t.Errorf("%s: %+v", name, s)
		}
		e := events[0]
		if !bytes.HasPrefix(e.Payload, []byte(`{"_obs":{"trace_id":"66bddcfc49de4854a7a7eb45b41b2ebb"}`)) || !bytes.HasSuffix(e.Payload, []byte(`"turn_id":"turn-1"}`)) {
			t.Errorf("%s: payload %s", name, e.Payload)
		}
		e.Payload = nil
		want := thread.Event{
			Index: 0, Kind: "INTENT", PrevEventDigest: "sha256:" + strings.Repeat("0", 64), Lane: "user_chat", ThreadID: "thread-alpha",
			TurnID: "turn-1", Actor: "user", IntentType: "chat.message", StreamID: "default", CorrelationID: "corr-1",
			Digest: "sha256:e165b22f68e4a21ed6af63327d90b538442992f5926cde856048d0b08de786aa", CanonLen: 555,
		}
		if !reflect.DeepEqual(e, want) {
			t.Errorf("%s: %+v", name, e)
		}
		if next := events[4]; !next.HasParent || next.ParentTurnID == "" || next.Index != 4 {
			t.Errorf("%s: %+v", name, next)
		}
	}
}

func TestLoneSurrogatesSurviveWithANote(t *testing.T) {
	for _, name := range []string{"snapshot.json", "trail.sqlite"} {
		path := filepath.Join(fixtures, "s15_lone_surrogates", name)
		s, events := read(t, path, dialect.Options{})
		if !bytes.Contains(events[0].Payload, []byte(`"message":"lone high \ud800 here"`)) {
			t.Errorf("%s: %s", name, events[0].Payload)
		}
		if len(s.Shape) != 1 {
			t.Fatalf("%s: findings %+v", name, s.Shape)
		}
		f := s.Shape[0]
		if f.Code != finding.ShapeTolerated || f.Severity != finding.Note || f.EventIndex != 0 || f.Pointer != "/events/0" || f.Artifact != path {
			t.Errorf("%s: %+v", name, f)
		}
		if !strings.Contains(f.Detail, "more places") {
			t.Errorf("%s: detail %q", name, f.Detail)
		}
	}
}

func TestPagesSayWhatIsNotThere(t *testing.T) {
	dir, ok := vectorFolder(t, "pages_of_s04")
	if !ok {
		return
	}
	tests := []struct {
		name   string
		count  int
		first  int
		offset int64
		reason string
	}{
		{"page_1.json", 40, 0, 0, "the snapshot holds 40 of 96 events: a page of limit 40"},
		{"page_2.json", 40, 40, 40, "the snapshot holds 40 of 96 events: a page from offset 40"},
		{"page_3.json", 16, 80, 80, "the snapshot holds 16 of 96 events: a page from offset 80"},
		{"past_the_end.json", 0, -1, 96, "the snapshot holds 0 of 96 events: a page from offset 96"},
		{"lane_and_stream_page.json", 5, 3, 3, "the snapshot holds 5 of 96 events: a page from offset 3"},
		{"lane_agent.json", 48, 4, 0, "the snapshot holds 48 of 96 events and its limit would allow more: a view of one stream or lane, or events were taken out"},
		{"stream_billing.json", 24, 4, 0, "the snapshot holds 24 of 96 events and its limit would allow more: a view of one stream or lane, or events were taken out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, events := read(t, filepath.Join(dir, tt.name), dialect.Options{})
			first := -1
			if len(events) > 0 {
				first = events[0].Index
			}
			if s.Whole || s.Reason != tt.reason || s.Count != tt.count || *s.Offset != tt.offset || *s.Length != 96 || first != tt.first || len(s.Shape) != 0 {
				t.Errorf("first %d, %+v", first, s)
			}
		})
	}
	for _, name := range []string{"timeline_il-0.json", "verify_chain.json", "replay_il-1_t5.json"} {
		_, _, err := tryRead(filepath.Join(dir, name), dialect.Options{})
		wantProblem(t, err, finding.InputUnrecognised, "")
	}
}

func TestDetectLooksAtTheContent(t *testing.T) {
	tests := []struct {
		name, content string
		want          bool
		code          finding.Code
	}{
		{"snapshot", `{"length":0,"offset":0,"v_digest":"x","events":[]}`, true, ""},
		{"events first", `{"events":[{"a":[1]}],"length":1}`, true, ""},
		{"only v_digest", `{"v_digest":"x","events":[]}`, true, ""},
		{"lone surrogate before the decision", `{"events":["\ud800"],"length":1}`, true, ""},
		{"lone surrogate in another file", `{"events":["\ud800"],"lengths":1}`, false, ""},
		{"sqlite", "SQLite format 3\x00rest", true, ""},
		{"events alone", `{"events":[]}`, false, ""},
		{"nested", `{"a":{"length":0,"events":[]}}`, false, ""},
		{"a list", `[1]`, false, ""},
		{"text", `hello`, false, ""},
		{"nothing", ``, false, ""},
		{"broken", `{"events":[}`, false, finding.CanonInvalidJSON},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := dblgateway.Detect(&dialect.File{Path: "f", Data: []byte(tt.content)})
			if tt.code != "" {
				wantProblem(t, err, tt.code, "f")
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %v, error %v", got, err)
			}
		})
	}
}

func TestStandardInputAndGzipGiveTheSameAsTheFile(t *testing.T) {
	spool := t.TempDir()
	t.Setenv("TMPDIR", spool)
	for _, name := range []string{"snapshot.json", "trail.sqlite"} {
		path := filepath.Join(fixtures, "s01_chat_refs", name)
		plain, events := read(t, path, dialect.Options{Digests: true})
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		packed := gzipped(t, data)
		packedPath := filepath.Join(t.TempDir(), "packed")
		if err := os.WriteFile(packedPath, packed, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, in := range []struct {
			path  string
			stdin []byte
			bytes int
			same  bool
		}{{"-", data, len(data), true}, {"-", packed, len(packed), false}, {packedPath, nil, len(packed), false}} {
			s, got, err := tryRead(in.path, dialect.Options{Stdin: bytes.NewReader(in.stdin), Digests: true})
			if err != nil {
				t.Fatal(err)
			}
			sameEvents(t, events, got)
			input := s.Inputs[0]
			if input.Path != in.path || input.Bytes != int64(in.bytes) || (input.SHA256 == plain.Inputs[0].SHA256) != in.same || len(input.SHA256) != 64 {
				t.Errorf("input %+v", input)
			}
			if raw, err := s.Payload(31); err != nil || !samePayload(raw, events[31].Payload) {
				t.Errorf("payload read again: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if left, err := os.ReadDir(spool); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gunzipped(t testing.TB, path string) []byte {
	t.Helper()
	s, err := dialect.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	data, err := io.ReadAll(s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
