package replay_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/thread"
)

const (
	refsStream = "s01_chat_refs"
	denyStream = "s03_denies"
)

// at gives the position of the n-th event of a kind, from 0.
func at(t *testing.T, events []thread.Event, kind thread.Kind, n int) int {
	t.Helper()
	for i, e := range events {
		if e.Kind == kind {
			if n--; n < 0 {
				return i
			}
		}
	}
	t.Fatalf("no %s of that number", kind)
	return 0
}

// edit replaces text in the assembled context of a decision.
func edit(t *testing.T, e *thread.Event, from, to string) {
	t.Helper()
	v, err := thread.Read(e.Payload)
	if err != nil {
		t.Fatal(err)
	}
	assembled, _ := v.Get("assembled_context")
	compact, err := canon.Append(nil, assembled.Raw(), canon.DBL)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(compact), from, to, 1)
	if changed == string(compact) {
		t.Fatalf("event %d has no %s: %s", e.Index, from, compact)
	}
	set(t, e, "assembled_context", changed)
}

// set replaces a member of the payload of an event, or adds it.
func set(t *testing.T, e *thread.Event, name, value string) {
	t.Helper()
	v, err := thread.Read(e.Payload)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, m := range v.Members() {
		if m.Name != name {
			out = append(out, `"`+m.Name+`":`+string(m.Value.Raw()))
		}
	}
	if value != "" {
		out = append(out, `"`+name+`":`+value)
	}
	e.Payload = []byte("{" + strings.Join(out, ",") + "}")
}

// details gives the findings for people.
func details(r finding.Result) []string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, string(f.Code)+" "+f.Pointer+": "+f.Detail)
	}
	return all
}

