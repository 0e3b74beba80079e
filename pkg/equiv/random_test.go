package equiv_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
)

// small is a valid run with the given events and rows.
func small(events, rows list) run {
	r := run{path: "small", trace: object{
		"run_id": "r", "workflow_id": "w", "memory_snapshot_id": "1", "visibility_mode": "read_only", "model_config_id": "m",
		"policy_set_id": "p", "determinism_trace_schema_version": "memory.determinism_trace.v1", "events": events,
		"output": object{"output_type": "text", "output_shape_hash": "opaque", "normalization_version": "json-v1"},
	}}
	if rows != nil {
		r.rows = rows
	}
	return r
}

func smallEvent(index int, role string, calls, guardrails, links list) object {
	return object{
		"event_id": "e-" + short(index), "index": number(short(index)), "role": role, "interceptor": "after_tool", "decision_type": "d",
		"tool_calls": calls, "guardrails_triggered": guardrails, "retrieval_event_ids": links,
	}
}

func smallCall(name string, args any, result string) object {
	return object{
		"tool_name": name, "tool_profile_version": "v1", "normalized_args": args, "normalization_version": "json-v1",
		"tool_result_fingerprint": result,
	}
}

func smallRow(id, event, policy string, records ...string) object {
	row := object{
		"retrieval_event_id": id, "run_id": "r", "event_id": event, "policy_id": policy, "policy_version": "v1",
		"query_normalization_version": "json-v1", "query_fingerprint": "q", "retrieval_mode": "text_to_vector", "candidate_count": number("9"),
		"applied_filters": object{}, "retrieval_trace_schema_version": "memory.retrieval_trace.v1",
	}
	selected := list{}
	for i, record := range records {
		selected = append(selected, object{"record_id": record, "record_type": "t", "score": number(short(100 - i)), "rank": number(short(i + 1))})
	}
	row["selected_records"] = selected
	return row
}

// randomRun draws a run from so few values that two of them often have much in common.
func randomRun(random *rand.Rand, shuffled bool) run {
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	events, rows := list{}, list{}
	for i := range random.IntN(5) {
		calls, guardrails, links := list{}, list{}, list{}
		for range random.IntN(3) {
			calls = append(calls, smallCall(pick("a", "b"), object{"q": pick("x", "y"), "n": number(pick("1", "1.0", "2"))}, pick("f", "g")))
		}
		for range random.IntN(3) {
			guardrails = append(guardrails, pick("g", "h"))
		}
		for range random.IntN(3) {
			id := "row-" + short(len(rows))
			rows = append(rows, smallRow(id, "e-"+short(i), pick("p", "q"), pick("m", "n")))
			links = append(links, id)
		}
		events = append(events, smallEvent(i, pick("a", "b"), calls, guardrails, links))
	}
	for range random.IntN(2) {
		rows = append(rows, smallRow("row-"+short(len(rows)), "none", pick("p", "q"), pick("m", "n")))
	}
	if shuffled {
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
	return small(events, rows)
}

// said is what a result says without the places. Rows that one side stores in another order have two pointers, and the
// lowest one, the root, is another seen from the other side (E11): the classes root and independent are then one.
func said(r finding.Result, shuffled bool) []string {
	var out []string
	for _, f := range r.Findings {
		class := f.Class
		if shuffled && class == finding.Root {
			class = finding.Independent
		}
		out = append(out, string(f.Code)+" "+string(class)+" "+short(f.EventIndex))
	}
	slices.Sort(out)
	return out
}

// behaves is what E3–E7 compare of a small run, worked out from its documents alone.
func (r run) behaves() string {
	rows, _ := r.rowList()
	rest := slices.Clone(rows)
	var out []byte
	for _, e := range r.eventObjects() {
		linked := list{}
		for _, link := range e["retrieval_event_ids"].(list) {
			i := slices.IndexFunc(rest, func(row any) bool { return row.(object)["retrieval_event_id"] == link })
			linked = append(linked, rowBehaves(rest[i]))
			rest = slices.Delete(slices.Clone(rest), i, i+1)
		}
		guardrails := slices.SortedFunc(slices.Values(e["guardrails_triggered"].(list)), func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		out = spelling{}.append(out, list{e["role"], e["tool_calls"], guardrails, linked})
	}
	for _, row := range rest {
		out = spelling{}.append(out, rowBehaves(row))
	}
	return strings.ReplaceAll(string(out), "1.0", "1")
}

func rowBehaves(row any) any {
	return list{row.(object)["policy_id"], row.(object)["selected_records"]}
}

// E1–E8, E11: two runs of any kind compare alike in both directions, and a run is equivalent to itself.
func TestRandomRunsMirror(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	verdicts := map[finding.Verdict]int{}
	for n := range 6000 {
		shuffled := n%2 == 1
		a, b := randomRun(random, shuffled), randomRun(random, shuffled)
		left, right := a.side(t, spelling{}), b.side(t, spelling{})
		there, back := equiv.Compare(left, right, equiv.Options{}), equiv.Compare(right, left, equiv.Options{})
		if there.Verdict != back.Verdict || !slices.Equal(said(there, shuffled), said(back, shuffled)) {
			t.Fatalf("there %s %v\nback  %s %v\nleft  %s\nright %s", there.Verdict, said(there, shuffled), back.Verdict, said(back, shuffled),
				left.Trace.EventList.Raw, right.Trace.EventList.Raw)
		}
		if want := a.behaves() == b.behaves(); want != (there.Verdict == finding.Equivalent) {
			t.Fatalf("%s, want equivalent %v: %v\nleft  %s\nright %s", there.Verdict, want, said(there, false), a.behaves(), b.behaves())
		}
		if self := equiv.Compare(left, left, equiv.Options{}); self.Verdict != finding.Equivalent {
			t.Fatalf("a run and itself: %s %v", self.Verdict, said(self, shuffled))
		}
		verdicts[there.Verdict]++
	}
	if verdicts[finding.Divergent] == 0 || verdicts[finding.Equivalent] == 0 {
		t.Errorf("the runs are all alike: %v", verdicts)
	}
}
