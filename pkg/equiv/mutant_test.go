package equiv_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// edit exchanges one value.
type edit struct {
	slot
	value any
}

// mutant is a change of a run. Where it is one edit, a finding must stand at, above or below its place.
type mutant struct {
	name  string
	edits []edit
}

// mutants calls yield with every way in which a value that is compared can be another one.
type mutants struct{ yield func(mutant) }

func (m mutants) one(s slot, values ...any) {
	for _, v := range values {
		if string(spelling{}.append(nil, v)) != string(spelling{}.append(nil, s.old)) {
			m.yield(mutant{s.pointer + " = " + short(v), []edit{{s, v}}})
		}
	}
}

func short(v any) string {
	if v == any(gone{}) {
		return "nothing"
	}
	text := spelling{}.append(nil, v)
	return string(text[:min(60, len(text))])
}

// malformed is what a required value must not be (V1).
var malformed = []any{gone{}, nil, true, list{}, object{}}

// text exchanges a required text for another and for what is no text.
func (m mutants) text(o object, pointer string, names ...string) {
	for _, name := range names {
		s := member(o, name, pointer)
		old, _ := s.old.(string)
		m.one(s, append(slices.Clone(malformed), old+"x", "", number("1"), strings.ToUpper(old)+"X")...)
	}
}

// required takes a required value away, or its type.
func (m mutants) required(o object, pointer string, names ...string) {
	for _, name := range names {
		s := member(o, name, pointer)
		m.one(s, gone{}, nil, true)
		if _, isText := s.old.(string); isText {
			m.one(s, "", number("1"))
		} else {
			m.one(s, "1")
		}
	}
}

// value exchanges a value of arguments for others that json-v1 tells apart (C3–C5, E4).
func (m mutants) value(s slot) {
	m.one(s, list{s.old}, object{"v": s.old})
	switch v := s.old.(type) {
	case nil:
		m.one(s, false, number("0"), "", "null", list{}, object{})
	case bool:
		m.one(s, !v, map[bool]any{true: number("1"), false: number("0")}[v], short(v), nil)
	case number:
		m.one(s, string(v), nil, true, false, otherNumber(v), number("0.000001"), number("123456789012345678901234567890"))
	case string:
		m.one(s, v+"x", v+" ", "\u0000"+v, nil, list{}, strings.ToUpper(v)+"Y", strings.ToLower(v)+"Y")
		if v != "" {
			m.one(s, "")
		}
		if json.Valid([]byte(v)) {
			literal, err := decode([]byte(v))
			if err == nil {
				m.one(s, literal)
			}
		}
	case list:
		m.one(s, nil, append(slices.Clone(v), nil), append(list{"first"}, v...))
		if len(v) == 0 {
			m.one(s, object{})
			return
		}
		m.one(s, v[1:], v[:len(v)-1], append(slices.Clone(v), v[0]), reversed(v))
	case object:
		m.one(s, nil, list{}, with(v, "added", nil), with(v, "", "x"))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			renamed := with(v, name+"_", v[name])
			delete(renamed, name)
			m.one(s, renamed)
			m.one(member(v, name, s.pointer), gone{})
		}
	}
}

// otherNumber differs in the last place that json-v1 keeps, or by the sign (C5).
func otherNumber(n number) any {
	if strings.ContainsAny(string(n), ".eE") {
		return number("7" + strings.TrimPrefix(string(n), "-"))
	}
	if rest, negative := strings.CutPrefix(string(n), "-"); negative {
		return number(rest + ".5")
	}
	return number(string(n) + ".000001")
}

func reversed(l list) list {
	out := slices.Clone(l)
	slices.Reverse(out)
	return out
}

func with(o object, name string, v any) object {
	out := maps.Clone(o)
	out[name] = v
	return out
}

// fingerprint exchanges a digest for another one.
func (m mutants) fingerprint(o object, pointer, name string) {
	s := member(o, name, pointer)
	m.one(s, malformed...)
	m.one(s, "", number("1"), "another", strings.Repeat("0", 64), "sha256:"+strings.Repeat("a", 64))
}

// of calls yield with every mutant of a run.
func (m mutants) of(r run) {
	doc := r.trace.(object)
	m.text(doc, "", "workflow_id", "model_config_id", "policy_set_id", "memory_snapshot_id", "determinism_trace_schema_version")
	m.one(member(doc, "visibility_mode", ""), append(slices.Clone(malformed), "off", "read_only", "buffered_write", "live_read_write", "Off", "")...)
	m.required(doc, "", "run_id", "output", "events")
	if output, ok := doc["output"].(object); ok {
		m.text(output, "/output", "output_type", "normalization_version")
		m.fingerprint(output, "/output", "output_shape_hash")
	}
	if metadata, ok := doc["metadata"].(object); ok {
		m.one(member(metadata, "truncated", "/metadata"), true, "false", number("0"))
	}
	m.commit(doc)
	m.events(r, doc)
	m.rows(r)
}

