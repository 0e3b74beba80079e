package trace_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/trace"
)

// present is a well-formed field with a JSON text.
func present(text string) trace.Field { return trace.Field{Raw: []byte(text), State: trace.Present} }

func texts(values ...string) []trace.Field {
	var out []trace.Field
	for _, v := range values {
		out = append(out, present(`"`+v+`"`))
	}
	return out
}

// V1: what is known of a field.
func TestFieldStates(t *testing.T) {
	tests := []struct {
		state       trace.State
		ok, missing bool
	}{{trace.Absent, false, true}, {trace.Null, false, true}, {trace.Malformed, false, false}, {trace.Present, true, false}}
	for _, tt := range tests {
		f := trace.Field{State: tt.state}
		if f.Ok() != tt.ok || f.Missing() != tt.missing {
			t.Errorf("state %d: ok %v, missing %v", tt.state, f.Ok(), f.Missing())
		}
	}
	if (trace.Field{}).State != trace.Absent {
		t.Error("the zero field is not absent")
	}
}

// C3: a text is compared as it reads, however it is spelt.
func TestFieldIs(t *testing.T) {
	for _, tt := range []struct {
		raw, text, prefix string
		is, begins        bool
	}{
		{`"unknown-v1"`, "unknown-v1", "unknown", true, true},
		{`"unknown"`, "unknown-v1", "unknown", false, true},
		{`"\u0075nknown"`, "unknown", "unknown", true, true},
		{`"known"`, "unknown", "unknown", false, false},
		{`""`, "", "u", true, false},
		{`"\u212a"`, "K", "K", true, true}, // the Kelvin sign is K in NFC
		{"\"\u212a\"", "K", "K", true, true},
		{`"e\u0301"`, "é", "é", true, true},
	} {
		if f := present(tt.raw); f.Is(tt.text) != tt.is || f.HasPrefix(tt.prefix) != tt.begins {
			t.Errorf("%s: is %q %v, begins with %q %v", tt.raw, tt.text, f.Is(tt.text), tt.prefix, f.HasPrefix(tt.prefix))
		}
	}
	if f := (trace.Field{Raw: []byte(`"a"`), State: trace.Malformed}); f.Is("a") || f.HasPrefix("a") {
		t.Error("a malformed field is compared")
	}
}

// C9, V5: a digest is 64 lowercase hex digits, with or without sha256:, however it is spelt.
func TestFieldDigest(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 4)
	for raw, want := range map[string]bool{
		`"` + hex + `"`: true, `"sha256:` + hex + `"`: true, `"\u0030` + hex[1:] + `"`: true,
		`"` + strings.ToUpper(hex) + `"`: false, `"` + hex[1:] + `"`: false, `"` + hex[:63] + `g"`: false, `"stub"`: false, `""`: false,
	} {
		f := present(raw)
		got, ok := f.Digest()
		if ok != want || f.IsDigest() != want || want && got != hex {
			t.Errorf("%s: %q %v, digest %v, want %v", raw, got, ok, f.IsDigest(), want)
		}
	}
	if f := (trace.Field{Raw: []byte(`"` + hex + `"`), State: trace.Malformed}); f.IsDigest() {
		t.Error("a malformed field is a digest")
	}
}

// V1: a field knows where it stands.
func TestFieldOffset(t *testing.T) {
	document := []byte(`{"a":"b"}`)
	if f := (trace.Field{Raw: document[5:8]}); f.Offset(document) != 5 {
		t.Errorf("offset %d, want 5", f.Offset(document))
	}
}

// C4: an index out of every list's reach is no place in the order.
func TestStatedIndex(t *testing.T) {
	for _, tt := range []struct {
		event trace.Event
		index int
		ok    bool
	}{
		{trace.Event{IndexField: present("3"), Index: 3}, 3, true},
		{trace.Event{IndexField: present("99999999999"), Index: trace.Beyond}, 0, false},
		{trace.Event{}, 0, false},
	} {
		if index, ok := tt.event.Stated(); ok != tt.ok || ok && index != tt.index {
			t.Errorf("%s: %d %v", tt.event.IndexField.Raw, index, ok)
		}
	}
}

