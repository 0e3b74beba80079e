package equiv_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// oneCall is a run of one event with one call.
func oneCall(call object) run {
	return small(list{smallEvent(0, "a", list{call}, list{}, list{})}, nil)
}

func compareRuns(t *testing.T, left, right run, o equiv.Options) finding.Result {
	t.Helper()
	return equiv.Compare(left.side(t, spelling{}), right.side(t, spelling{}), o)
}

func find(r finding.Result, code finding.Code) (finding.Finding, bool) {
	i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Code == code })
	if i < 0 {
		return finding.Finding{}, false
	}
	return r.Findings[i], true
}

// withRaw is a call that keeps its raw arguments and result (D8).
func withRaw(call, args, result object) object {
	out := with(call, "args", args)
	out["result"] = result
	return out
}

// D1, D2, R1: given profiles select again from the raw values of both sides.
func TestProfilesSelectAgain(t *testing.T) {
	profiles := trace.Profiles{{
		Name: "a", Version: "v1", Args: []string{"q", "when", "n"}, Result: []string{"hits"}, SideEffects: []string{"rows"}, Datetimes: []string{"/when"},
	}}
	base := smallCall("a", object{"q": "x"}, "f")
	call := func(args, result object) run { return oneCall(withRaw(base, args, result)) }
	same := call(object{"q": "x"}, object{"hits": number("1")})
	tests := []struct {
		name        string
		left, right run
		want        finding.Verdict
		code        finding.Code // "" for none
	}{
		{"volatile fields", same, call(object{"q": "x", "took": number("9")}, object{"hits": number("1"), "ms": number("7")}), finding.Equivalent, ""},
		{"selected argument", same, call(object{"q": "y"}, object{"hits": number("1")}), finding.Divergent, finding.EquivArguments},
		{"true is not 1", call(object{"q": true}, object{}), call(object{"q": number("1")}, object{}), finding.Divergent, finding.EquivArguments},
		{"null is not missing", call(object{"q": nil}, object{}), call(object{}, object{}), finding.Divergent, finding.EquivArguments},
		{"selected result", same, call(object{"q": "x"}, object{"hits": number("2")}), finding.Divergent, finding.EquivResult},
		{"one instant in two zones", call(object{"when": "2026-01-01T02:00:00+02:00"}, object{}), call(object{"when": "2026-01-01T00:00:00Z"}, object{}), finding.Equivalent, ""},
		{"unreadable datetime", same, call(object{"when": "yesterday"}, object{"hits": number("1")}), finding.Undecided, finding.CanonDatetime},
		{"number beyond the range", same, call(object{"n": number("1e400")}, object{"hits": number("1")}), finding.Undecided, finding.CanonNumberRange},
		{"result beyond the range", same, call(object{"q": "x"}, object{"hits": number("1e400")}), finding.Undecided, finding.CanonNumberRange},
		{"preimages on one side", same, oneCall(base), finding.Undecided, finding.EquivNoPreimage},
		{"no preimage of the result", oneCall(with(base, "args", object{"q": "x"})), same, finding.Undecided, finding.EquivNoPreimage},
		{"the side-effect fingerprint alone", oneCall(with(base, "side_effect_fingerprint", "s")), oneCall(with(base, "side_effect_fingerprint", "t")), finding.Divergent, finding.EquivSideEffect},
		{"another tool", oneCall(smallCall("b", object{"q": "x"}, "f")), oneCall(smallCall("b", object{"q": "y"}, "f")), finding.Divergent, finding.EquivArguments},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []finding.Result{
				compareRuns(t, tt.left, tt.right, equiv.Options{Profiles: profiles}),
				compareRuns(t, tt.right, tt.left, equiv.Options{Profiles: profiles}),
			} {
				if _, found := find(r, tt.code); r.Verdict != tt.want || tt.code != "" && !found {
					t.Errorf("%s %v, want %s and %s", r.Verdict, codes(errorsOf(r)), tt.want, tt.code)
				}
			}
		})
	}
}