// X5, V5, R4, R5: each thing that is wrong with one turn has its code, at its decision.
func TestOneThingWrong(t *testing.T) {
	type events = []thread.Event
	decision := func(change func(t *testing.T, e *thread.Event)) func(*testing.T, events) events {
		return func(t *testing.T, es events) events {
			change(t, &es[at(t, es, thread.Decision, 1)])
			return es
		}
	}
	setTo := func(name, value string) func(*testing.T, events) events {
		return decision(func(t *testing.T, e *thread.Event) { set(t, e, name, value) })
	}
	for _, c := range []struct {
		what, stream string
		change       func(*testing.T, events) events
		verdict      finding.Verdict
		codes        []finding.Code
		pointer      string // below the payload of the second decision
		detail       string // of the last finding
	}{
		{"a context that was removed", refsStream, setTo("context_spec", ""), finding.Undecided, []finding.Code{finding.ReplayNotRebuilt}, "", "stores no context"},
		{"a context that is null", refsStream, setTo("context_spec", "null"), finding.Undecided, []finding.Code{finding.ReplayNotRebuilt}, "", "stores no context"},
		{"a denied turn without context", refsStream, decision(func(t *testing.T, e *thread.Event) {
			set(t, e, "context_spec", "null")
			set(t, e, "result", `"DENY"`)
		}), finding.Equivalent, nil, "", ""},
		{"a handle", refsStream, decision(func(t *testing.T, e *thread.Event) {
			set(t, e, "context_spec", "null")
			e.IntentType = "artifact.handle"
		}), finding.Equivalent, nil, "", ""},
		{"resolution switched off", refsStream, setTo("boundary", `{"context_config_digest":"CONTEXT_RESOLUTION_DISABLED"}`), finding.Equivalent, nil, "", ""},
		{"a refusal of what resolves", refsStream, decision(func(t *testing.T, e *thread.Event) {
			set(t, e, "context_spec", "null")
			set(t, e, "reasons", `[{"code":"REF_NOT_FOUND"}]`)
		}), finding.Divergent, []finding.Code{finding.ReplayResolutionChanged}, "/reasons/0/code", "they were refused as REF_NOT_FOUND"},
		{"a context that is no object", refsStream, setTo("context_spec", "7"), finding.Divergent, []finding.Code{finding.ReplayContextChanged, finding.DigestMismatch}, "", "stored context has no digest"},
		{"no assembled context", refsStream, setTo("assembled_context", ""), finding.Divergent, []finding.Code{finding.ReplayContextChanged, finding.DigestMismatch}, "", "stored context has no digest"},
		{"a float in the context", refsStream, setTo("assembled_context", `{"model_messages":[1.5]}`), finding.Undecided, []finding.Code{finding.ReplayNotRebuilt}, "", "canonical form"},
		{"another transform", refsStream, setTo("transforms", `[{"op":"X","target":"y"}]`), finding.Divergent, []finding.Code{finding.ReplayContextChanged}, "/transforms/0", "differs in transforms"},
		{"transforms that are null", refsStream, setTo("transforms", "null"), finding.Equivalent, nil, "", ""},
		{"another digest", refsStream, setTo("assembly_digest", `"sha256:00"`), finding.Undecided, []finding.Code{finding.DigestMismatch}, "/assembly_digest", ""},
		{"an observation beside the context", refsStream, decision(func(t *testing.T, e *thread.Event) {
			edit(t, e, `{`, `{"_obs":{"ms":1.5},`)
		}), finding.Equivalent, nil, "", ""},
		{"a message more", refsStream, decision(func(t *testing.T, e *thread.Event) {
			edit(t, e, `"model_messages":[`, `"model_messages":[{"role":"system","content":"obey"},`)
		}), finding.Divergent, []finding.Code{finding.ReplayContextChanged, finding.DigestMismatch}, "", ""},
		{"a message that is no text", refsStream, decision(func(t *testing.T, e *thread.Event) {
			edit(t, e, `"model_messages":[`, `"model_messages":[],"was":[`)
		}), finding.Divergent, []finding.Code{finding.ReplayContextChanged, finding.DigestMismatch}, "", ""},
		{"a decision that is no JSON", refsStream, decision(func(_ *testing.T, e *thread.Event) { e.Payload = []byte("{") }), finding.Undecided, []finding.Code{finding.ReplayNotRebuilt}, "", "not readable"},
		{"an INTENT that is no JSON", refsStream, func(t *testing.T, es events) events {
			es[at(t, es, thread.Intent, 1)].Payload = []byte("{")
			return es
		}, finding.Undecided, []finding.Code{finding.ReplayNotRebuilt}, "", "canon."},
		{"an INTENT that says nothing", refsStream, func(t *testing.T, es events) events {
			set(t, &es[at(t, es, thread.Intent, 1)], "message", `" "`)
			return es
		}, finding.Divergent, []finding.Code{finding.ReplayResolutionChanged, finding.ReplayContextChanged}, "", "refused as thread.invalid_intent"},
		{"an INTENT of another turn", refsStream, func(t *testing.T, es events) events {
			es[at(t, es, thread.Intent, 1)].CorrelationID = "elsewhere"
			return es
		}, finding.Divergent, []finding.Code{finding.ReplayNotRebuilt, finding.ReplayContextChanged}, "", "no INTENT of the same"},
		{"an INTENT without a decision", refsStream, func(t *testing.T, es events) events {
			return es[:at(t, es, thread.Intent, 1)+1]
		}, finding.Equivalent, nil, "", ""},
		{"another refusal", denyStream, func(t *testing.T, es events) events {
			for i := range es {
				if bytes.Contains(es[i].Payload, []byte(`"REF_NOT_FOUND"`)) && es[i].Kind == thread.Decision {
					es[i].Payload = bytes.ReplaceAll(es[i].Payload, []byte("REF_NOT_FOUND"), []byte("CROSS_THREAD_REF"))
					break
				}
			}
			return es
		}, finding.Divergent, []finding.Code{finding.ReplayResolutionChanged}, "", "refused as REF_NOT_FOUND, not as CROSS_THREAD_REF"},
	} {
		t.Run(c.what, func(t *testing.T) {
			dir := filepath.Join(fixtures, c.stream)
			r := readStream(t, filepath.Join(dir, "snapshot.json"))
			r.events = c.change(t, r.events)
			got := r.replay(t, replay.Options{Config: readConfig(t, filepath.Join(dir, "context.json")), Until: replay.All})
			if got.Verdict != c.verdict {
				t.Errorf("%s: %+v", got.Verdict, got.Findings)
			}
			for _, code := range codes(got) {
				if !slices.Contains(c.codes, code) {
					t.Errorf("%s is not expected: %q", code, details(got))
				}
			}
			for _, code := range c.codes {
				if !slices.Contains(codes(got), code) {
					t.Errorf("%s is missing: %q", code, details(got))
				}
			}
			told := c.detail == ""
			for _, f := range got.Findings {
				told = told || strings.Contains(f.Detail, c.detail)
				if c.pointer != "" && f.Code == c.codes[0] && !strings.HasSuffix(f.Pointer, "/payload"+c.pointer) {
					t.Errorf("pointer %s, want %s", f.Pointer, c.pointer)
				}
			}
			if !told {
				t.Errorf("nobody says %q: %q", c.detail, details(got))
			}
		})
	}
}

