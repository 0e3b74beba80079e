package shape_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/schema"
	"github.com/dmpl/dmpl/pkg/shape"
	"github.com/dmpl/dmpl/schemas"
)

// runDocuments are the schemas of the documents that a run has besides its trace, its policies and each tool profile.
var runDocuments = []string{
	"dmpl.run.v1", "memory.snapshot.v1", "pipeline.config.v1", "run.profiles.v1", "run.turn.v1", "run.output.v1",
	"run.tool_result.v1", "run.candidates.v1", "run.prompt.v1", "memory.commit.v1", "memory.ledger.v1",
}

func examples(t *testing.T, name string) [][]byte {
	t.Helper()
	text, err := schemas.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Examples []json.RawMessage }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
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

// V1: the typed checks and the schemas give the same answer to every example and to every mutation of it, and what the typed
// checks name is a place that the schema names.
func TestDocumentsOfARunAgreeWithTheirSchemas(t *testing.T) {
	for _, name := range runDocuments {
		refused, taken := 0, 0
		for _, example := range examples(t, name) {
			for _, m := range append(schema.Mutations(example), schema.Mutation{Name: "as it is", Doc: example}) {
				violations, err := schema.Validate(name, m.Doc)
				if err != nil {
					t.Fatal(err)
				}
				_, findings, err := shape.Document(name, "f", "", m.Doc)
				if err != nil {
					t.Fatalf("%s, %s: %v", name, m.Name, err)
				}
				if (len(findings) == 0) != (len(violations) == 0) {
					t.Errorf("%s, %s:\n typed checks %v\n schema %v", name, m.Name, findings, violations)
				}
				for _, f := range findings {
					if !slices.ContainsFunc(violations, func(v schema.Violation) bool { return v.Pointer == f.Pointer }) {
						t.Errorf("%s, %s: typed checks name %s, the schema %v", name, m.Name, f.Pointer, violations)
					}
				}
				if len(findings) == 0 {
					taken++
				} else {
					refused++
				}
			}
		}
		if refused < 5 || taken < 4 {
			t.Errorf("%s: %d mutations refused, %d taken: too few to tell", name, refused, taken)
		}
	}
}

// C4, P2: what a JSON Schema cannot see, and the bounds of numbers.
func TestNumbersOfARunAreWholeAndBounded(t *testing.T) {
	example := examples(t, "run.prompt.v1")[0]
	for literal, want := range map[string]bool{
		"0": true, "9223372036854775807": true, "9223372036854775808": false, "1.0": false, "1e0": false, "-1": false, "-0": true,
	} {
		doc := bytes.Replace(example, []byte(`"turn":0`), []byte(`"turn":`+literal), 1)
		_, findings, err := shape.Document("run.prompt.v1", "f", "/3", doc)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(findings) == 0; got != want {
			t.Errorf("turn %s: %v, want valid=%v", literal, findings, want)
		}
		if len(findings) > 0 && (findings[0].Pointer != "/3/turn" || findings[0].Code != finding.ShapeRange) {
			t.Errorf("turn %s: %+v", literal, findings[0])
		}
	}
}

// M3: an abort has one of four reasons, and nothing else has one.
func TestCommitReasonBelongsToAbort(t *testing.T) {
	applied, aborted := examples(t, "memory.commit.v1")[0], examples(t, "memory.commit.v1")[1]
	for what, c := range map[string]struct {
		doc   []byte
		valid bool
	}{
		"applied with a reason":    {bytes.Replace(applied, []byte(`"reason_code":null`), []byte(`"reason_code":"policy_rejected"`), 1), false},
		"applied without a member": {bytes.Replace(applied, []byte(`"reason_code":null,`), nil, 1), true},
		"aborted without a reason": {bytes.Replace(aborted, []byte(`"reason_code":"policy_rejected",`), nil, 1), false},
		"aborted with null":        {bytes.Replace(aborted, []byte(`"policy_rejected"`), []byte(`null`), 1), false},
	} {
		_, findings, err := shape.Document("memory.commit.v1", "f", "", c.doc)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(findings) == 0; got != c.valid {
			t.Errorf("%s: %v", what, findings)
		}
	}
}

func TestDocumentRefusesWhatIsNoJSON(t *testing.T) {
	for _, text := range []string{``, `{`, `{} {}`, `{"turn":0,"turn":0}`} {
		_, _, err := shape.Document("run.prompt.v1", "f", "", []byte(text))
		var bad *canon.Error
		if !errors.As(err, &bad) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, _, err := shape.Document("run.nothing.v1", "f", "", []byte(`{}`)); err == nil {
		t.Error("a schema that is not known was applied")
	}
	_, findings, err := shape.Document("run.prompt.v1", "f", "", []byte(`[]`))
	if err != nil || len(findings) != 1 || findings[0].Pointer != "" {
		t.Errorf("a list: %v, %v", findings, err)
	}
}