// E4, C5: arguments without a canonical form are undecided, however they are written.
func TestArgumentsWithoutACanonicalForm(t *testing.T) {
	big := func(text string) run { return oneCall(smallCall("a", object{"n": number(text)}, "f")) }
	for _, other := range []string{"1e400", "2e400", "1"} {
		r := compareRuns(t, big("1e400"), big(other), equiv.Options{})
		if _, found := find(r, finding.EquivNoCanonical); r.Verdict != finding.Undecided || !found {
			t.Errorf("1e400 and %s: %s %v", other, r.Verdict, codes(errorsOf(r)))
		}
	}
}

// E4: arguments that differ as a whole are named as such, and a name in a pointer is escaped (RFC 6901).
func TestArgumentPointers(t *testing.T) {
	left := oneCall(smallCall("a", object{"a/b": object{"~": list{number("1"), number("2")}}}, "f"))
	right := oneCall(smallCall("a", object{"a/b": object{"~": list{number("1"), number("3")}}}, "f"))
	f, _ := find(compareRuns(t, left, right, equiv.Options{}), finding.EquivArguments)
	if want := "/events/0/tool_calls/0/normalized_args/a~1b/~0/1"; f.Pointer != want || f.RightPointer != want || f.Detail != "arguments differ at /a~1b/~0/1" {
		t.Errorf("%s, %s: %s", f.Pointer, f.RightPointer, f.Detail)
	}
	if string(f.Expected) != "2" || string(f.Actual) != "3" || f.Subject != "tool call 0 (a)" {
		t.Errorf("%s: left %s, right %s", f.Subject, f.Expected, f.Actual)
	}
}

// Z2: what is ignored is a code, or a place with all below it; a star stands for one token. It is listed with its count.
func TestIgnore(t *testing.T) {
	left := oneCall(smallCall("a", object{"q": object{"x": "1"}}, "f"))
	right := oneCall(smallCall("a", object{"q": object{"x": "2"}}, "f"))
	tests := []struct {
		what  string
		count int
	}{
		{"equiv.arguments", 1},
		{"equiv.argument", 0},
		{"/events/0/tool_calls/0/normalized_args/q/x", 1},
		{"/events/*/tool_calls/*/normalized_args", 1},
		{"/events/*/tool_calls/*/normalized_args/*", 1},
		{"/events/*/tool_calls/*/normalized_args/q/x/deeper", 0},
		{"/events/1", 0},
		{"/event", 0},
		{"/policy_set_id", 0},
		{"/retrieval/events/0", 0},
	}
	for _, tt := range tests {
		r := compareRuns(t, left, right, equiv.Options{Ignore: []string{tt.what}})
		i := slices.IndexFunc(r.Ignored, func(i finding.Ignored) bool { return i.What == tt.what })
		if i < 0 || r.Ignored[i].Count != tt.count || r.Ignored[i].Reason != "--ignore" {
			t.Errorf("%s: ignored %+v", tt.what, r.Ignored)
		}
		if equivalent := r.Verdict == finding.Equivalent; equivalent != (tt.count > 0) {
			t.Errorf("%s: %s", tt.what, r.Verdict)
		}
	}
}

// runOf has one event for each role.
func runOf(roles ...string) run {
	var events list
	for i, role := range roles {
		events = append(events, smallEvent(i, role, list{smallCall("t", object{}, "f")}, list{}, list{}))
	}
	return small(events, nil)
}

