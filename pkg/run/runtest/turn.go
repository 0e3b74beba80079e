package runtest

import (
	"fmt"
	"strings"

	"github.com/dmpl/dmpl/pkg/run"
)

// turn writes what a turn is given, what the model answered and the events.
func (b *builder) turn(turn int) {
	b.t.Helper()
	document := object{
		"turn": turn, "npc_id": "guard", "npc_name": "Gareth", "player_input": fmt.Sprintf(" Who  guards gate %d? ", turn),
		"system_prompt": "You are the gate guard.", "trigger": object{"reason": "PlayerUtterance"}, "interaction_count": 3 + turn,
		"dialogue": []string{"Player: Hello"}, "constraints": []object{{"Id": fmt.Sprint("c", turn), "Type": "Prohibition"}}, "forbidden_knowledge": []string{},
		"custom_rules": []object{}, "few_shot": []object{}, "references": []object{}, "thread_events": []object{}, "retry_policy": object{},
		"fallbacks":               object{"trigger": []string{"Hm."}, "by_reason": object{}, "generic": []string{}, "emergency": []string{}},
		"snapshot_time_utc_ticks": now,
	}
	if b.f.References {
		document["references"] = []object{{"ref_type": "turn", "ref_id": "t-1"}}
		document["thread_events"] = []object{{"kind": "INTENT", "turn_id": "t-1"}}
	}
	if b.f.Topics {
		document["topics"] = []string{"gate"}
	}
	b.line(run.TurnsFile, document)
	attempts := 1
	if b.f.Retry {
		attempts = 2
	}
	for attempt := range attempts {
		if !b.attempt(turn, attempt, attempt == attempts-1, document) {
			return
		}
	}
}

// attempt gives false where the turn cannot go on.
func (b *builder) attempt(turn, attempt int, last bool, document object) bool {
	b.t.Helper()
	at := func(more object) object {
		stage := object{"turn": turn, "attempt": attempt}
		for name, value := range more {
			stage[name] = value
		}
		return stage
	}
	failing := b.f.Failure != "" && turn == b.f.Turns-1
	if failing && (b.f.Failure == "reference_refused" || b.f.Failure == "admission_denied") {
		b.event("on_turn_failure", b.f.Failure, at(nil), nil)
		return false
	}
	constraints := document["constraints"].([]object)
	if attempt > 0 {
		constraints = append(constraints, object{"Id": fmt.Sprint("RetryEscalation_", attempt)})
	}
	prompt := fmt.Sprintf("prompt of turn %d, attempt %d", turn, attempt)
	made := object{"constraints_digest": Digest(constraints), "prompt_digest": rawDigest(prompt)}
	if b.f.References {
		made["context_digest"] = Digest(object{"context": turn})
	}
	var rows []object
	if b.f.Retrieval && attempt == 0 {
		rows = b.retrieve(turn)
	}
	b.event("before_prompt", "prompt_ready", at(made), nil, rows...)
	if b.f.Prompts {
		b.line(run.PromptsFile, object{"turn": turn, "attempt": attempt, "text": prompt})
	}
	if failing && b.f.Failure == "output_missing" {
		b.event("on_turn_failure", b.f.Failure, at(nil), nil)
		return false
	}
	b.line(run.OutputsFile, object{
		"turn": turn, "attempt": attempt, "prompt_digest": made["prompt_digest"], "text": b.f.Say, "truncated": false, "model_config": b.model,
	})
	b.event("after_model", "model_response_processed", at(object{"parse_digest": Digest(object{"parsed": b.f.Say})}), nil)
	if failing {
		b.event("on_turn_failure", b.f.Failure, at(nil), nil)
		return false
	}
	if b.f.Tools {
		b.calls(turn, attempt)
	}
	gate := at(object{"gate_digest": Digest(object{"gate": attempt, "of": turn})})
	refused := object{"guardrails_triggered": []string{fmt.Sprint("c", turn)}}
	switch {
	case !last:
		b.event("gate", "retry", gate, refused)
		return true
	case b.f.Fallback:
		b.event("gate", "fallback", gate, refused)
		return true
	}
	b.event("gate", "passed", gate, nil)
	b.event("mutate", "applied", at(object{
		"mutation_batch_digest": Digest(object{"batch": turn}), "state_digest": Digest(object{"state": turn}),
	}), nil)
	b.event("dispatch", "applied", at(object{"dispatched_intents": []object{{"type": "open_gate"}}}), nil)
	return true
}

