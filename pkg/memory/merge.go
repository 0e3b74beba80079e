package memory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dmpl/dmpl/pkg/dotnet"
)

// Merge brings the entries of another state into this one (M9). Numbers that are there stay; what is imported gets new
// ones in the order created-at ticks, id by UTF-16 unit, source, and last its json-v1 bytes. An entry that is byte-equal
// to one that is there, its number aside, is not imported again. Anything that has to be unique and is there twice is an
// error (P2 d).
func Merge(s, other State) (State, error) {
	s, err := Load(s, DMPLv1)
	if err != nil {
		return State{}, err
	}
	other, err = Load(other, DMPLv1)
	if err != nil {
		return State{}, fmt.Errorf("what is imported: %w", err)
	}
	there := map[string]bool{}
	for _, r := range s.Records() {
		i, err := importable(r)
		if err != nil {
			return State{}, err
		}
		there[i.bytes] = true
	}
	var list []imported
	for _, r := range other.Records() {
		i, err := importable(r)
		if err != nil {
			return State{}, err
		}
		if !there[i.bytes] {
			list = append(list, i)
		}
		there[i.bytes] = true
	}
	slices.SortFunc(list, compareImported)
	for _, i := range list {
		i.record.Sequence = s.NextSequence
		s.NextSequence++
		if err := s.add(i.record); err != nil {
			return State{}, err
		}
	}
	return Load(s, DMPLv1)
}

// imported is a record with the keys of its order.
type imported struct {
	record Record
	id     string // of a world state its id, which is not its record's
	bytes  string // json-v1, without a number of its own
}

func importable(r Record) (imported, error) {
	i := imported{record: r, id: r.ID}
	if r.Type == TypeWorld {
		i.id = worldOf(r).ID
	}
	r.Sequence = 0
	bytes, err := r.canonical()
	i.bytes = string(bytes)
	return i, err
}

func compareImported(a, b imported) int {
	return cmp.Or(
		cmp.Compare(a.record.CreatedAt, b.record.CreatedAt),
		dotnet.Compare(a.id, b.id),
		cmp.Compare(a.record.Source, b.record.Source),
		cmp.Compare(a.bytes, b.bytes),
	)
}
