package execute

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/trace"
)

// tools writes the events of the calls of an attempt; false where one has no answer, so that the turn ends.
func (t *turn) tools(attempt int) (bool, error) {
	var calls []answered
	if attempt < len(t.calls) {
		calls = t.calls[attempt]
	}
	for i := range calls {
		if err := t.called(attempt, &calls[i]); err != nil {
			return false, err
		}
	}
	if t.asked == nil || t.asked.Attempt != attempt { // a later attempt may have a call without an answer
		return true, nil
	}
	if t.asked.profile != nil {
		if err := t.ready(attempt, t.asked); err != nil {
			return false, err
		}
	}
	return false, t.fail(attempt, StageFailed, nil, "")
}

// called writes both events of a call and its result.
func (t *turn) called(attempt int, c *answered) error {
	result, err := c.profile.Fingerprint(c.result.Result, c.profile.Result)
	if err != nil {
		return err
	}
	effects := ""
	if len(c.profile.SideEffects) > 0 && c.result.SideEffects != nil {
		if effects, err = c.profile.Fingerprint(c.result.SideEffects, c.profile.SideEffects); err != nil {
			return err
		}
	}
	if err := t.ready(attempt, &c.asked); err != nil {
		return err
	}
	err = t.write(event{
		interceptor: "after_tool", decision: "tool_call_result", stage: t.call(attempt, &c.asked),
		call: func(w *document.Writer) { c.write(w, result, effects) },
	})
	if err != nil {
		return err
	}
	return t.line(ToolResultsFile, attempt, func(w *document.Writer) {
		w.Integer("call", int64(c.Number))
		w.Text("tool_name", c.Tool)
		w.Raw("args", c.Args)
		w.Raw("result", c.result.Result)
		if c.result.SideEffects != nil {
			w.Raw("side_effects", c.result.SideEffects)
		}
	})
}

// ready writes before_tool/tool_call_ready: there is no result yet, so that its fingerprint is that of nothing.
func (t *turn) ready(attempt int, c *asked) error {
	nothing, err := canon.Digest(canon.JSONv1, []byte("{}"))
	if err != nil {
		return err
	}
	return t.write(event{
		interceptor: trace.BeforeTool, decision: "tool_call_ready", stage: t.call(attempt, c),
		call: func(w *document.Writer) { c.write(w, nothing.Hex(), "") },
	})
}

func (t *turn) call(attempt int, c *asked) func(*document.Writer) {
	return t.place(attempt, func(w *document.Writer) { w.Integer("call", int64(c.Number)) })
}

func (c *asked) write(w *document.Writer, result, effects string) {
	w.Text("tool_name", c.Tool)
	w.Text("tool_profile_version", c.profile.Version)
	w.Raw("normalized_args", c.args)
	w.Text("normalization_version", trace.NormalizationVersion)
	w.Text("tool_result_fingerprint", result)
	if effects != "" {
		w.Text("side_effect_fingerprint", effects)
	}
}
