package trace_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/dmpl/dmpl/pkg/trace"
)

// orket.md §6: the key that names a call's result file, under py-sorted: floats stay floats, NFC is not applied.
func TestReplayKey(t *testing.T) {
	tests := []struct {
		name, args, want string
	}{
		{"search", `{"limit":3,"q":"cats"}`, "ca5e83418f11"},
		{"search", `{ "q": "cats", "limit": 3 }`, "ca5e83418f11"},
		{"search", `{"limit":3.0,"q":"cats"}`, "7dc15bc90aa3"},
	}
	for _, tt := range tests {
		c := trace.Call{Name: present(`"` + tt.name + `"`), Args: present(tt.args)}
		if got, ok := c.ReplayKey(); !ok || got != tt.want {
			t.Errorf("%s %s: %s %v, want %s", tt.name, tt.args, got, ok, tt.want)
		}
	}
	for _, c := range []trace.Call{{}, {Name: present(`"a"`)}, {Args: present(`{}`)}, {Name: present(`"a"`), Args: present(`{"n":NaN}`)}} {
		if key, ok := c.ReplayKey(); ok {
			t.Errorf("%s %s has the key %s", c.Name.Raw, c.Args.Raw, key)
		}
	}
}

// orket.md §6: the keys are those that Orket made.
func TestReplayKeyOfOrket(t *testing.T) {
	const path = "../../../shared/vectors/orket/hashes/framed_hashes.json"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Logf("NOT RUN: %s is not beside this checkout", path)
		t.SkipNow()
	}
	var doc struct {
		Vectors []struct {
			Kind, SHA256 string
			Fields       []json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, v := range doc.Vectors {
		if v.Kind != "tool_replay_key" {
			continue
		}
		c := trace.Call{Name: present(string(v.Fields[0])), Args: present(string(v.Fields[1]))}
		if got, ok := c.ReplayKey(); !ok || got != v.SHA256[:trace.ReplayKeyDigits] {
			t.Errorf("%s: %s %v, want %s", v.Fields, got, ok, v.SHA256)
		}
		checked++
	}
	if checked == 0 {
		t.Error("no replay key among the vectors")
	}
}

// D8, orket.md §2: a foreign trace's arguments are the raw ones.
func TestRawArgs(t *testing.T) {
	both := &trace.Call{Args: present(`{"n":1}`), RawArgs: present(`{"raw":1}`)}
	normal := &trace.Call{Args: present(`{"n":1}`)}
	native, foreign := &trace.Trace{}, &trace.Trace{Foreign: true}
	tests := []struct {
		t    *trace.Trace
		c    *trace.Call
		want string
	}{
		{native, both, `{"raw":1}`}, {foreign, both, `{"raw":1}`}, {native, normal, ""}, {foreign, normal, `{"n":1}`}, {foreign, &trace.Call{}, ""},
	}
	for i, tt := range tests {
		if got := tt.t.RawArgs(tt.c); string(got) != tt.want {
			t.Errorf("%d: %s, want %s", i, got, tt.want)
		}
	}
}

// V5, orket.md §1: which result a call's fingerprint is held to, and what casts doubt on it.
func TestResults(t *testing.T) {
	search := call("search", `{"q":1}`, "f")
	key, ok := search.ReplayKey()
	if !ok {
		t.Fatal("no key")
	}
	other := call("search", `{"q":2}`, "f")
	kept := call("search", `{"q":1}`, "f")
	kept.RawResult = present(`{"kept":true}`)
	file := trace.ToolResult{Key: key, Data: []byte(`{"file":true}`)}
	after := func(calls ...trace.Call) trace.Event { return *event("a", nil, calls...) }
	before := after(search)
	before.Interceptor = present(`"` + trace.BeforeTool + `"`)
	tests := []struct {
		name   string
		trace  trace.Trace
		event  int
		raw    string
		doubt  bool
		called trace.Call
	}{
		{"kept in the trace", trace.Trace{Events: []trace.Event{after(kept)}, ToolResults: []trace.ToolResult{file}}, 0, `{"kept":true}`, false, kept},
		{"a file of its own", trace.Trace{Events: []trace.Event{before, after(search)}, ToolResults: []trace.ToolResult{file}}, 1, `{"file":true}`, false, search},
		{"before the tool ran", trace.Trace{Events: []trace.Event{before}, ToolResults: []trace.ToolResult{file}}, 0, "", false, search},
		{"no files", trace.Trace{Events: []trace.Event{after(search)}}, 0, "", false, search},
		{"a file of another call", trace.Trace{Events: []trace.Event{after(other)}, ToolResults: []trace.ToolResult{file}}, 0, "", false, other},
		{"two calls of one file", trace.Trace{Events: []trace.Event{after(search, search)}, ToolResults: []trace.ToolResult{file}}, 0, `{"file":true}`, true, search},
		{"a shared folder", trace.Trace{Events: []trace.Event{after(search)}, ToolResults: []trace.ToolResult{file}, SharedResults: true}, 0, `{"file":true}`, true, search},
		{"a call without a key", trace.Trace{Events: []trace.Event{after(trace.Call{})}, ToolResults: []trace.ToolResult{file}}, 0, "", false, trace.Call{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw, doubt := tt.trace.Results().Of(&tt.trace.Events[tt.event], &tt.called)
			if string(raw) != tt.raw || (doubt != "") != tt.doubt {
				t.Errorf("%s, doubt %q; want %s", raw, doubt, tt.raw)
			}
		})
	}
}
