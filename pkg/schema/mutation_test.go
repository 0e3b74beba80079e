package schema_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/schema"
)

func TestMutationsChangeOneThingEach(t *testing.T) {
	doc := `{ "b/c": [1.50, "x"], "a": {"n": null}, "t": true }`
	rest := `"a":{"n":null},"t":true}`
	list := `{"b/c":[1.50,"x"],`
	want := []schema.Mutation{
		{": null", []byte(`null`)},
		{": []", []byte(`[]`)},
		{`: "x"`, []byte(`"x"`)},
		{": extra member", []byte(list + `"a":{"n":null},"t":true,"x_unknown_member":{"x":[null,1]}}`)},
		{"/b~1c: removed", []byte(`{` + rest)},
		{"/b~1c: null", []byte(`{"b/c":null,` + rest)},
		{"/b~1c: {}", []byte(`{"b/c":{},` + rest)},
		{`/b~1c: "x"`, []byte(`{"b/c":"x",` + rest)},
		{"/b~1c/0: null", []byte(`{"b/c":[null,"x"],` + rest)},
		{`/b~1c/0: "7"`, []byte(`{"b/c":["7","x"],` + rest)},
		{"/b~1c/0: -1", []byte(`{"b/c":[-1,"x"],` + rest)},
		{"/b~1c/0: true", []byte(`{"b/c":[true,"x"],` + rest)},
		{"/b~1c/1: null", []byte(`{"b/c":[1.50,null],` + rest)},
		{"/b~1c/1: 7", []byte(`{"b/c":[1.50,7],` + rest)},
		{`/b~1c/1: ""`, []byte(`{"b/c":[1.50,""],` + rest)},
		{`/b~1c/1: "no-such-value"`, []byte(`{"b/c":[1.50,"no-such-value"],` + rest)},
		{"/a: removed", []byte(list + `"t":true}`)},
		{"/a: null", []byte(list + `"a":null,"t":true}`)},
		{"/a: []", []byte(list + `"a":[],"t":true}`)},
		{`/a: "x"`, []byte(list + `"a":"x","t":true}`)},
		{"/a: extra member", []byte(list + `"a":{"n":null,"x_unknown_member":{"x":[null,1]}},"t":true}`)},
		{"/a/n: removed", []byte(list + `"a":{},"t":true}`)},
		{"/a/n: 7", []byte(list + `"a":{"n":7},"t":true}`)},
		{`/a/n: ""`, []byte(list + `"a":{"n":""},"t":true}`)},
		{`/a/n: "no-such-value"`, []byte(list + `"a":{"n":"no-such-value"},"t":true}`)},
		{"/a/n: []", []byte(list + `"a":{"n":[]},"t":true}`)},
		{"/a/n: {}", []byte(list + `"a":{"n":{}},"t":true}`)},
		{"/t: removed", []byte(`{"b/c":[1.50,"x"],"a":{"n":null}}`)},
		{"/t: null", []byte(list + `"a":{"n":null},"t":null}`)},
		{`/t: "true"`, []byte(list + `"a":{"n":null},"t":"true"}`)},
		{"/t: 1", []byte(list + `"a":{"n":null},"t":1}`)},
	}
	got := schema.Mutations([]byte(doc))
	for i := range max(len(got), len(want)) {
		var g, w schema.Mutation
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g.Name != w.Name || string(g.Doc) != string(w.Doc) {
			t.Errorf("%d: got %s %s\nwant %s %s", i, g.Name, g.Doc, w.Name, w.Doc)
		}
	}
}

func TestMutationsOfNoJSONAreNone(t *testing.T) {
	for _, doc := range []string{``, `{`, `{"a":}`, `[1 2]`, `{} {}`, `{"a":NaN}`, `nul`} {
		if got := schema.Mutations([]byte(doc)); got != nil {
			t.Errorf("%q: %d mutations", doc, len(got))
		}
	}
}

const (
	anyText  = `"" "no-such-value"`
	openName = `"no-such-value"`
	optional = "removed "
	anything = "**"
)

