package shape_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/shape"
	"github.com/dmpl/dmpl/pkg/trace"
)

const twinTrace = `{"run_id":"left","workflow_id":"w","memory_snapshot_id":"s","visibility_mode":"off","model_config_id":"m","policy_set_id":"p",
"determinism_trace_schema_version":"memory.determinism_trace.v1","events":[
{"event_id":"left:0","index":0,"role":"r","interceptor":"i","decision_type":"d","tool_calls":[{"tool_name":"t","tool_profile_version":"v",
"normalized_args":{"b":1.50,"a":["é"]},"normalization_version":"json-v1","tool_result_fingerprint":"f","side_effect_fingerprint":null}],
"guardrails_triggered":["g"],"retrieval_event_ids":["left:ret:0"]},
{ "index" : 1 , "role":"r","event_id" : "left:1" , "interceptor":"i","decision_type":"d","tool_calls":[],"guardrails_triggered":[],"retrieval_event_ids":[],"more":{"event_id":"left:1"}}],
"output":{"output_type":"text","output_shape_hash":"h","normalization_version":"json-v1"}}`

const twinRows = `[{"retrieval_event_id":"left:ret:0","run_id":"left","event_id":"left:0","policy_id":"p","policy_version":"1","query_normalization_version":"json-v1",
"query_fingerprint":"q","retrieval_mode":"text","candidate_count":1,"selected_records":[{"record_id":"a","record_type":"t","score":0.5,"rank":1}],
"applied_filters":{"x":[[]]},"retrieval_trace_schema_version":"memory.retrieval_trace.v1"}]`

// edits gives the text with each of its bytes left out, replaced, and with another before it.
func edits(text []byte) [][]byte {
	var all [][]byte
	for i := range text {
		all = append(all, slices.Delete(slices.Clone(text), i, i+1))
		for _, c := range []byte("\"\\x,}") {
			all = append(all, slices.Insert(slices.Clone(text), i, c))
			other := slices.Clone(text)
			other[i] = c
			all = append(all, other)
		}
	}
	return all
}

// renamed gives a text as another run writes it: under the same ids, another, a longer one, and none.
func renamed(text string) [][]byte {
	var all [][]byte
	for _, run := range []string{"left", "righ", `r\u00e9\ud83d\ude00 é`, `e\u0301\ud800`} {
		all = append(all, bytes.ReplaceAll([]byte(text), []byte("left"), []byte(run)))
	}
	return append(all,
		bytes.ReplaceAll([]byte(text), []byte(`"left:1"`), []byte(`""`)),
		bytes.ReplaceAll([]byte(text), []byte(`"left:0"`), []byte(`""`)),
		bytes.ReplaceAll([]byte(text), []byte(`"left:ret:0"`), []byte(`7`)))
}

// sameRead reads every edit of the texts with a twin and without one, by the same function, and wants the same.
func sameRead[T any](t *testing.T, left *trace.Trace, texts [][]byte, read func([]byte, *trace.Trace) (T, any, error)) {
	t.Helper()
	for _, text := range texts {
		for _, right := range append(edits(text), text) {
			want, wantFindings, wantErr := read(right, nil)
			got, gotFindings, err := read(right, left)
			if !reflect.DeepEqual(err, wantErr) {
				t.Fatalf("%s:\nwith a twin %v\nwithout     %v", right, err, wantErr)
			}
			if err == nil && !(reflect.DeepEqual(got, want) && reflect.DeepEqual(gotFindings, wantFindings)) {
				t.Fatalf("%s:\nwith a twin %+v, %v\nwithout     %+v, %v", right, got, gotFindings, want, wantFindings)
			}
		}
	}
}

// C1, V1: what is taken over from a twin is what reading would have given, whatever stands in the other trace.
func TestATwinChangesNothingThatIsRead(t *testing.T) {
	left, findings, err := shape.ReadTrace("left", []byte(twinTrace), nil)
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	if left.Retrieval, findings, err = shape.ReadRetrieval("left", []byte(twinRows), nil); err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	sameRead(t, left, renamed(twinTrace), func(text []byte, twin *trace.Trace) (*trace.Trace, any, error) {
		return shape.ReadTrace("right", text, twin)
	})
	sameRead(t, left, append(renamed(twinRows), []byte(`{"events":`+twinRows+`}`)), func(text []byte, twin *trace.Trace) (*trace.Retrieval, any, error) {
		return shape.ReadRetrieval("right", text, twin)
	})
}

// C1: what is taken over from a twin may nest as deep as C1 allows there, which may be deeper here.
func TestATwinThatNestsLessDeepIsNoTwin(t *testing.T) {
	deep := func(depth int) []byte {
		nest := append(bytes.Repeat([]byte("["), depth), bytes.Repeat([]byte("]"), depth)...)
		return bytes.Replace([]byte(twinRows), []byte("[[]]"), nest, 1)
	}
	const most = 253 // below the list, the row and its filters
	if !json.Valid(deep(most)) {
		t.Fatal("the rows are no JSON")
	}
	left := &trace.Trace{}
	var err error
	if left.Retrieval, _, err = shape.ReadRetrieval("left", deep(most), nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := shape.ReadRetrieval("right", deep(most+1), left); err == nil {
		t.Error("a bare list is read at a depth of 257")
	}
	if _, _, err := shape.ReadRetrieval("right", []byte(`{"events":`+string(deep(most))+`}`), left); err == nil {
		t.Error("a list in an object is read at a depth of 257")
	}
}
