package memory

import (
	"bytes"
	"reflect"
)

// Writes gives the write list that makes the state after of the state before, both of dmpl-v1: what went and what changed
// in place by sequence number, then the new entries in the order of their numbers. New entries have no number in the
// list, and no id where theirs is made of the number (P2 h), so that equal runs have equal lists. Source is who forgets
// what went.
func Writes(before, after State, source Source) ([]Write, error) {
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

// sameRecord says that two records have one canonical form. Most of a memory is untouched, and needs no look at that form.
func sameRecord(a, b Record) (bool, error) {
	if a.Type == b.Type && bytes.Equal(a.Content, b.Content) && reflect.DeepEqual(a.Entry, b.Entry) {
		return true, nil
	}
	x, err := a.canonical()
	if err != nil {
		return false, err
	}
	y, err := b.canonical()
	return bytes.Equal(x, y), err
}
