package trace

import "github.com/dmpl/dmpl/pkg/canon"

// ReplayKeyDigits is the number of hex digits of a replay key in the name of a tool result file.
const ReplayKeyDigits = 12

// ReplayKey gives the head of Orket's framed hash of a call's tool name and arguments, in the canonical form py-sorted:
// it names the file that holds the call's raw result (orket.md §6). Two calls with equal name and arguments share one.
func (c *Call) ReplayKey() (string, bool) {
	if !c.Name.Ok() || !c.Args.Ok() {
		return "", false
	}
	framed := append([]byte(`{"v":1,"kind":"tool_replay_key","fields":[`), c.Name.Raw...)
	framed = append(framed, ',')
	framed = append(framed, c.Args.Raw...)
	framed = append(framed, "]}"...)
	sum, err := canon.Digest(canon.PySorted, framed)
	if err != nil {
		return "", false
	}
	return sum.Hex()[:ReplayKeyDigits], true
}

// RawArgs gives the raw arguments of a call: those kept beside the normalised ones (CONTRACT D8), or the normalised
// ones of a foreign trace, whose runtime writes raw arguments there (orket.md §2); nil when there are none.
func (t *Trace) RawArgs(c *Call) []byte {
	switch {
	case c.RawArgs.Ok():
		return c.RawArgs.Raw
	case t.Foreign && c.Args.Ok():
		return c.Args.Raw
	}
	return nil
}

// BeforeTool is the interceptor that records a call before the tool has run: its fingerprint says nothing of a result
// (orket.md §2).
const BeforeTool = "before_tool"

// Results finds the raw results of a trace's calls among its tool result files.
type Results struct {
	files  []ToolResult
	shared bool
	served map[string]int // calls that a file served, by key
}

// Results counts how many calls each tool result file served: calls with equal name and arguments overwrite one
// another's file (orket.md §1).
func (t *Trace) Results() *Results {
	r := &Results{files: t.ToolResults, shared: t.SharedResults, served: map[string]int{}}
	if len(r.files) == 0 {
		return r
	}
	for i := range t.Events {
		e := &t.Events[i]
		for j := range e.Calls {
			if key, ok := e.Calls[j].ReplayKey(); ok && !e.Interceptor.Is(BeforeTool) {
				r.served[key]++
			}
		}
	}
	return r
}

// Of gives the raw result of a call of an event: kept in the trace (CONTRACT D8), or in a file of its own. It is nil
// when there is none. Doubt says why a digest of it that does not match proves nothing; "" when it does.
func (r *Results) Of(e *Event, c *Call) (raw []byte, doubt string) {
	if c.RawResult.Ok() {
		return c.RawResult.Raw, ""
	}
	if len(r.files) == 0 || e.Interceptor.Is(BeforeTool) {
		return nil, ""
	}
	key, ok := c.ReplayKey()
	if !ok {
		return nil, ""
	}
	for _, f := range r.files {
		if f.Key != key {
			continue
		}
		switch {
		case r.served[key] > 1:
			return f.Data, "one tool result file served several calls"
		case r.shared:
			return f.Data, "several traces share the folder of the tool result file"
		}
		return f.Data, ""
	}
	return nil, ""
}
