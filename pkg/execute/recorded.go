package execute

import (
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/trace"
)

// ReadCandidates reads what backends returned for the kinds of one turn, run.candidates.v1 documents (R7). The error is an *Error.
func ReadCandidates(list []trace.Document) (pipeline.Candidates, error) {
	var all pipeline.Candidates
	for _, d := range list {
		kind := d.Field("/kind").Text()
		to, ok := map[string]*[]pipeline.Candidate{
			memory.TypeFact: &all.Facts, memory.TypeWorld: &all.World, memory.TypeEpisode: &all.Episodes, memory.TypeBelief: &all.Beliefs,
		}[kind]
		switch {
		case !ok:
			return all, &Error{d.Path, d.At + "/kind", "no kind of record is called " + strconv.Quote(kind)}
		case *to != nil:
			return all, &Error{d.Path, d.At + "/kind", "the candidates of " + kind + " are given twice"}
		}
		*to = []pipeline.Candidate{} // a search that found nothing is a search
		o := document.Open(d.Value)
		o.Each("candidates", func(c *document.Object) { *to = append(*to, pipeline.ReadCandidate(c)) })
		if err := o.Err(); err != nil {
			return all, fault(d, err)
		}
	}
	return all, nil
}

// Recorded is a Source that answers from a recording, and knows what was asked for (R2).
type Recorded struct {
	Recording *trace.Recording
	Outputs   map[[2]int]bool // by turn and attempt: asked for and there
	Results   map[[3]int]bool // by turn, attempt and number: asked for and there
	Missing   [][2]int        // outputs that were asked for and are not there
	NoResult  []Call          // calls that were asked for and have no result
	Other     []Call          // calls that were answered for another tool or other arguments
}

// NewRecorded gives the source of a recording.
func NewRecorded(r *trace.Recording) *Recorded {
	return &Recorded{Recording: r, Outputs: map[[2]int]bool{}, Results: map[[3]int]bool{}}
}

// Output gives the recorded answer of an attempt, whatever prompt it answered (R2).
func (s *Recorded) Output(turn, attempt int, _ string) (Output, error) {
	at := [2]int{turn, attempt}
	d, ok := s.Recording.Output(turn, attempt)
	if !ok {
		s.Missing = append(s.Missing, at)
		return Output{}, ErrNone
	}
	s.Outputs[at] = true
	o := document.Open(d.Value)
	out := Output{Text: o.Text("text", ""), Truncated: o.Bool("truncated", false)}
	return out, fault(d, o.Err())
}

// Call gives the recorded answer of a call.
func (s *Recorded) Call(c Call) (CallResult, error) {
	d, ok := s.Recording.ToolResult(c.Turn, c.Attempt, c.Number)
	if !ok {
		s.NoResult = append(s.NoResult, c)
		return CallResult{}, ErrNone
	}
	s.Results[[3]int{c.Turn, c.Attempt, c.Number}] = true
	args, _ := d.Value.Get("args")
	if !d.Field("/tool_name").Is(c.Tool) || !canon.Equal(args.Raw(), c.Args, canon.Form{}) {
		s.Other = append(s.Other, c)
	}
	var r CallResult
	if v, ok := d.Value.Get("result"); ok {
		r.Result = v.Raw()
	}
	if v, ok := d.Value.Get("side_effects"); ok {
		r.SideEffects = v.Raw()
	}
	return r, nil
}

// Refusal gives why a store refused a recorded commit; empty where it did not (M3). What the commit policy decides is computed;
// what a store says is not, which has seen other commits (M4).
func Refusal(commit trace.Document) memory.AbortReason {
	for _, reason := range []memory.AbortReason{memory.ValidationFailed, memory.StorageApplyFailed, memory.PayloadMismatch} {
		if commit.Field("/reason_code").Is(string(reason)) {
			return reason
		}
	}
	return ""
}
