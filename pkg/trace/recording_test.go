package trace_test

import (
	"fmt"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/trace"
)

func documentOf(t *testing.T, text string) trace.Document {
	t.Helper()
	value, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return trace.Document{Path: "f", Value: value}
}

// R2: a line is found by its turn, attempt and call, among lines in order, and by nothing else.
func TestLinesAreFoundByTheirNumbers(t *testing.T) {
	var r trace.Recording
	for turn := range 4 {
		r.Turns = append(r.Turns, documentOf(t, fmt.Sprintf(`{"turn":%d}`, turn)))
		for attempt := range turn + 1 {
			line := documentOf(t, fmt.Sprintf(`{"turn":%d,"attempt":%d}`, turn, attempt))
			r.Outputs, r.Prompts = append(r.Outputs, line), append(r.Prompts, line)
			for call := range 2 {
				r.ToolResults = append(r.ToolResults, documentOf(t, fmt.Sprintf(`{"turn":%d,"attempt":%d,"call":%d}`, turn, attempt, call)))
			}
		}
	}
	for turn := range 5 {
		if _, ok := r.Turn(turn); ok != (turn < 4) {
			t.Errorf("turn %d: %v", turn, ok)
		}
		for attempt := range 5 {
			want := turn < 4 && attempt <= turn
			out, ok := r.Output(turn, attempt)
			if ok != want || ok && string(out.Value.Raw()) != fmt.Sprintf(`{"turn":%d,"attempt":%d}`, turn, attempt) {
				t.Errorf("output %d, %d: %v %s", turn, attempt, ok, out.Value.Raw())
			}
			if _, ok := r.Prompt(turn, attempt); ok != want {
				t.Errorf("prompt %d, %d: %v", turn, attempt, ok)
			}
			for call := range 3 {
				if _, ok := r.ToolResult(turn, attempt, call); ok != (want && call < 2) {
					t.Errorf("result %d, %d, %d: %v", turn, attempt, call, ok)
				}
			}
		}
	}
	r.Candidates = []trace.Document{documentOf(t, `{"turn":1,"kind":"belief"}`)}
	for turn := range 3 {
		if _, ok := r.CandidatesOf(turn, "belief"); ok != (turn == 1) {
			t.Errorf("candidates of turn %d: %v", turn, ok)
		}
	}
}

func TestMembersOfADocument(t *testing.T) {
	d := documentOf(t, `{"a":{"b":[1,null]},"n":3,"many":99999999999999999999,"part":1.0,"less":-1}`)
	for pointer, want := range map[string]trace.State{"/a": trace.Present, "/a/b/0": trace.Present, "/a/b/1": trace.Null, "/a/b/2": trace.Absent, "/c": trace.Absent} {
		if got := d.Field(pointer); got.State != want {
			t.Errorf("%s: %+v", pointer, got)
		}
	}
	for name, want := range map[string]bool{"n": true, "a": false, "many": false, "part": false, "less": false, "none": false} {
		if n, ok := d.Int(name); ok != want || ok && n != 3 {
			t.Errorf("%s: %d, %v", name, n, ok)
		}
	}
	if !d.Ok() || documentOf(t, `[]`).Ok() || (trace.Document{}).Ok() {
		t.Error("a document is there where it is an object")
	}
	if got := trace.LinePointer(3); got != "/3" {
		t.Error(got)
	}
}

// D6: a text query is NFC, white-space runs one space, trimmed; topics are part of the query.
func TestQueryOfATurn(t *testing.T) {
	for document, want := range map[string]string{
		`{"player_input":"  who\t\n is\u00a0there "}`: `{"query":"who is there","query_normalization_version":"v","retrieval_mode":"m"}`,
		`{"player_input":"who is \"there\"?"}`:        `{"query":"who is \"there\"?","query_normalization_version":"v","retrieval_mode":"m"}`,
		`{"player_input":"who  is"}`:                  `{"query":"who is","query_normalization_version":"v","retrieval_mode":"m"}`,
		`{"player_input":"who "}`:                     `{"query":"who","query_normalization_version":"v","retrieval_mode":"m"}`,
		`{"player_input":" who"}`:                     `{"query":"who","query_normalization_version":"v","retrieval_mode":"m"}`,
		`{"player_input":"who\nis"}`:                  `{"query":"who is","query_normalization_version":"v","retrieval_mode":"m"}`,
		`{"player_input":" "}`:                        `{"query":"","query_normalization_version":"v","retrieval_mode":"m"}`,
		`{"player_input":"e\u0301"}`:                  `{"query":"é","query_normalization_version":"v","retrieval_mode":"m"}`,
		`{"player_input":"a","topics":["b"]}`:         `{"query":{"text":"a","topics":["b"]},"query_normalization_version":"v","retrieval_mode":"m"}`,
		`{"player_input":"","topics":[]}`:             `{"query":{"text":"","topics":[]},"query_normalization_version":"v","retrieval_mode":"m"}`,
		`{"player_input":7}`:                          "",
		`{}`:                                          "",
	} {
		if got := string(documentOf(t, document).Query("v", "m")); got != want {
			t.Errorf("%s: %s, want %s", document, got, want)
		}
	}
}
