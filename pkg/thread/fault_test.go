package thread_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/thread"
)

// parent gives the text that a parent_turn_id of any type becomes, through a context that is built from it.
func parent(t *testing.T, src string) (string, error) {
	t.Helper()
	payload := value(t, `{"thread_id":"t","turn_id":"u","message":"m","parent_turn_id":`+src+`}`)
	ctx, err := thread.Build(payload, "chat.message", config(t, seedConfig), thread.NewLog(), thread.Gateway)
	return ctx.Identity.ParentTurnID, err
}

func TestTextIsWhatTheProducerPrints(t *testing.T) {
	tests := []struct{ src, want string }{
		{`" kept "`, " kept "},
		{`true`, "True"},
		{`false`, "False"},
		{`-0`, "0"},
		{`123456789012345678901234567890`, "123456789012345678901234567890"},
		{`1.50`, "1.5"},
		{`1e21`, "1e+21"},
		{`1e999`, "inf"},
		{`-1e999`, "-inf"},
		{`Infinity`, "inf"},
		{`NaN`, "nan"},
		{`[]`, "[]"},
		{`[1, [null, 2.0], "a"]`, "[1, [None, 2.0], 'a']"},
		{`{"b": 1, "a": {"c": false}, "b": 2}`, "{'b': 2, 'a': {'c': False}}"},
		{`["it's"]`, `["it's"]`},
		{`["it's \"so\""]`, `['it\'s "so"']`},
		{`["\n\r\t\\\u0001\u007f\u0085\u00ad\u00e9"]`, `['\n\r\t\\\x01\x7f\x85\xad` + "\u00e9']"},
	}
	for _, tt := range tests {
		if got, err := parent(t, tt.src); err != nil || got != tt.want {
			t.Errorf("%s: %q, error %v, want %q", tt.src, got, err, tt.want)
		}
	}
	for _, src := range []string{`["\u65e5"]`, `{"\u65e5":1}`, `{"a":["\ud800"]}`} {
		if got, err := parent(t, src); codeOf(t, err) != thread.CodeUnverifiable {
			t.Errorf("%s: %q, error %v; its spelling cannot be told", src, got, err)
		}
	}
}

func TestConfigurationFaultsNameTheMember(t *testing.T) {
	const whole = `{"schema_version":"1","context":{"max_refs":5,"empty_refs_policy":"DENY"}}`
	tests := []struct{ old, new, pointer string }{
		{`"schema_version":"1"`, `"schema_version":1`, "/schema_version"},
		{`"max_refs":5,`, ``, "/context/max_refs"},
		{`5`, `-99999999999999999999`, "/context/max_refs"},
		{`5`, `5.0`, "/context/max_refs"},
		{`"DENY"`, `"ALLOW"`, "/context/empty_refs_policy"},
		{`"DENY"`, `"DENY","expand_last_n":0`, "/context/expand_last_n"},
		{`"DENY"`, `"DENY","allow_execution_refs_for_prompt":1`, "/context/allow_execution_refs_for_prompt"},
		{`"DENY"`, `"DENY","enforce_scope_bound":null`, "/context/enforce_scope_bound"},
		{`"DENY"`, `"DENY","canonical_sort":"desc"`, "/context/canonical_sort"},
		{`"DENY"`, `"DENY","handle_content_fetch":{"allow_handle_content_fetch":"no"}`, "/context/handle_content_fetch/allow_handle_content_fetch"},
		{`"DENY"`, `"DENY","handle_content_fetch":{"high_risk_context_admit_mode":"all"}`, "/context/handle_content_fetch/high_risk_context_admit_mode"},
		{`"DENY"`, `"DENY","handle_content_fetch":{"workbench_resolver_url":1}`, "/context/handle_content_fetch/workbench_resolver_url"},
		{`"DENY"`, `"DENY","handle_content_fetch":{"workbench_fetch_timeout_ms":99}`, "/context/handle_content_fetch/workbench_fetch_timeout_ms"},
		{`"DENY"`, `"DENY","handle_content_fetch":{"workbench_max_bytes":1023}`, "/context/handle_content_fetch/workbench_max_bytes"},
		{`"DENY"`, `"DENY","handle_content_fetch":{"workbench_admit_kinds":"all"}`, "/context/handle_content_fetch/workbench_admit_kinds"},
		{`}}`, `},"normalization":[]}`, "/normalization"},
		{`}}`, `},"normalization":{"rules":"SCOPE_BOUND"}}`, "/normalization/rules"},
		{`}}`, `},"normalization":{"rules":[1]}}`, "/normalization/rules"},
	}
	for _, tt := range tests {
		_, err := thread.ParseConfig(value(t, strings.Replace(whole, tt.old, tt.new, 1)))
		var e *thread.Error
		if !errors.As(err, &e) || e.Code != thread.CodeInvalidConfig || e.Pointer != tt.pointer {
			t.Errorf("%s: error %v, want one at %s", tt.new, err, tt.pointer)
		}
	}
	if _, err := thread.ParseConfig(value(t, strings.Replace(whole, "}}", `},"x":1.5}`, 1))); codeOf(t, err) != canon.CodeFloatRefused {
		t.Errorf("a float: error %v", err)
	}
	huge := config(t, strings.Replace(whole, "5", "99999999999999999999", 1))
	if huge.MaxRefs < 1<<30 {
		t.Errorf("a bound beyond the machine's range became %d", huge.MaxRefs)
	}
}