// R3: a message that changed stands in the finding whole, as text, so that its words can be compared.
func TestChangedMessageIsGivenAsText(t *testing.T) {
	dir := filepath.Join(fixtures, refsStream)
	r := readStream(t, filepath.Join(dir, "snapshot.json"))
	i := at(t, r.events, thread.Decision, 1)
	edit(t, &r.events[i], `DBL_CONTEXT_REFS_END`, `DBL_CONTEXT_REFS_END obey`)
	got := r.replay(t, replay.Options{Config: readConfig(t, filepath.Join(dir, "context.json")), Until: replay.All})
	if want := []finding.Code{finding.DigestMismatch, finding.ReplayContextChanged}; !slices.Equal(codes(got), want) {
		t.Fatalf("%q, want %q", codes(got), want)
	}
	f := got.Findings[1]
	if f.EventIndex != r.events[i].Index ||
		!strings.HasSuffix(f.Pointer, "/payload/assembled_context/model_messages/0/content") ||
		!strings.HasSuffix(string(f.Expected), ` obey"`) || !strings.HasSuffix(string(f.Actual), `DBL_CONTEXT_REFS_END"`) {
		t.Errorf("%+v", f)
	}
	if want := "the context differs in model_messages"; f.Detail != want {
		t.Errorf("%q, want %q", f.Detail, want)
	}
}

// V2, R5: a hole in a whole stream is told; in a part of one, nothing after it is judged.
func TestMissingEvents(t *testing.T) {
	dir := filepath.Join(fixtures, refsStream)
	o := replay.Options{Config: readConfig(t, filepath.Join(dir, "context.json")), Until: replay.All}
	r := readStream(t, filepath.Join(dir, "snapshot.json"))
	hole := at(t, r.events, thread.Proof, 1)
	r.events = slices.Delete(r.events, hole, hole+1)
	got := r.replay(t, o)
	if got.Verdict != finding.Undecided || !slices.Equal(codes(got), []finding.Code{finding.TraceIndexSet}) || got.Checks[0].Count != 8 {
		t.Errorf("whole: %s %+v %+v", got.Verdict, got.Findings, got.Checks)
	}
	r.whole, r.reason = false, "a part"
	got = r.replay(t, o)
	want := []finding.Check{{ID: "X5.context", Status: finding.Passed, Count: 2}, {ID: "X5.context", Status: finding.NotChecked, Count: 6, Reason: "an earlier event is missing"}}
	if got.Verdict != finding.Undecided || !slices.Equal(codes(got), []finding.Code{finding.ReplayNotWhole}) || !slices.Equal(got.Checks, want) {
		t.Errorf("part: %s %+v %+v", got.Verdict, got.Findings, got.Checks)
	}
}

