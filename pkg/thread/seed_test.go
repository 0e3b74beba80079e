package thread_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/thread"
)

// seedConfig is the configuration that the seed prints.
const seedConfig = `{"schema_version":"1","context":{"max_refs":50,"empty_refs_policy":"DENY","expand_last_n":10,
"allow_execution_refs_for_prompt":true,"canonical_sort":"event_index_asc","enforce_scope_bound":true},
"normalization":{"rules":["FILTER_INTENT_ONLY","SCOPE_BOUND","SORT_CANONICAL"]}}`

func config(t *testing.T, src string) thread.Config {
	t.Helper()
	c, err := thread.ParseConfig(value(t, src))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func intent(index int, id, message string) thread.Event {
	return event(index, thread.Intent, id, `{"message":`+string(canon.QuoteASCII(nil, []byte(message)))+`}`)
}

func execution(index int, id, output string) thread.Event {
	return event(index, thread.Execution, id, `{"output_text":`+string(canon.QuoteASCII(nil, []byte(output)))+`}`)
}

func event(index int, kind thread.Kind, id, payload string) thread.Event {
	return thread.Event{
		Index: index, Kind: kind, ThreadID: "t", TurnID: "turn-" + id, IntentType: "chat.message", CorrelationID: id,
		Payload: []byte(payload), Digest: fmt.Sprintf("sha256:%064d", index),
	}
}

func refs(ids ...string) []thread.Ref {
	var refs []thread.Ref
	for _, id := range ids {
		refs = append(refs, thread.Ref{Type: "event", ID: id})
	}
	return refs
}

// X4: the digest of the configuration that the seed prints.
func TestSeedConfigurationHasItsDigest(t *testing.T) {
	const want = "sha256:09a2bd5213bcfeeb820884c5a6ed2d8a0a6eea108185de2c6866ef3f11b0329f"
	if got := config(t, seedConfig).Digest.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// X1, X2: the seed's first example: the policy sees the INTENT, the prompt sees all.
func TestChatHistorySplitsInputsFromObservations(t *testing.T) {
	log := thread.NewLog(intent(0, "INTENT-1", "What is 2+2?"), execution(1, "EXECUTION-1", "2+2 equals 4"), intent(2, "INTENT-2", "Explain more"))
	payload := value(t, `{"thread_id":"t","turn_id":"turn-INTENT-2","message":"Explain more","declared_refs":[
		{"ref_type":"event","ref_id":"INTENT-1"},{"ref_type":"event","ref_id":"EXECUTION-1"}]}`)
	ctx, err := thread.Build(payload, "chat.message", config(t, seedConfig), log, thread.Seed)
	if err != nil {
		t.Fatal(err)
	}
	want := []thread.ResolvedRef{
		{Type: "event", ID: "INTENT-1", EventIndex: 0, EventDigest: fmt.Sprintf("sha256:%064d", 0), EventKind: thread.Intent, AdmittedFor: thread.Governance, Content: "What is 2+2?"},
		{Type: "event", ID: "EXECUTION-1", EventIndex: 1, EventDigest: fmt.Sprintf("sha256:%064d", 1), EventKind: thread.Execution, AdmittedFor: thread.ExecutionOnly, Content: "2+2 equals 4"},
	}
	if !reflect.DeepEqual(ctx.Resolution.Refs, want) {
		t.Errorf("%+v", ctx.Resolution.Refs)
	}
	if got := ctx.Resolution.InputDigests; !reflect.DeepEqual(got, []string{want[0].EventDigest}) || len(ctx.Resolution.Inputs) != 1 {
		t.Errorf("normative inputs %v, %v", got, ctx.Resolution.Inputs)
	}
	if len(ctx.Messages) != 2 || !strings.Contains(ctx.Messages[0].Content, "2+2 equals 4") || ctx.Messages[1].Content != "Explain more" {
		t.Errorf("messages %q", ctx.Messages)
	}
}

// X7: the seed's second example: five earlier messages and the current one are six.
func TestMaxUserMessagesRefusesTheSixth(t *testing.T) {
	var events []thread.Event
	var ids []string
	for i := range 5 {
		ids = append(ids, fmt.Sprintf("INTENT-%d", i+1))
		events = append(events, intent(i, ids[i], "message"))
	}
	current := intent(5, "INTENT-6", "one more")
	rules := []thread.AdmissionRule{{ID: "limit", Rule: thread.MaxUserMessages, Limit: 5}}
	tests := []struct {
		name string
		ids  []string
		want thread.Admission
	}{
		{"all five", ids, thread.Admission{Reasons: []string{"limit"}}},
		{"four of them", ids[1:], thread.Admission{Allowed: true}},
		{"one under two names", append([]string{"turn-INTENT-2"}, ids[1:]...), thread.Admission{Allowed: true}},
		{"the current one itself", append([]string{"INTENT-6"}, ids[1:]...), thread.Admission{Allowed: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := thread.Query{Refs: refs(tt.ids...), ThreadID: "t", IntentType: "chat.message"}
			r, err := thread.Resolve(q, config(t, seedConfig), thread.NewLog(append(events, current)...), thread.Seed)
			if err != nil {
				t.Fatal(err)
			}
			message, _ := thread.AsIntent(current)
			got, err := thread.Admit(thread.Identity{ThreadID: "t"}, message, r.Inputs, rules)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%+v, error %v, want %+v", got, err, tt.want)
			}
		})
	}
}

// X7, D9: what is no INTENT cannot be given to admission, and an unknown rule is no pass.
func TestAdmissionKnowsOnlyIntentsAndItsRules(t *testing.T) {
	for _, kind := range []thread.Kind{thread.Execution, thread.Decision, thread.Proof, "NOTE"} {
		if m, ok := thread.AsIntent(event(0, kind, "c", `{"message":"hi"}`)); ok {
			t.Errorf("%s became %+v", kind, m)
		}
	}
	_, err := thread.Admit(thread.Identity{}, thread.IntentMessage{}, nil, []thread.AdmissionRule{{Rule: "be_nice"}})
	if codeOf(t, err) != thread.CodeUnknownRule {
		t.Errorf("an unknown rule: %v", err)
	}
}

// X7: changing any EXECUTION text changes no admission and no normative input, whatever the configuration.
func TestExecutionTextReachesNoDecision(t *testing.T) {
	texts := []string{"", "short", "What is 2+2?", "DENY", strings.Repeat("x", 5000), "\u2028\x00"}
	rules := []thread.AdmissionRule{{ID: "limit", Rule: thread.MaxUserMessages, Limit: 2}}
	configs := []string{
		seedConfig,
		strings.Replace(seedConfig, "event_index_asc", "event_index_desc", 1),
		strings.Replace(seedConfig, "prompt\":true", "prompt\":false", 1),
		`{"schema_version":"1","context":{"max_refs":9,"empty_refs_policy":"EXPAND_LAST_N"},"normalization":{"conditional_rules":{"EXPAND_THREAD_HISTORY":{"enabled":true}}}}`,
	}
	payloads := []string{
		`{"thread_id":"t","turn_id":"x","message":"m"}`,
		`{"thread_id":"t","turn_id":"x","message":"m","declared_refs":[{"ref_type":"event","ref_id":"e1"},{"ref_type":"event","ref_id":"i1"},{"ref_type":"event","ref_id":"e2"},{"ref_type":"event","ref_id":"i2"}]}`,
	}
	for _, src := range configs {
		for _, payload := range payloads {
			seen := map[string]bool{}
			for _, text := range texts {
				current := intent(4, "x", "m")
				log := thread.NewLog(intent(0, "i1", "a"), execution(1, "e1", text), intent(2, "i2", "b"), execution(3, "e2", "fixed"), current)
				ctx, err := thread.Build(value(t, payload), "chat.message", config(t, src), log, thread.Gateway)
				if err != nil {
					t.Fatal(err)
				}
				message, _ := thread.AsIntent(current)
				a, err := thread.Admit(ctx.Identity, message, ctx.Resolution.Inputs, rules)
				seen[fmt.Sprint(a, err, ctx.Resolution.InputDigests, ctx.Resolution.NormativeIDs())] = true
			}
			if len(seen) != 1 {
				t.Errorf("config %s, payload %s: %v", src, payload, seen)
			}
		}
	}
}

// X1: the seed refuses what the gateway lets through, expands nothing, and orders by itself.
func TestProfilesPartWhereTheContractSaysSo(t *testing.T) {
	allow := strings.Replace(seedConfig, "DENY", "ALLOW_EMPTY", 1)
	expand := strings.Replace(strings.Replace(seedConfig, "DENY", "EXPAND_LAST_N", 1), `"normalization":{`, `"normalization":{"conditional_rules":{"EXPAND_THREAD_HISTORY":{"enabled":true}},`, 1)
	none := strings.Replace(seedConfig, "event_index_asc", "none", 1)
	log := thread.NewLog(intent(0, "b", "one"), intent(1, "a", "two"))
	tests := []struct {
		name, config  string
		ids           []string
		gateway, seed string // ids of the references, or the code
	}{
		{"none under DENY", seedConfig, nil, "", thread.CodeEmptyRefsDenied},
		{"none allowed", allow, nil, "", ""},
		{"none, to be expanded", expand, nil, "b a", thread.CodeEmptyRefsDenied},
		{"client's order", none, []string{"b", "a"}, "a b", "a b"},
		{"by event", seedConfig, []string{"a", "b"}, "b a", "b a"},
		{"an unknown one", seedConfig, []string{"a", "z"}, thread.CodeRefNotFound, thread.CodeRefNotFound},
	}
	for _, tt := range tests {
		for profile, want := range map[thread.Profile]string{thread.Gateway: tt.gateway, thread.Seed: tt.seed} {
			t.Run(fmt.Sprint(tt.name, profile), func(t *testing.T) {
				var declared []string
				for _, id := range tt.ids {
					declared = append(declared, fmt.Sprintf(`{"ref_type":"event","ref_id":%q}`, id))
				}
				payload := value(t, `{"thread_id":"t","turn_id":"u","message":"m","declared_refs":[`+strings.Join(declared, ",")+`]}`)
				ctx, err := thread.Build(payload, "chat.message", config(t, tt.config), log, profile)
				got := codeOf(t, err)
				if err == nil {
					got = strings.Join(ctx.Resolution.NormativeIDs(), " ")
				}
				if got != want {
					t.Errorf("%q, want %q", got, want)
				}
			})
		}
	}
	sorted, err := thread.Resolve(thread.Query{Refs: refs("b", "a"), ThreadID: "t"}, config(t, none), log, thread.Seed)
	if got := sorted.NormativeIDs(); err != nil || !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Errorf("the seed keeps the client's order: %v, error %v", got, err)
	}
}

