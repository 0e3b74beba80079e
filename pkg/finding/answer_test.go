package finding_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
)

// X1: every code that a function over threads can answer is explained, and no other; no answer is a finding too.
func TestEveryCodeOfAThreadIsAnAnswer(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "thread", "error.go"))
	if err != nil {
		t.Fatal(err)
	}
	var declared, explained []string
	for _, match := range regexp.MustCompile(`(?m)^\tCode\w+ += "([^"]+)"`).FindAllSubmatch(source, -1) {
		declared = append(declared, string(match[1]))
	}
	for _, a := range finding.Answers() {
		explained = append(explained, string(a.Code))
		if finding.Lookup(a.Code).Code != "" {
			t.Errorf("%s is a finding and an answer", a.Code)
		}
		if a.Refusal != (a.Code == finding.Code(strings.ToUpper(string(a.Code)))) {
			t.Errorf("%s: a refusal has the seed's name, and nothing else has", a.Code)
		}
		if a.Title == "" || strings.HasSuffix(a.Title, ".") || !strings.HasSuffix(a.Meaning, ".") || !strings.HasSuffix(a.Action, ".") || a.Rule == "" {
			t.Errorf("%+v is not complete", a)
		}
	}
	if len(declared) < 14 || !slices.Equal(declared, explained) {
		t.Errorf("declared  %q\nexplained %q", declared, explained)
	}
}
