// Package memory has the rules of an agent's memory: what is remembered, who may change it, in which order, and what the
// digest of it all is. It does no I/O and reads no clock.
package memory

// Entry is what every kind of memory has (M11). Reals of all kinds are binary64 here; the Numbers of a version say what
// is stored of them.
type Entry struct {
	ID        string
	CreatedAt int64 // ticks: 100 ns since 0001-01-01T00:00:00Z
	Sequence  int64 // from 1; 0 where none was given
	Source    Source
	Category  *string

	// Of dmpl-v1 alone; llamabrain-v1 has no filters (M11).
	Namespace string
	Scope     string
	Tags      []string
	Trust     *int   // 0 to 100; nil means the authority of the source
	ExpiresAt *int64 // ticks; nil means never
}

// Fact is a canonical fact: it can be added and never changed (M10).
type Fact struct {
	Entry
	Text     string
	Domain   *string
	Keywords []string // texts that contradict it; nil where the producer gave none
}

// WorldState is one value of the world, changed by the game system alone (M10).
type WorldState struct {
	Entry
	Key           string
	Value         string
	ModifiedAt    int64 // ticks
	Modifications int64
}

// Episode is something that happened.
type Episode struct {
	Entry
	Description  string
	Type         EpisodeType
	Participant  *string
	Significance float64 // 0 to 1
	Strength     float64 // 0 to 1
	GameTime     float64
	Location     *string
}

// EpisodeType is the kind of an episode; values beyond the named ones are kept.
type EpisodeType int

// The kinds of episodes.
const (
	Dialogue EpisodeType = iota
	Observation
	Thought
	GameEvent
	LearnedInfo
	LocationEntry
)

// Belief is what somebody thinks; a relationship is a belief of that type.
type Belief struct {
	Entry
	Key          string
	Subject      string
	Content      string
	Type         BeliefType
	Confidence   float64 // 0 to 1
	Sentiment    float64 // -1 to 1
	Contradicted bool
	Evidence     *string
}

// BeliefType is the kind of a belief; values beyond the named ones are kept.
type BeliefType int

// The kinds of beliefs.
const (
	Opinion BeliefType = iota
	Relationship
	PlainBelief
	Assumption
	Preference
)

// State is the whole memory of one persona. Facts, world state and beliefs stand in the order in which their key was
// first inserted, episodes in the order of insertion.
type State struct {
	PersonaID        string
	NextSequence     int64 // the number of the next entry, from 1
	Facts            []Fact
	World            []WorldState
	Episodes         []Episode
	Beliefs          []Belief
	Others           []Record // of types that are not LlamaBrain's; dmpl-v1 alone
	InteractionCount int64
}
