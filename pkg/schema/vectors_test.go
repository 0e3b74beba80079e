package schema_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/schema"
)

// beyondSchema are the artifacts that are wrong in a way that no JSON Schema sees (see the package comment).
var beyondSchema = map[string]string{
	"index-float":                 "C4: 1.0 is an integer to a schema",
	"index-gap":                   "V2: the set of indices",
	"retrieval-ids-dangling":      "V2: links between two files",
	"retrieval-rank-dup":          "V2: the set of ranks",
	"retrieval-score-rising":      "V2: the order of scores",
	"invalid-utf8":                "C1: the reader of encoding/json replaces the bytes",
	"cap-retrieval-over-unmarked": "V4: the size of a file",
	"cap-retrieval-list-over":     "V4: the size of a file",
}

// TestSchemasAgreeWithTheSharedArtifacts holds the schemas to recorded artifacts whose verdict is known (CONTRACT V1).
func TestSchemasAgreeWithTheSharedArtifacts(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "vectors", "orket", "checks")
	text, err := os.ReadFile(filepath.Join(root, "expected.json"))
	if os.IsNotExist(err) {
		t.Log("NOT RUN: ../shared/vectors/orket/checks IS MISSING; the schemas were held to their own examples only")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Cases []struct {
			ID    string
			Files struct{ Trace, Retrieval string }
			Seed  struct {
				Valid   bool `json:"artifact_valid"`
				Reasons []string
			}
		}
	}
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	if len(expected.Cases) == 0 {
		t.Fatal("no cases found")
	}
	blind := 0
	for _, c := range expected.Cases {
		valid := meets(t, determinism, root, c.Files.Trace) && meets(t, retrieval, root, c.Files.Retrieval)
		want := c.Seed.Valid
		if beyondSchema[c.ID] != "" {
			want = true
			blind++
		}
		if valid != want {
			t.Errorf("%s: schema says valid=%v, want %v %q", c.ID, valid, want, c.Seed.Reasons)
		}
	}
	if blind != len(beyondSchema) {
		t.Errorf("%d of %d artifacts of the list beyondSchema are there", blind, len(beyondSchema))
	}
}

// TestSchemasAcceptWhatCanBeCompared: both sides of a pair that is equivalent or divergent are well formed (CONTRACT E1).
func TestSchemasAcceptWhatCanBeCompared(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "vectors", "orket", "pairs")
	text, err := os.ReadFile(filepath.Join(root, "expected.json"))
	if os.IsNotExist(err) {
		t.Log("NOT RUN: ../shared/vectors/orket/pairs IS MISSING; the schemas were held to their own examples only")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Pairs []struct {
			ID    string
			Files map[string]string
			Seed  struct{ Verdict string }
		}
	}
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	comparable := 0
	for _, p := range expected.Pairs {
		if p.Seed.Verdict == "INELIGIBLE" {
			continue
		}
		comparable++
		for _, side := range []string{"left", "right"} {
			if !meets(t, determinism, root, p.Files[side]) || !meets(t, retrieval, root, p.Files[side+"_retrieval"]) {
				t.Errorf("%s, %s side: %s, and the schema refuses it", p.ID, side, p.Seed.Verdict)
			}
		}
	}
	if comparable == 0 {
		t.Fatal("no pairs found")
	}
}

func meets(t *testing.T, name, root, file string) bool {
	t.Helper()
	if file == "" {
		return true
	}
	doc, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	violations, err := schema.Validate(name, doc)
	return err == nil && len(violations) == 0
}
