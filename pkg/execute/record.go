package execute

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/pipeline"
)

// event is an event of the catalogue before it is written (P7).
type event struct {
	interceptor, decision string
	role                  string
	guardrails            []string
	call                  func(w *document.Writer) // nil for none
	stage                 func(w *document.Writer)
	links                 int // rows that it links to: the last ones
}

// record writes the events of a turn as far as its stages came. Failed is why a stage had no answer.
func (t *turn) record(failed error) error {
	for n := range t.report.Result.Attempts {
		a := &t.report.Result.Attempts[n]
		done, err := t.attempt(n, a, failed)
		if err != nil || done {
			return err
		}
	}
	last := len(t.report.Result.Attempts) - 1
	if failed != nil {
		return t.fail(last, StageFailed, nil, failed.Error())
	}
	return t.effects(last)
}

// attempt writes the events of one attempt; done where the turn ended in it.
func (t *turn) attempt(n int, a *pipeline.Attempt, failed error) (done bool, err error) {
	if ok, err := t.prompted(n, a); err != nil || !ok {
		return true, err
	}
	if !a.Answered {
		return true, t.fail(n, OutputMissing, nil, "the model's answer is not there")
	}
	if err := t.output(n, a); err != nil {
		return true, err
	}
	if !a.Understood {
		return true, t.fail(n, StageFailed, nil, failed.Error())
	}
	parsed, err := t.run.digests.Parsed(a.Parsed)
	if err != nil {
		return true, t.fail(n, StageFailed, nil, "what was parsed has no canonical form: "+err.Error())
	}
	if err := t.write(event{interceptor: "after_model", decision: "model_response_processed", stage: t.place(n, digest("parse_digest", parsed))}); err != nil {
		return true, err
	}
	if ok, err := t.tools(n); err != nil || !ok {
		return true, err
	}
	return t.judged(n, a, failed)
}

// prompted writes before_prompt/prompt_ready, on the first attempt with what was retrieved.
func (t *turn) prompted(n int, a *pipeline.Attempt) (bool, error) {
	stated, _ := t.doc.Value.Get("constraints")
	constraints, err := t.run.digests.Constraints(stated, a.Constraints, len(t.input.Constraints))
	if err != nil {
		return false, t.fail(n, StageFailed, nil, "the constraints have no canonical form: "+err.Error())
	}
	e := event{interceptor: "before_prompt", decision: "prompt_ready"}
	e.stage = t.place(n, func(w *document.Writer) {
		if t.context != nil {
			w.Sum("context_digest", *t.context)
		}
		w.Sum("constraints_digest", constraints)
		w.Sum("prompt_digest", a.Prompt.SHA256())
	})
	var rows [][]byte
	if n == 0 && t.run.o.Visibility != Off {
		if rows, err = t.retrieved(); err != nil {
			return false, err
		}
		e.links = len(rows)
	}
	if err := t.write(e, rows...); err != nil || !t.run.o.KeepPrompts {
		return true, err
	}
	return true, t.line(PromptsFile, n, func(w *document.Writer) { w.Text("text", a.Prompt.UTF8()) })
}

func (t *turn) output(n int, a *pipeline.Attempt) error {
	return t.line(OutputsFile, n, func(w *document.Writer) {
		w.Sum("prompt_digest", a.Prompt.SHA256())
		w.Text("text", a.Answer.Text)
		w.Bool("truncated", a.Answer.Truncated)
		w.Raw("model_config", t.run.o.ModelConfig)
	})
}

