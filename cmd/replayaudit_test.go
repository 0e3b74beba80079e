package cmd_test

import (
	"strings"
	"testing"
)

// R6: the first line of a report says how many turns the verdict is about.
func TestReplayOfAPackageSaysHowManyTurnsItCovers(t *testing.T) {
	for _, c := range []struct{ file, state, want string }{
		{"turns.json", "save.llamasave", "turns.json, 2 of 3 turns"},
		{"package.json", "save.llamasave", "package.json, 0 of 4 turns"},
	} {
		p := newProcess(t)
		p.Run([]string{"replay", auditFixture(c.file), "--state", auditFixture(c.state)})
		first, _, _ := strings.Cut(p.out.String(), "\n")
		if !strings.HasSuffix(first, c.want) {
			t.Errorf("%q, want %q", first, c.want)
		}
	}
}
