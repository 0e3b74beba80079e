package memory_test

import (
	"fmt"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
)

const now = 638400000000000000

func open(t testing.TB, src string) *document.Object {
	t.Helper()
	v, err := canon.ParseAs(canon.DBL, []byte(src))
	if err != nil {
		t.Fatalf("%v in %s", err, src)
	}
	return document.Open(v)
}

func ptr[T any](v T) *T { return &v }

// full gives a state of dmpl-v1 that has every member of every kind.
func full() memory.State {
	entry := func(id string, sequence int64, source memory.Source) memory.Entry {
		return memory.Entry{
			ID: id, CreatedAt: now + sequence, Sequence: sequence, Source: source, Category: ptr("category of " + id),
			Namespace: "town", Scope: "npc", Tags: []string{"b", "a"}, Trust: ptr(30 + int(sequence)), ExpiresAt: ptr(now + 100*sequence),
		}
	}
	return memory.State{
		PersonaID: "smith", NextSequence: 8, InteractionCount: 3,
		Facts: []memory.Fact{{Entry: entry("king", 1, memory.Designer), Text: "The king is alive", Domain: ptr("world"), Keywords: []string{"king is dead"}}},
		World: []memory.WorldState{{Entry: entry("w1", 2, memory.GameSystem), Key: "door", Value: "open", ModifiedAt: now + 9, Modifications: 4}},
		Episodes: []memory.Episode{
			{
				Entry: entry("e1", 3, memory.ValidatedOutput), Description: "Player said hello", Type: memory.Observation, Participant: ptr("player"),
				Significance: 0.35, Strength: 0.85, GameTime: 12.5, Location: ptr("forge"),
			},
			{Entry: entry("e1", 5, memory.ValidatedOutput), Description: "", Strength: 0},
		},
		Beliefs: []memory.Belief{
			{
				Entry: entry("b1", 6, memory.ValidatedOutput), Key: "player", Subject: "player", Content: "is kind", Type: memory.Relationship,
				Confidence: 0.7, Sentiment: -0.25, Contradicted: true, Evidence: ptr("seen"),
			},
		},
		Others: []memory.Record{{Entry: other("note-1", 7), Type: "note", Content: []byte(`{"text":"buy coal","parts":[1,null]}`)}},
	}
}

func other(id string, sequence int64) memory.Entry {
	return memory.Entry{ID: id, CreatedAt: now, Sequence: sequence, Source: memory.GameSystem, Namespace: "town"}
}

// digest gives the state digest as hex.
func digest(t testing.TB, s memory.State) string {
	t.Helper()
	sum, err := s.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return sum.Hex()
}

// show prints a state for comparison: its records, and what stands around them.
func show(t testing.TB, s memory.State) string {
	t.Helper()
	w := document.NewWriter(document.Style{Indent: true})
	w.Object("", func() { memory.WriteSnapshot(w, s) })
	return string(w.Bytes())
}

func same(t testing.TB, got, want memory.State) {
	t.Helper()
	if g, w := show(t, got), show(t, want); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func system(t testing.TB, s memory.State) *memory.System {
	t.Helper()
	s, err := memory.Load(s, memory.DMPLv1)
	if err != nil {
		t.Fatal(err)
	}
	return memory.NewSystem(memory.DMPLv1, s, memory.At(now), nil)
}

// must gives a value, and fails the test where there is an error.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// many gives a state of n episodes and as many of the other kinds together.
func many(n int) memory.State {
	s := memory.State{PersonaID: "many"}
	sequence := int64(0)
	entry := func(kind string, source memory.Source) memory.Entry {
		sequence++
		return memory.Entry{ID: fmt.Sprintf("%s%d", kind, sequence), CreatedAt: now + sequence, Sequence: sequence, Source: source}
	}
	for i := range n {
		switch i % 4 {
		case 0:
			s.Facts = append(s.Facts, memory.Fact{Entry: entry("f", memory.Designer), Text: "a fact"})
		case 1:
			s.World = append(s.World, memory.WorldState{Entry: entry("w", memory.GameSystem), Key: fmt.Sprint("key", i), Value: "v"})
		case 2:
			s.Beliefs = append(s.Beliefs, memory.Belief{Entry: entry("b", memory.ValidatedOutput), Key: fmt.Sprint("key", i), Content: "c", Confidence: 0.5})
		default:
			s.Episodes = append(s.Episodes, memory.Episode{Entry: entry("e", memory.ValidatedOutput), Description: "d", Strength: 1})
		}
	}
	s.NextSequence = sequence + 1
	return s
}

func fmtNumber(n int64) string { return fmt.Sprint(n) }
