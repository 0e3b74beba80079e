package memory_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
)

// head is a committed state with one of each kind, and two episodes of one id.
func head(t testing.TB) memory.State {
	s := full()
	s.Others = append(s.Others, memory.Record{Entry: other("note-2", 4), Type: "note", Content: []byte(`{}`)})
	return must[memory.State](t)(memory.Load(s, memory.DMPLv1))
}

// writes reads a list of writes whose records have the members that must be there.
func writes(t testing.TB, list string) []memory.Write {
	t.Helper()
	o := open(t, `{"writes":[`+list+`]}`)
	w := memory.ReadWrites(o, "writes")
	if err := o.Err(); err != nil {
		t.Fatal(err)
	}
	return w
}

func write(op, kind, id string, source int, content, more string) string {
	return fmt.Sprintf(`{"op":%q,"record":{"record_type":%q,"record_id":%q,"created_at_ticks":7,"source":%d,"content":%s,%s}}`,
		op, kind, id, source, content, more)
}

// line gives values with a space between any two.
func line(values ...any) string { return strings.TrimSuffix(fmt.Sprintln(values...), "\n") }

const unnumbered = `"sequence_number":0`

// M9, P2(h), llamabrain.md §1: what an entry has after its write was applied.
func TestAppliedWrites(t *testing.T) {
	tests := []struct {
		name, write string
		want        func(memory.State) string
		is          string
	}{
		{
			"an append without id", write("append", "episodic", "", 50, `{"Description":"x"}`, unnumbered),
			func(s memory.State) string {
				e := s.Episodes[2]
				return line(e.ID, e.Sequence, e.CreatedAt, e.Strength)
			},
			"m00000000000000000008 8 7 1",
		},
		{
			"an append with an id that is there", write("append", "episodic", "e1", 50, `{"Description":"x"}`, unnumbered),
			func(s memory.State) string { return line(s.Episodes[2].ID, s.Episodes[2].Sequence, len(s.Episodes)) }, "e1 8 3",
		},
		{
			"a new world state", write("put", "world", "gate", 75, `{"Value":"shut","ModifiedAtTicks":7}`, unnumbered),
			func(s memory.State) string { w := s.World[1]; return line(w.ID, w.Key, w.Sequence, w.Modifications) },
			"m00000000000000000008 gate 8 0",
		},
		{
			"a world state that is there", write("put", "world", "door", 75, `{"Value":"shut","ModifiedAtTicks":7}`, unnumbered),
			func(s memory.State) string {
				w := s.World[0]
				return line(w.ID, w.Value, w.Sequence, w.CreatedAt-now, w.ModifiedAt, w.Modifications, w.TrustLevel(), s.NextSequence)
			},
			"w1 shut 2 2 7 5 75 8",
		},
		{
			"a world state by its number", write("put", "world", "door", 75, `{"Value":"shut","ModificationCount":9}`, `"sequence_number":2`),
			func(s memory.State) string { return line(s.World[0].ID, s.World[0].Modifications) }, "w1 9",
		},
		{
			"a belief that is replaced", write("put", "belief", "", 50, `{"Key":"player","BeliefContent":"cruel"}`, unnumbered),
			func(s memory.State) string {
				b := s.Beliefs[0]
				return line(b.ID, b.Sequence, b.CreatedAt, b.Content, b.Confidence, len(s.Beliefs))
			},
			"m00000000000000000008 8 7 cruel 0.5 1",
		},
		{
			"a belief that is changed in place", write("put", "belief", "b1", 50, `{"Key":"player","BeliefContent":"cruel"}`, `"sequence_number":6`),
			func(s memory.State) string {
				b := s.Beliefs[0]
				return line(b.ID, b.Sequence, b.Content, s.NextSequence)
			}, "b1 6 cruel 8",
		},
		{
			"one of two episodes of an id", write("delete", "episodic", "e1", 50, `{}`, `"sequence_number":5`),
			func(s memory.State) string { return line(len(s.Episodes), s.Episodes[0].Sequence) }, "1 3",
		},
		{
			"a record of another type", write("put", "note", "note-1", 0, `{"text":"done"}`, unnumbered),
			func(s memory.State) string {
				return line(string(s.Others[1].Content), s.Others[1].Sequence, s.Others[1].TrustLevel())
			},
			`{"text":"done"} 7 0`,
		},
		{
			"a new fact", write("append", "fact", "queen", 100, `{"Fact":"x"}`, unnumbered),
			func(s memory.State) string { return line(s.Facts[1].ID, s.Facts[1].Sequence, s.NextSequence) }, "queen 8 9",
		},
		{
			"the write list's own entry again",
			write("put", "belief", "", 50, `{"Key":"k","BeliefContent":"1"}`, unnumbered) + "," +
				write("put", "belief", "", 50, `{"Key":"k","BeliefContent":"2"}`, unnumbered) + "," +
				write("put", "belief", "given", 50, `{"Key":"k","BeliefContent":"3"}`, unnumbered),
			func(s memory.State) string {
				b := s.Beliefs[1]
				return line(b.ID, b.Content, b.Sequence, len(s.Beliefs), s.NextSequence)
			},
			"given 3 10 2 11",
		},
		{
			"the write list's own entry deleted",
			write("append", "note", "n", 50, `{}`, unnumbered) + "," + write("delete", "note", "n", 50, `{}`, unnumbered),
			func(s memory.State) string { return line(len(s.Others), s.NextSequence) }, "2 8",
		},
		{
			"what the list has deleted before",
			write("delete", "note", "note-1", 50, `{}`, unnumbered) + "," + write("delete", "note", "note-1", 50, `{}`, unnumbered),
			func(s memory.State) string { return line(len(s.Others)) }, "1",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := head(t)
			whole := show(t, before)
			after, err := before.Apply(writes(t, tt.write), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.want(after); got != tt.is {
				t.Errorf("got %s, want %s", got, tt.is)
			}
			if show(t, before) != whole {
				t.Error("the head was changed")
			}
		})
	}
}

