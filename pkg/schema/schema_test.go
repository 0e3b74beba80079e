package schema_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/schema"
	"github.com/dmpl/dmpl/schemas"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	determinism = "memory.determinism_trace.v1"
	retrieval   = "memory.retrieval_trace.v1"
	profile     = "memory.tool_profile.v1"
	report      = "dmpl.report.v1"
	contextConf = "context.config.v1"
)

func TestEverySchemaFileIsNamedAndOfDraft2020(t *testing.T) {
	files, err := filepath.Glob("../../schemas/*.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".schema.json"))
	}
	slices.Sort(names)
	if !slices.Equal(names, schemas.Names()) {
		t.Fatalf("files %q, Names %q", names, schemas.Names())
	}
	meta, err := jsonschema.NewCompiler().Compile("https://json-schema.org/draft/2020-12/schema")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		doc := readSchema(t, name)
		if err := meta.Validate(doc); err != nil {
			t.Errorf("%s is no valid schema: %v", name, err)
		}
		if doc["$schema"] != "https://json-schema.org/draft/2020-12/schema" || doc["$id"] != "urn:dmpl:schema:"+name {
			t.Errorf("%s: $schema %v, $id %v", name, doc["$schema"], doc["$id"])
		}
	}
	if _, err := schemas.Read("memory.nothing.v1"); err == nil {
		t.Error("an unknown name was read")
	}
}

func TestExamplesValidate(t *testing.T) {
	for _, name := range schemas.Names() {
		examples := examplesOf(t, name)
		if len(examples) == 0 {
			t.Errorf("%s has no examples", name)
		}
		for i, example := range examples {
			if violations := validate(t, name, example); len(violations) != 0 {
				t.Errorf("%s, example %d: %v", name, i, violations)
			}
		}
	}
}

// The three examples of the seed come first and byte for byte, but for the list that the seed leaves open.
func TestStructureExamplesAreTheSeedsAndFollowD3(t *testing.T) {
	text, err := schemas.Read(determinism)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, verbatim := range []string{
		`{ "type": "text", "sections": ["intro", "body", "conclusion"] }`,
		`{ "type": "plan", "steps": [ { "id": 1, "action": "analyze" }, { "id": 2, "action": "generate" } ] }`,
		`{ "type": "code_patch", "files": [ { "path": "foo.py", "changes": [`,
	} {
		found := bytes.Index(text[at:], []byte(verbatim))
		if found < 0 {
			t.Fatalf("missing or out of order: %s", verbatim)
		}
		at += found
	}
	defs := readSchema(t, determinism)["$defs"].(map[string]any)
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("urn:dmpl:schema:"+determinism, readSchema(t, determinism)); err != nil {
		t.Fatal(err)
	}
	examples := defs["structure"].(map[string]any)["examples"].([]any)
	var types []string
	for _, example := range examples {
		kind := example.(map[string]any)["type"].(string)
		types = append(types, kind)
		d3, err := compiler.Compile("urn:dmpl:schema:" + determinism + "#/$defs/" + kind + "_structure")
		if err != nil {
			t.Fatal(err)
		}
		if err := d3.Validate(example); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		example.(map[string]any)["more"] = true
		if err := d3.Validate(example); err == nil {
			t.Errorf("%s: a further member changes the hash and is no part of the structure", kind)
		}
	}
	if want := []string{"text", "plan", "code_patch", "json", "tool_calls", "error"}; !slices.Equal(types, want) {
		t.Errorf("structures %q, want %q", types, want)
	}
}

func TestEverySchemaCitesTheContract(t *testing.T) {
	for _, name := range schemas.Names() {
		text, err := schemas.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("CONTRACT ")); n < 5 {
			t.Errorf("%s cites %d clauses", name, n)
		}
	}
}

func TestValidateNamesThePlace(t *testing.T) {
	for _, c := range []struct {
		what, name, doc string
		want            []string
	}{
		{"missing members by where they should be", profile, `{"tool_name":"t","tool_profile_version":"1","normalized_args_fields":[],"tool_result_fingerprint_fields":[],"hash_algorithm":"sha256"}`, []string{"/normalization_version", "/side_effect_fingerprint_fields"}},
		{"nested values by their path", profile, `{"tool_name":"","tool_profile_version":"1","normalized_args_fields":[1],"tool_result_fingerprint_fields":{},"side_effect_fingerprint_fields":[],"hash_algorithm":"md5","normalization_version":"json-v1","float_decimals":16}`, []string{"/float_decimals", "/hash_algorithm", "/normalized_args_fields/0", "/tool_name", "/tool_result_fingerprint_fields"}},
		{"the whole document by the empty pointer", determinism, `[]`, []string{""}},
	} {
		var got []string
		for _, v := range validate(t, c.name, []byte(c.doc)) {
			got = append(got, v.Pointer)
			if v.Message == "" {
				t.Errorf("%s: %s has no message", c.what, v.Pointer)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
}

func TestValidateRefusesUnknownNamesAndBrokenJSON(t *testing.T) {
	if _, err := schema.Validate("memory.nothing.v1", []byte(`{}`)); err == nil {
		t.Error("unknown name: no error")
	}
	for _, doc := range []string{``, `{`, `{} {}`, `{"a":NaN}`} {
		if _, err := schema.Validate(profile, []byte(doc)); err == nil {
			t.Errorf("%q: no error", doc)
		}
	}
}

func validate(t *testing.T, name string, doc []byte) []schema.Violation {
	t.Helper()
	violations, err := schema.Validate(name, doc)
	if err != nil {
		t.Fatal(err)
	}
	return violations
}

func readSchema(t *testing.T, name string) map[string]any {
	t.Helper()
	text, err := schemas.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc.(map[string]any)
}

func examplesOf(t *testing.T, name string) []json.RawMessage {
	t.Helper()
	text, err := schemas.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Examples []json.RawMessage }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Examples
}
