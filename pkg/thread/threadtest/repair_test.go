package threadtest_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/thread/threadtest"
)

func load(t *testing.T, name string) *threadtest.Snapshot {
	return threadtest.Load(t, filepath.Join("..", "..", "..", "fixtures", "thread", "streams", name, "snapshot.json"))
}

// X6: every digest of a real stream is the one that Repair computes, so that a repaired stream is wrong in nothing but
// what was changed.
func TestRepairLeavesARealStreamAlone(t *testing.T) {
	for _, name := range []string{"s01_chat_refs", "s03_denies"} {
		s := load(t, name)
		before := s.JSON()
		if after := s.Repair().JSON(); !bytes.Equal(before, after) {
			t.Errorf("%s: a digest changed", name)
		}
	}
}

// X6: what was changed stays, and every digest over it follows.
func TestRepairFollowsAChange(t *testing.T) {
	s := load(t, "s01_chat_refs").Apply(threadtest.Edit{At: "/events/0/payload/message", Value: "other"})
	before := load(t, "s01_chat_refs").Events()
	after := s.Repair().Events()
	digest := func(events []map[string]any, i int) any { return events[i]["digest"] }
	ref := func(events []map[string]any) any {
		spec := events[5]["payload"].(map[string]any)["context_spec"].(map[string]any)
		return spec["retrieval"].(map[string]any)["resolved_refs"].([]any)[0].(map[string]any)["event_digest"]
	}
	if digest(before, 0) == digest(after, 0) || digest(before, 5) == digest(after, 5) {
		t.Error("the digest of a changed event is the old one")
	}
	if ref(before) != digest(before, 0) || ref(after) != digest(after, 0) {
		t.Error("the reference does not follow its event")
	}
	if after[1]["prev_event_digest"] != digest(after, 0) || after[0]["payload"].(map[string]any)["message"] != "other" {
		t.Error("the chain does not follow, or the change is gone")
	}
}
