package finding_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
)

func TestCountedHasOneForm(t *testing.T) {
	for n, want := range map[int64]string{0: "0 turns", 1: "1 turn", 2: "2 turns"} {
		if got := finding.Counted(n, "turn"); got != want || finding.Counted(int(n), "turn") != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