// M4, M10, M11, P2(d): every reason why a write list is not applied.
func TestRejectedWrites(t *testing.T) {
	tests := []struct{ write, want string }{
		{write("put", "fact", "king", 100, `{"Fact":"dead"}`, unnumbered), `the canonical fact "king" cannot be modified or deleted`},
		{write("put", "fact", "queen", 100, `{"Fact":"dead"}`, unnumbered), `the canonical fact "queen" cannot be modified or deleted`},
		{write("delete", "fact", "king", 100, `{}`, unnumbered), `the canonical fact "king" cannot be modified or deleted`},
		{write("append", "fact", "king", 100, `{"Fact":"dead"}`, unnumbered), `the fact "king" is there already`},
		{write("append", "fact", "queen", 99, `{"Fact":"x"}`, unnumbered), "source 99 lacks authority over fact records"},
		{write("put", "world", "door", 50, `{"Value":"x"}`, unnumbered), "source ValidatedOutput lacks authority over world records"},
		{write("delete", "world", "door", 74, `{}`, unnumbered), "source 74 lacks authority over world records"},
		{write("append", "episodic", "", 25, `{}`, unnumbered), "source LlmSuggestion lacks authority over episodic records"},
		{write("put", "belief", "", 49, `{"Key":"k"}`, unnumbered), "source 49 lacks authority over belief records"},
		{write("append", "note", "", 50, `{}`, `"sequence_number":0,"trust":51`), "source ValidatedOutput cannot give trust 51"},
		{write("put", "note", "note-1", 50, `{}`, `"sequence_number":0,"trust":75`), "source ValidatedOutput cannot give trust 75"},
		{write("append", "world", "door", 75, `{}`, unnumbered), `the world "door" is there already`},
		{write("append", "belief", "", 50, `{"Key":"player"}`, unnumbered), `the belief "player" is there already`},
		{write("append", "world", "", 75, `{}`, unnumbered), "a world record needs its key as record_id"},
		{write("append", "note", "n", 75, `{}`, `"sequence_number":3`), "a new record has no sequence number before it is applied"},
		{write("put", "note", "note-1", 75, `{}`, `"sequence_number":3`), `there is no such note "note-1"`},
		{write("delete", "note", "none", 75, `{}`, unnumbered), `there is no such note "none"`},
		{write("delete", "episodic", "e1", 50, `{}`, unnumbered), `2 records have the id "e1": name one by its sequence number`},
		{write("put", "belief", "b2", 50, `{"Key":"player"}`, `"sequence_number":6`), `the record 6 has the id "b1"`},
	}
	for _, tt := range tests {
		before := head(t)
		first := write("append", "note", "fine", 75, `{}`, unnumbered)
		_, err := before.Apply(writes(t, first+","+tt.write), nil)
		var rejection *memory.Rejection
		if !errors.As(err, &rejection) || *rejection != (memory.Rejection{Write: 1, Detail: tt.want}) {
			t.Errorf("%s:\n got %v\nwant %s", tt.write, err, tt.want)
		}
		same(t, before, head(t))
	}
}

