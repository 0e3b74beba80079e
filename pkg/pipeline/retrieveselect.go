package pipeline

import "slices"

// selection keeps the first records of an order, so that a limit saves the work of ordering the rest.
type selection struct {
	limit   int // Unlimited: all are kept
	compare func(a, b *Ranked) int
	kept    []Ranked  // once full: a heap with the last of them on top
	places  []*Ranked // scratch of sorted
}

// reset begins with nothing kept of so many records, in the memory of the last selection.
func (s *selection) reset(limit, records int, o Order) {
	room := records
	if limit != Unlimited {
		room = min(room, limit)
	}
	s.limit, s.compare, s.kept = limit, o.comparison(), slices.Grow(s.kept[:0], room)
}

func (s *selection) add(item *Ranked) {
	switch {
	case s.limit == 0:
	case s.limit == Unlimited || len(s.kept) < s.limit:
		s.kept = append(s.kept, *item)
		if len(s.kept) == s.limit {
			for i := len(s.kept)/2 - 1; i >= 0; i-- {
				s.sink(i)
			}
		}
	case s.compare(item, &s.kept[0]) < 0:
		s.kept[0] = *item
		s.sink(0)
	}
}

// sink moves a record down until none below it stands later in the order.
func (s *selection) sink(i int) {
	for {
		last := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(s.kept); child++ {
			if s.compare(&s.kept[child], &s.kept[last]) > 0 {
				last = child
			}
		}
		if last == i {
			return
		}
		s.kept[i], s.kept[last] = s.kept[last], s.kept[i]
		i = last
	}
}

// sorted gives the records in their order.
func (s *selection) sorted() []Ranked {
	s.places = slices.Grow(s.places[:0], len(s.kept))
	for i := range s.kept {
		s.places = append(s.places, &s.kept[i])
	}
	slices.SortFunc(s.places, s.compare)
	list := make([]Ranked, len(s.places))
	for i, item := range s.places {
		list[i] = *item
	}
	return list
}