// E11: an alignment names the extra events, and what it shifts is cascade; events before and behind equal numbers of
// extra ones stand in place.
func TestAlignmentShiftsWhatStandsBehind(t *testing.T) {
	tests := []struct {
		name        string
		left, right []string
		note        string
		cascades    []int // indices
		at          int   // of the finding about the count
	}{
		{"extra on the right", []string{"a", "b", "c"}, []string{"a", "x", "b", "c"}, "one extra event on the right at 1; right 2…3 equal left 1…2", []int{1, 2}, 1},
		{"extra on the left", []string{"a", "x", "y", "b"}, []string{"a", "b"}, "2 extra events on the left at 1…2; right 1 equal left 3", []int{1}, 1},
		{"in place again", []string{"x", "b", "c"}, []string{"y", "b", "c", "d"}, "one extra event on the left at 0; one extra event on the right at 0; one extra event on the right at 3", nil, 3},
		{
			"many runs",
			[]string{"a", "b", "c", "d", "e", "f"},
			[]string{"1", "a", "2", "b", "3", "c", "4", "d", "5", "e"},
			"one extra event on the right at 0; right 1 equal left 0; one extra event on the right at 2; right 3 equal left 1; " +
				"one extra event on the right at 4; right 5 equal left 2; 5 more runs",
			[]int{0, 1, 2, 3, 4, 5},
			0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := compareRuns(t, runOf(tt.left...), runOf(tt.right...), equiv.Options{})
			if r.Alignment == nil || r.Alignment.Note != tt.note {
				t.Errorf("alignment %+v", r.Alignment)
			}
			var cascades []int
			for _, f := range r.Findings {
				if f.Class == finding.Cascade {
					cascades = append(cascades, f.EventIndex)
				}
			}
			if f, _ := find(r, finding.EquivEventCount); f.EventIndex != tt.at || !slices.Equal(slices.Compact(cascades), tt.cascades) {
				t.Errorf("the count stands at %d, cascades at %v", f.EventIndex, cascades)
			}
		})
	}
}

// E1: a size over the cap fails the artifact and leaves the comparison as it is; what a side cannot know stays its own.
func TestFindingsOfASide(t *testing.T) {
	side := runOf("a").side(t, spelling{})
	tests := []struct {
		code finding.Code
		want finding.Verdict
		kept bool
	}{
		{finding.SizeOverCap, finding.Equivalent, true},
		{finding.BlindStructure, finding.Equivalent, false},
		{finding.DigestOtherProfile, finding.Equivalent, false},
		{finding.ClaimTruncated, finding.Undecided, true},
		{finding.ShapeMissing, finding.Undecided, true},
	}
	for _, tt := range tests {
		other := side
		other.Findings = []finding.Finding{finding.New(tt.code)}
		r := equiv.Compare(side, other, equiv.Options{})
		if _, found := find(r, tt.code); r.Verdict != tt.want || found != tt.kept {
			t.Errorf("%s: %s, listed %v", tt.code, r.Verdict, found)
		}
	}
}

// Z4: a timeline has one row an event and side, and equal events have equal digests.
func TestTimeline(t *testing.T) {
	r := compareRuns(t, runOf("a", "b"), runOf("a", "c"), equiv.Options{Timeline: true})
	timeline := slices.Collect(r.Timeline)
	if len(timeline) != 4 {
		t.Fatalf("%d rows", len(timeline))
	}
	first := finding.Row{Side: "left", Index: 0, Role: "a", Decision: "after_tool/d", Tools: []string{"t"}}
	got := timeline[0]
	got.Digest = ""
	if got.Side != first.Side || got.Role != first.Role || got.Decision != first.Decision || !slices.Equal(got.Tools, first.Tools) {
		t.Errorf("row %+v", got)
	}
	if timeline[0].Digest != timeline[2].Digest || timeline[1].Digest == timeline[3].Digest || len(timeline[0].Digest) != 64 {
		t.Errorf("digests %+v", timeline)
	}
	if none := compareRuns(t, runOf("a"), runOf("b"), equiv.Options{}); none.Timeline != nil {
		t.Errorf("a timeline that nobody asked for: %+v", slices.Collect(none.Timeline))
	}
}

// E11, Z3: two events before and after the root are shown, of both sides.
func TestContextAroundTheRoot(t *testing.T) {
	r := compareRuns(t, runOf("a", "b", "c", "d", "e", "f", "g"), runOf("a", "b", "c", "X", "e", "f", "g"), equiv.Options{})
	var indices []int
	for _, row := range r.Context {
		indices = append(indices, row.Index)
	}
	if want := []int{1, 2, 3, 4, 5, 1, 2, 3, 4, 5}; !slices.Equal(indices, want) {
		t.Errorf("rows %v, want %v", indices, want)
	}
	if short := compareRuns(t, runOf("a"), runOf("a", "b", "c", "d", "e"), equiv.Options{}); len(short.Context) != 1+4 {
		t.Errorf("context %+v", short.Context)
	}
}