func (m mutants) commit(doc object) {
	commit, ok := doc["commit"].(object)
	if !ok {
		return
	}
	m.one(member(doc, "commit", ""), malformed...)
	m.one(member(commit, "buffer_state", "/commit"), append(slices.Clone(malformed), "buffer_open", "commit_pending", "commit_applied", "commit_aborted", "x")...)
	m.fingerprint(commit, "/commit", "commit_payload_fingerprint")
	reason := member(commit, "reason_code", "/commit")
	m.one(reason, "storage_apply_failed", "policy_rejected", "x", number("1"))
	if reason.old != nil && reason.old != any(gone{}) {
		m.one(reason, nil, gone{})
	}
}

func (m mutants) events(r run, doc object) {
	events := r.events()
	all := member(doc, "events", "")
	for i, e := range events {
		event, pointer := e.(object), element(events, i, "/events").pointer
		m.one(element(events, i, "/events"), nil, "x", object{}, list{})
		m.required(event, pointer, "event_id", "tool_calls", "guardrails_triggered", "retrieval_event_ids")
		m.required(event, pointer, "index")
		m.one(member(event, "index", pointer), number("-1"), number(short(len(events))), number(short(event["index"])+".0"))
		m.text(event, pointer, "role", "interceptor", "decision_type")
		m.yield(mutant{"without event " + pointer, []edit{{all, renumbered(slices.Delete(slices.Clone(events), i, i+1))}}})
		m.yield(mutant{"twice event " + pointer, []edit{{all, renumbered(slices.Insert(slices.Clone(events), i, e))}}})
		for j := range i {
			if other := events[j].(object); behaviour(event) != behaviour(other) {
				m.yield(mutant{"events exchanged " + pointer, []edit{
					{member(event, "index", pointer), other["index"]}, {member(other, "index", pointer), event["index"]},
				}})
			}
		}
		m.guardrails(event, pointer)
		m.calls(event, pointer)
		m.links(r, event, pointer)
	}
}

// renumbered gives the events new indices in the order of the list, as copies.
func renumbered(events list) list {
	// the fixtures' lists may be stored in another order than their indices
	out := make(list, len(events))
	order := slices.Clone(events)
	slices.SortStableFunc(order, func(a, b any) int {
		x, _ := a.(object)["index"].(number).Int64()
		y, _ := b.(object)["index"].(number).Int64()
		return int(x - y)
	})
	for i, e := range order {
		out[i] = with(e.(object), "index", number(short(i)))
	}
	return out
}

// behaviour is what E3–E7 compare of an event, as text.
func behaviour(event object) string {
	e := maps.Clone(event)
	delete(e, "event_id")
	delete(e, "index")
	delete(e, "retrieval_event_ids")
	return string(spelling{}.append(nil, e))
}

func (m mutants) guardrails(event object, pointer string) {
	s := member(event, "guardrails_triggered", pointer)
	ids, _ := s.old.(list)
	m.one(s, append(slices.Clone(ids), "added"), append(slices.Clone(ids), nil))
	for i, id := range ids {
		m.one(s, slices.Delete(slices.Clone(ids), i, i+1), append(slices.Clone(ids), id))
		m.one(element(ids, i, s.pointer), id.(string)+"x", number("1"), nil, list{id})
	}
}

func (m mutants) calls(event object, pointer string) {
	s := member(event, "tool_calls", pointer)
	calls, _ := s.old.(list)
	m.one(s, append(slices.Clone(calls), nil), append(slices.Clone(calls), object{}))
	for j, c := range calls {
		call, at := c.(object), element(calls, j, s.pointer).pointer
		m.one(element(calls, j, s.pointer), nil, "x")
		m.one(s, slices.Delete(slices.Clone(calls), j, j+1), append(slices.Clone(calls), c))
		if j > 0 && behaviour(call) != behaviour(calls[j-1].(object)) {
			m.one(s, reversed(calls))
		}
		m.text(call, at, "tool_name", "tool_profile_version", "normalization_version")
		m.fingerprint(call, at, "tool_result_fingerprint")
		m.sideEffect(member(call, "side_effect_fingerprint", at))
		m.one(member(call, "normalized_args", at), malformed[:4]...)
		eachSlot(member(call, "normalized_args", at), m.value)
	}
}

func (m mutants) sideEffect(s slot) {
	m.one(s, strings.Repeat("0", 64), "another", "", number("1"), true)
	if s.old != nil && s.old != any(gone{}) {
		m.one(s, nil, gone{})
	}
}
