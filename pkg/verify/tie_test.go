package verify_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// V2, P3: equal scores stand in the order that the row names, key by key; ids compare by UTF-16 unit but in the order of seed 003.
func TestTiesFollowTheOrderOfTheirRow(t *testing.T) {
	const created, confident = "score,created_at_ticks,record_id,sequence_number", "score,confidence,record_id,sequence_number"
	record := func(rank, id, rest string) string {
		return `{"rank":` + rank + `,"record_id":"` + id + `","record_type":"t","score":0.5` + rest + `}`
	}
	for _, c := range []struct {
		what, order, first, second string
		code                       finding.Code // "" where the order holds
		key                        string
	}{
		{"newer first", created, record("1", "b", `,"created_at_ticks":9,"sequence_number":1`), record("2", "a", `,"created_at_ticks":8,"sequence_number":1`), "", ""},
		{"older first", created, record("1", "a", `,"created_at_ticks":8,"sequence_number":1`), record("2", "b", `,"created_at_ticks":9,"sequence_number":1`), finding.TraceTieOrder, "created_at_ticks"},
		{"then by id", created, record("1", "b", `,"created_at_ticks":9,"sequence_number":1`), record("2", "a", `,"created_at_ticks":9,"sequence_number":1`), finding.TraceTieOrder, "record_id"},
		{"then by sequence", created, record("1", "a", `,"created_at_ticks":9,"sequence_number":2`), record("2", "a", `,"created_at_ticks":9,"sequence_number":1`), finding.TraceTieOrder, "sequence_number"},
		{"surer first", confident, record("1", "b", `,"confidence":0.9,"sequence_number":1`), record("2", "a", `,"confidence":0.8,"sequence_number":1`), "", ""},
		{"less sure first", confident, record("1", "a", `,"confidence":0.8,"sequence_number":1`), record("2", "b", `,"confidence":0.9,"sequence_number":1`), finding.TraceTieOrder, "confidence"},
		{"a longer id behind", confident, record("1", "a", `,"confidence":1,"sequence_number":1`), record("2", "aa", `,"confidence":1,"sequence_number":1`), "", ""},
		{"by unit", "record_id", record("1", "\U00010000", ""), record("2", "\uffff", ""), "", ""},
		{"not by code point", "record_id", record("1", "\uffff", ""), record("2", "\U00010000", ""), finding.TraceTieOrder, "record_id"},
		{"as they stand, in no normal form", "record_id", record("1", `e\u0301b`, ""), record("2", `\u00e9a`, ""), "", ""},
		{"seed 003 as they stand", "score,record_id", record("1", `e\u0301b`, ""), record("2", `\u00e9a`, ""), "", ""},
		{"a confident tie as it stands", confident, record("1", `e\u0301b`, `,"confidence":1,"sequence_number":1`), record("2", `\u00e9a`, `,"confidence":1,"sequence_number":1`), "", ""},
		{"seed 003 by code point", "score,record_id", record("1", "\uffff", ""), record("2", "\U00010000", ""), "", ""},
		{"a key that is missing", created, record("1", "a", `,"created_at_ticks":9,"sequence_number":1`), record("2", "b", `,"sequence_number":1`), finding.ShapeMissing, "created_at_ticks"},
		{"a key of another type", created, record("1", "a", `,"created_at_ticks":9,"sequence_number":1`), record("2", "b", `,"created_at_ticks":"9","sequence_number":1`), finding.ShapeMissing, "created_at_ticks"},
	} {
		dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), runtest.Features{Retrieval: true})
		rows := strings.Split(textOf(t, dir, "retrieval/0000.jsonl"), "\n")
		for _, set := range []struct{ name, value string }{{"selected_records", "[" + c.first + "," + c.second + "]"}, {"order", `"` + c.order + `"`}} {
			rows[2] = change(t, rows[2], "/"+set.name, func(o map[string]any, name string) { o[name] = json.RawMessage(set.value) })
		}
		runtest.Put(t, dir, "retrieval/0000.jsonl", []byte(strings.Join(rows, "\n")))
		runtest.Repair(t, dir)
		var got []finding.Finding
		for _, f := range verifyRun(t, dir).Findings {
			if f.Severity == finding.Error && f.Code != finding.RunDisagrees { // these records are in no snapshot
				got = append(got, f)
			}
		}
		if c.code == "" {
			if len(got) > 0 {
				t.Errorf("%s: %+v", c.what, got)
			}
			continue
		}
		if !slices.ContainsFunc(got, func(f finding.Finding) bool {
			return f.Code == c.code && f.Pointer == "/2/selected_records/1/"+c.key
		}) {
			t.Errorf("%s: %+v, want %s at %s", c.what, got, c.code, c.key)
		}
	}
}

func textOf(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
