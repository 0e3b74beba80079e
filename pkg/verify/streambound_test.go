package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
	"github.com/dmpl/dmpl/pkg/verify"
)

// V6: however many events break a rule, the findings are bounded, the checks count all of them, and the verdict stays.
func TestFindingsOfAStreamAreBounded(t *testing.T) {
	const events = finding.MostListed + 50
	for _, whole := range []bool{true, false} {
		s := verify.NewStream(verify.StreamOptions{Path: "s.json"})
		for i := range events {
			s.Add(thread.Event{Index: 2 * i, Kind: thread.Proof, ThreadID: "th", TurnID: "tu", CorrelationID: "c", Payload: []byte(`{}`), Digest: "none", PrevEventDigest: "none"})
		}
		r, err := s.Result(verify.StreamSource{Whole: whole, Reason: "a page"})
		if err != nil || r.Verdict != finding.Fail {
			t.Fatalf("whole %t: verdict %s (%v)", whole, r.Verdict, err)
		}
		if n := len(r.Findings); n > 2*finding.MostListed+10 {
			t.Errorf("whole %t: %d findings", whole, n)
		}
		status, reason := finding.NotChecked, "a page"
		if whole {
			status, reason = finding.Failed, ""
		}
		for id, want := range map[string]finding.Check{
			"X6.event_digest": {ID: "X6.event_digest", Status: finding.Failed, Count: events},
			"X6.index":        {ID: "X6.index", Status: status, Count: events - 1, Reason: reason}, // the first is in its place
		} {
			if got := checkOf(r, id, want.Status); got != want {
				t.Errorf("whole %t: %+v, not %+v", whole, got, want)
			}
			code := finding.Code("stream." + strings.TrimPrefix(id, "X6."))
			if id == "X6.index" {
				code = finding.StreamIndexGap
			}
			if n := counted(t, r, code); want.Status == finding.Failed && n != want.Count {
				t.Errorf("whole %t: %d findings of %s are listed or counted, not %d", whole, n, code, want.Count)
			}
		}
	}
}

func checkOf(r finding.Result, id string, status finding.Status) finding.Check {
	for _, c := range r.Checks {
		if c.ID == id && c.Status == status {
			return c
		}
	}
	return finding.Check{}
}

// counted gives how many findings of a code a result stands for.
func counted(t *testing.T, r finding.Result, code finding.Code) int {
	t.Helper()
	n := 0
	for _, f := range r.Findings {
		if f.Code != code {
			continue
		}
		more := 1
		if strings.HasSuffix(f.Detail, "more of this kind are not listed") {
			if _, err := fmt.Sscanf(f.Detail, "%d more", &more); err != nil {
				t.Fatal(err)
			}
		}
		n += more
	}
	return n
}
