package equiv_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
)

// E1–E9, V1–V3: whatever is compared, and whatever the comparison rests on, is never equivalent when it is another value.
// This is the promise of the program: no equivalent verdict over a difference.
func TestNoFalseEquivalent(t *testing.T) {
	count := 0
	runs := differentShapes(validRuns(t))
	for _, r := range runs {
		original := r.side(t, spelling{})
		mutants{func(m mutant) {
			count++
			for _, e := range m.edits {
				e.set(e.value)
			}
			changed := r.side(t, spelling{})
			for i := len(m.edits) - 1; i >= 0; i-- {
				m.edits[i].set(m.edits[i].old)
			}
			there := equiv.Compare(original, changed, equiv.Options{})
			back := equiv.Compare(changed, original, equiv.Options{})
			if there.Verdict == finding.Equivalent || back.Verdict == finding.Equivalent {
				t.Errorf("%s: %s: %s there, %s back", r.path, m.name, there.Verdict, back.Verdict)
			}
			if there.Verdict != back.Verdict || !slices.Equal(mirror(there, false), mirror(back, true)) {
				t.Errorf("%s: %s: there %s %+v\nback %s %+v", r.path, m.name, there.Verdict, mirror(there, false), back.Verdict, mirror(back, true))
			}
			if len(m.edits) == 1 && !namesPlace(there, m.edits[0].pointer) {
				t.Errorf("%s: %s: no error stands there: %v", r.path, m.name, codes(errorsOf(there)))
			}
		}}.of(r)
	}
	t.Logf("%d mutants of %d runs", count, len(runs))
	if count < 10_000 {
		t.Errorf("%d mutants: some are missing", count)
	}
}

// namesPlace says that an error stands at a pointer, below it, or at a value that holds it.
func namesPlace(r finding.Result, pointer string) bool {
	pointer = string(canon.NFC([]byte(pointer))) // C3: findings write names in NFC
	related := func(p string) bool {
		return p != "" && (strings.HasPrefix(p+"/", pointer+"/") || strings.HasPrefix(pointer+"/", p+"/"))
	}
	return slices.ContainsFunc(errorsOf(r), func(f finding.Finding) bool {
		return related(f.Pointer) || related(f.RightPointer) || f.RightPointer == "" && f.Pointer == "" && strings.Count(pointer, "/") == 1
	})
}
