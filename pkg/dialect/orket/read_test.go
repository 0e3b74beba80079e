package orket_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/orket"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

const (
	minimal = `{"run_id":"r","workflow_id":"w","memory_snapshot_id":"1","visibility_mode":"read_only","model_config_id":"m","policy_set_id":"p",
"determinism_trace_schema_version":"memory.determinism_trace.v1","events":[],
"output":{"output_type":"text","output_shape_hash":"h","normalization_version":"json-v1"}}`
	row = `{"retrieval_event_id":"r0","run_id":"r","event_id":"e","policy_id":"p","policy_version":"v1","query_normalization_version":"json-v1",
"query_fingerprint":"q","retrieval_mode":"m","candidate_count":1,
"selected_records":[{"record_id":"m-1","record_type":"t","score":0.5,"rank":1}],"applied_filters":{},
"retrieval_trace_schema_version":"memory.retrieval_trace.v1"}`
)

// write makes a file with all folders above it.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// readText reads a trace from memory, and the rows where there are any.
func readText(text, rows string) (*dialect.Artifact, error) {
	o := dialect.Options{}
	if rows != "" {
		o.Retrieval, o.Stdin = "-", strings.NewReader(rows)
	}
	return orket.Reader{}.Read(&dialect.File{Path: "-", Data: []byte(text)}, o)
}

func wantProblem(t *testing.T, err error, code finding.Code, path, detail string) {
	t.Helper()
	var p *dialect.Problem
	if !errors.As(err, &p) {
		t.Fatalf("%v is no problem", err)
	}
	if p.Code != code || p.Path != path || !strings.Contains(p.Detail, detail) {
		t.Errorf("%s for %s: %s; want %s for %s: %s", p.Code, p.Path, p.Detail, code, path, detail)
	}
}

// V1: the three shapes of a retrieval trace, with the pointers that their rows have.
func TestRetrievalShapes(t *testing.T) {
	tests := []struct {
		name, text, pointer string
		rows                int
		shape               finding.Code // "" for none
	}{
		{"object", `{"events":[` + row + `,` + row + `]}`, "/events/0", 2, ""},
		{"object with version and metadata", `{"retrieval_trace_schema_version":"memory.retrieval_trace.v1","metadata":{"truncated":true},"events":[]}`, "/events/0", 0, ""},
		{"bare list", `[` + row + `]`, "/0", 1, ""},
		{"empty list", `[]`, "/0", 0, ""},
		{"bare row", row, "", 1, ""},
		{"a row that is none", `{"x":1}`, "", 1, finding.ShapeMissing},
		{"a number", `7`, "/0", 0, finding.ShapeType},
		{"null", `null`, "/0", 0, finding.ShapeType},
		{"rows no list", `{"events":{}}`, "/events/0", 0, finding.ShapeType},
		{"row no object", `[7]`, "/0", 1, finding.ShapeType},
		{"unknown version", `{"retrieval_trace_schema_version":"v9","events":[]}`, "/events/0", 0, finding.ShapeVersion},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := readText(minimal, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			r := a.Trace.Retrieval
			if len(r.Rows) != tt.rows || r.RowPointer(0) != tt.pointer || len(a.Inputs) != 2 || a.Inputs[1].Kind != orket.KindRetrieval {
				t.Errorf("%d rows at %q, inputs %+v", len(r.Rows), r.RowPointer(0), a.Inputs)
			}
			var codes []finding.Code
			for _, f := range a.Shape {
				codes = append(codes, f.Code)
				if f.EventIndex != finding.NoEvent {
					t.Errorf("a finding of a row stands at event %d", f.EventIndex)
				}
			}
			if tt.shape == "" && len(codes) > 0 || tt.shape != "" && !slices.Contains(codes, tt.shape) {
				t.Errorf("shape %v, want %s", codes, tt.shape)
			}
		})
	}
	a, err := readText(minimal, tests[1].text)
	if err != nil || string(a.Trace.Retrieval.Truncated.Raw) != "true" {
		t.Errorf("truncated %s, %v", a.Trace.Retrieval.Truncated.Raw, err)
	}
}

// V1: a record keeps its values, and the model its bytes.
func TestRowModel(t *testing.T) {
	a, err := readText(minimal, "["+row+"]")
	if err != nil {
		t.Fatal(err)
	}
	w := a.Trace.Retrieval.Rows[0]
	rec := w.Records[0]
	if w.ID.Text() != "r0" || string(w.CandidateCount.Raw) != "1" || rec.Rank != 1 || rec.ID.Text() != "m-1" || string(rec.Score.Raw) != "0.5" || !rec.WellFormed() {
		t.Errorf("row %+v", w)
	}
	if string(w.Raw) != row {
		t.Errorf("the row's bytes are %s", w.Raw)
	}
}

