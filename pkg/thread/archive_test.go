package thread_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/dmpl/dmpl/pkg/thread"
)

// randomEvents gives events of few ids, so that they share threads, turns and correlation ids in every way.
func randomEvents(r *rand.Rand, n int) []thread.Event {
	ids := []string{"", "a", "b", "c", "d", "e", "f", "g", "h"}
	kinds := []thread.Kind{thread.Intent, thread.Decision, thread.Execution, thread.Proof, "OTHER"}
	types := []string{"chat.message", "chat.message", "artifact.handle"}
	digests := []string{"sha256:" + hexDigits, "sha256:no digest", "", hexDigits}
	events := make([]thread.Event, n)
	for i := range events {
		events[i] = thread.Event{
			Index: i * 2, Kind: kinds[r.IntN(len(kinds))], ThreadID: ids[r.IntN(3)], TurnID: ids[r.IntN(len(ids))],
			CorrelationID: ids[r.IntN(len(ids))], IntentType: types[r.IntN(len(types))], Digest: digests[r.IntN(len(digests))],
			Payload: fmt.Appendf(nil, `{"message":"m%d","output_text":"o%d"}`, i, i),
		}
	}
	return events
}

const hexDigits = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// bare is what a context is made of.
func bare(e thread.Event) thread.Event {
	if e.Kind != thread.Intent && e.Kind != thread.Execution {
		e.Payload = nil
	}
	return e
}

// X1: an archive answers for every turn as a log does that ends with it.
func TestArchiveAnswersAsALogDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		events := randomEvents(r, 60)
		payload := func(position int) ([]byte, error) { return events[position].Payload, nil }
		var archive thread.Archive
		for _, e := range events {
			archive.Add(e)
		}
		logs := map[string]*thread.Log{}
		for position, e := range events {
			if logs[e.ThreadID] == nil {
				logs[e.ThreadID] = thread.NewLog()
			}
			log, history := logs[e.ThreadID], archive.History(position, payload)
			log.Append(bare(e))
			for _, id := range []string{"", "a", "b", "c", "d", "e", "f", "g", "h", "unknown"} {
				want, known, _ := log.Find(id)
				if got, ok, err := history.Find(id); err != nil || ok != known || !reflect.DeepEqual(got, want) {
					t.Fatalf("event %d, id %q: %+v, %t, %v; want %+v, %t", position, id, got, ok, err, want, known)
				}
			}
			for n := range 4 {
				want, _ := log.Edges(n)
				if got, err := history.Edges(n); err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
					t.Fatalf("event %d, last %d turns: %+v, %v; want %+v", position, n, got, err, want)
				}
			}
		}
		if archive.Count() != len(events) {
			t.Errorf("%d events", archive.Count())
		}
	}
}

func TestArchivePassesOnWhatThePayloadsSourceSays(t *testing.T) {
	gone := errors.New("gone")
	var archive thread.Archive
	if archive.Count() != 0 {
		t.Error("an empty archive holds events")
	}
	archive.Add(thread.Event{Kind: thread.Intent, ThreadID: "t", TurnID: "u", CorrelationID: "c"})
	history := archive.History(0, func(int) ([]byte, error) { return nil, gone })
	if _, ok, err := history.Find("c"); ok || !errors.Is(err, gone) {
		t.Errorf("found %t, error %v", ok, err)
	}
	if events, err := history.Edges(1); events != nil || !errors.Is(err, gone) {
		t.Errorf("events %v, error %v", events, err)
	}
}