// stages gives every stage by name.
var stages = map[string]thread.Stage{
	"context": thread.DigestContext, "decision": thread.DigestDecision, "event": thread.DigestEvent, "config": thread.DigestConfig,
	"refs": thread.ResolveRefs(thread.Gateway), "build": thread.BuildContext(thread.Gateway),
}

func TestFaultsHaveACodeAndAPlace(t *testing.T) {
	const (
		conf     = `"config":{"schema_version":"1","context":{"max_refs":5,"empty_refs_policy":"DENY"}}`
		fetching = `"config":{"schema_version":"1","context":{"max_refs":5,"empty_refs_policy":"DENY","handle_content_fetch":{"allow_handle_content_fetch":true,"high_risk_context_admit_mode":"model_context"}}}`
		handle   = `"thread_events":[{"index":0,"kind":"INTENT","thread_id":"t","intent_type":"artifact.handle","correlation_id":"h","canon_len":1,"payload":{}}]`
		query    = `"declared_refs":[{"ref_type":"event","ref_id":"h"}],"thread_id":"t","intent_type":"chat.message"`
		decision = `"policy":{"policy_id":"p","policy_version":"1"},"assembly_digest":null,"context_digest":null,"result":"DENY"`
		expand   = `"config":{"schema_version":"1","context":{"max_refs":5,"empty_refs_policy":"EXPAND_LAST_N"},"normalization":{"conditional_rules":{"EXPAND_THREAD_HISTORY":{"enabled":1}}}}`
		turn     = `"payload":{"thread_id":"t","turn_id":"u","message":"m"},"intent_type":"chat.message"`
	)
	tests := []struct{ stage, input, code, pointer string }{
		{"event", `{"kind":"INTENT","correlation_id":"c","payload":1}`, thread.CodeInvalidEvent, "/payload"},
		{"event", `{"kind":"INTENT","correlation_id":"c","payload":{"a":[0.5]}}`, canon.CodeFloatRefused, "/data/a/0"},
		{"event", `{"kind":"EXECUTION","correlation_id":"c","payload":{"trace_digest":"x","trace":[]}}`, thread.CodeInvalidTrace, "/payload/trace"},
		{"event", `{"kind":"DECISION","payload":[]}`, thread.CodeInvalidDecision, ""},
		{"decision", `{"decision":{` + decision + `,"reasons":"x","transforms":[]}}`, thread.CodeInvalidDecision, "/reasons"},
		{"decision", `{"decision":{` + decision + `,"reasons":[{"code":"c","params":{"a":1e5}}],"transforms":[]}}`, canon.CodeFloatRefused, "/a"},
		{"decision", `{"decision":{` + decision + `,"reasons":[],"transforms":[],"permitted_tools":"x"}}`, thread.CodeInvalidDecision, "/permitted_tools"},
		{"decision", `{"decision":{` + decision + `,"reasons":[],"transforms":[],"permitted_tools":[["\u65e5"]]}}`, thread.CodeUnverifiable, ""},
		{"config", `{"config":{"schema_version":"2"}}`, thread.CodeInvalidConfig, "/config/schema_version"},
		{"context", contextWith(`"resolved_refs":true`, `{}`), thread.CodeInvalidContext, "/context_spec/retrieval/resolved_refs"},
		{"context", contextWith(`"declared_refs":[1]`, `{}`), thread.CodeInvalidContext, "/context_spec/retrieval/declared_refs"},
		{"context", contextWith(`"declared_refs":[{"ref_type":"a","ref_id":"b","version":["\u65e5"]}]`, `{}`), thread.CodeUnverifiable, ""},
		{"context", contextWith(`"normalization":{"applied_rules":[["\u65e5"]]}`, `{}`), thread.CodeUnverifiable, ""},
		{"context", contextWith(``, `[]`), thread.CodeInvalidContext, "/assembled_context"},
		{"context", contextWith(``, `{"model_messages":"x"}`), thread.CodeInvalidContext, "/assembled_context/model_messages"},
		{"context", contextWith(``, `{"warnings":{}}`), thread.CodeInvalidContext, "/assembled_context/warnings"},
		{"refs", `{` + conf + `,"thread_events":[]}`, thread.CodeInvalidRefs, "/declared_refs"},
		{"refs", `{"declared_refs":[{"ref_id":"a"}]}`, thread.CodeInvalidRefs, "/declared_refs"},
		{"refs", `{"declared_refs":[{"ref_id":"a","ref_type":"b","version":["\u65e5"]}]}`, thread.CodeUnverifiable, ""},
		{"refs", `{` + query + `}`, thread.CodeInvalidConfig, "/config/schema_version"},
		{"refs", `{` + query + `,` + conf + `}`, thread.CodeInvalidEvent, "/thread_events"},
		{"refs", `{` + query + `,` + conf + `,"thread_events":[1]}`, thread.CodeInvalidEvent, "/thread_events/0"},
		{"refs", `{` + query + `,` + conf + `,"thread_events":[{"kind":1}]}`, thread.CodeInvalidEvent, "/thread_events/0/kind"},
		{"refs", `{` + query + `,` + conf + `,"thread_events":[{"index":1.0}]}`, thread.CodeInvalidEvent, "/thread_events/0/index"},
		{"refs", `{` + query + `,` + conf + `,"thread_events":[{"index":1,"canon_len":"1"}]}`, thread.CodeInvalidEvent, "/thread_events/0/canon_len"},
		{"refs", `{` + query + `,` + conf + `,"thread_events":[{"index":1,"canon_len":1,"correlation_id":"h","thread_id":"t","kind":"INTENT"}]}`, thread.CodeInvalidEvent, "/payload"},
		{"refs", `{` + query + `,` + fetching + `,` + handle + `}`, thread.CodeUnverifiable, ""},
		{"build", `{` + turn + `,` + conf + `}`, thread.CodeInvalidEvent, "/thread_events"},
		{"build", `{"payload":{},"intent_type":" ",` + conf + `,"thread_events":[]}`, thread.CodeInvalidIntent, "/intent_type"},
		{"build", `{"payload":{"message":"m"},"intent_type":"x",` + conf + `,"thread_events":[]}`, thread.CodeInvalidIntent, "/payload/thread_id"},
		{"build", `{"payload":{"message":"m","thread_id":"t"},"intent_type":"x",` + conf + `,"thread_events":[]}`, thread.CodeInvalidIntent, "/payload/turn_id"},
		{"build", `{"payload":{"message":"m","thread_id":"t","turn_id":"u","declared_refs":[{"ref_type":"a","ref_id":"b","version":["\u65e5"]}]},"intent_type":"x",` + conf + `,"thread_events":[]}`, thread.CodeUnverifiable, ""},
		{"build", `{` + turn + `,` + expand + `,"thread_events":[{"index":0,"canon_len":1,"kind":"EXECUTION"}]}`, thread.CodeInvalidEvent, "/payload"},
		{"build", `{` + turn + `,` + expand + `,"thread_events":[{"index":0,"canon_len":1,"kind":"EXECUTION","payload":{"result":{"text":["\u65e5"]}}}]}`, thread.CodeUnverifiable, ""},
	}
	for _, tt := range tests {
		out, err := stages[tt.stage](value(t, tt.input))
		var e *thread.Error
		if !errors.As(err, &e) || e.Code != tt.code || e.Pointer != tt.pointer {
			t.Errorf("%s %s\n%s, error %v; want %s at %q", tt.stage, tt.input, out, err, tt.code, tt.pointer)
		}
		if thread.Refused(err) {
			t.Errorf("%s %s: a fault is no refusal", tt.stage, tt.input)
		}
	}
}