// C3, P3: texts are decoded, and in NFC but where their own form is asked for.
func TestText(t *testing.T) {
	tests := []struct {
		field          trace.Field
		want, verbatim string
	}{
		{present(`"a"`), "a", "a"},
		{present(`"e\u0301"`), "é", "e\u0301"},
		{present("\"e\u0301\""), "é", "e\u0301"},
		{present(`"\u00e9\n"`), "é\n", "é\n"},
		{present(`"\ud800"`), "", ""},
		{trace.Field{Raw: []byte(`"a"`), State: trace.Malformed}, "", ""},
		{trace.Field{}, "", ""},
	}
	for _, tt := range tests {
		if got := tt.field.Text(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.field.Raw, got, tt.want)
		}
		if got := tt.field.Verbatim(); got != tt.verbatim {
			t.Errorf("%s: %q, want %q", tt.field.Raw, got, tt.verbatim)
		}
	}
}

// E4, C3–C6: equal values, however they are written.
func TestSame(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true},
		{`1e3`, `1000`, true},
		{`-0.0`, `0`, true},
		{`"é"`, `"e\u0301"`, true},
		{`{"a":1,"b":2}`, `{ "b": 2, "a": 1.0 }`, true},
		{`true`, `1`, false},
		{`"7"`, `7`, false},
		{`null`, `""`, false},
		{`[1,2]`, `[2,1]`, false},
		{`1e400`, `1e400`, true},
		{`1e400`, `2e400`, false},
	}
	for _, tt := range tests {
		if a, b := present(tt.a), present(tt.b); a.Same(b) != tt.want || b.Same(a) != tt.want {
			t.Errorf("%s and %s: %v, want %v", tt.a, tt.b, a.Same(b), tt.want)
		}
	}
}

// C9, V5: digests with and without the prefix are one; what is no digest is compared as text.
func TestSameDigest(t *testing.T) {
	hex := strings.Repeat("ab", 32)
	tests := []struct {
		a, b string
		want bool
	}{
		{hex, hex, true},
		{hex, "sha256:" + hex, true},
		{hex, strings.Repeat("ac", 32), false},
		{hex, "SHA256:" + hex, false},
		{hex, strings.ToUpper(hex), false},
		{hex, "ok", false},
		{"ok", "ok", true},
		{"é", `e\u0301`, true},
		{"ok", "sha256:ok", false},
	}
	for _, tt := range tests {
		a, b := present(`"`+tt.a+`"`), present(`"`+tt.b+`"`)
		if a.SameDigest(b) != tt.want || b.SameDigest(a) != tt.want {
			t.Errorf("%s and %s: %v, want %v", tt.a, tt.b, a.SameDigest(b), tt.want)
		}
	}
}

func eventAt(position, index int, state trace.State) trace.Event {
	return trace.Event{Field: present(`{}`), Position: position, Index: index, IndexField: trace.Field{State: state}}
}

// V2, E1: events come in the order of their indices, or not at all.
func TestByIndex(t *testing.T) {
	list := trace.Field{State: trace.Present}
	noObject := eventAt(0, 0, trace.Present)
	noObject.State = trace.Malformed
	tests := []struct {
		name   string
		list   trace.Field
		events []trace.Event
		want   []int // positions; nil where they cannot be ordered
	}{
		{"none", list, nil, []int{}},
		{"in order", list, []trace.Event{eventAt(0, 0, trace.Present), eventAt(1, 1, trace.Present)}, []int{0, 1}},
		{"stored otherwise", list, []trace.Event{eventAt(0, 2, trace.Present), eventAt(1, 0, trace.Present), eventAt(2, 1, trace.Present)}, []int{1, 2, 0}},
		{"gap", list, []trace.Event{eventAt(0, 0, trace.Present), eventAt(1, 2, trace.Present)}, nil},
		{"twice", list, []trace.Event{eventAt(0, 0, trace.Present), eventAt(1, 0, trace.Present)}, nil},
		{"no index", list, []trace.Event{eventAt(0, 0, trace.Absent)}, nil},
		{"no object", list, []trace.Event{noObject}, nil},
		{"no list", trace.Field{State: trace.Malformed}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := &trace.Trace{EventList: tt.list, Events: tt.events}
			events, ok := tr.ByIndex()
			var got []int
			if ok {
				got = []int{}
			}
			for _, e := range events {
				got = append(got, e.Position)
			}
			if ok != (tt.want != nil) || !slices.Equal(got, tt.want) {
				t.Errorf("%v %v, want %v", got, ok, tt.want)
			}
		})
	}
}

