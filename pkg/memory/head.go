package memory

import "errors"

// Apply gives the state that a write list makes of this one under dmpl-v1, where every sequence number is there once (Load).
// Changed is as in Plan; the error is a *Rejection. This state stays as it is.
func (s State) Apply(writes []Write, changed func(Ref) bool) (State, error) {
	changes, err := Plan(writes, &stateHead{state: s}, changed)
	if err != nil {
		return State{}, err
	}
	t := touched{}
	var fresh []Record
	for _, c := range changes {
		if c.Old == nil {
			fresh = append(fresh, *c.New)
			continue
		}
		t[c.Old.Sequence] = c.New
	}
	after, err := s.with(t, fresh)
	after.NextSequence = after.Highest() + 1 // M9: as it will be loaded
	return after, err
}

// touched has for the sequence number of an entry what it became, nil where it went.
type touched map[int64]*Record

// now gives what an entry has become at last.
func (t touched) now(sequence int64) (r *Record, touched bool) {
	r, touched = t[sequence]
	for touched && r != nil && r.Sequence != sequence {
		again, ok := t[r.Sequence]
		if !ok {
			break
		}
		sequence, r = r.Sequence, again
	}
	return r, touched
}

// with gives the state with touched entries as they are now, and fresh ones behind.
func (s State) with(t touched, fresh []Record) (State, error) {
	after := State{PersonaID: s.PersonaID, InteractionCount: s.InteractionCount}
	errs := make([]error, 5)
	after.Facts, errs[0] = renew(s.Facts, t, func(s State) []Fact { return s.Facts })
	after.World, errs[1] = renew(s.World, t, func(s State) []WorldState { return s.World })
	after.Episodes, errs[2] = renew(s.Episodes, t, func(s State) []Episode { return s.Episodes })
	after.Beliefs, errs[3] = renew(s.Beliefs, t, func(s State) []Belief { return s.Beliefs })
	after.Others, errs[4] = renew(s.Others, t, func(s State) []Record { return s.Others })
	if err := errors.Join(errs...); err != nil {
		return State{}, err
	}
	for _, r := range fresh {
		if now, changed := t.now(r.Sequence); changed {
			if now == nil {
				continue
			}
			r = *now
		}
		if err := after.add(r); err != nil {
			return State{}, err
		}
	}
	return after, nil
}

// renew gives a list with its touched entries as they are now.
func renew[T any, P interface {
	*T
	entry
}](list []T, t touched, of func(State) []T) ([]T, error) {
	kept := make([]T, 0, len(list))
	for i := range list {
		r, changed := t.now(P(&list[i]).entry().Sequence)
		switch {
		case !changed:
			kept = append(kept, list[i])
		case r != nil:
			var s State
			if err := s.add(*r); err != nil {
				return nil, err
			}
			kept = append(kept, of(s)...)
		}
	}
	return kept, nil
}

// stateHead is a state as a head. It looks through a kind once, when the first name of it is asked for.
type stateHead struct {
	state  State
	places map[string]map[string][]int // by type, then key
}

// Next gives the number of the next entry.
func (h *stateHead) Next() int64 { return h.state.NextSequence }

// Find gives the records of a name.
func (h *stateHead) Find(ref Ref) ([]Record, error) {
	if h.places == nil {
		h.places = map[string]map[string][]int{}
	}
	if h.places[ref.Type] == nil {
		h.places[ref.Type] = h.index(ref.Type)
	}
	var list []Record
	for _, i := range h.places[ref.Type][ref.Key] {
		list = append(list, h.record(ref.Type, i))
	}
	return bySequence(list), nil
}

func (h *stateHead) index(kind string) map[string][]int {
	places := map[string][]int{}
	add := func(i int, key string) { places[key] = append(places[key], i) }
	switch kind {
	case TypeFact:
		for i, f := range h.state.Facts {
			add(i, f.ID)
		}
	case TypeWorld:
		for i, w := range h.state.World {
			add(i, w.Key)
		}
	case TypeEpisode:
		for i, e := range h.state.Episodes {
			add(i, e.ID)
		}
	case TypeBelief:
		for i, b := range h.state.Beliefs {
			add(i, b.Key)
		}
	default:
		for i, r := range h.state.Others {
			if r.Type == kind {
				add(i, r.ID)
			}
		}
	}
	return places
}

func (h *stateHead) record(kind string, i int) Record {
	switch kind {
	case TypeFact:
		return h.state.Facts[i].Record()
	case TypeWorld:
		return h.state.World[i].Record()
	case TypeEpisode:
		return h.state.Episodes[i].Record()
	case TypeBelief:
		return h.state.Beliefs[i].Record()
	}
	return h.state.Others[i]
}
