package pipeline_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/pipeline"
)

// A Digester keeps the last document of each stage. What it gives is what one gives that has seen nothing before.
func TestADigesterGivesWhatANewOneGives(t *testing.T) {
	parameters := func(name, value string) []pipeline.Intent {
		return []pipeline.Intent{{Parameters: []pipeline.Parameter{{Name: name, Value: value}, {Name: "é", Value: "\U0001F600\x7f\x00"}}}}
	}
	outputs := []pipeline.ParsedOutput{
		{Success: true, Dialogue: "Good day.", Raw: "Good day."},
		{Success: true, Dialogue: "Good day!", Raw: "Good day."},
		{Dialogue: "e\u0301 \xed\xa0\xbd b \xed\xb8\x80 \xed\xa0\xbd\xed\xb8\x80 \\ud83d", Raw: "\xff \U0001F600 \u00e9"},
		{Intents: parameters("é", "refused: a name twice")},
		{Intents: parameters("e\u0301", "refused: a name twice in NFC")},
		{Intents: parameters("e", "\u2028")},
	}
	sets := []string{`[]`, `[{"Id":"a"}]`, `[{"Id":"b"}]`, `[{"Id":"\u00e9"}]`}
	var one pipeline.Digester
	refused := 0
	for n := range 200 {
		out := outputs[n*7%len(outputs)]
		gate := pipeline.GateResult{Passed: n%3 == 0, ApprovedIntents: out.Intents}
		batch := &pipeline.Batch{}
		if n%5 > 1 {
			batch.Results = []pipeline.MutationResult{{Failure: out.Dialogue}}
		}
		stated := parseDBL(t, []byte(sets[n*3%len(sets)]))
		added := []pipeline.Constraint{{ID: text("own")}, {ID: text(out.Dialogue)}}[:1+n%2]
		var new pipeline.Digester
		for name, of := range map[string]func(d *pipeline.Digester) (canon.Sum, error){
			"parsed":      func(d *pipeline.Digester) (canon.Sum, error) { return d.Parsed(out) },
			"gate":        func(d *pipeline.Digester) (canon.Sum, error) { return d.Gate(gate) },
			"batch":       func(d *pipeline.Digester) (canon.Sum, error) { return d.Batch(batch) },
			"constraints": func(d *pipeline.Digester) (canon.Sum, error) { return d.Constraints(stated, added, 1) },
		} {
			want, errWant := of(&new)
			got, err := of(&one)
			if got != want || (err == nil) != (errWant == nil) || err != nil && err.Error() != errWant.Error() {
				t.Fatalf("%d: %s is %x, %v; a new one gives %x, %v", n, name, got, err, want, errWant)
			}
			if err != nil {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// The error tells where in the document that the stage prints it lies, where every letter beyond ASCII is an escape.
func TestADigestIsRefusedWithThePlaceInWhatTheStagePrints(t *testing.T) {
	out := pipeline.ParsedOutput{Dialogue: "é", Intents: []pipeline.Intent{{Parameters: []pipeline.Parameter{{Name: "p"}, {Name: "p"}}}}}
	_, err := new(pipeline.Digester).Parsed(out)
	const before = `{"Success":false,"DialogueText":"\u00e9","ErrorMessage":null,"RawOutput":"","ProposedMutations":[],"WorldIntents":[{"IntentType":null,"Target":null,"Parameters":{"p":"",`
	if want := "canon.duplicate_key at byte " + strconv.Itoa(len(before)); err == nil || !strings.HasPrefix(err.Error(), want+",") {
		t.Errorf("%v, want %s", err, want)
	}
}
