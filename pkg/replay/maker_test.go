package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/memory"
)

// fields is a JSON object.
type fields = map[string]any

// maker makes the documents of runs that are in order, of many features in any mixture. It is the model and the tools as well.
type maker struct {
	*rand.Rand
	ids   [4][]string // of the records, by kind
	order [4]string   // of the retrieval, by kind; empty for the default

	version string // of the tool search
}

// one gives one of a list.
func one[T any](m *maker, of ...T) T { return of[m.Intn(len(of))] }

// chance is true once in so many times.
func (m *maker) chance(of int) bool { return m.Intn(of) == 0 }

// words are what texts are made of. HALF becomes half a surrogate pair where a model writes JSON.
var words = []string{
	"dragon", "gate", "GATE", "king", "Arthur", "gold", "storm", "the", "player", "is", "isn't", "never", "kind", "caf\u00e9", "cafe\u0301",
	"DRAG\u00d4N", "\u0130", "\u00df", "\U0001F409", "\uffff", "\U00010000", "# Title", "*sighs*", "[nods]", "Guard:", "player says", "\n", "  ", "\u2028", "\"quoted\"",
	"\\", "\u0000", "HALF", "# HALF", "\n# HALF", "<b>", "note:", "{", "}", "[MEMORY: saw gold]", "[BELIEF: the player is kind]", ".", "!", "?", "```", "\ufeff", "\u212a", "\u03c2",
}

func (m *maker) text() string {
	var text []byte
	for range m.Intn(8) {
		text = append(append(text, words[m.Intn(len(words))]...), ' ')
	}
	if m.chance(400) {
		text = bytes.Repeat([]byte("long story. "), 6000)
	}
	return string(text)
}

func (m *maker) texts(most int) []string {
	list := []string{}
	for range m.Intn(most + 1) {
		list = append(list, m.text())
	}
	return list
}

// number gives a number in any of its forms.
func (m *maker) number() json.RawMessage {
	return json.RawMessage(one(m, "0", "-0", "1", "1.0", "-0.0", "0.5", "0.4999995", "1e0", "25E-2", "0.30000000000000004", "1e-7", "0.9999999", "0.1234565", "123456789012345678901234567890", "1e308", "-5", "999999999.9999999"))
}

// share gives a number between 0 and 1.
func (m *maker) share() json.RawMessage {
	return json.RawMessage(one(m, "0", "1", "1.0", "0.5", "0.25", "25E-2", "0.75", "0.333333", "1e-6", "0.9"))
}

// some gives each member of an object with a chance.
func (m *maker) some(of int, all fields) fields {
	list := fields{}
	for _, name := range canon.SortedKeys(all) {
		if m.chance(of) {
			list[name] = all[name]
		}
	}
	return list
}

const noonTicks = 638_400_000_000_000_000

func (m *maker) ticks() int64 { return noonTicks + int64(m.Intn(7)-3)*36_000_000_000 }

var kinds = []string{memory.TypeFact, memory.TypeWorld, memory.TypeEpisode, memory.TypeBelief}

func (m *maker) id(kind, n int) string {
	return one(m, "", "id\"", "\uffff", "\U00010000", "e\u0301", "\u00e9", "b", "B") + fmt.Sprint(kinds[kind][:1], n)
}

func (m *maker) snapshot() fields {
	records, next := []fields{}, 1
	for kind := range kinds {
		for n := range m.Intn(6) {
			id := m.id(kind, n)
			r := fields{
				"record_id": id, "record_type": kinds[kind], "created_at_ticks": m.ticks(), "sequence_number": next, "source": one(m, 25, 50, 75, 100),
			}
			m.ids[kind] = append(m.ids[kind], id)
			maps.Copy(r, m.some(3, fields{"namespace": one(m, "", "npc"), "scope": "village", "tags": []string{"quest"}, "trust": m.Intn(101), "expires_at_ticks": m.ticks()}))
			switch kind {
			case 0:
				r["content"] = fields{"Fact": m.text() + "king is named Arthur", "ContradictionKeywords": []string{"named Mordred"}}
			case 1:
				r["content"] = fields{"Id": fmt.Sprint("w", n), "Value": m.text()}
			case 2:
				r["content"] = fields{"Description": m.text() + "x", "EpisodeType": m.Intn(4), "Significance": m.share(), "Strength": m.share()}
			default:
				r["content"] = fields{"Key": id, "Subject": "player", "BeliefContent": m.text() + "y", "Confidence": m.share(), "IsContradicted": m.chance(3), "Sentiment": m.share()}
			}
			records, next = append(records, r), next+1+m.Intn(2)
		}
	}
	return fields{
		"schema_version": "memory.snapshot.v1", "memory_snapshot_id": "00000000000000000041", "persona_id": m.text(), "next_sequence_number": next, "interaction_count": 3,
		"records": records,
	}
}

