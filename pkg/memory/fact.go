package memory

import (
	"strings"

	"github.com/dmpl/dmpl/pkg/dotnet"
)

func (y *System) indexFact(i int) {
	f := y.state.Facts[i]
	y.places.facts[f.ID] = i
	y.places.lowered = append(y.places.lowered, dotnet.Lower(f.Text))
}

// HasFact tells whether there is a canonical fact with the id.
func (y *System) HasFact(id string) bool {
	_, ok := y.at().facts[id]
	return ok
}

// AddCanonicalFact adds a fact. M10: nothing changes one that is there.
func (y *System) AddCanonicalFact(f Fact) (Fact, error) {
	if y.HasFact(f.ID) {
		return Fact{}, Refusal("Canonical fact '" + f.ID + "' already exists and cannot be modified.")
	}
	f.CreatedAt, f.Source = y.clock(), Designer
	f.Sequence = y.number()
	s := y.own()
	s.Facts = append(s.Facts, f)
	y.indexFact(len(s.Facts) - 1)
	return f, nil
}

// SetWorldState sets a value of the world. M10: only the game system and the designer may.
func (y *System) SetWorldState(key, value string, source Source) (WorldState, error) {
	if err := source.must(WorldAuthority, "modify world state"); err != nil {
		return WorldState{}, err
	}
	if i, ok := y.at().world[key]; ok {
		w := &y.own().World[i]
		w.Value, w.Source, w.Trust = value, source, nil
		w.Modifications++
		if y.version == DMPLv1 { // P2(e); LlamaBrain takes the wall clock here, which nothing can know later
			w.ModifiedAt = y.clock()
		}
		return *w, nil
	}
	w := WorldState{Key: key, Value: value}
	w.Source, w.Sequence = source, y.number()
	w.ID = y.id("", w.Sequence)
	w.CreatedAt = y.clock()
	w.ModifiedAt = y.clock()
	state := y.own()
	y.places.world[key] = len(state.World)
	state.World = append(state.World, w)
	return w, nil
}

// Contradicts finds the first fact that a statement denies.
func (y *System) Contradicts(statement string) (Fact, bool) {
	s := dotnet.Lower(statement)
	for i, f := range y.at().lowered {
		if denies(s, f) {
			return y.state.Facts[i], true
		}
	}
	return Fact{}, false
}

// denies tells whether a statement denies a fact, both folded (llamabrain.md §1). The last two compare, where the gate
// looks for the text inside.
func denies(s, f string) bool {
	if strings.Contains(s, f) {
		for _, before := range []string{"not ", "isn't ", "never "} {
			if strings.Contains(s, before+f) {
				return true
			}
		}
		if strings.Contains(s, f+" is not") || strings.Contains(s, f+" isn't") {
			return true
		}
	}
	return s == strings.ReplaceAll(f, " is ", " is not ") || s == strings.ReplaceAll(f, " is ", " isn't ")
}
