package trace

import (
	"slices"
	"sync"
)

// Stage is what the stage behind an event of a native run made (CONTRACT E10). Which members an event has is in
// [Catalogue].
type Stage struct {
	Field
	Turn, Attempt, Call                int // meaningful when their fields are ok; never more than Beyond
	TurnField, AttemptField, CallField Field
	Context, Constraints, Prompt       Field // digests
	Parse, Gate, Mutations, State      Field // digests
	Intents                            Field // the dispatched intents
}

// StageMember is one member of a stage that E10 compares.
type StageMember struct {
	Name  string
	Field func(*Stage) Field
}

// The members of a stage, by the names that traces use, in the order of the stages (CONTRACT P1, E10).
var (
	ContextDigest     = StageMember{"context_digest", func(s *Stage) Field { return s.Context }}
	ConstraintsDigest = StageMember{"constraints_digest", func(s *Stage) Field { return s.Constraints }}
	PromptDigest      = StageMember{"prompt_digest", func(s *Stage) Field { return s.Prompt }}
	ParseDigest       = StageMember{"parse_digest", func(s *Stage) Field { return s.Parse }}
	GateDigest        = StageMember{"gate_digest", func(s *Stage) Field { return s.Gate }}
	MutationsDigest   = StageMember{"mutation_batch_digest", func(s *Stage) Field { return s.Mutations }}
	DispatchedIntents = StageMember{"dispatched_intents", func(s *Stage) Field { return s.Intents }}
	StateDigest       = StageMember{"state_digest", func(s *Stage) Field { return s.State }}
)

// EventKind is one row of the event catalogue.
type EventKind struct {
	Interceptor, Decision string
	Needs                 []StageMember // besides the place in the run
	After                 []string      // kinds that it may follow in its turn; Start for none
	Call                  bool          // carries the one tool call that stage.call places
	Ends                  bool          // ends its turn
	OfRun                 bool          // belongs to the run, not to a turn

	name string
}

// Name gives interceptor/decision_type.
func (k *EventKind) Name() string { return k.name }

// Start stands for the beginning of a turn among what a kind may follow.
const Start = ""

// The names of the kinds that rules ask for.
const (
	PromptReady   = "before_prompt/prompt_ready"
	ModelAnswered = "after_model/model_response_processed"
	ToolReady     = "before_tool/tool_call_ready"
	ToolAnswered  = "after_tool/tool_call_result"
	GateRetry     = "gate/retry"

	gatePassed    = "gate/passed"
	mutateApplied = "mutate/applied"
)

// Agent is the role of an event where no other is known: of a turn without npc_id, and of the run itself (CONTRACT P7).
const Agent = "agent"

// Catalogue is every kind of event that a native run may have, in the order of the stages (CONTRACT P7). It is closed:
// docs/spec/events.md is held to it by a test.
var Catalogue = sync.OnceValue(func() []EventKind {
	return named(slices.Concat(
		[]EventKind{
			{Interceptor: "before_prompt", Decision: "prompt_ready", Needs: []StageMember{ConstraintsDigest, PromptDigest}, After: []string{Start, GateRetry}},
			{Interceptor: "after_model", Decision: "model_response_processed", Needs: []StageMember{ParseDigest}, After: []string{PromptReady}},
			{Interceptor: BeforeTool, Decision: "tool_call_ready", After: []string{ModelAnswered, ToolAnswered}, Call: true},
			{Interceptor: "after_tool", Decision: "tool_call_result", After: []string{ToolReady}, Call: true},
		},
		kinds("gate", []string{"passed", "retry"}, EventKind{Needs: []StageMember{GateDigest}, After: []string{ModelAnswered, ToolAnswered}}),
		kinds("gate", []string{"fallback"}, EventKind{Needs: []StageMember{GateDigest}, After: []string{ModelAnswered, ToolAnswered}, Ends: true}),
		[]EventKind{
			{Interceptor: "mutate", Decision: "applied", Needs: []StageMember{MutationsDigest, StateDigest}, After: []string{gatePassed}},
			{Interceptor: "dispatch", Decision: "applied", Needs: []StageMember{DispatchedIntents}, After: []string{mutateApplied}, Ends: true},
		},
		kinds("on_turn_failure", []string{"output_missing", "reference_refused", "admission_denied", "stage_failed"}, EventKind{
			After: []string{Start, PromptReady, ModelAnswered, ToolReady, ToolAnswered, gatePassed, GateRetry, mutateApplied}, Ends: true,
		}),
		kinds("commit", []string{"commit_applied", "policy_rejected", "validation_failed", "storage_apply_failed", "payload_mismatch"},
			EventKind{Needs: []StageMember{StateDigest}, OfRun: true}),
	))
})

func named(rows []EventKind) []EventKind {
	for i := range rows {
		rows[i].name = rows[i].Interceptor + "/" + rows[i].Decision
	}
	return rows
}

func kinds(interceptor string, decisions []string, like EventKind) []EventKind {
	rows := make([]EventKind, len(decisions))
	for i, decision := range decisions {
		rows[i] = like
		rows[i].Interceptor, rows[i].Decision = interceptor, decision
	}
	return rows
}

// KindOf gives the event's row of the catalogue, or false for an event that the catalogue does not have.
func (e *Event) KindOf() (*EventKind, bool) {
	catalogue := Catalogue()
	for i := range catalogue {
		if k := &catalogue[i]; e.Interceptor.Is(k.Interceptor) && e.Decision.Is(k.Decision) {
			return k, true
		}
	}
	return nil, false
}
