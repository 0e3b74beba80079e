package memory

import (
	"fmt"
	"math"
	"slices"
)

// Head is the committed state that writes are applied to.
type Head interface {
	// Find gives the records of a name, by sequence number.
	Find(Ref) ([]Record, error)
	// Next gives the number of the next entry.
	Next() int64
}

// Change is one record before and after: New is nil where it goes, Old where it comes.
type Change struct{ Old, New *Record }

// Rejection says why a write list cannot be applied: its commit aborts with validation_failed (M4).
type Rejection struct {
	Write  int // place in the list
	Detail string
}

// Error gives one line.
func (e *Rejection) Error() string { return fmt.Sprintf("write %d: %s", e.Write, e.Detail) }

// Plan gives the changes that a write list makes to a head, in order. It changes nothing itself. Changed tells which
// records other commits have changed since the run's start snapshot (M4); nil for none. The error is a *Rejection, or what
// Find gave.
func Plan(writes []Write, head Head, changed func(Ref) bool) ([]Change, error) {
	p := newPlanner(head)
	if err := p.take(writes, changed); err != nil {
		return nil, err
	}
	return p.changes, nil
}

// planner is a head and the changes that a list has made so far.
type planner struct {
	head    Head
	next    int64
	own     map[Ref][]Record // what a name stands for now, where the list has touched it
	taken   int              // writes of the list
	changes []Change
}

func newPlanner(head Head) planner {
	return planner{head: head, next: head.Next(), own: map[Ref][]Record{}}
}

// take makes the next writes of the list; errors as Plan. A write that is rejected is not taken, and is the next one still.
func (p *planner) take(writes []Write, changed func(Ref) bool) error {
	for _, w := range writes {
		ref := w.Record.Ref()
		if w.Op != Append && changed != nil && changed(ref) {
			return &Rejection{p.taken, fmt.Sprintf("the %s %q was changed by another commit since the start snapshot", ref.Type, ref.Key)}
		}
		there, err := p.find(ref)
		if err != nil {
			return err
		}
		if problem := p.apply(w, ref, there); problem != "" {
			return &Rejection{p.taken, problem}
		}
		p.taken++
	}
	return nil
}

func (p *planner) find(ref Ref) ([]Record, error) {
	if list, touched := p.own[ref]; touched {
		return list, nil
	}
	return p.head.Find(ref)
}

// apply makes one write, and says why where it cannot.
func (p *planner) apply(w Write, ref Ref, there []Record) (problem string) {
	if problem := unauthorised(w); problem != "" {
		return problem
	}
	if p.next == math.MaxInt64 {
		return "the sequence numbers are used up"
	}
	if w.Op == Append {
		return p.insert(w.Record, ref, there)
	}
	place, problem := meant(w, there)
	if problem != "" {
		return problem
	}
	if place < 0 {
		return p.absent(w, ref, there)
	}
	old := there[place]
	rest := slices.Delete(slices.Clone(there), place, place+1)
	if w.Op == Delete {
		p.change(ref, &old, nil, rest)
		return ""
	}
	r, problem := p.instead(old, w.Record)
	if problem != "" {
		return problem
	}
	p.change(ref, &old, &r, append(rest, r))
	return ""
}

// absent makes a put or a delete of what is not there.
func (p *planner) absent(w Write, ref Ref, there []Record) string {
	_, touched := p.own[ref]
	switch {
	case w.Op == Delete && touched: // two turns of one run may both forget what their start snapshot has (P6)
		return ""
	case w.Op == Delete || w.Record.Sequence != 0:
		return fmt.Sprintf("there is no such %s %q", ref.Type, ref.Key)
	}
	return p.insert(w.Record, ref, there)
}