// C1: what is no strict JSON is a problem with the path of the file that has it.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "memory_trace.json"), minimal)
	f, err := dialect.ReadFile(path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("the trace", func(t *testing.T) {
		for text, code := range map[string]finding.Code{
			"":                           finding.CanonInvalidJSON,
			minimal[:50]:                 finding.CanonInvalidJSON,
			"\ufeff" + minimal:           finding.CanonInvalidJSON,
			minimal + "x":                finding.CanonInvalidJSON,
			`{"a":1,"a":2}`:              finding.CanonDuplicateKey,
			`{"a":"\ud800"}`:             finding.CanonLoneSurrogate,
			"{\"a\":\"\xff\"}":           finding.CanonInvalidUTF8,
			`{"events":[NaN]}`:           finding.CanonNonFinite,
			strings.Repeat("[", 100_000): finding.CanonTooDeep,
		} {
			_, err := orket.Reader{}.Read(&dialect.File{Path: "some.json", Data: []byte(text)}, dialect.Options{})
			wantProblem(t, err, code, "some.json", "")
		}
	})
	t.Run("the retrieval trace named", func(t *testing.T) {
		none := filepath.Join(dir, "none.json")
		_, err := orket.Reader{}.Read(f, dialect.Options{Retrieval: none})
		wantProblem(t, err, finding.InputUnreadable, none, "")
		for _, text := range []string{"", "[1,", `{"events":[}`, `{"x":`, "[] []"} {
			bad := write(t, filepath.Join(dir, "bad.json"), text)
			_, err = orket.Reader{}.Read(f, dialect.Options{Retrieval: bad})
			wantProblem(t, err, finding.CanonInvalidJSON, bad, "")
		}
	})
	t.Run("the retrieval trace beside it", func(t *testing.T) {
		beside := write(t, filepath.Join(dir, "memory_retrieval_trace.json"), "[")
		_, err := orket.Reader{}.Read(f, dialect.Options{})
		wantProblem(t, err, finding.CanonInvalidJSON, beside, "")
		if err := os.Remove(beside); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a tool result that is no file", func(t *testing.T) {
		folder := filepath.Join(dir, "tool_result_search_0123456789ab.json")
		write(t, filepath.Join(folder, "x"), "")
		_, err := orket.Reader{}.Read(f, dialect.Options{})
		wantProblem(t, err, finding.InputNotAFile, folder, "")
	})
}

// V1, C4: each value is present, absent, null or malformed, with the code, the pointer and the event that say so.
func TestShape(t *testing.T) {
	event := `{"event_id":"e","index":1,"role":"a","interceptor":"i","decision_type":"d","tool_calls":[],"guardrails_triggered":[],"retrieval_event_ids":[]}`
	with := func(from, to string) string {
		if !strings.Contains(minimal, from) && !strings.Contains(event, from) {
			t.Fatalf("%q is not in the text", from)
		}
		text := strings.Replace(minimal, `"events":[]`, `"events":[`+strings.Replace(event, `"index":1`, `"index":0`, 1)+`,`+strings.Replace(event, from, to, 1)+`]`, 1)
		return strings.Replace(text, from, to, 1)
	}
	only := func(from, to string) string {
		return strings.Replace(minimal, `"events":[]`, `"events":[`+strings.Replace(event, from, to, 1)+`]`, 1)
	}
	tests := []struct {
		name, text string
		code       finding.Code
		pointer    string
		event      int
	}{
		{"missing", with(`"run_id":"r",`, ``), finding.ShapeMissing, "/run_id", finding.NoEvent},
		{"null", with(`"run_id":"r"`, `"run_id":null`), finding.ShapeType, "/run_id", finding.NoEvent},
		{"empty", with(`"run_id":"r"`, `"run_id":""`), finding.ShapeEmpty, "/run_id", finding.NoEvent},
		{"closed list", with(`read_only`, `Read_Only`), finding.ShapeValue, "/visibility_mode", finding.NoEvent},
		{"version", with(`determinism_trace.v1`, `determinism_trace.v2`), finding.ShapeVersion, "/determinism_trace_schema_version", finding.NoEvent},
		{"root", `[]`, finding.ShapeType, "", finding.NoEvent},
		{"role", only(`"role":"a"`, `"role":7`), finding.ShapeType, "/events/0/role", 1},
		{"index 1.0", only(`"index":1`, `"index":1.0`), finding.ShapeRange, "/events/0/index", finding.NoEvent},
		{"index no number", only(`"index":1`, `"index":true`), finding.ShapeType, "/events/0/index", finding.NoEvent},
		{"no guardrail", only(`"guardrails_triggered":[]`, `"guardrails_triggered":["g",7]`), finding.ShapeType, "/events/0/guardrails_triggered/1", 1},
		{"no call", only(`"tool_calls":[]`, `"tool_calls":[null]`), finding.ShapeType, "/events/0/tool_calls/0", 1},
		{"commit reason too many", with(`"output":`, `"commit":{"buffer_state":"buffer_open","reason_code":"policy_rejected","commit_id":"c","commit_payload_fingerprint":"f"},"output":`), finding.ShapeValue, "/commit/reason_code", finding.NoEvent},
		{"commit reason missing", with(`"output":`, `"commit":{"buffer_state":"commit_aborted","commit_id":"c","commit_payload_fingerprint":"f"},"output":`), finding.ShapeMissing, "/commit/reason_code", finding.NoEvent},
		{"marker no bool", with(`"output":`, `"metadata":{"truncated":"true"},"output":`), finding.ShapeType, "/metadata/truncated", finding.NoEvent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := readText(tt.text, "")
			if err != nil {
				t.Fatal(err)
			}
			at := func(f finding.Finding) bool {
				return f.Code == tt.code && f.Pointer == tt.pointer && f.EventIndex == tt.event && f.Artifact == "-"
			}
			if !slices.ContainsFunc(a.Shape, at) {
				t.Errorf("want %s at %s, event %d; got %+v", tt.code, tt.pointer, tt.event, a.Shape)
			}
		})
	}
}

