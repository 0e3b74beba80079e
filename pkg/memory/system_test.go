package memory_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
)

// P2(e), P2(h), M9: what dmpl-v1 inserts has the snapshot time, the next number, and the id of that number.
func TestInsertedEntriesHaveSnapshotTimeAndTheirNumberAsID(t *testing.T) {
	y := system(t, memory.State{})
	w := must[memory.WorldState](t)(y.SetWorldState("door", "open", memory.GameSystem))
	e := must[memory.Episode](t)(y.AddEpisodic(memory.NewEpisode("hi"), memory.ValidatedOutput))
	b := memory.NewBelief("player", "kind")
	b.Sequence = 77 // LlamaBrain would keep it
	b = must[memory.Belief](t)(y.SetBelief("player", b, memory.ValidatedOutput))
	want := []memory.Entry{
		{ID: "m00000000000000000001", CreatedAt: now, Sequence: 1, Source: memory.GameSystem},
		{ID: "m00000000000000000002", CreatedAt: now, Sequence: 2, Source: memory.ValidatedOutput},
		{ID: "m00000000000000000003", CreatedAt: now, Sequence: 3, Source: memory.ValidatedOutput},
	}
	if got := []memory.Entry{w.Entry, e.Entry, b.Entry}; !reflect.DeepEqual(got, want) || w.ModifiedAt != now {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// P2(h): ids that are given are kept, also those that LlamaBrain would take for its own.
func TestGivenIDsAreKept(t *testing.T) {
	y := system(t, memory.State{})
	e := memory.NewEpisode("hi")
	e.ID = "deadbeef"
	if e = must[memory.Episode](t)(y.AddEpisodic(e, memory.ValidatedOutput)); e.ID != "deadbeef" {
		t.Errorf("id %s", e.ID)
	}
}

// P2(e): a changed world state has the snapshot time; under llamabrain-v1 it keeps the time that is there, since the wall
// clock that LlamaBrain takes is in no recording.
func TestAChangedWorldStateHasTheTimeOfItsVersion(t *testing.T) {
	before := memory.State{NextSequence: 2, World: []memory.WorldState{{Entry: memory.Entry{ID: "w", Sequence: 1}, Key: "door", ModifiedAt: 5}}}
	for v, want := range map[memory.Version]int64{memory.DMPLv1: now, memory.LlamaBrainV1: 5} {
		y := memory.NewSystem(v, before, memory.At(now), nil)
		w := must[memory.WorldState](t)(y.SetWorldState("door", "shut", memory.Designer))
		if w.ModifiedAt != want || w.Modifications != 1 || w.ID != "w" || w.Sequence != 1 {
			t.Errorf("%s: %+v", v, w)
		}
	}
}

// M10: what each source may not write, in LlamaBrain's words.
func TestSourcesWithoutAuthorityAreRefused(t *testing.T) {
	y := system(t, memory.State{Facts: []memory.Fact{{Entry: memory.Entry{ID: "king", Sequence: 1}, Text: "The king is alive"}}})
	must[memory.Belief](t)(y.SetBelief("k", memory.NewBelief("s", "c"), memory.ValidatedOutput))
	before := y.State()
	f := memory.Fact{Text: "The king is dead"}
	f.ID = "king"
	tests := []struct {
		err  error
		want string
	}{
		{second(y.AddCanonicalFact(f)), "Canonical fact 'king' already exists and cannot be modified."},
		{second(y.SetWorldState("k", "v", memory.ValidatedOutput)), "Source 'ValidatedOutput' lacks authority to modify world state."},
		{second(y.AddEpisodic(memory.NewEpisode("x"), memory.LLMSuggestion)), "Source 'LlmSuggestion' lacks authority to add episodic memories."},
		{second(y.SetBelief("k", memory.NewBelief("s", "c"), 49)), "Source '49' lacks authority to modify beliefs."},
		{
			second(y.UpdateBelief("k", "x", 1, nil, memory.LLMSuggestion)),
			"Source 'LlmSuggestion' lacks authority to modify beliefs. Required: ValidatedOutput or higher.",
		},
		{second(y.UpdateBelief("j", "x", 1, nil, memory.Designer)), "Belief 'j' does not exist."},
	}
	for _, tt := range tests {
		var refusal memory.Refusal
		if !errors.As(tt.err, &refusal) || refusal.Error() != tt.want {
			t.Errorf("%v, want %s", tt.err, tt.want)
		}
	}
	same(t, y.State(), before)
}

func second[T any](_ T, err error) error { return err }

// P2(i): each operation leaves multiples of a millionth.
func TestStoredRealsAreMillionths(t *testing.T) {
	y := system(t, memory.State{})
	e := memory.NewEpisode("x")
	e.Significance, e.Strength, e.GameTime = 1.0/3, 2.0/3, 1e-7
	e.ID = "e"
	must[memory.Episode](t)(y.AddEpisodic(e, memory.ValidatedOutput))
	y.Decay() // 0.666667 - 0.05*(1-0.333333*0.5): the factor is half-even 0.166666, 0.833334, 0.041667
	if got := y.State().Episodes[0]; got.Significance != 0.333333 || got.Strength != 0.625 || got.GameTime != 0 {
		t.Errorf("%+v", got)
	}
	if !y.Reinforce("e", 0.1000004) || y.State().Episodes[0].Strength != 0.725 || y.Reinforce("none", 1) {
		t.Errorf("%+v", y.State().Episodes[0])
	}
	must[memory.Belief](t)(y.SetBelief("k", memory.Belief{Confidence: 0.1234565}, memory.ValidatedOutput))
	if b, ok := y.Belief("k"); !ok || b.Confidence != 0.123456 {
		t.Errorf("%+v", b)
	}
	if !y.AdjustSentiment("k", 0.0000014) || y.AdjustSentiment("none", 1) {
		t.Error("sentiment of what is there, and of what is not")
	}
	if b, _ := y.Belief("k"); b.Sentiment != 0.000001 {
		t.Errorf("%+v", b)
	}
}

// M11: a belief that a weaker source has changed is trusted no more than that source.
func TestAChangeByAWeakerSourceLowersTrust(t *testing.T) {
	y := system(t, memory.State{})
	must[memory.Belief](t)(y.SetBelief("k", memory.NewBelief("s", "c"), memory.Designer))
	b := must[memory.Belief](t)(y.UpdateBelief("k", "new", 0.9, ptr("heard"), memory.ValidatedOutput))
	if b.TrustLevel() != 50 || b.Source != memory.Designer || b.Content != "new" || *b.Evidence != "heard" {
		t.Errorf("%+v", b)
	}
	b = must[memory.Belief](t)(y.UpdateBelief("k", "newer", 0.9, nil, memory.Designer))
	if b.TrustLevel() != 50 {
		t.Errorf("trust rose to %d by itself", b.TrustLevel())
	}
}

func TestAStateThatWasGivenDoesNotChange(t *testing.T) {
	y := system(t, full())
	before := y.State()
	want := show(t, before)
	y.Decay()
	y.MarkContradicted("player", "no")
	must[memory.WorldState](t)(y.SetWorldState("door", "shut", memory.Designer))
	y.ClearAll()
	if got := show(t, before); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := y.State(); len(got.Records()) != 0 || got.NextSequence != 1 {
		t.Errorf("after ClearAll: %+v", got)
	}
}

// M9 counts all entries; LlamaBrain forgets facts and world state.
func TestRecalculateNext(t *testing.T) {
	s := memory.State{Facts: []memory.Fact{{Entry: memory.Entry{Sequence: 50}}}, Beliefs: []memory.Belief{{Entry: memory.Entry{Sequence: 9}}}}
	for v, want := range map[memory.Version]int64{memory.DMPLv1: 51, memory.LlamaBrainV1: 10} {
		if got := memory.NewSystem(v, s, nil, nil).RecalculateNext(); got != want {
			t.Errorf("%s: %d, want %d", v, got, want)
		}
	}
}

// llamabrain.md §1: the one that was added can be the one that is forgotten.
func TestTheWeakestIsPruned(t *testing.T) {
	y := system(t, memory.State{})
	y.MaxEpisodes = 2
	var kept []string
	for _, strength := range []float64{0.9, 0.8, 0.1, 1} {
		e := memory.NewEpisode("x")
		e.Strength = strength
		must[memory.Episode](t)(y.AddEpisodic(e, memory.ValidatedOutput))
	}
	for _, e := range y.State().Episodes {
		kept = append(kept, e.ID)
	}
	if want := []string{"m00000000000000000001", "m00000000000000000004"}; !slices.Equal(kept, want) {
		t.Errorf("kept %q, want %q", kept, want)
	}
	y.MaxEpisodes = -1
	if y.Prune(); len(y.State().Episodes) != 0 {
		t.Error("a negative bound keeps something")
	}
}

// A statement equal to a fact without " is " counts as its denial, since replacing nothing leaves the fact: LlamaBrain's
// rule as it stands (llamabrain.md §1).
func TestAFactWithoutIsIsDeniedByItself(t *testing.T) {
	y := system(t, memory.State{Facts: []memory.Fact{{Entry: memory.Entry{ID: "d", Sequence: 1}, Text: "Dragons breathe fire"}}})
	if _, denied := y.Contradicts("dragons BREATHE fire"); !denied {
		t.Error("no denial")
	}
}

// M10, P6: what an operation changes is the system's own: neither the state that it began with nor one that it gave away.
func TestOperationsLeaveGivenStatesAlone(t *testing.T) {
	for name, operation := range map[string]func(y *memory.System){
		"fact": func(y *memory.System) {
			must[memory.Fact](t)(y.AddCanonicalFact(memory.Fact{Entry: memory.Entry{ID: "new"}, Text: "new"}))
		},
		"world, new":     func(y *memory.System) { must[memory.WorldState](t)(y.SetWorldState("new", "v", memory.GameSystem)) },
		"world, changed": func(y *memory.System) { must[memory.WorldState](t)(y.SetWorldState("door", "v", memory.GameSystem)) },
		"episode": func(y *memory.System) {
			must[memory.Episode](t)(y.AddEpisodic(memory.NewEpisode("new"), memory.ValidatedOutput))
		},
		"prune":     func(y *memory.System) { y.MaxEpisodes = 1; y.Prune() },
		"decay":     func(y *memory.System) { y.Decay() },
		"reinforce": func(y *memory.System) { y.Reinforce(y.State().Episodes[0].ID, -0.125) },
		"belief, new": func(y *memory.System) {
			must[memory.Belief](t)(y.SetBelief("new", memory.NewBelief("s", "c"), memory.ValidatedOutput))
		},
		"belief, other": func(y *memory.System) {
			must[memory.Belief](t)(y.SetBelief(y.State().Beliefs[0].Key, memory.NewBelief("s", "c"), memory.ValidatedOutput))
		},
		"contradicted": func(y *memory.System) { y.MarkContradicted(y.State().Beliefs[0].Key, "e") },
		"updated": func(y *memory.System) {
			must[memory.Belief](t)(y.UpdateBelief(y.State().Beliefs[0].Key, "c", 0.125, nil, memory.ValidatedOutput))
		},
		"sentiment": func(y *memory.System) { y.AdjustSentiment(y.State().Beliefs[0].Key, -0.125) },
		"clear":     func(y *memory.System) { y.ClearAll() },
	} {
		start := must[memory.State](t)(memory.Load(full(), memory.DMPLv1))
		y := memory.NewSystem(memory.DMPLv1, start, memory.At(now), nil)
		given := y.State()
		want := show(t, must[memory.State](t)(memory.Load(full(), memory.DMPLv1)))
		operation(y)
		if show(t, start) != want || show(t, given) != want {
			t.Errorf("%s: the start is\n%s\nwhat was given is\n%s\nwant\n%s", name, show(t, start), show(t, given), want)
		}
		if show(t, y.State()) == want {
			t.Errorf("%s changed nothing", name)
		}
	}
}
