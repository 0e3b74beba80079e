package threadtest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/thread"
)

// Repair computes every digest of the snapshot again, in the order of its events: what a forger does who knows the format
// (dbl-gateway.md §3 to §9). References, normative inputs and repeated digests follow the digests that changed; both chains,
// the lengths and v_digest are made to fit. What the digests cover is left as it is.
func (s *Snapshot) Repair() *Snapshot {
	s.t.Helper()
	r := repair{t: s.t, now: map[string]string{}, decisions: map[string]map[string]any{}}
	previous, chain := thread.ChainSeed, thread.ChainSeed
	for i, e := range s.Events() {
		if e == nil {
			continue // no event: a reader refuses it
		}
		r.event(e)
		e["prev_event_digest"] = previous
		previous, _ = e["digest"].(string)
		chain = thread.NextVDigest(chain, i, previous)
	}
	s.Tree["v_digest"] = chain
	return s
}

// repair is what is known of the events so far.
type repair struct {
	t         testing.TB
	now       map[string]string         // digests that changed
	decisions map[string]map[string]any // payloads by correlation id
}

func (r *repair) event(e map[string]any) {
	payload, isObject := e["payload"].(map[string]any)
	if isObject {
		r.follow(payload)
		r.sortInputs(payload)
		r.inPayload(e, payload)
	}
	kind, _ := e["kind"].(string)
	correlation, _ := e["correlation_id"].(string)
	d, err := thread.EventDigest(thread.Kind(kind), correlation, r.value(e["payload"]))
	if err != nil {
		return // there is no digest that would fit
	}
	r.replace(e, "digest", d.String())
	e["canon_len"] = d.Len
}

// replace sets a digest and remembers what it was.
func (r *repair) replace(in map[string]any, name, digest string) {
	if old, ok := in[name].(string); ok && old != digest {
		r.now[old] = digest
	}
	in[name] = digest
}

// follow replaces the digests of earlier events, wherever a payload repeats them but under _obs, which repeats without effect.
func (r *repair) follow(v any) any {
	switch v := v.(type) {
	case string:
		if digest, ok := r.now[v]; ok {
			return digest
		}
	case []any:
		for i := range v {
			v[i] = r.follow(v[i])
		}
	case map[string]any:
		for name := range v {
			if name != "_obs" {
				v[name] = r.follow(v[name])
			}
		}
	}
	return v
}

// sortInputs keeps normative inputs sorted, which they are unless the history was expanded.
func (r *repair) sortInputs(payload map[string]any) {
	assembled, _ := payload["assembled_context"].(map[string]any)
	inputs, _ := assembled["normative_input_digests"].([]any)
	if transforms, _ := payload["transforms"].([]any); len(transforms) > 0 {
		return
	}
	slices.SortFunc(inputs, func(a, b any) int {
		x, _ := a.(string)
		y, _ := b.(string)
		return strings.Compare(x, y)
	})
}

func (r *repair) inPayload(e, payload map[string]any) {
	correlation, _ := e["correlation_id"].(string)
	switch e["kind"] {
	case "DECISION":
		r.decisions[correlation] = payload
		r.context(payload)
	case "PROOF":
		if payload["proof_type"] == "context_release_guard" && payload["payload_digest"] != nil {
			r.release(payload, r.decisions[correlation])
		}
	case "EXECUTION":
		r.trace(payload)
		r.render(payload, r.decisions[correlation])
	}
}

func (r *repair) context(payload map[string]any) {
	d, err := thread.ContextDigest(r.value(payload["context_spec"]), r.value(payload["assembled_context"]))
	if err != nil || payload["assembly_digest"] == nil {
		return
	}
	r.replace(payload, "assembly_digest", d.String())
	if payload["context_digest"] != nil {
		r.replace(payload, "context_digest", d.String())
	}
}

func (r *repair) release(proof, decision map[string]any) {
	released := map[string]any{"messages": messagesOf(decision), "model_id": proof["model_id"], "provider": proof["provider"]}
	if tools, ok := decision["permitted_tools"].([]any); ok {
		tools = slices.Clone(tools)
		slices.SortFunc(tools, func(a, b any) int {
			x, _ := a.(string)
			y, _ := b.(string)
			return strings.Compare(x, y)
		})
		released["permitted_tools"] = tools
	}
	if budget, ok := decision["enforced_budget"].(map[string]any); ok && len(budget) > 0 {
		released["enforced_budget"] = budget
	}
	if sum, ok := r.digest(released); ok {
		r.replace(proof, "payload_digest", canon.PrefixedHex.Spell(sum))
	}
}

func messagesOf(decision map[string]any) any {
	assembled, _ := decision["assembled_context"].(map[string]any)
	if messages, ok := assembled["model_messages"].([]any); ok {
		return messages
	}
	return []any{}
}

var timing = []string{
	"runtime_ms", "duration_ms", "latency_ms", "timing_ms", "perf_ms", "runtime_ns", "duration_ns", "latency_ns",
}

func (r *repair) trace(execution map[string]any) {
	if trace, ok := execution["trace"].(map[string]any); ok && execution["trace_digest"] != nil {
		if sum, ok := r.digest(withoutTiming(trace)); ok {
			execution["trace_digest"] = sum.Hex()
		}
	}
}

func withoutTiming(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			if !slices.Contains(timing, name) {
				out[name] = withoutTiming(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutTiming(v[i])
		}
		return out
	}
	return v
}

func (r *repair) render(execution, decision map[string]any) {
	obs, _ := execution["_obs"].(map[string]any)
	if render, ok := obs["render"].(map[string]any); ok && render["render_digest"] != nil {
		if sum, ok := r.digest(map[string]any{"messages": messagesOf(decision)}); ok {
			render["render_digest"] = canon.PrefixedHex.Spell(sum)
		}
	}
}

func (r *repair) text(v any) []byte {
	r.t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		r.t.Fatal(err)
	}
	return raw
}

func (r *repair) value(v any) canon.Value {
	value, err := thread.Read(r.text(v))
	if err != nil {
		r.t.Fatal(err)
	}
	return value
}

func (r *repair) digest(v any) (canon.Sum, bool) {
	sum, err := canon.Digest(canon.DBL, r.text(v))
	return sum, err == nil
}