func (m *maker) config() fields {
	c := fields{"schema_version": "pipeline.config.v1", "pipeline_version": "dmpl-v1", "mode": one(m, "snapshot", "workingMemory", "structured", "minimal", "cache")}
	maps.Copy(c, m.some(2, fields{
		"retrieval": fields{
			"MaxBeliefs": m.Intn(4), "MaxEpisodicMemories": m.Intn(4), "IncludeContradictedBeliefs": m.chance(2), "MinBeliefConfidence": m.share(),
			"RecencyWeight": m.share(), "RecencyHalfLifeTicks": one[int64](m, 0, 1, 36_000_000_000), "MaxCanonicalFacts": m.Intn(3),
		},
		"working_memory": fields{"MaxContextCharacters": m.Intn(300), "MaxDialogueExchanges": m.Intn(3)},
		"gate":           fields{"preset": one(m, "Default", "Minimal")},
		"context":        fields{"schema_version": "1", "context": fields{"max_refs": 2, "empty_refs_policy": one(m, "ALLOW_EMPTY", "ALLOW_EMPTY", "ALLOW_EMPTY", "DENY")}},
	}))
	if !m.chance(5) {
		c["parser"] = fields{"mode": "structured", "preset": "Structured"}
	}
	return c
}

// scored are the orders of a retrieval.
var scored = []string{"score,record_id", "score,created_at_ticks,record_id,sequence_number", "score,confidence,record_id,sequence_number", "record_id"}

func (m *maker) policies() fields {
	retrieval, rules, admission := fields{}, []fields{}, []fields{}
	for i, kind := range kinds {
		if !m.chance(2) {
			continue
		}
		if m.order[i] = scored[m.Intn(len(scored))]; i < 2 && !m.chance(6) { // these need a search
			m.order[i] = "record_id"
		}
		filters := m.some(5, fields{"namespace": []string{"", "npc"}, "scope": []string{"village"}, "tags": []string{"quest"}, "trust": m.Intn(60), "ttl": true})
		retrieval[kind] = fields{
			"policy_id": kind + m.text(), "policy_version": one(m, "1", "x\u0301", "unknown"), "filters": filters, "limits": fields{"max_records": m.Intn(4)},
			"order": m.order[i],
		}
	}
	for _, rule := range []fields{
		{"id": "gate", "rule": "gate_passed"}, {"id": "few", "rule": "most_writes", "limit": m.Intn(6)}, {"id": "kinds", "rule": "record_types", "values": []string{"episodic", "belief"}},
	} {
		if m.chance(6) {
			rules = append(rules, rule)
		}
	}
	if m.chance(6) {
		admission = append(admission, fields{"id": "ten", "rule": "max_user_messages", "limit": one(m, 0, 5, 5)})
	}
	return fields{
		"schema_version": "memory.policy_set.v1", "retrieval": retrieval, "admission": admission, "commit": fields{"rules": rules},
		"retention": fields{"lanes": []fields{{"name": "ci", "deterministic": true, "days": 30}}},
	}
}

// called are the names of tools, and what an answer may call them.
var called = []string{"search", "book", "search", "book", "search", "book", "search", "none", "caf\u00e9", "cafe\u0301"}

