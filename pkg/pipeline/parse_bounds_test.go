package pipeline_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
)

const tenMiB = 10 << 20

// repeated is long enough that what takes quadratic time would take minutes.
func repeated(text string) string { return strings.Repeat(text, 2<<20/len(text)) }

// patient is far more than any of these takes, and far less than what a quadratic one would.
const patient = 30 * time.Second

// Any output is parsed in time that grows with its length: each is made to be slow for one of the patterns.
func TestLongOutputsAreParsedInBoundedTime(t *testing.T) {
	for name, raw := range map[string]string{
		"ten million":     strings.Repeat("Ab [MEMORY: x] *c* [d]\n", tenMiB/23),
		"letters":         repeated("a"),
		"newlines":        "x" + repeated("\n"),
		"spaces":          "x" + repeated(" ") + "y",
		"markers":         repeated("[MEMORY: x] hi "),
		"open markers":    repeated("[MEMORY:x"),
		"open on lines":   repeated("[MEMORY:x") + "\n]",
		"empty markers":   repeated("[MEMORY: ]"),
		"spaced markers":  repeated("[MEMORY:") + repeated(" "),
		"blocks":          repeated("```json{\"memory\":\"a\"}``` hi "),
		"open blocks":     repeated("```json "),
		"quotes":          "```json" + repeated("\"memory\":\"") + "```",
		"names":           "```json" + repeated("\"memory\" ") + "```",
		"brackets":        repeated("["),
		"bracket lines":   repeated("[\n"),
		"stars":           repeated("*"),
		"labels":          repeated("A\n"),
		"label lines":     repeated("A b\n"),
		"labels of lines": repeated("Ab:\n"),
		"surrogates":      repeated("\xed\xa0\xbd"),
	} {
		c := pipeline.DefaultParserConfig()
		c.EnforceSingleLine = false
		start := time.Now()
		if _, err := pipeline.Parse(raw, true, c, pipeline.DMPLv1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > patient {
			t.Errorf("%s: %s", name, took)
		}
	}
}

// Markers that make each other, many of them, are an error: there is no shorter way to remove them in their order.
func TestTooManyNestedMarkersAreAnError(t *testing.T) {
	var b strings.Builder
	for i := range 1 << 16 {
		b.WriteString("[MEMORY: ")
		b.WriteString(strings.Repeat("x", i%4000))
		b.WriteString("] MEMORY: ")
	}
	_, err := pipeline.Parse(b.String(), false, pipeline.DefaultParserConfig(), pipeline.DMPLv1)
	var e *pipeline.Error
	if !errors.As(err, &e) || e.Code != pipeline.CodeLimit {
		t.Errorf("%v", err)
	}
}

func pass(t *testing.T, text string, c pipeline.GateContext) (pipeline.GateResult, error) {
	t.Helper()
	start := time.Now()
	result, err := pipeline.Gate(pipeline.ParsedOutput{Success: true, Dialogue: text}, c, pipeline.DefaultGateConfig())
	if took := time.Since(start); took > patient {
		t.Errorf("%.40q: %s", text, took)
	}
	return result, err
}

func failsWith(t *testing.T, err error, code, pointer string) {
	t.Helper()
	var e *pipeline.Error
	if !errors.As(err, &e) || e.Code != code || e.Pointer != pointer {
		t.Errorf("%v, want %s at %q", err, code, pointer)
	}
}

func facts(n int) []memory.Fact {
	list := make([]memory.Fact, n)
	for i := range list {
		list[i].ID, list[i].Text = "id", "The sky over town is number "+strings.Repeat("x", i%50)
	}
	return list
}

// A hundred thousand facts are checked, in a long dialogue too. Where more would have to be searched than a gate searches,
// there is an error, never a pass.
func TestGateIsBounded(t *testing.T) {
	result, err := pass(t, "The sky over town is not number xxx.", pipeline.GateContext{Facts: facts(100000)})
	if err != nil || len(result.Failures) != 8000 {
		t.Errorf("%d failures, %v", len(result.Failures), err)
	}
	long := strings.Repeat("The sky is grey. ", tenMiB/17)
	if result, err := pass(t, long, pipeline.GateContext{Facts: facts(100), Forbidden: []string{"x"}}); err != nil || !result.Passed {
		t.Errorf("%v, %v", result.Failures, err)
	}
	_, err = pass(t, long, pipeline.GateContext{Facts: facts(100000), Forbidden: []string{}})
	if err != nil {
		t.Error(err)
	}
	many := make([]string, 1000)
	for i := range many {
		many[i] = "is grey. the sky is grey. " + strings.Repeat("x", i%7)
	}
	_, err = pass(t, long[:tenMiB/2]+"XXXXXXX", pipeline.GateContext{Forbidden: many})
	failsWith(t, err, pipeline.CodeLimit, "")
	_, err = pass(t, long, pipeline.GateContext{Rules: []pipeline.CustomRule{{Pattern: "a"}}})
	failsWith(t, err, pipeline.CodeLimit, "/customRules/0/Pattern")
}

// A pattern that never ends is an error, never a miss.
func TestEndlessPatternsAreAnError(t *testing.T) {
	endless := strings.Repeat("a", 64) + "!"
	_, err := pass(t, endless, pipeline.GateContext{Rules: []pipeline.CustomRule{{Pattern: "b", Prohibition: true}, {Pattern: "^(a+)+$"}}})
	failsWith(t, err, pipeline.CodeRegexTimeout, "/customRules/1/Pattern")
	for _, typ := range []pipeline.ConstraintType{pipeline.Prohibition, pipeline.Requirement} {
		_, err = pass(t, endless, pipeline.GateContext{Constraints: []pipeline.Constraint{{Type: typ, Patterns: []string{"/^(a+)+$/"}}}})
		failsWith(t, err, pipeline.CodeRegexTimeout, "/context/constraints")
	}
}
