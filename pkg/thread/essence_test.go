package thread_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/thread"
)

func essence(t *testing.T, e thread.Event) thread.Event {
	t.Helper()
	payload, err := e.Read()
	if err != nil {
		t.Fatal(err)
	}
	e.Payload = thread.AppendEssence([]byte("before"), e.Kind, payload)[len("before"):]
	return e
}

// X3: of an event's payload, its essence is all that reaches a context.
func TestEssenceGivesTheSameContexts(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		c := s.config
		whole, small := thread.NewLog(), thread.NewLog()
		for _, e := range s.events {
			whole.Append(e)
			small.Append(essence(t, e))
			if e.Kind != thread.Intent {
				continue
			}
			for _, expanded := range []bool{false, true} {
				c.ExpandHistory = expanded
				if a, b := built(t, e, c, whole), built(t, essence(t, e), c, small); a != b {
					t.Errorf("event %d\nwhole   %s\nessence %s", e.Index, a, b)
				}
			}
		}
	})
}

func built(t *testing.T, e thread.Event, c thread.Config, h thread.History) string {
	t.Helper()
	payload, err := e.Read()
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := thread.Build(payload, e.IntentType, c, h, thread.Gateway)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s %s %s %+v", ctx.Spec(), ctx.Assembled(), ctx.Transforms(), ctx.Resolution.Inputs)
}

func TestEssencesKeepABoundedNumberOfBytes(t *testing.T) {
	var kept thread.Essences
	intent, err := thread.Read([]byte(`{"message":"` + strings.Repeat("x", 300<<10) + `","inputs":{"a":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	var there []int
	for position := range 20 {
		kept.Add(position, thread.Intent, intent)
		text, ok := kept.Get(position)
		if !ok {
			continue
		}
		there = append(there, position)
		if !bytes.Equal(text, thread.AppendEssence(nil, thread.Intent, intent)) {
			t.Errorf("position %d: %.80s", position, text)
		}
	}
	if fmt.Sprint(there) != "[0 1 2 3 4 5]" {
		t.Errorf("positions %v are kept", there)
	}
	kept.Add(50, thread.Decision, intent)
	if _, ok := kept.Get(50); ok {
		t.Error("of a DECISION nothing reaches a context")
	}
}
