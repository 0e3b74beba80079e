package cmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
)

// asserted are the rows of the seed's table of what can be verified, and then its invariants, by their names.
var asserted = []string{
	"Same config was used", "Same refs were resolved", "Same context was assembled", "No observation leaked",
	"Observation excluded from dom(G)", "Normalization materialized", "Config pinned via digest", "Canonical ordering", "Scope-bound refs",
	"Replay recompute equality",
}

var assertionRow = regexp.MustCompile("(?m)^\\| ([^|`]+) \\| `(stream\\.[a-z_]+)` \\| ([^|`]+) \\|$")

// X6: each assertion and each invariant of the seed has a check with a code of its own, and an edit of a stream that fails it.
func TestEachAssertionOfTheSeedIsACheck(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "spec", "thread.md"))
	if err != nil {
		t.Fatal(err)
	}
	edits := map[string]tampering{}
	for _, c := range tamperings(t) {
		edits[c.What] = c
	}
	var names, codes []string
	for _, row := range assertionRow.FindAllStringSubmatch(string(page), -1) {
		name, code, what := row[1], row[2], row[3]
		names, codes = append(names, name), append(codes, code)
		if finding.Lookup(finding.Code(code)).Code == "" {
			t.Errorf("%s: %s is no code", name, code)
		}
		if !slices.Contains(edits[what].Codes, code) { // TestEveryEditOfAStreamGivesItsCodes runs it
			t.Errorf("%s: the edit %q gives %q, not %s", name, what, edits[what].Codes, code)
		}
	}
	if !slices.Equal(names, asserted) {
		t.Errorf("the page lists\n%q, and the seed\n%q", names, asserted)
	}
	slices.Sort(codes)
	if len(slices.Compact(slices.Clone(codes))) != len(codes) {
		t.Errorf("a code stands for two assertions: %q", codes)
	}
	seed, err := os.ReadFile(filepath.Join("..", "..", "shared", "seeds", "004_e32a31875ba04f0a.txt"))
	if err != nil {
		t.Logf("NOT RUN: the seed is not beside this checkout: %v", err)
		return
	}
	for _, name := range asserted {
		if !strings.Contains(string(seed), "| "+name+" |") && !strings.Contains(string(seed), "**"+name+"**") {
			t.Errorf("the seed does not assert %q", name)
		}
	}
}
