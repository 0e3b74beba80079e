package memory

import (
	"slices"
)

// Clock gives the ticks of now; two calls may give two times.
type Clock func() int64

// At is the clock of a run: every timestamp is the snapshot time (P2 e).
func At(ticks int64) Clock { return func() int64 { return ticks } }

// Refusal says why an operation was not done, in LlamaBrain's words. It changed nothing.
type Refusal string

// Error gives the reason.
func (r Refusal) Error() string { return string(r) }

// System is a memory that changes: the operations of llamabrain.md §1 on the state of one persona. It is for one
// goroutine.
type System struct {
	MaxEpisodes int64   // more are pruned when one is added
	DecayRate   float64 // what one decay takes from an episode without significance

	version Version
	clock   Clock
	ids     func() string
	state   State
	shared  bool   // others hold the lists of the state as well
	places  places // of the state; empty until an operation asks for one
}

// places say where the entries of a state stand, and how facts are compared.
type places struct {
	facts   map[string]int // by id
	world   map[string]int // by key
	beliefs map[string]int // by key
	lowered []string       // the facts' texts, folded
}

// NewSystem gives a system over a loaded state (Load), whose lists it leaves as they are and nobody else may change. The ids are
// asked for new entries under llamabrain-v1 alone; in dmpl-v1 the sequence number makes the id (P2 h), and ids may be nil.
func NewSystem(v Version, s State, clock Clock, ids func() string) *System {
	y := &System{MaxEpisodes: 100, DecayRate: 0.05, version: v, clock: clock, ids: ids}
	y.replace(s)
	return y
}

// Load makes the state the one of the system; errors as the function Load.
func (y *System) Load(s State) error {
	loaded, err := Load(s, y.version)
	if err == nil {
		y.replace(loaded)
	}
	return err
}

func (y *System) replace(s State) {
	y.state, y.shared, y.places = s, true, places{}
}

// at gives the places. Most turns change nothing, and need none.
func (y *System) at() *places {
	if y.places.facts != nil {
		return &y.places
	}
	y.places = places{facts: map[string]int{}, world: map[string]int{}, beliefs: map[string]int{}}
	for i := range y.state.Facts {
		y.indexFact(i)
	}
	for i, w := range y.state.World {
		y.places.world[w.Key] = i
	}
	for i, b := range y.state.Beliefs {
		y.places.beliefs[b.Key] = i
	}
	return &y.places
}

// own gives the state to be changed: its lists are nobody else's.
func (y *System) own() *State {
	if y.shared {
		y.state, y.shared = y.state.clone(), false
	}
	return &y.state
}

// State gives the state as it is now. Later operations do not change it. Under dmpl-v1 its next number is that of a load
// (M9), also where the highest entry is gone: the state is the one that comes back.
func (y *System) State() State {
	y.shared = true
	s := y.state
	if y.version == DMPLv1 {
		s.NextSequence = s.Highest() + 1
	}
	return s
}

// clone copies the lists. What an entry points to is never changed in place.
func (s State) clone() State {
	s.Facts, s.World = slices.Clone(s.Facts), slices.Clone(s.World)
	s.Episodes, s.Beliefs, s.Others = slices.Clone(s.Episodes), slices.Clone(s.Beliefs), slices.Clone(s.Others)
	return s
}

// ClearAll forgets everything; numbering starts again.
func (y *System) ClearAll() {
	y.replace(State{PersonaID: y.state.PersonaID, NextSequence: 1, InteractionCount: y.state.InteractionCount})
}

// RecalculateNext sets the next sequence number behind those of all entries. LlamaBrain forgets facts and world state.
func (y *System) RecalculateNext() int64 {
	highest := max(highestOf(y.state.Episodes), highestOf(y.state.Beliefs))
	if y.version == DMPLv1 { // M9: over all entries
		highest = y.state.Highest()
	}
	y.state.NextSequence = highest + 1
	return y.state.NextSequence
}

func (y *System) round(x float64) float64 { return y.version.Numbers().Round(x) }

// number gives the next sequence number (M9).
func (y *System) number() int64 {
	n := y.state.NextSequence
	y.state.NextSequence++
	return n
}

// id gives the id of an entry that gets a sequence number. Ids that are given are kept; LlamaBrain also replaces those
// that look like its own random ones.
func (y *System) id(given string, sequence int64) string {
	switch {
	case y.version == DMPLv1 && given == "":
		return EntryID(sequence)
	case y.version == LlamaBrainV1 && (given == "" || looksRandom(given)):
		return y.ids()
	}
	return given
}

// EntryID is the id of an entry that was inserted without one (P2 h).
func EntryID(sequence int64) string { return "m" + digits(sequence) }

// looksRandom tells whether an id is one of 8 hexadecimal digits, as a new LlamaBrain entry has.
func looksRandom(id string) bool {
	if len(id) != 8 {
		return false
	}
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

// must refuses a source that has less authority than is needed.
func (s Source) must(need Authority, do string) error {
	if s.Allows(need) {
		return nil
	}
	return Refusal("Source '" + s.String() + "' lacks authority to " + do + ".")
}