// V1, V2: an index that no list can reach is still an integer, and is the same in the model of every platform.
func TestIndexOutOfReach(t *testing.T) {
	for _, text := range []string{"2147483647", "2147483648", "9007199254740993"} {
		events := `"events":[{"event_id":"e","index":` + text + `,"role":"a","interceptor":"i","decision_type":"d","tool_calls":[],"guardrails_triggered":[],"retrieval_event_ids":[]}]`
		a, err := readText(strings.Replace(minimal, `"events":[]`, events, 1), strings.Replace(row, `"rank":1`, `"rank":`+text, 1))
		if err != nil || len(a.Shape) > 0 {
			t.Fatalf("%+v, %v", a.Shape, err)
		}
		e, rec := a.Trace.Events[0], a.Trace.Retrieval.Rows[0].Records[0]
		if e.Index != 1<<31-1 || rec.Rank != 1<<31-1 || string(e.IndexField.Raw) != text || string(rec.RankField.Raw) != text {
			t.Errorf("%s: index %d, rank %d", text, e.Index, rec.Rank)
		}
		if _, ok := a.Trace.ByIndex(); ok {
			t.Error("the event was ordered")
		}
	}
}

// V1: names and values written with escapes are the same names and values.
func TestEscapedSpelling(t *testing.T) {
	text := strings.NewReplacer(`"run_id"`, `"run\u005fid"`, `"read_only"`, `"read\u005fonly"`, `"json-v1"`, `"\u006ason-v1"`).Replace(minimal)
	a, err := readText(text, "")
	if err != nil || len(a.Shape) > 0 || a.Trace.RunID.Text() != "r" || a.Trace.Visibility.Text() != "read_only" {
		t.Errorf("%+v, %v", a.Shape, err)
	}
}

// orket.md §2: members that only Orket writes tell a foreign trace from a native one.
func TestForeign(t *testing.T) {
	for member, want := range map[string]bool{`"issue_id":"i",`: true, `"role_id":null,`: true, `"metadata":{"truncated":false},`: false, ``: false} {
		a, err := readText(strings.Replace(minimal, `"events"`, member+`"events"`, 1), "")
		if err != nil || a.Trace.Foreign != want {
			t.Errorf("%s: foreign %v, %v", member, a.Trace.Foreign, err)
		}
	}
}

// C1: reading never changes the bytes, and fields are spans of them.
func TestFieldsAreSpans(t *testing.T) {
	data := []byte(minimal)
	a, err := orket.Reader{}.Read(&dialect.File{Path: "-", Data: data}, dialect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]trace.Field{"run_id": a.Trace.RunID, "events": a.Trace.EventList, "output": a.Trace.Output.Field} {
		if !bytes.HasPrefix(data[f.Offset(data):], f.Raw) || len(f.Raw) == 0 {
			t.Errorf("%s: %s is not at byte %d", name, f.Raw, f.Offset(data))
		}
	}
	if string(data) != minimal {
		t.Error("the data changed")
	}
}