// judged writes the gate's event.
func (t *turn) judged(n int, a *pipeline.Attempt, failed error) (done bool, err error) {
	if !a.Judged {
		return true, t.fail(n, StageFailed, nil, failed.Error())
	}
	gate, err := t.run.digests.Gate(a.Gate)
	if err != nil {
		return true, t.fail(n, StageFailed, nil, "what the gate said has no canonical form: "+err.Error())
	}
	if a.Decision == pipeline.GateFallback && failed != nil {
		return true, t.fail(n, StageFailed, nil, failed.Error())
	}
	err = t.write(event{
		interceptor: "gate", decision: a.Decision.String(), guardrails: a.Gate.Guardrails(), stage: t.place(n, digest("gate_digest", gate)),
	})
	return err != nil || a.Decision == pipeline.GateFallback, err
}

// effects writes what a turn did that passed the gate: to the memory, and to the world.
func (t *turn) effects(n int) error {
	result := t.report.Result
	batch, err := t.run.digests.Batch(result.Batch)
	dispatched := pipeline.DispatchedList(result.Dispatched)
	if err == nil {
		err = canon.Valid(dispatched)
	}
	if err != nil {
		return t.fail(n, StageFailed, nil, "what was done has no canonical form: "+err.Error())
	}
	if err := t.buffered(result.Writes); err != nil {
		return err
	}
	state, err := t.run.state()
	if err != nil {
		return err
	}
	err = t.write(event{interceptor: "mutate", decision: "applied", stage: t.place(n, func(w *document.Writer) {
		w.Sum("mutation_batch_digest", batch)
		w.Sum("state_digest", state)
	})})
	if err != nil {
		return err
	}
	return t.write(event{interceptor: "dispatch", decision: "applied", stage: t.place(n, func(w *document.Writer) {
		w.Raw("dispatched_intents", dispatched)
	})})
}

// fail writes that the turn cannot go on (P7).
func (t *turn) fail(n int, failure string, guardrails []string, reason string) error {
	t.report.Failure = failure
	if t.report.Reason == "" {
		t.report.Reason = reason
	}
	return t.write(event{interceptor: "on_turn_failure", decision: failure, guardrails: guardrails, stage: t.place(n, nil)})
}

// place writes the place of an event in the run, and what its stage made.
func (t *turn) place(attempt int, made func(*document.Writer)) func(*document.Writer) {
	return func(w *document.Writer) {
		w.Integer("turn", int64(t.number))
		w.Integer("attempt", int64(attempt))
		if made != nil {
			made(w)
		}
	}
}

func digest(name string, sum canon.Sum) func(*document.Writer) {
	return func(w *document.Writer) { w.Sum(name, sum) }
}

// line writes a line of a file that goes by turn and attempt.
func (t *turn) line(file string, attempt int, rest func(*document.Writer)) error {
	return t.run.sink.Line(file, func() []byte {
		w := document.NewWriter(document.Style{})
		w.Object("", func() {
			w.Integer("turn", int64(t.number))
			w.Integer("attempt", int64(attempt))
			rest(w)
		})
		return w.Bytes()
	})
}

func (t *turn) write(e event, rows ...[]byte) error {
	e.role = t.role
	return t.run.write(e, rows...)
}

func (r *Run) write(e event, rows ...[]byte) error {
	w := r.event
	w.Reset()
	w.Object("", func() {
		w.Numbered("event_id", "e", int64(r.events))
		w.Integer("index", int64(r.events))
		w.Text("role", e.role)
		w.Text("interceptor", e.interceptor)
		w.Text("decision_type", e.decision)
		w.List("tool_calls", func() {
			if e.call != nil {
				w.Object("", func() { e.call(w) })
			}
		})
		list(w, "guardrails_triggered", e.guardrails)
		w.List("retrieval_event_ids", func() {
			for row := r.rows - e.links; row < r.rows; row++ {
				w.Numbered("", "r", int64(row))
			}
		})
		w.Object("stage", func() { e.stage(w) })
	})
	r.events++
	return r.sink.Event(w.Bytes(), rows...)
}

// list writes a list of texts, an empty one for nil.
func list(w *document.Writer, name string, texts []string) {
	w.List(name, func() {
		for _, text := range texts {
			w.Text("", text)
		}
	})
}