// retrieve gives a row for each kind of record.
func (b *builder) retrieve(turn int) []object {
	var rows []object
	for _, kind := range []struct {
		name, order, mode, record string
		sequence                  int64
	}{
		{"fact", "record_id", "all", "f1", 1},
		{"world", "record_id", "all", "door", 2},
		{"episodic", "score,created_at_ticks,record_id,sequence_number", "scored", "e1", 3},
		{"belief", "score,confidence,record_id,sequence_number", "scored", "b1", 5},
	} {
		var query any = fmt.Sprintf("Who guards gate %d?", turn)
		if b.f.Topics {
			query = object{"text": query, "topics": []string{"gate"}}
		}
		selected := object{"record_id": kind.record, "record_type": kind.name, "score": 0.5, "rank": 1}
		for key, value := range map[string]any{"created_at_ticks": now - kind.sequence, "sequence_number": kind.sequence, "confidence": 0.75} {
			if strings.Contains(kind.order, key) { // P3: the keys that the order uses
				selected[key] = value
			}
		}
		row := object{
			"retrieval_event_id": fmt.Sprint("r", b.rows), "run_id": b.f.RunID, "policy_id": kind.name, "policy_version": "1",
			"query_normalization_version": "json-v1", "retrieval_mode": kind.mode,
			"query_fingerprint": Digest(object{"query_normalization_version": "json-v1", "retrieval_mode": kind.mode, "query": query}),
			"candidate_count":   1, "selected_records": []object{selected}, "applied_filters": object{}, "order": kind.order,
			"retrieval_trace_schema_version": "memory.retrieval_trace.v1",
		}
		if b.f.Candidates && kind.mode == "scored" {
			list := []object{{"record_id": kind.record, "score": 0.5}}
			row["candidates"] = list
			b.line(run.CandidatesFile, object{"turn": turn, "kind": kind.name, "candidates": list})
		}
		rows = append(rows, row)
		b.rows++
	}
	return rows
}

// calls writes two tool calls: events before and after, and the results.
func (b *builder) calls(turn, attempt int) {
	b.t.Helper()
	for i, call := range []struct {
		tool, version            string
		args, selected           object
		result, fingerprint      object
		sideEffects, sideDigests object
	}{
		{
			tool: "search", version: "search-v1", args: object{"q": fmt.Sprint("gate ", turn), "at": 12}, selected: object{"q": fmt.Sprint("gate ", turn)},
			result: object{"status": "ok", "page": object{"total": turn}, "took_ms": 12}, fingerprint: object{"status": "ok", "/page/total": turn},
		},
		{
			tool: "book", version: "2", args: object{"day": attempt}, selected: object{"day": attempt},
			result: object{"status": "booked"}, fingerprint: object{"status": "booked"},
			sideEffects: object{"calendar": object{"id": turn}}, sideDigests: object{"/calendar/id": turn},
		},
	} {
		result := object{"turn": turn, "attempt": attempt, "call": i, "tool_name": call.tool, "args": call.args, "result": call.result}
		stage := object{"turn": turn, "attempt": attempt, "call": i}
		recorded := object{
			"tool_name": call.tool, "tool_profile_version": call.version, "normalized_args": call.selected, "normalization_version": "json-v1",
			"tool_result_fingerprint": Digest(object{}),
		}
		b.event("before_tool", "tool_call_ready", stage, object{"tool_calls": []object{recorded}})
		after := object{}
		for name, value := range recorded {
			after[name] = value
		}
		after["tool_result_fingerprint"] = Digest(call.fingerprint)
		if call.sideEffects != nil {
			result["side_effects"] = call.sideEffects
			after["side_effect_fingerprint"] = Digest(call.sideDigests)
		}
		b.event("after_tool", "tool_call_result", stage, object{"tool_calls": []object{after}})
		b.line(run.ToolResultsFile, result)
	}
}