// accepted states for each schema which mutations of its examples stay valid: all that it leaves open. An asterisk
// stands for an index; ** takes everything at and below a place but what must be an object or a list. A member that
// nobody knows is allowed in every object (v1 grows by addition) and not listed; every other mutation is refused.
var accepted = map[string]map[string]string{
	determinism: {
		"/run_id":                                        openName,
		"/workflow_id":                                   openName,
		"/memory_snapshot_id":                            openName,
		"/model_config_id":                               openName,
		"/policy_set_id":                                 openName,
		"/events/*/event_id":                             openName,
		"/events/*/role":                                 openName,
		"/events/*/interceptor":                          openName,
		"/events/*/decision_type":                        openName,
		"/events/*/guardrails_triggered/*":               anyText,
		"/events/*/retrieval_event_ids/*":                anyText,
		"/events/*/stage":                                optional,
		"/events/*/stage/turn":                           optional,
		"/events/*/stage/attempt":                        optional,
		"/events/*/stage/call":                           optional,
		"/events/*/stage/context_digest":                 optional + openName,
		"/events/*/stage/constraints_digest":             optional + openName,
		"/events/*/stage/prompt_digest":                  optional + openName,
		"/events/*/stage/parse_digest":                   optional + openName,
		"/events/*/stage/gate_digest":                    optional + openName,
		"/events/*/stage/mutation_batch_digest":          optional + openName,
		"/events/*/stage/dispatched_intents":             optional,
		"/events/*/stage/dispatched_intents/":            anything,
		"/events/*/stage/state_digest":                   optional + openName,
		"/events/*/tool_calls/*/tool_name":               openName,
		"/events/*/tool_calls/*/tool_profile_id":         optional + anyText,
		"/events/*/tool_calls/*/tool_profile_version":    openName,
		"/events/*/tool_calls/*/normalized_args/":        anything,
		"/events/*/tool_calls/*/tool_result_fingerprint": openName,
		"/events/*/tool_calls/*/side_effect_fingerprint": optional + openName,
		"/events/*/tool_calls/*/args":                    optional,
		"/events/*/tool_calls/*/args/":                   anything,
		"/events/*/tool_calls/*/result":                  anything,
		"/output/output_type":                            openName,
		"/output/output_shape_hash":                      openName,
		"/output/structure":                              optional,
		"/output/structure/":                             anything,
		"/metadata":                                      optional,
		"/metadata/truncated":                            optional,
		"/metadata/lane":                                 optional + anyText,
		"/model_config":                                  optional,
		"/model_config/":                                 anything,
		"/commit":                                        optional,
		"/commit/reason_code":                            optional,
		"/commit/commit_id":                              openName,
		"/commit/commit_payload_fingerprint":             openName,
		"/commit/writes":                                 optional,
		"/commit/writes/":                                anything,
	},
	retrieval: {
		"":                                         "[]", // the empty list of rows
		"/retrieval_trace_schema_version":          optional,
		"/metadata":                                optional,
		"/metadata/truncated":                      optional,
		"/events/*/retrieval_event_id":             openName,
		"/events/*/run_id":                         openName,
		"/events/*/event_id":                       openName,
		"/events/*/policy_id":                      openName,
		"/events/*/policy_version":                 openName,
		"/events/*/query_normalization_version":    openName,
		"/events/*/query_fingerprint":              openName,
		"/events/*/retrieval_mode":                 openName,
		"/events/*/order":                          optional,
		"/events/*/candidates":                     optional,
		"/events/*/candidates/*/record_id":         anyText,
		"/events/*/candidates/*/score":             "-1",
		"/events/*/selected_records/*/record_id":   anyText,
		"/events/*/selected_records/*/record_type": anyText,
		"/events/*/selected_records/*/score":       "-1",
		"/events/*/applied_filters/":               anything,
	},
	profile: {
		"/schema_version":                   optional,
		"/tool_name":                        openName,
		"/tool_profile_version":             openName,
		"/normalized_args_fields/*":         anyText,
		"/tool_result_fingerprint_fields/*": anyText,
		"/side_effect_fingerprint_fields/*": anyText,
		"/datetime_fields":                  optional,
		"/datetime_fields/*":                anyText,
		"/float_decimals":                   optional,
	},
	contextConf: {
		"/$schema":               anything,
		"/context/max_refs":      "true",
		"/context/expand_last_n": optional + "true",
		"/context/allow_execution_refs_for_prompt":                   optional,
		"/context/canonical_sort":                                    optional,
		"/context/enforce_scope_bound":                               optional,
		"/context/handle_content_fetch":                              optional + `null [] "x"`,
		"/context/handle_content_fetch/allow_handle_content_fetch":   optional,
		"/context/handle_content_fetch/high_risk_context_admit_mode": optional,
		"/context/handle_content_fetch/workbench_resolver_url":       optional + "null " + anyText,
		"/context/handle_content_fetch/workbench_auth_bearer_token":  optional + anyText,
		"/context/handle_content_fetch/workbench_fetch_timeout_ms":   optional,
		"/context/handle_content_fetch/workbench_max_bytes":          optional,
		"/context/handle_content_fetch/workbench_admit_kinds":        optional,
		"/context/handle_content_fetch/workbench_admit_kinds/*":      anyText,
		"/normalization":                   optional,
		"/normalization/rules":             optional,
		"/normalization/rules/*":           anyText,
		"/normalization/conditional_rules": anything,
	},
	report: {
		"/tool/version":                        anyText,
		"/command":                             openName,
		"/summary":                             anyText,
		"/results/*/name":                      anyText,
		"/results/*/inputs/*/path":             openName,
		"/results/*/inputs/*/dialect":          anyText,
		"/results/*/inputs/*/kind":             anyText,
		"/results/*/inputs/*/sha256":           `""`,
		"/results/*/checks/*/id":               openName,
		"/results/*/checks/*/reason":           anyText,
		"/results/*/coverage":                  optional,
		"/results/*/findings/*/artifact":       anyText,
		"/results/*/findings/*/right_artifact": optional + openName,
		"/results/*/findings/*/event_index":    optional,
		"/results/*/findings/*/subject":        optional + anyText,
		"/results/*/findings/*/pointer":        `""`,
		"/results/*/findings/*/right_pointer":  optional + `""`,
		"/results/*/findings/*/expected":       anything,
		"/results/*/findings/*/actual":         anything,
		"/results/*/findings/*/title":          openName,
		"/results/*/findings/*/detail":         anyText,
		"/results/*/findings/*/hint":           anyText,
		"/results/*/ignored/*/what":            openName,
		"/results/*/ignored/*/reason":          anyText,
		"/results/*/alignment":                 optional,
		"/results/*/alignment/note":            anyText,
		"/results/*/stages":                    optional,
		"/results/*/timeline":                  optional,
		"/results/*/timeline/*/side":           `""`,
		"/results/*/timeline/*/role":           anyText,
		"/results/*/timeline/*/decision":       anyText,
		"/results/*/timeline/*/tools/*":        anyText,
	},
}