func (p *planner) insert(r Record, ref Ref, there []Record) string {
	switch {
	case r.Sequence != 0:
		return "a new record has no sequence number before it is applied"
	case r.Type == TypeWorld && r.ID == "":
		return "a world record needs its key as record_id"
	case len(there) > 0 && (r.Type == TypeFact || r.Type == TypeWorld || r.Type == TypeBelief): // M10, P2(d)
		return fmt.Sprintf("the %s %q is there already", ref.Type, ref.Key)
	}
	p.number(&r)
	if r.Ref() != ref { // it had no id, so nothing had its name
		ref, there = r.Ref(), nil
	}
	p.change(ref, nil, &r, append(slices.Clone(there), r))
	return ""
}

// number makes a record a new entry: M9 its number, P2(h) its id where it has none.
func (p *planner) number(r *Record) {
	r.Sequence = p.next
	p.next++
	switch {
	case r.Type == TypeWorld:
		*r = withWorld(*r, func(w *WorldState) {
			if w.ID == "" {
				w.ID = EntryID(w.Sequence)
			}
		})
	case r.ID == "":
		r.ID = EntryID(r.Sequence)
	}
}

func (p *planner) change(ref Ref, old, current *Record, now []Record) {
	p.own[ref] = now
	p.changes = append(p.changes, Change{Old: old, New: current})
}

// meant gives the place of the record that a put or delete means, -1 where there is none.
func meant(w Write, there []Record) (place int, problem string) {
	if w.Record.Sequence != 0 {
		return slices.IndexFunc(there, func(r Record) bool { return r.Sequence == w.Record.Sequence }), ""
	}
	if len(there) > 1 {
		return 0, fmt.Sprintf("%d records have the id %q: name one by its sequence number", len(there), w.Record.ID)
	}
	return len(there) - 1, ""
}

// instead gives the record that a put leaves where old stands. Where the put names old by its number, old is changed.
// Otherwise a belief is a new entry, and a world state counts the modification (llamabrain.md §1). Id, number and time of
// creation of what is changed stay.
func (p *planner) instead(old, r Record) (Record, string) {
	named := r.Sequence != 0
	if !named && r.Type == TypeBelief {
		p.number(&r)
		return r, ""
	}
	r.Sequence, r.CreatedAt = old.Sequence, old.CreatedAt
	if r.ID == "" {
		r.ID = old.ID
	}
	if r.ID != old.ID {
		return r, fmt.Sprintf("the record %d has the id %q", old.Sequence, old.ID)
	}
	if r.Type != TypeWorld {
		return r, ""
	}
	before := worldOf(old)
	return withWorld(r, func(w *WorldState) {
		w.ID = before.ID
		if !named {
			w.Modifications = before.Modifications + 1
		}
	}), ""
}

// worldOf reads a world record, whose content has been read before.
func worldOf(r Record) WorldState {
	var s State
	if s.add(r) != nil || len(s.World) == 0 {
		return WorldState{Entry: r.Entry, Key: r.ID}
	}
	return s.World[0]
}

func withWorld(r Record, change func(*WorldState)) Record {
	w := worldOf(r)
	change(&w)
	return w.Record()
}

// needs are the authorities that writes of LlamaBrain's kinds need (M10, llamabrain.md §1).
var needs = map[string]Authority{
	TypeFact: CanonicalAuthority, TypeWorld: WorldAuthority, TypeEpisode: EpisodicAuthority, TypeBelief: EpisodicAuthority,
}

// unauthorised says why a write's source may not write it.
func unauthorised(w Write) string {
	r := w.Record
	switch {
	case r.Type == TypeFact && w.Op != Append: // M10
		return fmt.Sprintf("the canonical fact %q cannot be modified or deleted", r.ID)
	case !r.Source.Allows(needs[r.Type]):
		return fmt.Sprintf("source %s lacks authority over %s records", r.Source, r.Type)
	case w.Op != Delete && r.TrustLevel() > int(r.Source): // M11: trust rises only by a source of that authority
		return fmt.Sprintf("source %s cannot give trust %d", r.Source, r.TrustLevel())
	}
	return ""
}
