package trace_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/trace"
)

// P7: the page of the events has the rows of the catalogue, each with its members and with what it may follow.
func TestEventPageStatesTheCatalogue(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/events.md")
	if err != nil {
		t.Fatal(err)
	}
	var got [][3]string
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if name, isRow := strings.CutPrefix(cells[0], "| `"); isRow && len(cells) == 4 && strings.Contains(name, "/") {
			got = append(got, [3]string{strings.TrimSuffix(name, "`"), cells[2], strings.TrimSuffix(cells[3], " |")})
		}
	}
	var want [][3]string
	for _, k := range trace.Catalogue() {
		var members, after []string
		for _, m := range k.Needs {
			members = append(members, "`"+m.Name+"`")
		}
		for _, name := range k.After {
			if name == trace.Start {
				after = append(after, "the beginning")
				continue
			}
			after = append(after, "`"+name+"`")
		}
		if k.OfRun {
			after = []string{"the end of the last turn"}
		}
		if members == nil {
			members = []string{"–"}
		}
		want = append(want, [3]string{k.Name(), strings.Join(members, ", "), strings.Join(after, ", ")})
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page says\n%q\nthe catalogue\n%q", got, want)
	}
}

// P7: whatever a kind may follow is a kind of the catalogue that does not end its turn.
func TestCatalogueIsClosed(t *testing.T) {
	byName := map[string]trace.EventKind{}
	for _, k := range trace.Catalogue() {
		if _, twice := byName[k.Name()]; twice {
			t.Errorf("%s is there twice", k.Name())
		}
		byName[k.Name()] = k
	}
	for _, k := range trace.Catalogue() {
		for _, name := range k.After {
			if before, ok := byName[name]; name != trace.Start && (!ok || before.Ends || before.OfRun) {
				t.Errorf("%s cannot follow %s", k.Name(), name)
			}
		}
		if k.OfRun == (len(k.After) > 0) {
			t.Errorf("%s follows %q", k.Name(), k.After)
		}
	}
	unknown := trace.Event{}
	if _, ok := unknown.KindOf(); ok {
		t.Error("an event without a name has a kind")
	}
}
