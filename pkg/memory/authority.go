package memory

import "strconv"

// Authority is how much a kind of memory resists change, 0 to 100 (llamabrain.md §1).
type Authority int

// The authorities of LlamaBrain's kinds.
const (
	BeliefAuthority    Authority = 25
	EpisodicAuthority  Authority = 50
	WorldAuthority     Authority = 75
	CanonicalAuthority Authority = 100
)

// Source is who writes, with its authority as the value (llamabrain.md §1). Values between the named ones are legal.
type Source int

// The sources of LlamaBrain.
const (
	LLMSuggestion   Source = 25
	ValidatedOutput Source = 50
	GameSystem      Source = 75
	Designer        Source = 100
)

// Allows tells whether a source may write memory of an authority (M10).
func (s Source) Allows(a Authority) bool { return int(s) >= int(a) }

// String gives LlamaBrain's name of the source, or its number.
func (s Source) String() string {
	for _, n := range sources {
		if n.value == int(s) {
			return n.name
		}
	}
	return strconv.Itoa(int(s))
}

// named is a number that documents may call by its name.
type named struct {
	value int
	name  string
}

var sources = []named{
	{int(LLMSuggestion), "LlmSuggestion"},
	{int(ValidatedOutput), "ValidatedOutput"},
	{int(GameSystem), "GameSystem"},
	{int(Designer), "Designer"},
}

var authorities = []named{
	{int(BeliefAuthority), "Belief"},
	{int(EpisodicAuthority), "Episodic"},
	{int(WorldAuthority), "WorldState"},
	{int(CanonicalAuthority), "Canonical"},
}
