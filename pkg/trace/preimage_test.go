package trace_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/trace"
)

func text(s string) trace.Field {
	return trace.Field{Raw: []byte(`"` + s + `"`), State: trace.Present}
}

// D8: what a native run records of a call stands in for what its trace does not carry, and for nothing that it does; before the
// tool ran there is no result.
func TestRecordedResultsArePreimages(t *testing.T) {
	event := func(interceptor string, call int, raw trace.Call) trace.Event {
		return trace.Event{
			Interceptor: text(interceptor), Calls: []trace.Call{raw},
			Stage: &trace.Stage{CallField: trace.Field{State: trace.Present}, Call: call},
		}
	}
	own := trace.Field{Raw: []byte(`"own"`), State: trace.Present}
	tr := trace.Trace{
		Commit: trace.Commit{Field: trace.Field{State: trace.Present}},
		Events: []trace.Event{
			event(trace.BeforeTool, 0, trace.Call{}),
			event("after_tool", 0, trace.Call{}),
			event("after_tool", 0, trace.Call{RawResult: own}),
			event("after_tool", 9, trace.Call{}),
			{Interceptor: text("after_tool"), Calls: []trace.Call{{}}},
		},
		Recording: &trace.Recording{
			Commit:      documentOf(t, `{"writes":[]}`),
			ToolResults: []trace.Document{documentOf(t, `{"turn":0,"attempt":0,"call":0,"args":{"a":1},"result":null,"side_effects":{}}`)},
		},
	}
	tr.TakePreimages()
	if string(tr.Commit.Writes.Raw) != "[]" {
		t.Errorf("writes %s", tr.Commit.Writes.Raw)
	}
	for i, want := range [][3]string{{`{"a":1}`, "", ""}, {`{"a":1}`, "null", "{}"}, {`{"a":1}`, `"own"`, "{}"}, {"", "", ""}, {"", "", ""}} {
		c := tr.Events[i].Calls[0]
		if got := [3]string{string(c.RawArgs.Raw), string(c.RawResult.Raw), string(c.RawSideEffect.Raw)}; got != want {
			t.Errorf("event %d: %q, want %q", i, got, want)
		}
		if c.RawResult.Raw != nil && !c.RawResult.Ok() {
			t.Errorf("event %d: a result of null is a result", i)
		}
	}
}

// P7: an event is of the kind that both its names say.
func TestKindOfAnEvent(t *testing.T) {
	for _, k := range trace.Catalogue() {
		e := trace.Event{Interceptor: text(k.Interceptor), Decision: text(k.Decision)}
		if got, ok := e.KindOf(); !ok || got.Name() != k.Name() {
			t.Errorf("%s: %v, %v", k.Name(), got, ok)
		}
		e.Decision = text("other")
		if _, ok := e.KindOf(); ok {
			t.Errorf("%s/other has a kind", k.Interceptor)
		}
	}
}
