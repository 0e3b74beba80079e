package equiv_test

import (
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
)

// harmless changes what no rule compares. It works on a copy of the run and says whether it changed anything.
type harmless struct {
	name   string
	change func(r run) bool
}

var harmlessChanges = []harmless{
	{"run-local ids renamed", renameIDs},
	{"scores", otherScores},
	{"candidate counts", otherCandidates},
	{"record types and filters", otherTypes},
	{"additive members", addMembers},
	{"decomposed spelling", func(r run) bool { return respell(r, composed, decomposed) }},
	{"composed spelling", func(r run) bool { return respell(r, decomposed, composed) }},
	{"numbers of arguments with a fraction", func(r run) bool { return renumber(r, fraction) }},
	{"numbers of arguments with an exponent", func(r run) bool { return renumber(r, exponent) }},
	{"noise below the sixth decimal", func(r run) bool { return renumber(r, noise) }},
	{"null in place of absent", func(r run) bool { return eachOptional(r, gone{}, nil) }},
	{"absent in place of null", func(r run) bool { return eachOptional(r, nil, gone{}) }},
	{"digests with a prefix", prefixDigests},
	{"stored order of events", shuffleEvents},
	{"stored order of records", shuffleRecords},
	{"stored order of linked rows", shuffleRows},
	{"order of guardrails", shuffleGuardrails},
}

func copied(v any) any {
	out, err := decode(spelling{}.append(nil, v))
	if err != nil {
		panic(err)
	}
	return out
}

// E1, E4–E7, C3–C6, W: what is never compared never changes the verdict.
func TestNeverComparedStaysEquivalent(t *testing.T) {
	runs := validRuns(t)
	for _, h := range harmlessChanges {
		t.Run(h.name, func(t *testing.T) {
			changed := 0
			for _, r := range runs {
				other := run{path: r.path, trace: copied(r.trace), rows: copied(r.rows)}
				if !h.change(other) {
					continue
				}
				changed++
				got := equiv.Compare(r.side(t, spelling{}), other.side(t, spelling{}), equiv.Options{})
				if got.Verdict != finding.Equivalent || len(errorsOf(got)) > 0 {
					t.Errorf("%s: %s, errors %v", r.path, got.Verdict, codes(errorsOf(got)))
				}
			}
			t.Logf("%d runs changed", changed)
			if changed == 0 {
				t.Error("no run of the fixtures has what this change is about")
			}
		})
	}
}

func objectsOf(l any) []object {
	elements, _ := l.(list)
	var out []object
	for _, e := range elements {
		if o, ok := e.(object); ok {
			out = append(out, o)
		}
	}
	return out
}

func (r run) eventObjects() []object { return objectsOf(r.events()) }

func (r run) rowObjects() []object {
	if rows, _ := r.rowList(); rows != nil {
		return objectsOf(rows)
	}
	if row, ok := r.rows.(object); ok && row["events"] == nil {
		return []object{row}
	}
	return nil
}

func (r run) calls() []object {
	var out []object
	for _, e := range r.eventObjects() {
		out = append(out, objectsOf(e["tool_calls"])...)
	}
	return out
}

// renameIDs gives every run-local id another name, in the trace and in the rows alike; the commit id follows the run id (D7).
func renameIDs(r run) bool {
	rename := func(o object, names ...string) {
		for _, name := range names {
			if id, ok := o[name].(string); ok {
				o[name] = "other-" + id
			}
		}
	}
	doc := r.trace.(object)
	rename(doc, "run_id")
	for _, e := range r.eventObjects() {
		rename(e, "event_id")
		links := e["retrieval_event_ids"].(list)
		for i := range links {
			links[i] = "other-" + links[i].(string)
		}
	}
	for _, row := range r.rowObjects() {
		rename(row, "run_id", "event_id", "retrieval_event_id")
	}
	if commit, ok := doc["commit"].(object); ok {
		preimage := object{"memory_snapshot_id": doc["memory_snapshot_id"], "policy_set_id": doc["policy_set_id"], "run_id": doc["run_id"]}
		sum, err := canon.Digest(canon.JSONv1, spelling{}.append(nil, preimage))
		if err != nil {
			panic(err)
		}
		commit["commit_id"] = sum.Hex()
	}
	return true
}

// otherScores keeps the order of the ranks.
func otherScores(r run) bool {
	changed := false
	for _, row := range r.rowObjects() {
		for _, rec := range objectsOf(row["selected_records"]) {
			rank, err := rec["rank"].(number).Int64()
			if err != nil {
				panic(err)
			}
			rec["score"] = number(short(1000-rank) + ".25")
			changed = true
		}
	}
	return changed
}

func otherCandidates(r run) bool {
	for _, row := range r.rowObjects() {
		row["candidate_count"] = number("4711")
	}
	return len(r.rowObjects()) > 0
}

