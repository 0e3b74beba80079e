package memory

import (
	"fmt"
	"math"
)

// Load gives the state that a stored one is after loading: each list by sequence number. llamabrain-v1 takes the next
// number as it stands (Behind tells when it must not), lets a repeated key overwrite and refuses a repeated fact id.
// dmpl-v1 follows M9: the next number is behind all, and nothing that has to be unique is there twice (P2 d).
func Load(s State, v Version) (State, error) {
	s.Facts, s.World = bySequence(s.Facts), bySequence(s.World)
	s.Episodes, s.Beliefs, s.Others = bySequence(s.Episodes), bySequence(s.Beliefs), bySequence(s.Others)
	return Listed(s, v)
}

// Listed is Load for entries that keep the order in which they are listed.
func Listed(s State, v Version) (State, error) {
	if id, twice := repeated(s.Facts, func(f Fact) string { return f.ID }); twice {
		return State{}, fmt.Errorf("the fact id %q is there twice", id)
	}
	if v == LlamaBrainV1 {
		s.World = lastOf(s.World, func(w WorldState) string { return w.Key })
		s.Beliefs = lastOf(s.Beliefs, func(b Belief) string { return b.Key })
		return s.clone(), nil
	}
	if key, twice := repeated(s.World, func(w WorldState) string { return w.Key }); twice {
		return State{}, fmt.Errorf("the world-state key %q is there twice", key)
	}
	if key, twice := repeated(s.Beliefs, func(b Belief) string { return b.Key }); twice {
		return State{}, fmt.Errorf("the belief key %q is there twice", key)
	}
	if err := numbered(s); err != nil {
		return State{}, err
	}
	s.NextSequence = s.Highest() + 1 // M9
	return s.clone(), nil
}

// numbered holds the sequence numbers to M9: from 1, each once.
func numbered(s State) error {
	seen := map[int64]bool{}
	for n := range s.sequences {
		switch {
		case n < 1 || n == math.MaxInt64:
			return fmt.Errorf("the sequence number %d is out of range", n)
		case seen[n]:
			return fmt.Errorf("the sequence number %d is there twice", n)
		}
		seen[n] = true
	}
	return nil
}

// sequences walks the sequence numbers of all entries.
func (s State) sequences(yield func(int64) bool) {
	_ = walkSequences(s.Facts, yield) && walkSequences(s.World, yield) && walkSequences(s.Episodes, yield) &&
		walkSequences(s.Beliefs, yield) && walkSequences(s.Others, yield)
}

func walkSequences[T any, P interface {
	*T
	entry
}](list []T, yield func(int64) bool) bool {
	for i := range list {
		if !yield(P(&list[i]).entry().Sequence) {
			return false
		}
	}
	return true
}

func highestOf[T any, P interface {
	*T
	entry
}](list []T) int64 {
	highest := int64(0)
	walkSequences[T, P](list, func(n int64) bool {
		highest = max(highest, n)
		return true
	})
	return highest
}

// Highest gives the highest sequence number of all entries, 0 where there is none.
func (s State) Highest() int64 {
	highest := int64(0)
	for n := range s.sequences {
		highest = max(highest, n)
	}
	return highest
}

// Behind tells whether the next sequence number is not greater than every one that is there, so that numbers repeat.
func (s State) Behind() bool { return s.NextSequence <= s.Highest() }

func repeated[T any](list []T, key func(T) string) (string, bool) {
	seen := make(map[string]bool, len(list))
	for _, e := range list {
		if seen[key(e)] {
			return key(e), true
		}
		seen[key(e)] = true
	}
	return "", false
}

// lastOf gives the last entry of each key, at the place of the first.
func lastOf[T any](list []T, key func(T) string) []T {
	places := make(map[string]int, len(list))
	var kept []T
	for _, e := range list {
		if i, ok := places[key(e)]; ok {
			kept[i] = e
			continue
		}
		places[key(e)] = len(kept)
		kept = append(kept, e)
	}
	return kept
}
