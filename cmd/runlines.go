package cmd

import (
	"fmt"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/record"
	"github.com/dmpl/dmpl/pkg/trace"
)

// answers are the files of a run whose lines belong to turns, and what a stage outside of dmpl gave.
var answers = [...]func(*trace.Recording) *[]trace.Document{
	func(r *trace.Recording) *[]trace.Document { return &r.Outputs },
	func(r *trace.Recording) *[]trace.Document { return &r.ToolResults },
	func(r *trace.Recording) *[]trace.Document { return &r.Candidates },
}

// ofTurn gives the lines of a turn. They are grouped once: a run may have very many.
func (in *inputs) ofTurn(turn int) *trace.Recording {
	if in.byTurn == nil {
		in.byTurn = map[int]*trace.Recording{}
		for _, lines := range answers {
			for _, d := range *lines(in.recording) {
				n, ok := d.Int("turn")
				if !ok {
					continue
				}
				if in.byTurn[n] == nil {
					in.byTurn[n] = &trace.Recording{}
				}
				of := lines(in.byTurn[n])
				*of = append(*of, d)
			}
		}
	}
	if r := in.byTurn[turn]; r != nil {
		return r
	}
	return &trace.Recording{}
}

// candidatesOf gives the lines of candidates of a turn.
func (in *inputs) candidatesOf(turn int) []record.Text {
	var list []record.Text
	for _, d := range in.ofTurn(turn).Candidates {
		list = append(list, record.Text{Path: d.Path, At: d.At, JSON: d.Value.Raw()})
	}
	return list
}

// turnsExist refuses a line of a turn that is not there: nothing would read it.
func (in *inputs) turnsExist() error {
	for _, d := range slices.Concat(in.recording.Outputs, in.recording.ToolResults, in.recording.Candidates) {
		if turn, ok := d.Int("turn"); !ok || turn < 0 || turn >= len(in.turns) {
			return &execute.Error{Path: d.Path, Pointer: d.At + "/turn", Detail: fmt.Sprintf("there is no such turn: %d are given", len(in.turns))}
		}
	}
	return nil
}

// answered refuses an answer that is known to belong to another prompt: recorded as the answer to this one it would always
// replay as equal (R2).
func (in *inputs) answered(turn int, t *execute.Turn) error {
	if t.Result == nil || in.relabel {
		return nil
	}
	for attempt := range t.Result.Attempts {
		d, ok := in.recording.Output(turn, attempt)
		if stated := d.Field("/prompt_digest"); ok && stated.Ok() && !stated.Is(t.Result.Attempts[attempt].Prompt.SHA256().Hex()) {
			return &execute.Error{
				Path: d.Path, Pointer: d.At + "/prompt_digest",
				Detail: "the output answered another prompt: leave the member out to record it as the answer to this one",
			}
		}
	}
	return nil
}

// unused refuses answers that nothing has asked for (R2): a recording holds what belongs to it.
func (in *inputs) unused(source *execute.Recorded) error {
	for _, d := range in.recording.Outputs {
		turn, _ := d.Int("turn")
		attempt, _ := d.Int("attempt")
		if !source.Outputs[[2]int{turn, attempt}] {
			return &execute.Error{Path: d.Path, Pointer: d.At, Detail: fmt.Sprintf("nothing asks for the output of turn %d, attempt %d", turn, attempt)}
		}
	}
	for _, d := range in.recording.ToolResults {
		turn, _ := d.Int("turn")
		attempt, _ := d.Int("attempt")
		call, _ := d.Int("call")
		if !source.Results[[3]int{turn, attempt, call}] {
			return &execute.Error{Path: d.Path, Pointer: d.At, Detail: fmt.Sprintf("nothing asks for the tool result of turn %d, attempt %d, call %d", turn, attempt, call)}
		}
	}
	for _, c := range source.Other {
		d, _ := in.recording.ToolResult(c.Turn, c.Attempt, c.Number)
		return &execute.Error{Path: d.Path, Pointer: d.At, Detail: fmt.Sprintf("is the result of another call: %s with %s is asked for", c.Tool, c.Args)}
	}
	return nil
}

// link gives the inputs of one turn as those of a run of its own: its number is 0.
func (in *inputs) link(turn int) (*inputs, error) {
	one := *in
	given := in.turns[turn]
	doc, err := numbered(given, 0)
	if err != nil {
		return nil, err
	}
	one.turns = []record.Text{{Path: given.Path, At: given.At, JSON: doc.Value.Raw()}}
	one.recording, one.byTurn = &trace.Recording{}, nil
	for _, lines := range answers {
		for _, d := range *lines(in.ofTurn(turn)) {
			again, err := numbered(record.Text{Path: d.Path, At: d.At, JSON: d.Value.Raw()}, 0)
			if err != nil {
				return nil, err
			}
			to := lines(one.recording)
			*to = append(*to, again)
		}
	}
	return &one, nil
}

// numbered gives a line another turn.
func numbered(line record.Text, turn int64) (trace.Document, error) {
	doc, err := record.Parse(line)
	if err != nil {
		return doc, err
	}
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		for _, m := range doc.Value.Members() {
			if m.Name == "turn" {
				w.Integer("turn", turn)
				continue
			}
			w.Raw(m.Name, m.Value.Raw())
		}
	})
	doc.Value, err = canon.Parse(w.Bytes())
	return doc, err
}
