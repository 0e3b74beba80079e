package memory

import (
	"cmp"
	"slices"
)

// active is the strength above which an episode is remembered.
const active = 0.1

// NewEpisode gives an episode with the defaults of a new one.
func NewEpisode(description string) Episode {
	return Episode{Description: description, Significance: 0.5, Strength: 1}
}

// AddEpisodic appends an episode and prunes. What it gives is the episode as added, which may be gone already.
func (y *System) AddEpisodic(e Episode, source Source) (Episode, error) {
	if err := source.must(EpisodicAuthority, "add episodic memories"); err != nil {
		return Episode{}, err
	}
	e.Source, e.Sequence = source, y.number()
	e.ID = y.id(e.ID, e.Sequence)
	e.CreatedAt = y.clock()
	e.Significance, e.Strength, e.GameTime = y.round(e.Significance), y.round(e.Strength), y.round(e.GameTime)
	s := y.own()
	s.Episodes = append(s.Episodes, e)
	y.Prune()
	return e, nil
}

// AddDialogue appends a line of dialogue as an episode.
func (y *System) AddDialogue(speaker, text string, significance float64, source Source) (Episode, error) {
	e := NewEpisode(speaker + ": " + text)
	e.Type, e.Participant, e.Significance = Dialogue, &speaker, significance
	return y.AddEpisodic(e, source)
}

// Prune forgets the weakest episodes beyond the most that are kept: by strength, then significance, then age.
func (y *System) Prune() {
	excess := int64(len(y.state.Episodes)) - max(y.MaxEpisodes, 0)
	if excess <= 0 {
		return
	}
	forgotten := weakest(y.state.Episodes, int(excess))
	s := y.own()
	kept := s.Episodes[:0]
	for i, e := range s.Episodes {
		if len(forgotten) > 0 && forgotten[0] == i {
			forgotten = forgotten[1:]
			continue
		}
		kept = append(kept, e)
	}
	s.Episodes = kept
}

// weakest gives the places of the n weakest episodes, ascending.
func weakest(list []Episode, n int) []int {
	compare := func(a, b int) int {
		return cmp.Or(cmp.Compare(list[a].Strength, list[b].Strength), cmp.Compare(list[a].Significance, list[b].Significance), a-b)
	}
	places := make([]int, len(list))
	for i := range places {
		places[i] = i
	}
	if n == 1 { // what every added episode costs once the memory is full
		return []int{slices.MinFunc(places, compare)}
	}
	slices.SortFunc(places, compare)
	places = places[:n]
	slices.Sort(places)
	return places
}

// Decay weakens every episode once, the significant ones less, and forgets those without strength. No clock is involved.
func (y *System) Decay() {
	rate := y.round(y.DecayRate)
	s := y.own()
	kept := s.Episodes[:0]
	for _, e := range s.Episodes {
		share := y.round(1 - y.round(float64(e.Significance*0.5)))
		e.Strength = max(0, y.round(e.Strength-y.round(float64(rate*share))))
		if e.Strength > 0 {
			kept = append(kept, e)
		}
	}
	s.Episodes = kept
}

// Reinforce strengthens the first episode with the id, up to 1; false where there is none.
func (y *System) Reinforce(id string, amount float64) bool {
	i := slices.IndexFunc(y.state.Episodes, func(e Episode) bool { return e.ID == id })
	if i < 0 {
		return false
	}
	e := &y.own().Episodes[i]
	e.Strength = min(1, y.round(e.Strength+y.round(amount)))
	return true
}

// Active gives the episodes stronger than a threshold, the newest first.
func (y *System) Active(threshold float64) []Episode {
	var list []Episode
	for _, e := range y.state.Episodes {
		if e.Strength > y.round(threshold) {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b Episode) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) })
	return list
}

// Recent gives the newest n episodes that are remembered.
func (y *System) Recent(n int) []Episode {
	list := y.Active(active)
	return list[:min(max(n, 0), len(list))]
}
