package equiv_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// madeStream gives a stream of events of one turn with these kinds and payloads, one after the other from index first.
func madeStream(partial string, first int, kindsAndPayloads ...string) *equiv.Stream {
	s := &equiv.Stream{Path: "made.json", Partial: partial}
	var payloads []string
	for i := 0; i < len(kindsAndPayloads); i += 2 {
		s.Add(thread.Event{
			Index: first + i/2, Kind: thread.Kind(kindsAndPayloads[i]), ThreadID: "t", TurnID: "u", CorrelationID: "c",
		})
		payloads = append(payloads, kindsAndPayloads[i+1])
	}
	s.Payload = func(position int) ([]byte, error) { return []byte(payloads[position]), nil }
	return s
}

// X8: events of a kind that no rule knows are compared whole.
func TestUnknownKindsAreComparedWhole(t *testing.T) {
	left := madeStream("", 0, "OTHER", `{"a":1}`)
	if r := compareStreams(t, left, madeStream("", 0, "OTHER", `{"a": 1}`), equiv.Options{}); r.Verdict != finding.Equivalent {
		t.Errorf("%s with %+v", r.Verdict, r.Findings)
	}
	r := compareStreams(t, left, madeStream("", 0, "OTHER", `{"a":2}`), equiv.Options{})
	if r.Verdict != finding.Divergent || !slices.Equal(codesOf(r), []finding.Code{finding.StreamDiffKind}) {
		t.Errorf("%s with %+v", r.Verdict, r.Findings)
	}
}

// X8: of parts the common indices are compared, and equal parts prove nothing about the whole.
func TestPartsAreComparedAtTheirCommonIndices(t *testing.T) {
	whole := madeStream("", 0, "PROOF", `{"n":0}`, "PROOF", `{"n":1}`, "PROOF", `{"n":2}`)
	for _, tt := range []struct {
		part    *equiv.Stream
		verdict finding.Verdict
	}{
		{madeStream("a page", 1, "PROOF", `{"n":1}`), finding.Undecided},
		{madeStream("a page", 2, "PROOF", `{"n":2}`, "PROOF", `{"n":3}`), finding.Undecided},
		{madeStream("a page", 1, "PROOF", `{"n":7}`), finding.Divergent},
		{madeStream("a page", 9, "PROOF", `{"n":7}`), finding.Undecided},
	} {
		r := compareStreams(t, whole, tt.part, equiv.Options{})
		if r.Verdict != tt.verdict || !slices.Contains(codesOf(r), finding.StreamDiffPartial) {
			t.Errorf("%s with %+v, want %s", r.Verdict, r.Findings, tt.verdict)
		}
		checkStreamMirror(t, whole, tt.part, r)
	}
}

// X8: floats, which no digest may hold, are compared as they stand where nothing is digested.
func TestMembersWithoutACanonicalFormAreComparedAsTheyStand(t *testing.T) {
	left := madeStream("", 0, "PROOF", `{"n":1.5}`)
	for payload, want := range map[string]finding.Verdict{`{"n": 1.5}`: finding.Equivalent, `{"n":1.25}`: finding.Divergent, `{"n":null}`: finding.Divergent, `{}`: finding.Divergent} {
		if r := compareStreams(t, left, madeStream("", 0, "PROOF", payload), equiv.Options{}); r.Verdict != want {
			t.Errorf("%s: %s, want %s", payload, r.Verdict, want)
		}
	}
}

// X8: a payload that cannot be read again is an error, not a finding, at whatever point it is met.
func TestAPayloadThatIsGoneIsAnError(t *testing.T) {
	gone := errors.New("gone")
	for _, events := range []int{1, 2} {
		var kinds []string
		for range events {
			kinds = append(kinds, "PROOF", `{}`)
		}
		left, right := madeStream("", 0, "PROOF", `{}`), madeStream("", 0, kinds...)
		left.Payload = func(int) ([]byte, error) { return nil, gone }
		for _, sides := range [][2]*equiv.Stream{{left, right}, {right, left}} {
			if _, err := equiv.CompareStreams(sides[0], sides[1], equiv.Options{}); !errors.Is(err, gone) {
				t.Errorf("%d events: %v", events, err)
			}
		}
	}
}

// X8: pages of a store against the store, and a view of one thread against it.
func TestPagesOfTheGatewayAgainstTheirStore(t *testing.T) {
	gatewayFolders(t, "pages_of_s04", 5)
	whole := openStream(t, filepath.Join(gatewayVectors, "streams", "s04_interleaved", "trail.sqlite"))
	for _, page := range []string{"page_1", "page_2", "page_3", "lane_agent", "stream_billing", "lane_and_stream_page"} {
		r := compareStreams(t, whole, openStream(t, filepath.Join(gatewayVectors, "pages_of_s04", page+".json")), equiv.Options{})
		if want := []finding.Code{finding.StreamDiffPartial}; r.Verdict != finding.Undecided || !slices.Equal(codesOf(r), want) {
			t.Errorf("%s: %s with %s", page, r.Verdict, fmt.Sprint(codesOf(r)))
		}
	}
}