func otherTypes(r run) bool {
	for _, row := range r.rowObjects() {
		row["applied_filters"] = object{"namespace": "another", "ttl": number("1")}
		for _, rec := range objectsOf(row["selected_records"]) {
			rec["record_type"] = "another"
		}
	}
	return len(r.rowObjects()) > 0
}

func addMembers(r run) bool {
	doc := r.trace.(object)
	all := append(append(r.eventObjects(), r.calls()...), r.rowObjects()...)
	for _, row := range r.rowObjects() {
		all = append(all, objectsOf(row["selected_records"])...)
	}
	for _, name := range []string{"output", "metadata", "commit"} {
		if o, ok := doc[name].(object); ok {
			all = append(all, o)
		}
	}
	for _, o := range append(all, doc) {
		o["x_added"] = object{"n": number("1e-9"), "t": list{nil, true, "x"}}
	}
	return true
}

var (
	composed   = []string{"é", "ü", "ö", "å", "ñ", "Å", "각"}
	decomposed = []string{"e\u0301", "u\u0308", "o\u0308", "a\u030a", "n\u0303", "A\u030a", "\u1100\u1161\u11a8"}
)

// respell writes texts in another Unicode form. What a foreign runtime hashed as it stood keeps its form.
func respell(r run, from, to []string) bool {
	var pairs []string
	for i := range from {
		pairs = append(pairs, from[i], to[i])
	}
	replace := strings.NewReplacer(pairs...)
	changed := false
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			changed = changed || replace.Replace(v) != v
			return replace.Replace(v)
		case list:
			for i := range v {
				v[i] = walk(v[i])
			}
		case object:
			out := object{}
			for name, value := range v { // the order of a map is no matter: every member is written anew
				out[walk(name).(string)] = walk(value)
			}
			clear(v)
			for name, value := range out {
				v[name] = value
			}
		}
		return v
	}
	for _, c := range r.calls() {
		for _, name := range []string{"tool_name", "normalized_args", "args"} {
			if c[name] != nil {
				c[name] = walk(c[name])
			}
		}
	}
	for _, e := range r.eventObjects() {
		e["guardrails_triggered"], e["role"] = walk(e["guardrails_triggered"]), walk(e["role"])
	}
	for _, row := range r.rowObjects() {
		for _, rec := range objectsOf(row["selected_records"]) {
			rec["record_id"] = walk(rec["record_id"])
		}
	}
	return changed
}

// renumber writes the numbers of arguments otherwise; raw arguments follow, since they are the preimage (D1).
func renumber(r run, spell func(number) (number, bool)) bool {
	changed := false
	for _, c := range r.calls() {
		for _, name := range []string{"normalized_args", "args"} {
			eachSlot(slot{old: c[name]}, func(s slot) {
				if n, ok := s.old.(number); ok && s.set != nil {
					other, ok := spell(n)
					if ok {
						s.set(other)
						changed = true
					}
				}
			})
		}
	}
	return changed
}

func fraction(n number) (number, bool) {
	if strings.ContainsAny(string(n), "eE") {
		return n, false
	}
	if strings.Contains(string(n), ".") {
		return n + "00", true
	}
	return n + ".0", true
}

func exponent(n number) (number, bool) { return n + "e0", !strings.ContainsAny(string(n), "eE") }

// noise is half a unit of the seventh decimal at most, so that it rounds away whatever the sixth is.
func noise(n number) (number, bool) {
	if strings.ContainsAny(string(n), ".eE") {
		return n, false
	}
	return n + ".0000001", true
}

// eachOptional exchanges null for absent or back where both mean the same (D2, M3).
func eachOptional(r run, from, to any) bool {
	changed := false
	exchange := func(s slot) {
		if s.old == from {
			s.set(to)
			changed = true
		}
	}
	for _, c := range r.calls() {
		exchange(member(c, "side_effect_fingerprint", ""))
	}
	if commit, ok := r.trace.(object)["commit"].(object); ok && commit["buffer_state"] != "commit_aborted" {
		exchange(member(commit, "reason_code", ""))
	}
	return changed
}

// prefixDigests writes `sha256:` before a digest, or takes it away (C9).
func prefixDigests(r run) bool {
	changed := false
	turn := func(o object, name string) {
		text, _ := o[name].(string)
		hex, ok := canon.ParseDigest(text)
		if !ok {
			return
		}
		changed = true
		if o[name] = hex; text == hex {
			o[name] = "sha256:" + hex
		}
	}
	for _, c := range r.calls() {
		turn(c, "tool_result_fingerprint")
		turn(c, "side_effect_fingerprint")
	}
	for _, row := range r.rowObjects() {
		turn(row, "query_fingerprint")
	}
	if output, ok := r.trace.(object)["output"].(object); ok {
		turn(output, "output_shape_hash")
	}
	if commit, ok := r.trace.(object)["commit"].(object); ok {
		turn(commit, "commit_payload_fingerprint")
	}
	return changed
}