// X1: each of the seed's configuration keys decides alone.
func TestEachConfigurationKeyDecidesAlone(t *testing.T) {
	foreign := intent(2, "foreign", "three")
	foreign.ThreadID = "other"
	log := thread.NewLog(intent(0, "i", "one"), execution(1, "e", "two"), foreign)
	tests := []struct {
		name, old, new string
		ids            []string
		before, after  string
	}{
		{"max_refs", `"max_refs":50`, `"max_refs":1`, []string{"i", "e"}, "i e", thread.CodeMaxRefsExceeded},
		{"empty_refs_policy", "DENY", "ALLOW_EMPTY", nil, thread.CodeEmptyRefsDenied, ""},
		{"allow_execution_refs_for_prompt", `prompt":true`, `prompt":false`, []string{"i", "e"}, "i e", "i"},
		{"canonical_sort", "event_index_asc", "event_index_desc", []string{"i", "e"}, "i e", "e i"},
		{"enforce_scope_bound", `bound":true`, `bound":false`, []string{"foreign"}, thread.CodeCrossThreadRef, "foreign"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for src, want := range map[string]string{seedConfig: tt.before, strings.Replace(seedConfig, tt.old, tt.new, 1): tt.after} {
				q := thread.Query{Refs: refs(tt.ids...), ThreadID: "t", IntentType: "chat.message"}
				r, err := thread.Resolve(q, config(t, src), log, thread.Seed)
				got := codeOf(t, err)
				if err == nil {
					var ids []string
					for _, ref := range r.Refs {
						ids = append(ids, ref.ID)
					}
					got = strings.Join(ids, " ")
				}
				if got != want {
					t.Errorf("%q, want %q under %s", got, want, src)
				}
			}
		})
	}
}

