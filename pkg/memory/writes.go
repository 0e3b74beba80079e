package memory

import "bytes"

// Writes gives the write list that makes the state after of the state before, both of dmpl-v1: what went and what changed
// in place by sequence number, then the new entries in the order of their numbers. New entries have no number in the
// list, and no id where theirs is made of the number (P2 h), so that equal runs have equal lists. Source is who forgets
// what went.
func Writes(before, after State, source Source) ([]Write, error) {
	before, after = apart(before, after)
	if before.size()+after.size() == 0 {
		return nil, nil
	}
	were := before.Records()
	was := map[int64]Record{}
	for _, r := range were {
		was[r.Sequence] = r
	}
	var changed, fresh []Write
	replaced := map[Ref]bool{}
	is := map[int64]bool{}
	for _, r := range after.Records() {
		is[r.Sequence] = true
		old, there := was[r.Sequence]
		if !there {
			fresh = append(fresh, inserted(r))
			replaced[r.Ref()] = r.Type == TypeBelief
			continue
		}
		same, err := sameRecord(old, r)
		if err != nil {
			return nil, err
		}
		if !same {
			changed = append(changed, Write{Put, r})
		}
	}
	var gone []Write
	for _, r := range were {
		if !is[r.Sequence] && !replaced[r.Ref()] {
			r.Source, r.Trust = source, nil
			gone = append(gone, Write{Delete, r})
		}
	}
	return append(append(gone, changed...), fresh...), nil
}

// size counts the entries.
func (s *State) size() int {
	return len(s.Facts) + len(s.World) + len(s.Episodes) + len(s.Beliefs) + len(s.Others)
}

// apart leaves out of two states what both have alike, so that no record need be made of what nobody has touched.
func apart(before, after State) (State, State) {
	before.Facts, after.Facts = unlike(before.Facts, after.Facts, (*Fact).same)
	before.World, after.World = unlike(before.World, after.World, (*WorldState).same)
	before.Episodes, after.Episodes = unlike(before.Episodes, after.Episodes, (*Episode).same)
	before.Beliefs, after.Beliefs = unlike(before.Beliefs, after.Beliefs, (*Belief).same)
	before.Others, after.Others = unlike(before.Others, after.Others, (*Record).same)
	return before, after
}

// unlike gives what is left of two lists without pairs that are the same. It looks for the pairs where a list that went through
// operations has them; one that it misses is left in both lists.
func unlike[T any, P interface {
	*T
	entry
}](before, after []T, same func(a, b *T) bool) (left, right []T) {
	if len(before) == len(after) && len(before) > 0 && &before[0] == &after[0] {
		return nil, nil
	}
	i, j := 0, 0
	for i < len(before) && j < len(after) {
		if same(&before[i], &after[j]) {
			i, j = i+1, j+1
			continue
		}
		replaced := i+1 < len(before) && j+1 < len(after) && same(&before[i+1], &after[j+1])
		was, is := P(&before[i]).entry().Sequence, P(&after[j]).entry().Sequence
		if replaced || was <= is {
			left, i = append(left, before[i]), i+1
		}
		if replaced || was >= is {
			right, j = append(right, after[j]), j+1
		}
	}
	return append(left, before[i:]...), append(right, after[j:]...)
}

// inserted gives the write of a new entry: a put where the name is unique, so that it replaces what has the name then.
func inserted(r Record) Write {
	assigned := EntryID(r.Sequence)
	op := Append
	switch r.Type {
	case TypeWorld:
		op = Put
		r = withWorld(r, func(w *WorldState) {
			if w.ID == assigned {
				w.ID = ""
			}
		})
	case TypeBelief:
		op = Put
	}
	if r.ID == assigned {
		r.ID = ""
	}
	r.Sequence = 0
	return Write{op, r}
}

// sameRecord says that two records have one canonical form.
func sameRecord(a, b Record) (bool, error) {
	if a.same(&b) {
		return true, nil
	}
	x, err := a.canonical()
	if err != nil {
		return false, err
	}
	y, err := b.canonical()
	return bytes.Equal(x, y), err
}
