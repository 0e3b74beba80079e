package equiv_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// manyIntents is a stream of INTENTs that say text; at one index the message is another one.
func manyIntents(n int, text string) *equiv.Stream {
	s := &equiv.Stream{Path: text + ".json"}
	for i := range n {
		s.Add(thread.Event{Index: i, Kind: thread.Intent, ThreadID: "th", TurnID: "tu", CorrelationID: "c"})
	}
	s.Payload = func(position int) ([]byte, error) {
		if position == n-1 {
			return fmt.Appendf(nil, `{"other":%q}`, text), nil
		}
		return fmt.Appendf(nil, `{"message":%q}`, text), nil
	}
	return s
}

// E11, Z1: of very many differences a bounded number is listed, and those that are not still make the streams divergent.
func TestDifferencesOfStreamsAreBounded(t *testing.T) {
	const events = finding.MostListed + 50
	left, right := manyIntents(events, "left"), manyIntents(events, "right")
	r := compareStreams(t, left, right, equiv.Options{})
	if n := len(r.Findings); r.Verdict != finding.Divergent || n != finding.MostListed+1 {
		t.Errorf("verdict %s, %d findings", r.Verdict, n)
	}
	last := r.Findings[len(r.Findings)-1]
	if last.Detail != "50 more of this kind are not listed" || last.EventIndex != finding.MostListed || last.Code != finding.StreamDiffIntent {
		t.Errorf("the last is %+v", last)
	}
	want := finding.Check{ID: "X8.intent", Status: finding.Failed, Count: events}
	if !slices.Contains(r.Checks, want) {
		t.Errorf("checks %+v", r.Checks)
	}
	// A place takes out what is listed there, and nothing that nobody sees: the last event differs elsewhere.
	if r = compareStreams(t, left, right, equiv.Options{Ignore: []string{"/events/*/payload/message"}}); r.Verdict != finding.Divergent || len(r.Findings) != 1 {
		t.Errorf("without messages: verdict %s, %d findings", r.Verdict, len(r.Findings))
	}
	if r = compareStreams(t, left, right, equiv.Options{Ignore: []string{string(finding.StreamDiffIntent)}}); r.Verdict != finding.Equivalent {
		t.Errorf("without its code: verdict %s, %+v", r.Verdict, r.Findings)
	}
}