func recordAt(position, rank int) trace.Record {
	return trace.Record{
		Field: present(`{}`), Position: position, Rank: rank, RankField: present(`1`), ID: present(`"m"`), Type: present(`"t"`), Score: present(`1`),
	}
}

// V2, E1: records come in the order of their ranks, or not at all.
func TestByRank(t *testing.T) {
	broken := func(spoil func(*trace.Record)) []trace.Record {
		r := recordAt(0, 1)
		spoil(&r)
		return []trace.Record{r}
	}
	malformed := trace.Field{State: trace.Malformed}
	tests := []struct {
		name    string
		records []trace.Record
		want    []int
	}{
		{"none", nil, []int{}},
		{"stored otherwise", []trace.Record{recordAt(0, 2), recordAt(1, 1)}, []int{1, 0}},
		{"gap", []trace.Record{recordAt(0, 1), recordAt(1, 3)}, nil},
		{"twice", []trace.Record{recordAt(0, 1), recordAt(1, 1)}, nil},
		{"no object", broken(func(r *trace.Record) { r.Field = malformed }), nil},
		{"no id", broken(func(r *trace.Record) { r.ID = malformed }), nil},
		{"no type", broken(func(r *trace.Record) { r.Type = malformed }), nil},
		{"no score", broken(func(r *trace.Record) { r.Score = malformed }), nil},
		{"no rank", broken(func(r *trace.Record) { r.RankField = malformed }), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			row := &trace.Row{RecordList: trace.Field{State: trace.Present}, Records: tt.records}
			records, ok := row.ByRank()
			var got []int
			for _, r := range records {
				got = append(got, r.Position)
			}
			if ok != (tt.want != nil) || !slices.Equal(got, tt.want) {
				t.Errorf("%v %v, want %v", got, ok, tt.want)
			}
			row.RecordList = malformed
			if _, ok := row.ByRank(); ok {
				t.Error("a list that is none was ordered")
			}
		})
	}
}