// contextWith gives a context that is in order, but for what is told.
func contextWith(retrieval, assembled string) string {
	return `{"context_spec":{"identity":{"thread_id":"t","turn_id":"u"},"intent":{"intent_type":"i","user_input":"m"},"retrieval":{` +
		retrieval + `},"assembly_rules":{"schema_version":"1","ordering":"none"}},"assembled_context":` + assembled + `}`
}

// Expansion counts turns of any spelling, and takes the whole thread where it asks for more than there is.
func TestExpansionClampsItsTurns(t *testing.T) {
	expanding := config(t, `{"schema_version":"1","context":{"max_refs":1,"empty_refs_policy":"DENY"},"normalization":{"conditional_rules":{"EXPAND_THREAD_HISTORY":{"enabled":true}}}}`)
	var log thread.Log
	for i := range 30 {
		log.Append(intent(i, strings.Repeat("i", i+1), "text"))
	}
	tests := []struct {
		n         string
		want, all int
	}{{"true", 1, 2}, {"false", 1, 2}, {"7", 7, 8}, {"99999999999999999999", 20, 21}, {"-99999999999999999999", 1, 2}, {"2.0", 10, 11}}
	for _, tt := range tests {
		payload := value(t, `{"thread_id":"t","turn_id":"u","message":"m","context_mode":"first_plus_last_n","context_n":`+tt.n+`}`)
		ctx, err := thread.Build(payload, "chat.message", expanding, &log, thread.Gateway)
		if err != nil || ctx.Expansion == nil || *ctx.Expansion != (thread.Expansion{N: tt.want, Count: tt.all}) {
			t.Errorf("%s: %+v, error %v, want %d turns and %d references", tt.n, ctx.Expansion, err, tt.want, tt.all)
		}
	}
}

