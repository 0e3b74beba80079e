package record

import (
	"context"
	"fmt"

	"github.com/dmpl/dmpl/pkg/execute"
)

// Model is a live model. An error ends the recording; execute.ErrNone says that there is no answer, so that the turn alone
// cannot go on.
type Model interface {
	Answer(ctx context.Context, prompt string) (execute.Output, error)
}

// Tools answers a call that an answer asks for; errors as of a Model.
type Tools func(ctx context.Context, tool string, args []byte) (execute.CallResult, error)

// Live gives the source of a recording that asks a live model, once for each attempt. Tools may be nil: no call has an answer then.
func Live(ctx context.Context, m Model, tools Tools) execute.Source { return live{ctx, m, tools} }

type live struct {
	ctx   context.Context
	model Model
	tools Tools
}

// onLines is a source whose tools may answer in any layout: a recording holds one line of each call.
type onLines struct{ execute.Source }

// Call implements execute.Source.
func (s onLines) Call(c execute.Call) (execute.CallResult, error) {
	r, err := s.Source.Call(c)
	if err != nil {
		return r, err
	}
	if r.Result, err = oneLineOf(r.Result); err == nil && r.SideEffects != nil {
		r.SideEffects, err = oneLineOf(r.SideEffects)
	}
	if err != nil {
		err = fmt.Errorf("turn %d, attempt %d, call %d: what the tool %s answered is no JSON that can be recorded: %w", c.Turn, c.Attempt, c.Number, c.Tool, err)
	}
	return r, err
}

// Output implements execute.Source.
func (l live) Output(_, _ int, prompt string) (execute.Output, error) {
	return l.model.Answer(l.ctx, prompt)
}

// Call implements execute.Source.
func (l live) Call(c execute.Call) (execute.CallResult, error) {
	if l.tools == nil {
		return execute.CallResult{}, execute.ErrNone
	}
	return l.tools(l.ctx, c.Tool, c.Args)
}