// Z3: a place in a file is an RFC 6901 pointer.
func TestPointers(t *testing.T) {
	e := trace.Event{Position: 12}
	wrapped, bare, single := trace.Retrieval{Prefix: "/events"}, trace.Retrieval{}, trace.Retrieval{Single: true}
	got := []string{e.Pointer(), wrapped.RowPointer(3), bare.RowPointer(3), single.RowPointer(0)}
	if want := []string{"/events/12", "/events/3", "/3", ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func call(name, args, result string) trace.Call {
	return trace.Call{
		Field: present(`{}`), Name: present(`"` + name + `"`), Args: present(args), Result: present(`"` + result + `"`),
		ProfileVersion: present(`"v1"`), Normalization: present(`"json-v1"`),
	}
}

func event(role string, guardrails []trace.Field, calls ...trace.Call) *trace.Event {
	return &trace.Event{
		Role: present(`"` + role + `"`), Interceptor: present(`"after_tool"`), Decision: present(`"d"`), Calls: calls, Guardrails: guardrails,
	}
}

// E3, E4, E5, E7, E11: equal keys are equal behaviour; linkage, spelling and the order of guardrails do not enter.
func TestEventKey(t *testing.T) {
	base := event("a", texts("g", "h"), call("t", `{"q":1,"r":"é"}`, "f"))
	same := []*trace.Event{
		event("a", texts("h", "g"), call("t", `{"r":"e\u0301", "q":1.0}`, "f")),
		event(`\u0061`, texts("g", "h"), call("t", `{"q":1,"r":"é"}`, "f")),
	}
	same[0].ID, same[0].Index, same[0].Links = present(`"another"`), 7, texts("row")
	for i, e := range same {
		if keyOf(e) != keyOf(base) {
			t.Errorf("%d: another key", i)
		}
	}
	withSideEffect, otherVersion, otherNormalization := call("t", `{"q":1,"r":"é"}`, "f"), call("t", `{"q":1,"r":"é"}`, "f"), call("t", `{"q":1,"r":"é"}`, "f")
	withSideEffect.SideEffect, otherVersion.ProfileVersion, otherNormalization.Normalization = present(`"s"`), present(`"v2"`), present(`"json-v2"`)
	other := event("a", texts("g", "h"), call("t", `{"q":1,"r":"é"}`, "f"))
	other.Decision = present(`"e"`)
	otherInterceptor := event("a", texts("g", "h"), call("t", `{"q":1,"r":"é"}`, "f"))
	otherInterceptor.Interceptor = present(`"before_tool"`)
	seen := map[[32]byte]int{keyOf(base): -1}
	for i, e := range []*trace.Event{
		other, otherInterceptor,
		event("b", texts("g", "h"), call("t", `{"q":1,"r":"é"}`, "f")),
		event("a", texts("g"), call("t", `{"q":1,"r":"é"}`, "f")),
		event("a", texts("g", "h", "h"), call("t", `{"q":1,"r":"é"}`, "f")),
		event("a", texts(`g","h`), call("t", `{"q":1,"r":"é"}`, "f")),
		event("a", texts("g", "h"), call("u", `{"q":1,"r":"é"}`, "f")),
		event("a", texts("g", "h"), call("t", `{"q":true,"r":"é"}`, "f")),
		event("a", texts("g", "h"), call("t", `{"q":1,"r":"é"}`, "g")),
		event("a", texts("g", "h"), withSideEffect),
		event("a", texts("g", "h"), otherVersion),
		event("a", texts("g", "h"), otherNormalization),
		event("a", texts("g", "h")),
		event("a", texts("g", "h"), call("t", `{"q":1,"r":"é"}`, "f"), call("t", `{"q":1,"r":"é"}`, "f")),
	} {
		if twin, twice := seen[keyOf(e)]; twice {
			t.Errorf("%d has the key of %d", i, twin)
		}
		seen[keyOf(e)] = i
	}
	if beyond := event("a", nil, call("t", `{"n":1e400}`, "f")); keyOf(beyond) != [32]byte{} {
		t.Error("arguments without a canonical form have a key")
	}
}

// E6: the same of retrievals.
func TestRowKey(t *testing.T) {
	row := func(policy, version, query, normalization, mode string, records ...trace.Record) *trace.Row {
		return &trace.Row{
			PolicyID: present(policy), PolicyVersion: present(version), QueryFingerprint: present(query), QueryNormalization: present(normalization),
			Mode: present(mode), RecordList: trace.Field{State: trace.Present}, Records: records,
		}
	}
	two := func(a, b trace.Record) *trace.Row { return row(`"p"`, `"v"`, `"q"`, `"n"`, `"m"`, a, b) }
	first, second, third := recordAt(0, 1), recordAt(1, 2), recordAt(1, 2)
	second.ID, third.ID = present(`"n"`), present(`"o"`)
	base := two(first, second)
	stored := two(second, first)
	stored.ID, stored.CandidateCount = present(`"another"`), present(`9`)
	if stored.Key() != base.Key() {
		t.Error("the stored order changes the key")
	}
	seen := map[[32]byte]bool{base.Key(): true}
	for i, other := range []*trace.Row{
		two(first, third), row(`"p"`, `"v"`, `"q"`, `"n"`, `"m"`, first), row(`"x"`, `"v"`, `"q"`, `"n"`, `"m"`, first), row(`"p"`, `"x"`, `"q"`, `"n"`, `"m"`, first),
		row(`"p"`, `"v"`, `"x"`, `"n"`, `"m"`, first), row(`"p"`, `"v"`, `"q"`, `"x"`, `"m"`, first), row(`"p"`, `"v"`, `"q"`, `"n"`, `"x"`, first),
	} {
		if seen[other.Key()] {
			t.Errorf("%d has the key of another row", i)
		}
		seen[other.Key()] = true
	}
	if bad := row(`1e400`, `"v"`, `"q"`, `"n"`, `"m"`); bad.Key() != [32]byte{} {
		t.Error("a row without a canonical form has a key")
	}
}

func keyOf(e *trace.Event) [32]byte {
	key, _ := e.Key(nil)
	return key
}
