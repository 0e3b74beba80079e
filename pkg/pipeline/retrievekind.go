package pipeline

import "github.com/dmpl/dmpl/pkg/memory"

// kind is what retrieval knows of one kind of memory (llamabrain.md §2).
type kind[T any] struct {
	name       string // the record type
	list       string // where a state has the records
	scored     bool   // by dmpl itself
	record     func(*T) (e *memory.Entry, id string)
	limit      func(*RetrievalConfig) int
	eligible   func(s *scorer, r *T, named bool) bool // named: it names a topic
	said       func(*T, Version) string               // what is searched for the words of an input, and the prompt shows behind the mark
	mark       func(*T) string
	score      func(s *scorer, r *T, relevance float64) float64
	confidence func(*T) float64
}

// check refuses an order whose keys the kind does not have, and candidates where the version has none.
func (k *kind[T]) check(o Order, searched bool, v Version) error {
	switch {
	case searched && v == memory.LlamaBrainV1:
		return &Error{CodeInvalidInput, "/candidates/" + k.name, "llamabrain-v1 ranks no candidates of a search"}
	case o.uses("confidence") && k.name != memory.TypeBelief:
		return &Error{CodeInvalidInput, "/retrievalPolicies/" + k.name + "/order", "only beliefs have a confidence"}
	case o.uses("score") && !k.scored && !searched:
		return &Error{CodeInvalidInput, "/retrievalPolicies/" + k.name + "/order", "without candidates nothing scores this kind: its order is record_id"}
	}
	return nil
}

func unscored[T any](*scorer, *T, float64) float64 { return 0 }

func unmarked[T any](*T) string { return "" }

func unsure[T any](*T) float64 { return 0 }

// all gives the limit of a kind of which 0 or less means all.
func all(limit int) int {
	if limit <= 0 {
		return Unlimited
	}
	return limit
}

var factKind = kind[memory.Fact]{
	name: memory.TypeFact, list: "CanonicalFacts",
	record: func(f *memory.Fact) (*memory.Entry, string) { return &f.Entry, f.ID },
	limit:  func(c *RetrievalConfig) int { return all(c.MaxFacts) },
	eligible: func(s *scorer, f *memory.Fact, named bool) bool {
		return s.topics.none() || named || f.Domain != nil && s.topics.domain(*f.Domain)
	},
	said: func(f *memory.Fact, _ Version) string { return f.Text },
	mark: unmarked[memory.Fact], score: unscored[memory.Fact], confidence: unsure[memory.Fact],
}

var worldKind = kind[memory.WorldState]{
	name: memory.TypeWorld, list: "WorldState",
	record: func(w *memory.WorldState) (*memory.Entry, string) { return &w.Entry, w.Key },
	limit:  func(c *RetrievalConfig) int { return all(c.MaxWorld) },
	eligible: func(s *scorer, _ *memory.WorldState, named bool) bool {
		return s.topics.none() || named // the key is a part of what it says
	},
	said: func(w *memory.WorldState, _ Version) string { return w.PromptText() },
	mark: unmarked[memory.WorldState], score: unscored[memory.WorldState], confidence: unsure[memory.WorldState],
}

var episodeKind = kind[memory.Episode]{
	name: memory.TypeEpisode, list: "EpisodicMemories", scored: true,
	record: func(e *memory.Episode) (*memory.Entry, string) { return &e.Entry, e.ID },
	limit:  func(c *RetrievalConfig) int { return max(0, c.MaxEpisodes) },
	eligible: func(s *scorer, e *memory.Episode, _ bool) bool {
		return s.kept(e.Strength) > s.kept(s.config.MinStrength)
	},
	said:       func(e *memory.Episode, _ Version) string { return e.Description },
	mark:       unmarked[memory.Episode],
	score:      (*scorer).episode,
	confidence: unsure[memory.Episode],
}

var beliefKind = kind[memory.Belief]{
	name: memory.TypeBelief, list: "Beliefs", scored: true,
	record: func(b *memory.Belief) (*memory.Entry, string) { return &b.Entry, b.ID },
	limit:  func(c *RetrievalConfig) int { return max(0, c.MaxBeliefs) },
	eligible: func(s *scorer, b *memory.Belief, _ bool) bool {
		return (s.config.IncludeContradicted || !b.Contradicted) && s.kept(b.Confidence) >= s.kept(s.config.MinConfidence)
	},
	said: func(b *memory.Belief, v Version) string { return b.PromptText(v) }, // the words in front of a belief are part of its text
	mark: func(b *memory.Belief) string {
		if b.Contradicted {
			return "[Uncertain] "
		}
		return ""
	},
	score:      (*scorer).belief,
	confidence: func(b *memory.Belief) float64 { return b.Confidence },
}
