package pipeline

import (
	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/memory"
)

// recall keeps what is the same of a memory's records from turn to turn, so that a run works it out once. A list that is not the
// very one of the turn before is looked at again; what a turn was given nobody changes (memory.NewSystem).
type recall struct {
	version  Version
	facts    recalled[memory.Fact]
	world    recalled[memory.WorldState]
	episodes recalled[memory.Episode]
	beliefs  recalled[memory.Belief]
	denials  []denial // of the facts
	words    wordSet  // scratch: of the input
	search   search   // scratch: of the answer
}

// of prepares for a memory.
func (known *recall) of(s *memory.State, v Version) {
	if known.version != v {
		*known = recall{version: v}
	}
	if !known.facts.of(s.Facts) {
		known.denials = nil
	}
	known.world.of(s.World)
	known.episodes.of(s.Episodes)
	known.beliefs.of(s.Beliefs)
}

// denialsOf gives how facts are denied. Those of a run are worked out in its first turn.
func (known *recall) denialsOf(facts []memory.Fact) []denial {
	if known != nil && known.denials != nil {
		return known.denials
	}
	denials := make([]denial, len(facts))
	for i := range facts {
		denials[i] = denialOf(&facts[i])
	}
	if known != nil {
		known.denials = denials
	}
	return denials
}

// searchFor gives a search of a dialogue.
func (known *recall) searchFor(dialogue string) *search {
	if known == nil {
		return newSearch(dialogue)
	}
	return searchAgain(&known.search, dialogue)
}

// recalled is what is kept of the records of one kind.
type recalled[T any] struct {
	records []T
	turns   int        // that asked for these records before
	said    []string   // what a record says, from the second turn on and where it was asked for
	low     []string   // the same in lower case
	index   *wordIndex // of what they say; nil for the first turns
	counts  []int32    // scratch: by record, the words of an input that it has

	best selection // scratch
}

// of prepares for a list, and tells whether it is the same as before.
func (r *recalled[T]) of(records []T) bool {
	if len(r.records) == len(records) && (len(records) == 0 || &r.records[0] == &records[0]) {
		r.turns++
		return true
	}
	*r = recalled[T]{records: records, best: r.best, counts: r.counts}
	return false
}

// text gives what a record says.
func (r *recalled[T]) text(k *kind[T], i int, v Version) string {
	if r.turns == 0 { // there may be no other turn
		return k.said(&r.records[i], v)
	}
	if r.said == nil {
		r.said = make([]string, len(r.records))
	}
	if r.said[i] == "" {
		r.said[i] = k.said(&r.records[i], v)
	}
	return r.said[i]
}

// named tells whether a record names a topic.
func (r *recalled[T]) named(k *kind[T], i int, by *scorer) bool {
	if by.topics.none() {
		return false
	}
	text := r.text(k, i, by.version)
	if r.turns == 0 {
		return by.topics.hit(text)
	}
	if r.low == nil {
		r.low = make([]string, len(r.records))
	}
	if r.low[i] == "" {
		r.low[i] = dotnet.Lower(text)
	}
	return by.topics.in(r.low[i])
}

// turnsToIndex is how many turns look through the texts of a memory before it gets an index: one costs as much as some five looks.
const turnsToIndex = 4

// shares gives a function for the share of the input's words that a record has.
func (r *recalled[T]) shares(k *kind[T], by *scorer) func(i int) float64 {
	words := by.words
	if r.turns < turnsToIndex || len(words.list) == 0 {
		return func(i int) float64 { return words.share(r.text(k, i, by.version)) }
	}
	if r.index == nil {
		r.index = newWordIndex()
		for i := range r.records {
			r.index.add(i, r.text(k, i, by.version))
		}
	}
	r.counts = r.index.count(r.counts, words.list, len(r.records))
	return func(i int) float64 { return words.part(int(r.counts[i])) }
}
