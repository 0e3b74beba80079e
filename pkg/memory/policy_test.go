package memory_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/schema"
	"github.com/dmpl/dmpl/schemas"
)

func policyExamples(t *testing.T) [][]byte {
	t.Helper()
	text, err := schemas.Read(memory.PolicySetSchema)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Examples []json.RawMessage }
	if err := json.Unmarshal(text, &doc); err != nil || len(doc.Examples) == 0 {
		t.Fatalf("%d examples, error %v", len(doc.Examples), err)
	}
	var all [][]byte
	for _, example := range doc.Examples {
		var compact bytes.Buffer
		if err := json.Compact(&compact, example); err != nil {
			t.Fatal(err)
		}
		all = append(all, compact.Bytes())
	}
	return all
}

// D9: a policy set is read exactly where its schema allows it, and both name the same place.
func TestPolicySetIsReadAsItsSchemaSays(t *testing.T) {
	refused, taken := 0, 0
	for _, example := range policyExamples(t) {
		for _, m := range append(schema.Mutations(example), schema.Mutation{Name: "as it is", Doc: example}) {
			_, err := memory.ReadPolicySet(m.Doc, memory.AnyHook)
			violations, failed := schema.Validate(memory.PolicySetSchema, m.Doc)
			if failed != nil {
				t.Fatal(failed)
			}
			if (err == nil) != (len(violations) == 0) {
				t.Errorf("%s: read with %v, the schema says %v", m.Name, err, violations)
				continue
			}
			if err == nil {
				taken++
				continue
			}
			refused++
			var wrong *document.Error
			if !errors.As(err, &wrong) || !slices.ContainsFunc(violations, func(v schema.Violation) bool {
				return v.Pointer == wrong.Pointer || strings.HasPrefix(wrong.Pointer, v.Pointer+"/") || strings.HasPrefix(v.Pointer, wrong.Pointer+"/")
			}) {
				t.Errorf("%s: read with %v, the schema says %v", m.Name, err, violations)
			}
		}
	}
	if refused < 100 || taken < 10 {
		t.Errorf("%d mutations refused, %d taken: too few to tell", refused, taken)
	}
}

func TestPolicySetIsKept(t *testing.T) {
	text := policyExamples(t)[0]
	set, err := memory.ReadPolicySet(text, memory.NoHook)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := canon.Digest(canon.JSONv1, text)
	if err != nil {
		t.Fatal(err)
	}
	retrieval := set.Retrieval
	set.Retrieval = canon.Value{}
	want := &memory.PolicySet{
		ID:        sum.Hex(),
		Admission: []memory.AdmissionRule{{ID: "ten", Rule: "max_user_messages", Limit: 10}},
		Commit: []memory.CommitRule{
			{ID: "kinds", Rule: "record_types", Values: []string{"episodic", "belief"}},
			{ID: "spaces", Rule: "namespaces", Values: []string{""}},
			{ID: "trusted", Rule: "least_trust", Limit: 50},
			{ID: "few", Rule: "most_writes", Limit: 20},
			{ID: "gate", Rule: "gate_passed"},
		},
		Lanes: []memory.Lane{{Name: "ci", Deterministic: true, Days: 30}, {Name: "scratch", Days: 2}},
	}
	if !reflect.DeepEqual(set, want) {
		t.Errorf("%+v\nwant %+v", set, want)
	}
	if _, ok := retrieval.At("/episodic/limits/max_records"); !ok {
		t.Errorf("the retrieval policies are not kept: %s", retrieval.Raw())
	}
}

// D9: an unknown rule or hook is an error, never a pass.
func TestUnknownRuleOrHookIsAnError(t *testing.T) {
	for rules, want := range map[string]string{
		`{"id":"a","rule":"most_reads","limit":1}`:           "/commit/rules/0/rule",
		`{"id":"a","rule":"hook","name":"mine"}`:             "/commit/rules/0/name",
		`{"id":"a","rule":"gate_passed","limit":1}`:          "/commit/rules/0/limit",
		`{"id":"a","rule":"least_trust","limit":101}`:        "/commit/rules/0/limit",
		`{"id":"a","rule":"most_writes","limit":2147483648}`: "/commit/rules/0/limit",
	} {
		text := strings.Replace(string(policyExamples(t)[1]), `"rules":[]`, `"rules":[`+rules+`]`, 1)
		_, err := memory.ReadPolicySet([]byte(text), memory.NoHook)
		var wrong *document.Error
		if !errors.As(err, &wrong) || wrong.Pointer != want {
			t.Errorf("%s: %v, want an error at %s", rules, err, want)
		}
	}
	known := strings.Replace(string(policyExamples(t)[1]), `"rules":[]`, `"rules":[{"id":"a","rule":"hook","name":"mine"}]`, 1)
	set, err := memory.ReadPolicySet([]byte(known), func(name string) bool { return name == "mine" })
	if err != nil || set.Commit[0].Hook != "mine" {
		t.Errorf("a known hook: %+v, %v", set, err)
	}
	var bad *canon.Error
	if _, err := memory.ReadPolicySet([]byte(`{`), memory.NoHook); !errors.As(err, &bad) {
		t.Errorf("no JSON: %v", err)
	}
	beyond := strings.Replace(string(policyExamples(t)[1]), `"retrieval":{}`, `"retrieval":{"fact":{"policy_id":"a","policy_version":"1","order":""}}`, 1)
	if _, err := memory.ReadPolicySet([]byte(beyond), memory.NoHook); err == nil {
		t.Error("an empty order was read")
	}
}

// V4: deterministic lanes are kept for 14 days at least, whoever calls them so.
func TestDeterministicLanesHaveAFloor(t *testing.T) {
	set := &memory.PolicySet{Lanes: []memory.Lane{{Name: "ci", Deterministic: true, Days: 30}, {Name: "scratch", Days: 2}}}
	for _, c := range []struct {
		lane          string
		deterministic bool
		otherwise     int
		want          int
	}{
		{"ci", false, 0, 30},
		{"scratch", false, 9, 2},
		{"scratch", true, 9, 14},
		{"other", true, 1, 14},
		{"other", true, 99, 99},
		{"other", false, 1, 1},
	} {
		if got := set.Keep(c.lane, c.deterministic, c.otherwise); got != c.want {
			t.Errorf("%+v: %d days", c, got)
		}
	}
}
