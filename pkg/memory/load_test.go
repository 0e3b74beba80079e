package memory_test

import (
	"math"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
)

func numbered(sequence int64) memory.Entry {
	return memory.Entry{ID: "same", Sequence: sequence, Source: memory.ValidatedOutput}
}

// P2(d), M9: what dmpl-v1 refuses to load.
func TestRepeatsAreErrorsOfLoading(t *testing.T) {
	tests := []struct {
		state memory.State
		want  string
	}{
		{memory.State{Facts: []memory.Fact{{Entry: numbered(1)}, {Entry: numbered(2)}}}, `the fact id "same" is there twice`},
		{memory.State{World: []memory.WorldState{{Entry: numbered(1), Key: "k"}, {Entry: numbered(2), Key: "k"}}}, `the world-state key "k" is there twice`},
		{memory.State{Beliefs: []memory.Belief{{Entry: numbered(1), Key: "k"}, {Entry: numbered(2), Key: "k"}}}, `the belief key "k" is there twice`},
		{memory.State{Episodes: []memory.Episode{{Entry: numbered(3)}}, Others: []memory.Record{{Entry: numbered(3)}}}, "the sequence number 3 is there twice"},
		{memory.State{Episodes: []memory.Episode{{Entry: numbered(0)}}}, "the sequence number 0 is out of range"},
		{memory.State{Episodes: []memory.Episode{{Entry: numbered(math.MaxInt64)}}}, "the sequence number 9223372036854775807 is out of range"},
	}
	for _, tt := range tests {
		if _, err := memory.Load(tt.state, memory.DMPLv1); err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	if _, err := memory.Load(memory.State{Episodes: []memory.Episode{{Entry: numbered(1)}, {Entry: numbered(2)}}}, memory.DMPLv1); err != nil {
		t.Errorf("a repeated episodic id: %v", err)
	}
}

// llamabrain.md §1: LlamaBrain refuses a repeated fact id alone; another key overwrites at the place of the first.
func TestLlamaBrainOverwritesRepeatedKeys(t *testing.T) {
	s := memory.State{
		NextSequence: 2,
		World:        []memory.WorldState{{Entry: numbered(3), Key: "b"}, {Entry: numbered(4), Key: "a", Value: "new"}, {Entry: numbered(1), Key: "a"}},
		Beliefs:      []memory.Belief{{Entry: numbered(1), Key: "k"}, {Entry: numbered(1), Key: "k", Content: "new"}},
	}
	got := must[memory.State](t)(memory.Load(s, memory.LlamaBrainV1))
	if len(got.World) != 2 || got.World[0].Value != "new" || got.World[1].Key != "b" || len(got.Beliefs) != 1 || got.Beliefs[0].Content != "new" {
		t.Errorf("%+v", got)
	}
	if !got.Behind() || got.NextSequence != 2 || got.Highest() != 4 {
		t.Errorf("next %d, highest %d", got.NextSequence, got.Highest())
	}
	listed := must[memory.State](t)(memory.Listed(s, memory.LlamaBrainV1))
	if listed.World[0].Key != "b" || listed.World[1].Value != "" {
		t.Errorf("in the order of the list: %+v", listed.World)
	}
	s.Facts = []memory.Fact{{Entry: numbered(1)}, {Entry: numbered(1)}}
	if _, err := memory.Load(s, memory.LlamaBrainV1); err == nil {
		t.Error("a repeated fact id was loaded")
	}
}

// M9: numbers that are there stay, imported entries get new ones by created-at ticks, id by UTF-16 unit, source, bytes.
func TestMergeNumbersImportedEntriesInOrder(t *testing.T) {
	episode := func(text, id string, created, sequence int64, source memory.Source) memory.Episode {
		return memory.Episode{Entry: memory.Entry{ID: id, CreatedAt: created, Sequence: sequence, Source: source}, Description: text, Strength: 1}
	}
	base := memory.State{Episodes: []memory.Episode{episode("there", "t", 9, 4, 50)}}
	imported := memory.State{
		World: []memory.WorldState{{Entry: memory.Entry{ID: "i", CreatedAt: 5, Sequence: 9, Source: 75}, Key: "zz"}},
		Episodes: []memory.Episode{
			episode("later", "a", 6, 1, 50),
			episode("by unit, second", "\ue000", 5, 2, 50),
			episode("by unit, first", "\U0001f600", 5, 3, 50),
			episode("by source, second", "h", 5, 4, 75),
			episode("by source, first", "h", 5, 5, 50),
			episode("by bytes, 2", "k", 5, 6, 50),
			episode("by bytes, 1", "k", 5, 7, 50),
			episode("there", "t", 9, 8, 50), // byte-equal to the one that is there
			episode("by bytes, 2", "k", 5, 10, 50),
		},
	}
	want := []string{
		"4 there", "5 by source, first", "6 by source, second", "7 zz", "8 by bytes, 1", "9 by bytes, 2", "10 by unit, first",
		"11 by unit, second", "12 later",
	}
	got := must[memory.State](t)(memory.Merge(base, imported))
	checkNumbers(t, got, want)
	again := must[memory.State](t)(memory.Merge(got, imported))
	same(t, again, got)
}

func checkNumbers(t *testing.T, s memory.State, want []string) {
	t.Helper()
	var got []string
	for _, r := range s.Records() {
		o := open(t, string(r.Content))
		got = append(got, fmtNumber(r.Sequence)+" "+o.Text("Description", r.ID))
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("got %q\nwant %q", got, want)
		}
	}
}

// P2(d): what is there with another content is an error.
func TestMergeRefusesRepeats(t *testing.T) {
	fact := func(text string) memory.State {
		return memory.State{Facts: []memory.Fact{{Entry: memory.Entry{ID: "king", Sequence: 1, Source: memory.Designer}, Text: text}}}
	}
	if _, err := memory.Merge(fact("alive"), fact("dead")); err == nil || err.Error() != `the fact id "king" is there twice` {
		t.Error(err)
	}
	got, err := memory.Merge(fact("alive"), fact("alive"))
	if err != nil || len(got.Facts) != 1 {
		t.Error(got, err)
	}
	twice := memory.State{Episodes: []memory.Episode{{Entry: numbered(1)}, {Entry: numbered(1)}}}
	if _, err := memory.Merge(fact("alive"), twice); err == nil || err.Error() != "what is imported: the sequence number 1 is there twice" {
		t.Error(err)
	}
	if _, err := memory.Merge(twice, fact("alive")); err == nil {
		t.Error("a state that cannot be loaded was merged")
	}
}
