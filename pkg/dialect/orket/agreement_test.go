package orket_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/orket"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/schema"
	"github.com/dmpl/dmpl/pkg/trace"
	"github.com/dmpl/dmpl/schemas"
)

// document is one JSON document of a kind that has a schema.
type document struct {
	name   string
	schema string
	text   []byte
}

const profileFolder = "profiles"

// documents gives every trace, retrieval trace and tool profile of the fixtures, and the examples of the schemas.
func documents(t *testing.T) []document {
	t.Helper()
	var all []document
	root := filepath.Join("..", "..", "..", "fixtures")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, filepath.Join(root, "input")) {
			return err // what lies in input is no evidence, and no reader gets as far as its shape
		}
		kind := schemaOf(path)
		if kind == "" {
			return nil
		}
		text, err := os.ReadFile(path)
		all = append(all, document{path, kind, text})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 500 {
		t.Fatalf("only %d documents", len(all))
	}
	return slices.Concat(all, examples(t), made)
}

// made documents hold what no fixture has.
var made = []document{
	{"bare row with metadata", trace.RetrievalSchemaVersion, []byte(bareRow(`"metadata":{"truncated":true,"lane":"","events_total":1},`))},
	{"row of a list with a member metadata of its own", trace.RetrievalSchemaVersion, []byte("[" + bareRow(`"metadata":7,`) + "]")},
	{"counts of any size", trace.RetrievalSchemaVersion, []byte(bareRow(`"metadata":{"events_total":99999999999999999999,"events_kept":-0},`))},
	{"counts with a fraction", trace.RetrievalSchemaVersion, []byte(bareRow(`"metadata":{"events_total":1.0,"events_kept":1.5},`))},
	{"candidates", trace.RetrievalSchemaVersion, []byte(bareRow(`"candidates":[{"record_id":"","score":1e400}],`))},
	{"profile with every member", trace.ToolProfileSchema, []byte(`{"tool_name":"t","tool_profile_version":"1",
		"normalized_args_fields":["*"],"tool_result_fingerprint_fields":[],"side_effect_fingerprint_fields":["/a"],"hash_algorithm":"sha256",
		"normalization_version":"json-v1","schema_version":"memory.tool_profile.v1","datetime_fields":["d"],"float_decimals":15}`)},
	{"profile with an entry twice", trace.ToolProfileSchema, []byte(`{"tool_name":"t","tool_profile_version":"1",
		"normalized_args_fields":["q","q"],"tool_result_fingerprint_fields":[],"side_effect_fingerprint_fields":[],"hash_algorithm":"sha256",
		"normalization_version":"json-v1"}`)},
}

func bareRow(more string) string {
	return `{` + more + `"retrieval_event_id":"e","run_id":"r","event_id":"v","policy_id":"p","policy_version":"1",
		"query_normalization_version":"json-v1","query_fingerprint":"f","retrieval_mode":"m","candidate_count":18446744073709551616,
		"selected_records":[{"record_id":"","record_type":"","score":0,"rank":18446744073709551616}],"applied_filters":{},
		"retrieval_trace_schema_version":"memory.retrieval_trace.v1"}`
}

func schemaOf(path string) string {
	name := filepath.Base(path)
	switch {
	case strings.HasSuffix(name, "memory_retrieval_trace.json"):
		return trace.RetrievalSchemaVersion
	case strings.HasSuffix(name, "memory_trace.json"):
		return trace.SchemaVersion
	case filepath.Base(filepath.Dir(path)) == profileFolder:
		return trace.ToolProfileSchema
	}
	return ""
}

func examples(t *testing.T) []document {
	t.Helper()
	var all []document
	for _, name := range []string{trace.SchemaVersion, trace.RetrievalSchemaVersion, trace.ToolProfileSchema} {
		text, err := schemas.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		root, err := canon.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		list, ok := root.Get("examples")
		if !ok {
			t.Fatalf("%s has no examples", name)
		}
		for _, example := range list.Elements() {
			all = append(all, document{name + " example", name, example.Raw()})
		}
	}
	return all
}