// X3: two contexts are as alike as the stored form, the seed's form and the masked form say.
func TestContextsAreComparedByThreeForms(t *testing.T) {
	const (
		spec      = `{"identity":{"thread_id":"t","turn_id":"u"},"intent":{"intent_type":"chat.message","user_input":"m"},"retrieval":{"resolved_refs":[%s]},"assembly_rules":{"schema_version":"ctxspec.2","ordering":"event_index_asc"}}`
		assembled = `{"model_messages":[{"role":"user","content":%q}],"assembled_from":[]}`
		observed  = `{"ref_type":"event","ref_id":"e","event_index":1,"event_digest":"sha256:%d","admitted_for":"execution_only"}`
		normative = `{"ref_type":"event","ref_id":"i","event_index":0,"event_digest":"sha256:%d","admitted_for":"governance"}`
	)
	one := func(ref string, n int) canon.Value { return value(t, fmt.Sprintf(spec, fmt.Sprintf(ref, n))) }
	said := func(text string) canon.Value { return value(t, fmt.Sprintf(assembled, text)) }
	tests := []struct {
		name                   string
		specA, saidA, specB, s canon.Value
		want                   thread.Likeness
	}{
		{"the same", one(observed, 1), said("a"), one(observed, 1), said("a"), thread.Identical},
		{"other text", one(observed, 1), said("a"), one(observed, 1), said("b"), thread.Observational},
		{"other digest of an output", one(observed, 1), said("a"), one(observed, 2), said("b"), thread.Observational},
		{"other digest of an input", one(normative, 1), said("a"), one(normative, 2), said("a"), thread.Different},
		{"other reference", one(normative, 1), said("a"), one(observed, 1), said("a"), thread.Different},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := thread.CompareContexts(tt.specA, tt.saidA, tt.specB, tt.s)
			back, errBack := thread.CompareContexts(tt.specB, tt.s, tt.specA, tt.saidA)
			if got != tt.want || back != tt.want || err != nil || errBack != nil {
				t.Errorf("%s and back %s (errors %v, %v), want %s", got, back, err, errBack, tt.want)
			}
		})
	}
	for _, bad := range []func() error{
		func() error {
			_, err := thread.CompareContexts(value(t, "1"), said("a"), one(observed, 1), said("a"))
			return err
		},
		func() error {
			_, err := thread.CompareContexts(one(observed, 1), said("a"), value(t, "{}"), said("a"))
			return err
		},
	} {
		if err := bad(); codeOf(t, err) != thread.CodeInvalidContext {
			t.Errorf("error %v", err)
		}
	}
}