func (m *maker) profiles() fields {
	profile := func(name, version string, args, result, side []string) fields {
		return fields{
			"tool_name": name, "tool_profile_version": version, "normalized_args_fields": args, "tool_result_fingerprint_fields": result,
			"side_effect_fingerprint_fields": side, "hash_algorithm": "sha256", "normalization_version": "json-v1",
		}
	}
	more := profile("caf\u00e9", "1\u0301", []string{"/limit", "q", "at"}, []string{"/n", "status"}, []string{"*"})
	more["float_decimals"], more["datetime_fields"] = m.Intn(16), []string{"at"}
	if m.version = "search-v1"; m.chance(12) {
		m.version = "unknown"
	}
	return fields{"tool_profiles": []fields{
		more, profile("book", "2", []string{"*"}, []string{"status"}, []string{"/calendar/id"}),
		profile("search", m.version, []string{"q"}, []string{"*"}, []string{}),
	}}
}

func (m *maker) turn(n int, context bool) fields {
	constraints, rules, few := []fields{}, []fields{}, []fields{}
	for i := range m.Intn(3) * m.Intn(2) {
		constraints = append(constraints, fields{
			"Id": fmt.Sprint("c", i), "Type": one(m, "Prohibition", "Requirement"), "Severity": one(m, "Soft", "Hard", "Critical"), "Description": m.text(),
			"PromptInjection": m.text(), "ValidationPatterns": []string{one(m, "gold", "dragon", "never")}, "UseRegex": m.chance(3),
		})
	}
	if m.chance(4) {
		rules = append(rules, fields{"Id": "r", "Pattern": one(m, "gold", "^[a-z ]+$", "(?<=the )king"), "IsProhibition": m.chance(2), "Severity": one(m, "Soft", "Hard", "Critical")})
	}
	if m.chance(3) {
		few = append(few, fields{"PlayerInput": m.text(), "NpcResponse": m.text()})
	}
	t := fields{
		"turn": n, "npc_id": one(m, "guard", "", "cook", "\u00e9", "e\u0301"), "npc_name": m.text(), "player_input": one(m, "", "What of ", "What of ") + m.text(), "system_prompt": m.text(),
		"trigger": fields{"reason": one(m, "PlayerUtterance", "ZoneTrigger")}, "interaction_count": 3 + n, "dialogue": m.texts(4), "constraints": constraints,
		"forbidden_knowledge": m.texts(1), "custom_rules": rules, "few_shot": few, "references": []fields{}, "thread_events": []fields{},
		"retry_policy": fields{}, "fallbacks": fields{"trigger": []string{}, "by_reason": fields{}, "generic": m.texts(1), "emergency": []string{}},
		"snapshot_time_utc_ticks": m.ticks(),
	}
	if m.chance(3) {
		t["topics"] = m.texts(2)
	}
	if m.chance(3) {
		t["retry_policy"] = fields{"MaxRetries": m.Intn(3)}
	}
	if m.chance(8) {
		t["fallbacks"].(fields)["recorded"] = m.text()
	}
	if context && m.chance(2) {
		t["thread_events"] = []json.RawMessage{json.RawMessage(`{"index": 0, "kind": "INTENT", "thread_id": "thread", "turn_id": "t-1", "correlation_id": "c-0", "intent_type": "chat.message", "lane": "user", "actor": "user", "stream_id": "s", "parent_turn_id": null, "payload": {"message": "Where is the key?", "thread_id": "thread", "turn_id": "t-1"}, "digest": "sha256:0000000000000000000000000000000000000000000000000000000000000001", "canon_len": 1}`)}
		t["references"] = []fields{{"ref_type": "event", "ref_id": one(m, "c-0", "c-0", "none")}}
	}
	return t
}

func (m *maker) candidates(turn int) []fields {
	var lists []fields
	for kind := range kinds {
		searched := kind > 1 || m.order[kind] != ""
		if m.order[kind] == "record_id" || !searched || kind > 1 && !m.chance(4) {
			continue
		}
		list := []fields{}
		for _, id := range m.ids[kind] {
			if m.chance(200) {
				id = "nobody"
			}
			if !m.chance(3) {
				list = append(list, fields{"record_id": id, "score": m.number()})
			}
		}
		m.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		lists = append(lists, fields{"turn": turn, "kind": kinds[kind], "candidates": list})
	}
	return lists
}
