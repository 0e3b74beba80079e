package finding_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
)

func found(code finding.Code, event int, pointer string) finding.Finding {
	f := finding.New(code)
	f.EventIndex, f.Pointer = event, pointer
	return f
}

func brief(fs []finding.Finding) []string {
	var out []string
	for _, f := range fs {
		out = append(out, fmt.Sprintf("%d %s %s%s%s", f.EventIndex, f.Code, f.Pointer, f.Artifact, f.Detail))
	}
	return out
}

// Each case is written in the order that E11 asks for; Sort must find it from every other order.
func TestSortOrdersByEventRuleAndPointer(t *testing.T) {
	named := func(f finding.Finding, artifact, detail string) finding.Finding {
		f.Artifact, f.Detail = artifact, detail
		return f
	}
	cases := map[string][]finding.Finding{
		"events before rules": {
			found(finding.EquivResult, 2, "/b"), found(finding.EquivRole, 10, "/a"),
		},
		"rules by letter and number": {
			found(finding.CanonInvalidJSON, 1, ""), found(finding.DigestSideEffect, 1, ""), found(finding.ShapeMissing, 1, ""),
			found(finding.BlindFingerprint, 1, ""), found(finding.EquivRole, 1, ""), found(finding.EquivResult, 1, ""),
			found("unknown.code", 1, ""),
		},
		"the envelope before the events, counts and output after them": {
			found(finding.ShapeMissing, finding.NoEvent, "/run_id"), found(finding.EquivIdentity, finding.NoEvent, "/workflow_id"),
			found(finding.EquivArguments, 0, "/events/0"), found(finding.EquivEventCount, finding.NoEvent, "/events"),
			found(finding.EquivRetrievalCount, finding.NoEvent, "/events"), found(finding.EquivOutputType, finding.NoEvent, "/output"),
			found(finding.EquivBuffer, finding.NoEvent, "/commit"),
		},
		"pointers token by token, a parent before its children": {
			found(finding.EquivRole, 1, ""), found(finding.EquivRole, 1, "/a"), found(finding.EquivRole, 1, "/a/b"), found(finding.EquivRole, 1, "/a-b"),
		},
		"indices in pointers as numbers": {
			found(finding.EquivRole, 1, "/events/2/x"), found(finding.EquivRole, 1, "/events/10"), found(finding.EquivRole, 1, "/events/10/a"),
			found(finding.EquivRole, 1, "/events/99999999999999999998"), found(finding.EquivRole, 1, "/events/99999999999999999999"),
		},
		"what is no index as text": {
			found(finding.EquivRole, 1, "/e/"), found(finding.EquivRole, 1, "/e/007"), found(finding.EquivRole, 1, "/e/2"), found(finding.EquivRole, 1, "/e/x10"), found(finding.EquivRole, 1, "/e/x2"),
		},
		"then code, artifact and detail": {
			found(finding.EquivDecision, 1, "/p"), named(found(finding.EquivRole, 1, "/p"), "a", "1"), named(found(finding.EquivRole, 1, "/p"), "a", "2"), named(found(finding.EquivRole, 1, "/p"), "b", "1"),
		},
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			shuffle := rand.New(rand.NewPCG(1, 2))
			for range 50 {
				got := append([]finding.Finding(nil), want...)
				shuffle.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
				finding.Sort(got)
				if !reflect.DeepEqual(brief(got), brief(want)) {
					t.Fatalf("got  %q\nwant %q", brief(got), brief(want))
				}
			}
		})
	}
}
