package dblgateway

import (
	"fmt"

	"github.com/dmpl/dmpl/pkg/finding"
)

// tolerance counts what was read as its producer reads it. The report says so once (C1).
type tolerance struct {
	first   finding.Finding
	counted int
}

func (t *tolerance) add(index int, pointer string) {
	if t.counted == 0 {
		t.first = finding.New(finding.ShapeTolerated)
		t.first.EventIndex, t.first.Pointer = index, pointer
	}
	t.counted++
}

// notes gives the note about all of them, at the place of the first.
func (t *tolerance) notes() []finding.Finding {
	if t.counted == 0 {
		return nil
	}
	t.first.Detail = "surrogate escapes that stand alone are kept, as the gateway keeps them"
	if t.counted > 1 {
		t.first.Detail += fmt.Sprintf(" (here and in %d more places)", t.counted-1)
	}
	return []finding.Finding{t.first}
}