// E5: the finding names what only one side has, and not all of a long list.
func TestGuardrailsAreNamed(t *testing.T) {
	with := func(ids ...any) run {
		return small(list{smallEvent(0, "a", list{}, append(list{}, ids...), list{})}, nil)
	}
	tests := []struct {
		left, right run
		detail      string
	}{
		{with("a", "b"), with("b", "c", "c"), "guardrails differ; only left: a; only right: c, c"},
		{with(), with("a", "b", "c", "d", "e", "f", "g"), "guardrails differ; only right: a, b, c, d, e and 2 more"},
	}
	for _, tt := range tests {
		if f, _ := find(compareRuns(t, tt.left, tt.right, equiv.Options{}), finding.EquivGuardrails); f.Detail != tt.detail {
			t.Errorf("%q, want %q", f.Detail, tt.detail)
		}
	}
}

// E6: one row that two events link is one retrieval; another row in its place is another one, though it says the same.
func TestRowLinkedTwice(t *testing.T) {
	rows := list{smallRow("r0", "e-0", "p", "m"), smallRow("r1", "e-0", "p", "m")}
	linking := func(links ...any) run { return small(list{smallEvent(0, "a", list{}, list{}, links)}, rows) }
	if r := compareRuns(t, linking("r0", "r0"), linking("r0", "r0"), equiv.Options{}); r.Verdict != finding.Equivalent {
		t.Errorf("the same links: %s %v", r.Verdict, codes(errorsOf(r)))
	}
	for _, pair := range [][2]run{{linking("r0", "r0"), linking("r0", "r1")}, {linking("r0", "r1"), linking("r1", "r1")}} {
		r := compareRuns(t, pair[0], pair[1], equiv.Options{})
		if _, found := find(r, finding.EquivRetrievalLinks); r.Verdict != finding.Divergent || !found {
			t.Errorf("other links: %s %v", r.Verdict, codes(errorsOf(r)))
		}
	}
}

// E1, V5: every rule ends somewhere: what is not compared is tallied with its reason.
func TestNothingIsLeftOutInSilence(t *testing.T) {
	event := smallEvent(0, "a", list{}, list{}, list{})
	for _, name := range []string{"tool_calls", "guardrails_triggered", "retrieval_event_ids"} {
		event[name] = nil
	}
	malformed := small(list{event}, list{})
	r := compareRuns(t, malformed, malformed, equiv.Options{})
	for _, id := range []string{"E2", "E3", "E4", "E5", "E6", "E7", "E8", "E9", "E10"} {
		if !slices.ContainsFunc(r.Checks, func(c finding.Check) bool { return c.ID == id && (c.Status == finding.Passed || c.Reason != "") }) {
			t.Errorf("%s is not tallied: %+v", id, r.Checks)
		}
	}
	for _, c := range r.Checks {
		if c.Status == finding.NotChecked && strings.TrimSpace(c.Reason) == "" {
			t.Errorf("%s is not checked, without a reason", c.ID)
		}
	}
	if r.Verdict != finding.Undecided {
		t.Errorf("%s", r.Verdict)
	}
}

// Z2, E1: a pointer leaves out differences, never what is wrong with a side; that is left out by its code.
func TestPointersIgnoreNoViolation(t *testing.T) {
	live := with(oneCall(smallCall("a", object{"q": "x"}, "f")).trace.(object), "visibility_mode", "live_read_write")
	side := run{trace: live}
	for what, want := range map[string]finding.Verdict{
		"/visibility_mode": finding.Undecided, "/*": finding.Undecided, "claim.live_visibility": finding.Equivalent,
	} {
		if r := compareRuns(t, side, side, equiv.Options{Ignore: []string{what}}); r.Verdict != want {
			t.Errorf("%s: %s, want %s", what, r.Verdict, want)
		}
	}
}

// E7: a side effect that neither side has is nothing that was left out.
func TestNoSideEffectsAreChecked(t *testing.T) {
	left := oneCall(smallCall("a", object{"q": "e\u0301"}, "f"))
	right := oneCall(smallCall("a", object{"q": "é"}, "f"))
	for _, c := range compareRuns(t, left, right, equiv.Options{}).Checks {
		if (c.ID == "E4" || c.ID == "E7") && c.Status != finding.Passed {
			t.Errorf("%s: %s, %s", c.ID, c.Status, c.Reason)
		}
	}
}