// shapeErrors gives what breaks the schema by the typed checks.
func shapeErrors(t *testing.T, d document) []finding.Finding {
	t.Helper()
	switch d.schema {
	case trace.SchemaVersion:
		return readShape(t, d, &dialect.File{Path: "-", Data: d.text}, dialect.Options{})
	case trace.RetrievalSchemaVersion:
		return readShape(t, d, &dialect.File{Path: "-", Data: validTrace}, dialect.Options{Retrieval: "-", Stdin: bytes.NewReader(d.text)})
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "profile.json"), d.text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := orket.ReadProfiles(dir, 0)
	var problem *dialect.Problem
	if err != nil && !errors.As(err, &problem) {
		t.Fatal(err)
	}
	if err == nil {
		return nil
	}
	return []finding.Finding{problem.Finding()}
}

// validTrace is what a retrieval trace is read with.
var validTrace = []byte(`{"run_id":"r","workflow_id":"w","memory_snapshot_id":"s","visibility_mode":"off","model_config_id":"m",
"policy_set_id":"p","determinism_trace_schema_version":"memory.determinism_trace.v1","events":[],
"output":{"output_type":"text","output_shape_hash":"h","normalization_version":"json-v1"}}`)

func readShape(t *testing.T, d document, f *dialect.File, o dialect.Options) []finding.Finding {
	t.Helper()
	artifact, err := orket.Reader{}.Read(f, o)
	if err != nil {
		t.Fatalf("%s: %v", d.name, err)
	}
	var errs []finding.Finding
	for _, f := range artifact.Shape {
		if f.Severity == finding.Error {
			errs = append(errs, f)
		}
	}
	return errs
}

// unseen says why a JSON Schema cannot see a violation; "" where it can.
func unseen(d document, f finding.Finding) string {
	if f.Code != finding.ShapeRange {
		return ""
	}
	root, err := canon.Parse(d.text)
	if err != nil {
		return ""
	}
	value, _ := root.At(f.Pointer)
	whole, err := canon.Append(nil, value.Raw(), canon.JSONv1)
	if _, ok := canon.Integer(whole); err == nil && ok && whole[0] != '-' && bytes.ContainsAny(value.Raw(), ".eE") {
		return "C4: 1.0 and 1e0 are integers to a schema, which sees values and no literals"
	}
	return ""
}

// V1: the typed checks and the schemas give the same answer to every artifact of the fixtures, and to every mutation of
// those that are valid (of the others the mutations would only be wrong twice).
func TestTypedChecksAgreeWithTheSchemas(t *testing.T) {
	a := agreement{seen: map[string]bool{}}
	for _, d := range documents(t) {
		if err := canon.Valid(d.text); err != nil {
			t.Logf("%s has no shape: %v", d.name, err) // C1: it is refused before its schema is asked
			continue
		}
		if !a.holds(t, d) {
			continue
		}
		for _, m := range schema.Mutations(d.text) {
			a.holds(t, document{d.name + ", mutation " + m.Name, d.schema, m.Doc})
		}
	}
	if a.blind == 0 {
		t.Error("no document shows what a schema cannot see: the exception is not needed")
	}
	t.Logf("%d documents and mutations, %d findings that no schema can see", len(a.seen), a.blind)
}

// agreement counts what was compared.
type agreement struct {
	seen  map[string]bool
	blind int
}

// holds compares both answers and says whether the document is valid. One that was seen before is not looked at again.
func (a *agreement) holds(t *testing.T, d document) bool {
	t.Helper()
	// The name of a run says nothing about a shape: both sides of a pair are one document here.
	key := d.schema + strings.ReplaceAll(string(d.text), "run-right", "run-left")
	if a.seen[key] {
		return false
	}
	a.seen[key] = true
	violations, err := schema.Validate(d.schema, d.text)
	if err != nil {
		t.Fatalf("%s: %v", d.name, err)
	}
	var codes []string
	for _, f := range shapeErrors(t, d) {
		if unseen(d, f) != "" {
			a.blind++
			continue
		}
		codes = append(codes, string(f.Code)+" "+f.Pointer)
	}
	if (len(codes) == 0) != (len(violations) == 0) {
		t.Errorf("%s:\n typed checks %v\n schema %v", d.name, codes, violations)
	}
	return len(violations) == 0
}