// M4: a put or delete of what another commit has changed since the start snapshot is rejected, an append never.
func TestWritesOfChangedRecordsConflict(t *testing.T) {
	changed := func(names ...memory.Ref) func(memory.Ref) bool {
		return func(ref memory.Ref) bool {
			for _, name := range names {
				if name == ref {
					return true
				}
			}
			return false
		}
	}
	player, note := memory.Ref{Type: "belief", Key: "player"}, memory.Ref{Type: "note", Key: "note-1"}
	put := write("put", "belief", "", 50, `{"Key":"player"}`, unnumbered)
	drop := write("delete", "note", "note-1", 50, `{}`, unnumbered)
	add := write("append", "note", "note-1", 50, `{}`, unnumbered)
	tests := []struct {
		write   string
		changed func(memory.Ref) bool
		want    string
	}{
		{put, changed(player), `write 0: the belief "player" was changed by another commit since the start snapshot`},
		{drop, changed(note), `write 0: the note "note-1" was changed by another commit since the start snapshot`},
		{put, changed(note, memory.Ref{Type: "note", Key: "player"}), ""},
		{drop, changed(player), ""},
		{add, changed(note), ""},
	}
	for _, tt := range tests {
		got := ""
		if _, err := head(t).Apply(writes(t, tt.write), tt.changed); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// P2(h): the write list of what a system did gives the same state when it is applied, whatever was done.
func TestAppliedWritesGiveTheStateOfTheSystem(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		before := head(t)
		y := memory.NewSystem(memory.DMPLv1, before, memory.At(now), nil)
		y.MaxEpisodes = r.Int64N(4)
		for range 1 + r.IntN(4) {
			change(t, y, r)
		}
		want := y.State()
		list, err := memory.Writes(before, want, memory.ValidatedOutput)
		if err != nil {
			t.Fatal(err)
		}
		got, err := before.Apply(list, nil)
		if err != nil {
			t.Fatal(err)
		}
		same(t, unnumber(got), unnumber(want))
	}
}

// FuzzApply: whatever can be applied gives a state that can be loaded, and is the same then.
func FuzzApply(f *testing.F) {
	f.Add([]byte(write("append", "episodic", "", 50, `{"Description":"x"}`, unnumbered)))
	f.Add([]byte(write("put", "belief", "b1", 50, `{"Key":"player"}`, `"sequence_number":6`) + "," + write("put", "world", "door", 75, `{}`, unnumbered)))
	f.Add([]byte(write("delete", "episodic", "e1", 50, `{}`, `"sequence_number":5`) + "," + write("put", "note", "note-1", 9, `{"a":1}`, unnumbered)))
	before := head(f)
	whole := digest(f, before)
	f.Fuzz(func(t *testing.T, list []byte) {
		v, err := canon.ParseAs(canon.DBL, slices.Concat([]byte(`{"writes":[`), list, []byte(`]}`)))
		if err != nil {
			return
		}
		o := document.Open(v)
		w := memory.ReadWrites(o, "writes")
		if o.Err() != nil {
			return
		}
		after, err := before.Apply(w, nil)
		if digest(t, before) != whole {
			t.Error("the head was changed")
		}
		if err != nil {
			return
		}
		again, err := memory.Load(after, memory.DMPLv1)
		if err != nil {
			t.Fatal(err)
		}
		same(t, again, after)
	})
}

func change(t *testing.T, y *memory.System, r *rand.Rand) {
	t.Helper()
	switch r.IntN(6) {
	case 0:
		f := memory.Fact{Text: "x"}
		f.ID = fmt.Sprint("f", r.IntN(1000))
		_, _ = y.AddCanonicalFact(f)
	case 1:
		must[memory.WorldState](t)(y.SetWorldState([]string{"door", "gate"}[r.IntN(2)], fmt.Sprint(r.IntN(9)), memory.GameSystem))
	case 2:
		must[memory.Episode](t)(y.AddEpisodic(memory.NewEpisode("new"), memory.ValidatedOutput))
	case 3:
		must[memory.Belief](t)(y.SetBelief([]string{"player", "k"}[r.IntN(2)], memory.NewBelief("s", fmt.Sprint(r.IntN(9))), memory.ValidatedOutput))
	case 4:
		y.MarkContradicted("k", "seen")
	case 5:
		y.Prune()
	}
}

// unnumber takes the numbers of new entries, which are closer together where a list leaves out what came and went.
func unnumber(s memory.State) memory.State {
	next := int64(8)
	renumber := func(e *memory.Entry) {
		if e.Sequence >= 8 {
			if e.ID == memory.EntryID(e.Sequence) {
				e.ID = "made"
			}
			e.Sequence = next
		}
	}
	for i := range s.Facts {
		renumber(&s.Facts[i].Entry)
	}
	for i := range s.World {
		renumber(&s.World[i].Entry)
	}
	for i := range s.Episodes {
		renumber(&s.Episodes[i].Entry)
	}
	for i := range s.Beliefs {
		renumber(&s.Beliefs[i].Entry)
	}
	s.NextSequence = 0
	return s
}