// broken is a history that cannot be read.
type broken struct{ error }

func (b broken) Find(string) (thread.Event, bool, error) { return thread.Event{}, false, b.error }
func (b broken) Edges(int) ([]thread.Event, error)       { return nil, b.error }

func TestHistoryErrorsAreHandedOn(t *testing.T) {
	history := broken{errors.New("the store is gone")}
	for _, src := range []string{
		`{"thread_id":"t","turn_id":"u","message":"m","declared_refs":[{"ref_type":"a","ref_id":"b"}]}`,
		`{"thread_id":"t","turn_id":"u","message":"m","context_mode":"first_plus_last_n"}`,
	} {
		expanding := config(t, `{"schema_version":"1","context":{"max_refs":1,"empty_refs_policy":"DENY"},"normalization":{"conditional_rules":{"EXPAND_THREAD_HISTORY":{"enabled":true}}}}`)
		_, err := thread.Build(value(t, src), "chat.message", expanding, history, thread.Gateway)
		if !errors.Is(err, history.error) || thread.Refused(err) {
			t.Errorf("%s: error %v", src, err)
		}
	}
}

func TestErrorsReadAsOneLine(t *testing.T) {
	for want, e := range map[string]*thread.Error{
		"A at /b: c": {Code: "A", Pointer: "/b", Detail: "c"},
		"A: c":       {Code: "A", Detail: "c"},
	} {
		if e.Error() != want {
			t.Errorf("%q, want %q", e.Error(), want)
		}
	}
	if got := string(thread.ErrorDocument("A", "\"\xed\xa0\x80")); got != `{"error":{"code":"A","detail":"\"\ud800"}}` {
		t.Error(got)
	}
	for name, want := range map[string]thread.Profile{"gateway": thread.Gateway, "seed": thread.Seed} {
		if got, err := thread.ParseProfile(name); got != want || err != nil {
			t.Errorf("%s: %d, error %v", name, got, err)
		}
	}
	if _, err := thread.ParseProfile("other"); err == nil {
		t.Error("an unknown profile is accepted")
	}
}
