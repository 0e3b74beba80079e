package memory

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
