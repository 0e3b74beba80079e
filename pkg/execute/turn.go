package execute

import (
	"errors"
	"fmt"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/trace"
)

// The types of on_turn_failure (P7).
const (
	OutputMissing    = "output_missing"
	ReferenceRefused = "reference_refused"
	AdmissionDenied  = "admission_denied"
	StageFailed      = "stage_failed"
)

// Turn is what became of a turn.
type Turn struct {
	Result  *pipeline.TurnResult // nil where the turn ended before retrieval
	Failure string               // of on_turn_failure; empty for none
	Reason  string               // why the turn failed, for people
}

// turn is a turn while it is executed.
type turn struct {
	run     *Run
	doc     trace.Document
	number  int
	role    string
	input   pipeline.TurnInput
	config  pipeline.TurnConfig
	source  Source
	context *canon.Sum // with references only
	queries []query
	calls   [][]answered
	asked   *asked // the call that has no answer
	abort   error  // what ends the execution
	report  Turn
}

// answered is a call with its answer.
type answered struct {
	asked
	result CallResult
}

// asked is a call under the profile of its tool.
type asked struct {
	Call
	profile *trace.ToolProfile
	args    []byte // normalised (D1)
}

// Turn executes the next turn. Candidates are what backends returned for it (R7). The error is an *Error for a turn that is
// malformed, or the source's or the sink's.
func (r *Run) Turn(doc trace.Document, candidates pipeline.Candidates, source Source) (*Turn, error) {
	t, err := r.open(doc, candidates, source)
	if err != nil {
		return nil, err
	}
	if err := t.execute(); err != nil {
		return nil, err
	}
	r.last = ending{failure: t.report.Failure}
	if t.report.Result != nil && t.report.Failure == "" {
		r.last.dialogue = dotnet.UTF8(t.report.Result.Dialogue()) // C1: no document of a run has half a surrogate pair
		r.refused = r.refused || t.report.Result.Fallback != nil
	} else {
		r.refused = true
	}
	report := t.report
	return &report, nil
}

func (r *Run) open(doc trace.Document, candidates pipeline.Candidates, source Source) (*turn, error) {
	o := document.Open(doc.Value)
	t := &r.turn
	*t = turn{run: r, doc: doc, source: source, role: trace.Agent, queries: t.queries[:0]}
	t.number = o.Int("turn", 0)
	t.input, t.config = pipeline.ReadRunTurn(o, r.config)
	if err := o.Err(); err != nil {
		return nil, fault(doc, err)
	}
	if t.input.NPCID != "" {
		t.role = t.input.NPCID
	}
	t.input.Query.Candidates = candidates
	t.input.Tools = t.answer
	return t, nil
}

// execute goes through the stages and records what they made.
func (t *turn) execute() error {
	if ok, err := t.admit(); err != nil || !ok {
		return err
	}
	if live := t.run.o.Live; live != nil { // M2: the head, and not the start snapshot
		head, err := live.Head()
		if err != nil {
			return err
		}
		t.run.start = head
	}
	before := t.run.start
	if t.run.o.Visibility == Off { // M2: no reads
		before = memory.State{PersonaID: before.PersonaID, NextSequence: 1}
	}
	d, err := t.run.scene.Open(func(pipeline.Dispatched) {})
	if err != nil {
		return err
	}
	defer d.Close()
	system := memory.NewSystem(memory.DMPLv1, before, memory.At(t.input.Query.SnapshotTime), nil)
	result, err := pipeline.RunTurn(system, &t.input, &t.config, t.model, d, memory.DMPLv1)
	if t.abort != nil {
		return t.abort
	}
	if outOfTime(err) {
		return fmt.Errorf("turn %d: %w: %w", t.number, ErrOutOfTime, err)
	}
	if result == nil {
		return t.fail(0, StageFailed, nil, err.Error())
	}
	t.report.Result = result
	return t.record(err)
}

// ErrOutOfTime says that an answer depends on how fast the machine is: the execution proves nothing, and there is no record of it.
var ErrOutOfTime = errors.New("a pattern ran out of time, which it may not on another machine")

func outOfTime(err error) bool {
	var stage *pipeline.Error
	return errors.As(err, &stage) && stage.Code == pipeline.CodeRegexTimeout
}

// model asks the source.
func (t *turn) model(attempt int, p *pipeline.Prompt) (pipeline.Answer, bool) {
	out, err := t.source.Output(t.number, attempt, p.UTF8())
	if err != nil {
		if !errors.Is(err, ErrNone) {
			t.abort = err
		}
		return pipeline.Answer{}, false
	}
	return pipeline.Answer{Text: out.Text, Truncated: out.Truncated}, true
}

// answer answers the calls of an attempt, in order (P1).
func (t *turn) answer(attempt int, calls []pipeline.FunctionCall) bool {
	for len(t.calls) <= attempt {
		t.calls = append(t.calls, nil)
	}
	for n, call := range calls {
		one := asked{Call: Call{Turn: t.number, Attempt: attempt, Number: n, Args: call.Arguments}}
		if call.Name != nil {
			one.Tool = *call.Name
		}
		if t.asked = &one; !t.normalise(&one) {
			return false
		}
		result, err := t.source.Call(one.Call)
		if err != nil {
			if !errors.Is(err, ErrNone) {
				t.abort = err
			}
			t.report.Reason = "the call of " + one.Tool + " has no result"
			return false
		}
		t.asked = nil
		t.calls[attempt] = append(t.calls[attempt], answered{one, result})
	}
	return true
}

// normalise selects the arguments that count (D1); false where the tool has no profile.
func (t *turn) normalise(one *asked) bool {
	profiles := t.run.documents.Profiles
	for i := range profiles {
		if profiles[i].Name == one.Tool {
			one.profile = &profiles[i]
		}
	}
	if one.profile == nil {
		t.report.Reason = "no profile of a tool called " + one.Tool
		return false
	}
	var err error
	if one.args, err = one.profile.Select(one.Args, one.profile.Args); err != nil {
		t.report.Reason, one.profile = "the arguments of "+one.Tool+" have no canonical form: "+err.Error(), nil
		return false
	}
	return true
}

// buffered puts the writes of a turn into the buffer (M3, P6). A live run writes at once (M2).
func (t *turn) buffered(writes []memory.Write) error {
	o := &t.run.o
	switch {
	case o.Live != nil:
		return t.run.live(o.Live.Write(t.number, writes))
	case o.Visibility != BufferedWrite:
		return nil
	}
	for _, w := range writes {
		if err := t.run.buffer.Append(w); err != nil {
			return err
		}
	}
	if o.Store == nil {
		return nil
	}
	return o.Store.Write(writes)
}

// live takes the memory after a write as what the run stands at.
func (r *Run) live(after memory.State, err error) error {
	if err == nil {
		r.start = after
		r.startSum, err = after.Digest()
	}
	return err
}

// state gives the digest of the start snapshot with the writes so far (E10). Where they cannot be applied a commit would leave
// the start snapshot as it is (M4), so that is the state.
func (r *Run) state() (canon.Sum, error) {
	if len(r.buffer.Writes) == 0 {
		return r.startSum, nil
	}
	if r.written == nil {
		r.written = memory.NewWritten(r.start)
	}
	sum, err := r.written.Digest(r.buffer.Writes)
	var rejected *memory.Rejection
	if errors.As(err, &rejected) {
		return r.startSum, nil
	}
	return sum, err
}
