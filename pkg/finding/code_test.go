package finding_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
)

func TestEveryCodeIsComplete(t *testing.T) {
	code := regexp.MustCompile(`^[a-z]+\.[a-z0-9]+(_[a-z0-9]+)*$`)
	rule := regexp.MustCompile(`^[CDEMPRVXZ](0|[1-9][0-9]?)$`)
	severities := []finding.Severity{finding.Error, finding.Warning, finding.Note}
	effects := []finding.Effect{finding.None, finding.Fails, finding.Rejects, finding.Differs, finding.Incomparable, finding.Trouble}
	for _, e := range finding.Entries() {
		t.Run(string(e.Code), func(t *testing.T) {
			if !code.MatchString(string(e.Code)) {
				t.Error("the code is not layer.problem in snake case")
			}
			if !rule.MatchString(e.Rule) {
				t.Errorf("rule %q is no clause", e.Rule)
			}
			if !slices.Contains(severities, e.Severity) || !slices.Contains(effects, e.Effect) {
				t.Errorf("severity %q or effect %q is not known", e.Severity, e.Effect)
			}
			if (e.Severity == finding.Error) == (e.Effect == finding.None) {
				t.Errorf("an error and only an error has an effect; this is severity %s, effect %s", e.Severity, e.Effect)
			}
			if e.Title == "" || strings.HasSuffix(e.Title, ".") {
				t.Errorf("title %q is empty or ends with a full stop", e.Title)
			}
			for name, s := range map[string]string{"meaning": e.Meaning, "causes": e.Causes, "action": e.Action} {
				if !strings.HasSuffix(s, ".") || strings.TrimSpace(s) != s {
					t.Errorf("%s %q is no sentence", name, s)
				}
			}
		})
	}
}

func TestCodesAreUnique(t *testing.T) {
	seen := map[finding.Code]bool{}
	for _, e := range finding.Entries() {
		if seen[e.Code] {
			t.Errorf("%s stands in the table twice", e.Code)
		}
		seen[e.Code] = true
	}
}

func TestTableFollowsTheOrderOfLayers(t *testing.T) {
	var inTable, declared []string
	for _, e := range finding.Entries() {
		inTable = append(inTable, e.Code.Layer())
	}
	for _, l := range finding.Layers() {
		declared = append(declared, l.Name)
		if !strings.HasSuffix(l.Meaning, ".") {
			t.Errorf("layer %s: meaning %q is no sentence", l.Name, l.Meaning)
		}
	}
	if got := slices.Compact(inTable); !slices.Equal(got, declared) {
		t.Errorf("layers in the table: %v, declared: %v", got, declared)
	}
}

func TestLookupFindsEveryEntryAndNothingElse(t *testing.T) {
	for _, e := range finding.Entries() {
		if got := finding.Lookup(e.Code); got != e {
			t.Errorf("Lookup(%s) gives %+v", e.Code, got)
		}
	}
	if got := finding.Lookup("equiv.unheard_of"); got != (finding.Entry{}) {
		t.Errorf("an unknown code gives %+v", got)
	}
}

func TestNewFindingHasTheSeverityOfItsCodeAndNoEvent(t *testing.T) {
	f := finding.New(finding.DigestOpaque)
	if f.Severity != finding.Warning || f.Class != finding.Independent || f.EventIndex != finding.NoEvent || f.Rule() != "V5" {
		t.Errorf("got %+v under rule %s", f, f.Rule())
	}
}