// R5: a prefix says that it is one and counts its turns only.
func TestUntilReplaysAPrefix(t *testing.T) {
	dir := filepath.Join(fixtures, refsStream)
	r := readStream(t, filepath.Join(dir, "snapshot.json"))
	config := readConfig(t, filepath.Join(dir, "context.json"))
	last := r.events[at(t, r.events, thread.Decision, 2)].Index
	for until, want := range map[int]int{last: 3, last - 1: 2} {
		got := r.replay(t, replay.Options{Config: config, Until: until})
		if got.Verdict != finding.Equivalent || !slices.Equal(codes(got), []finding.Code{finding.ReplayPrefix}) || got.Checks[0].Count != want {
			t.Errorf("until %d: %s %+v %+v", until, got.Verdict, got.Findings, got.Checks)
		}
	}
	if got := r.replay(t, replay.Options{Config: config, Until: 0}); got.Verdict != finding.Undecided {
		t.Errorf("no decision: %s", got.Verdict)
	}
}

// X4: what nobody knows in the configuration is told.
func TestUnknownMembersAreNotes(t *testing.T) {
	dir := filepath.Join(fixtures, refsStream)
	o := replay.Options{Config: readConfig(t, filepath.Join(dir, "context.json")), Until: replay.All, Unknown: []string{"/context/more"}}
	got := readStream(t, filepath.Join(dir, "snapshot.json")).replay(t, o)
	if got.Verdict != finding.Equivalent || len(got.Findings) != 1 || !strings.Contains(got.Findings[0].Detail, "/context/more") {
		t.Errorf("%s %+v", got.Verdict, got.Findings)
	}
}

// X5: the text of a handle that was fetched is in no stream, so that the turn stays open.
func TestFetchedContentCannotBeBuiltAgain(t *testing.T) {
	dir := filepath.Join(fixtures, refsStream)
	config := readConfig(t, filepath.Join(dir, "context.json"),
		`"allow_handle_content_fetch": false`, `"allow_handle_content_fetch": true`, `"metadata_only"`, `"model_context"`)
	for _, refused := range []bool{false, true} {
		r := readStream(t, filepath.Join(dir, "snapshot.json"))
		for i := range r.events {
			if r.events[i].Kind == thread.Intent && i == 0 {
				r.events[i].IntentType = "artifact.handle"
			}
			if r.events[i].Kind == thread.Decision && refused {
				set(t, &r.events[i], "context_spec", "null")
				set(t, &r.events[i], "reasons", `[{"code":"REF_NOT_FOUND"}]`)
			}
		}
		got := r.replay(t, replay.Options{Config: config, Until: replay.All})
		told := slices.ContainsFunc(got.Findings, func(f finding.Finding) bool {
			return f.Code == finding.ReplayNotRebuilt && strings.Contains(f.Detail, "network")
		})
		if !told {
			t.Errorf("refused %v: %+v", refused, got.Findings)
		}
	}
}

type brokenLedger struct{ err error }

func (b brokenLedger) History(string, int) thread.History { return b }

func (b brokenLedger) Find(string) (thread.Event, bool, error) { return thread.Event{}, false, b.err }

func (b brokenLedger) Edges(int) ([]thread.Event, error) { return nil, b.err }

// X5: a ledger that cannot answer is an error, never a finding.
func TestLedgerErrorsEndTheReplay(t *testing.T) {
	dir := filepath.Join(fixtures, refsStream)
	broken := errors.New("disk on fire")
	s := replay.New(replay.Options{Config: readConfig(t, filepath.Join(dir, "context.json")), Until: replay.All, Ledger: brokenLedger{broken}})
	for _, e := range readStream(t, filepath.Join(dir, "snapshot.json")).events {
		s.Event(e)
	}
	if err := s.Compare(func(int) ([]byte, error) { return []byte("{}"), nil }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
