package pipeline_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
)

// P7: guardrails_triggered has an id for each failure: the reason, and the rule where there is one.
func TestFailuresHaveIDs(t *testing.T) {
	c := pipeline.GateContext{
		Constraints: []pipeline.Constraint{
			{ID: new("r"), Type: pipeline.Requirement, Patterns: []string{"please"}}, {Type: pipeline.Prohibition, Patterns: []string{"sky"}},
		},
		Facts:     []memory.Fact{{Entry: memory.Entry{ID: "sky"}, Text: "the sky is blue"}},
		Forbidden: []string{"blue"},
	}
	got, err := pass(t, "The sky is not blue.", c)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ProhibitionViolated", "RequirementNotMet:r", "CanonicalFactContradiction:sky", "KnowledgeBoundaryViolation"}
	if !reflect.DeepEqual(got.Guardrails(), want) || !got.HasCritical() || got.ShouldRetry() {
		t.Errorf("%q, want %q", got.Guardrails(), want)
	}
	passed, err := pass(t, "Hello.", pipeline.GateContext{})
	if err != nil || !passed.Passed || len(passed.Guardrails()) != 0 {
		t.Errorf("%+v, %v", passed, err)
	}
}

// Seed 001, decision 3: intents are approved when nothing at all failed; a failing gate approves none.
func TestIntentsAreApprovedOnlyWhenTheGatePassed(t *testing.T) {
	out := pipeline.ParsedOutput{Success: true, Dialogue: "Hi.", Intents: []pipeline.Intent{{Type: new("open")}}}
	for _, severity := range []pipeline.Severity{pipeline.Soft, pipeline.Hard, pipeline.Critical} {
		rule := pipeline.CustomRule{Pattern: "bye", Severity: severity}
		got, err := pipeline.Gate(out, pipeline.GateContext{Rules: []pipeline.CustomRule{rule}}, pipeline.GateConfig{})
		if err != nil || got.Passed || got.HasOutput || got.ApprovedIntents != nil || got.ShouldRetry() == (severity == pipeline.Critical) {
			t.Errorf("%s: %+v, %v", severity, got, err)
		}
	}
	got, err := pipeline.Gate(out, pipeline.GateContext{}, pipeline.GateConfig{})
	if err != nil || !got.Passed || !got.HasOutput || !reflect.DeepEqual(got.ApprovedIntents, out.Intents) {
		t.Errorf("%+v, %v", got, err)
	}
}

// Dialogue and texts are compared unit by unit: half of a pair is found in the pair.
func TestGateSeesUnits(t *testing.T) {
	const lone = "\xed\xa0\xbd" // the first half of U+1F600
	for forbidden, want := range map[string]bool{lone: true, "\xed\xb8\x80": true, "\xed\xb8\x81": false, "a" + lone: true, "\xed\xb8\x80b": true, "😀": true, "b" + lone: false} {
		got, err := pass(t, "a😀b", pipeline.GateContext{Forbidden: []string{forbidden}})
		if err != nil || got.Passed == want {
			t.Errorf("%q: %+v, %v", forbidden, got, err)
		}
	}
	got, err := pass(t, "a😀b", pipeline.GateContext{Rules: []pipeline.CustomRule{{Pattern: "a.", Prohibition: true}}})
	if err != nil || len(got.Failures) != 1 || *got.Failures[0].ViolatingText != "a"+lone {
		t.Errorf("%+v, %v", got.Failures, err)
	}
}

// What the search leaves out without looking is not there.
func TestSearchMissesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	runes := []string{"a", "b", " ", "É", "😀", "\xed\xa0\xbd", "\xed\xb8\x80", "İ", "K", "漢"}
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(runes[r.IntN(len(runes))])
		}
		return dotnet.Pair(b.String())
	}
	hits := 0
	for range 20000 {
		dialogue := text(40)
		forbidden := text(r.IntN(30))
		if r.IntN(2) == 0 { // a part of the dialogue, pairs split as well
			n := dotnet.Len(dialogue)
			from := r.IntN(n)
			forbidden = dotnet.Cut(dialogue, from, from+r.IntN(n-from))
		}
		got, err := pipeline.Gate(pipeline.ParsedOutput{Success: true, Dialogue: dialogue}, pipeline.GateContext{Forbidden: []string{forbidden}}, pipeline.DefaultGateConfig())
		want := holds(dotnet.Units(dotnet.Lower(dialogue)), dotnet.Units(dotnet.Lower(forbidden)))
		if err != nil || got.Passed == want {
			t.Fatalf("%q in %q: passed %v, %v", forbidden, dialogue, got.Passed, err)
		}
		if want {
			hits++
		}
	}
	if hits < 5000 {
		t.Errorf("only %d texts are there", hits)
	}
}

func holds(units, part []uint16) bool {
	for i := range len(units) - len(part) + 1 {
		if slices.Equal(units[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// A constraint whose expression .NET refuses falls back to its text; a custom rule has none, and what is not read is an error.
func TestPatternsWithoutAnAnswer(t *testing.T) {
	_, err := pass(t, "x", pipeline.GateContext{Rules: []pipeline.CustomRule{{Pattern: "["}}})
	failsWith(t, err, pipeline.CodeInvalidInput, "/customRules/0/Pattern")
	for _, typ := range []pipeline.ConstraintType{pipeline.Prohibition, pipeline.Requirement} {
		for _, pattern := range []string{"/", `/\p{IsGreek}/`} {
			_, err = pass(t, "x", pipeline.GateContext{Constraints: []pipeline.Constraint{{Type: typ, Patterns: []string{pattern}}}})
			failsWith(t, err, pipeline.CodeInvalidInput, "/context/constraints")
		}
	}
	got, err := pass(t, "a /[/ b", pipeline.GateContext{Constraints: []pipeline.Constraint{{ID: new("p"), Patterns: []string{"/[/"}}}})
	if err != nil || len(got.Failures) != 1 || *got.Failures[0].ViolatingText != "/[/ b" {
		t.Errorf("%+v, %v", got.Failures, err)
	}
}

// llamabrain.md §6.2: a description names patterns in quotes, and behind words like about.
func TestDescriptionsNamePatterns(t *testing.T) {
	for description, texts := range map[string]map[string]bool{
		`never say "the plan" or 'gold'`:  {"the plan": true, "GOLD": true, "never": false},
		"do not talk ABOUT\u00a0weather":  {"Weather": true},
		"tell it, mention no, say abc":    {"it": false, "no": false, "abc": true},
		"an essay about_this, about king": {"about_this": true, "king": true, "an": false},
		"saysay ABC":                      {"abc": true},
		"about 😀abc":                      {"abc": false},
		`"" ' ' "`:                        {" ": false},
	} {
		for text, want := range texts {
			c := pipeline.Constraint{Type: pipeline.Prohibition, Description: &description}
			outcome, _, err := pipeline.CheckConstraints("- "+text+" -", []pipeline.Constraint{c})
			if err != nil || (outcome == pipeline.ReasonProhibition) != want {
				t.Errorf("%s: %q: %s, %v", description, text, outcome, err)
			}
		}
	}
}
