package verify_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
	"github.com/dmpl/dmpl/pkg/verify"
)

// longStream gives the events of a stream of any length, four a turn, as valid as the real ones.
type longStream struct {
	prev  string
	chain string
}

var (
	longKinds    = [...]thread.Kind{thread.Intent, thread.Decision, thread.Proof, thread.Proof}
	longPayloads = [...]string{
		`{"message":"What is %d?","thread_id":"thread-%d","turn_id":"turn-%d"}`,
		`{"policy":{"policy_id":"p","policy_version":"1"},"result":"DENY","reasons":[{"code":"no"}],"transforms":[],"x":[%d,%d,%d]}`,
		`{"proof_type":"manual","a":[%d,%d,%d]}`,
		`{"proof_type":"manual","b":[%d,%d,%d]}`,
	}
)

func longPayload(position int) []byte {
	turn := position / 4
	return fmt.Appendf(nil, longPayloads[position%4], turn, turn/40, turn)
}

func (l *longStream) event(t *testing.T, position int) thread.Event {
	t.Helper()
	turn := position / 4
	e := thread.Event{
		Index: position, Kind: longKinds[position%4], PrevEventDigest: l.prev, Lane: "user_chat", StreamID: "default",
		ThreadID: fmt.Sprintf("thread-%d", turn/40), TurnID: fmt.Sprintf("turn-%d", turn), CorrelationID: fmt.Sprintf("corr-%d", turn),
		Actor: "user", IntentType: "chat.message", Payload: longPayload(position),
	}
	payload, err := thread.Read(e.Payload)
	if err != nil {
		t.Fatal(err)
	}
	d, err := thread.EventDigest(e.Kind, e.CorrelationID, payload)
	if err != nil {
		t.Fatal(err)
	}
	e.Digest, e.CanonLen = d.String(), d.Len
	l.prev, l.chain = e.Digest, thread.NextVDigest(l.chain, position, e.Digest)
	return e
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// dbl-gateway.md §9, V5: of an event at most 250 bytes are kept.
func TestStreamKeepsLittleOfAnEvent(t *testing.T) {
	const events = 60_000
	l := longStream{prev: thread.ChainSeed, chain: thread.ChainSeed}
	s := verify.NewStream(verify.StreamOptions{Path: "long.json"})
	before := heap()
	for i := range events {
		s.Add(l.event(t, i))
	}
	if kept := (heap() - before) / events; kept > 250 {
		t.Errorf("%d bytes are kept of an event", kept)
	} else {
		t.Logf("%d bytes are kept of an event", kept)
	}
	r, err := s.Result(verify.StreamSource{
		VDigest: l.chain, Whole: true, Payload: func(position int) ([]byte, error) { return longPayload(position), nil },
	})
	if err != nil || r.Verdict != finding.Pass {
		t.Errorf("verdict %s, error %v: %d findings", r.Verdict, err, len(r.Findings))
	}
}