func TestSchemasLeaveOpenWhatIsListedAndNothingElse(t *testing.T) {
	for name, open := range accepted {
		used := map[string]bool{}
		for _, d := range documents(t, name) {
			for _, m := range schema.Mutations(d.text) {
				if !json.Valid(m.Doc) {
					t.Fatalf("%s %s is no JSON: %s", name, m.Name, m.Doc)
				}
				place, want := isOpen(open, d.place, m.Name)
				used[place] = true
				violations := validate(t, name, m.Doc)
				if got := len(violations) == 0; got != want {
					t.Errorf("%s, mutation %s: valid=%v, want %v; %v", name, m.Name, got, want, violations)
				}
			}
		}
		for place := range open {
			if !used[place] {
				t.Errorf("%s: no document has %s", name, place)
			}
		}
	}
}

// document is an example and the place in the table where its members are listed.
type document struct {
	text  []byte
	place string
}

// documents are the examples of a schema; for retrieval traces also the third shape, a bare list of rows.
func documents(t *testing.T, name string) []document {
	t.Helper()
	var docs []document
	for _, example := range examplesOf(t, name) {
		docs = append(docs, document{text: example})
	}
	if name == retrieval {
		row := &docs[len(docs)-1]
		row.place = "/events/*"
		docs = append(docs, document{slices.Concat([]byte("["), row.text, []byte("]")), "/events"})
	}
	return docs
}

var index = regexp.MustCompile(`/[0-9]+(/|$)`)

// isOpen looks a mutation up in the table and gives the place in it, and whether the mutation stays valid.
func isOpen(open map[string]string, at, mutation string) (place string, valid bool) {
	pointer, what, _ := strings.Cut(mutation, ": ")
	if what == "extra member" {
		return "", true
	}
	pattern := index.ReplaceAllString(pointer, "/*$1")
	if pattern != "" {
		pattern = at + pattern
	}
	if kinds, ok := open[pattern]; ok && kinds != anything {
		return pattern, slices.Contains(strings.Fields(kinds), what)
	}
	for place, kinds := range open {
		if kinds == anything && strings.HasPrefix(pattern, place) {
			return place, true
		}
	}
	return "", false
}
