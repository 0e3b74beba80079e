package pipeline

import "github.com/dmpl/dmpl/pkg/document"

// RetrievalConfig says how memories are chosen and scored (llamabrain.md §2).
type RetrievalConfig struct {
	MaxFacts            int // 0 or less: all
	MaxWorld            int // 0 or less: all
	MaxEpisodes         int // 0 or less: none
	MaxBeliefs          int // 0 or less: none
	MaxDialogue         int // kept for the record, no stage reads it
	MinStrength         float64
	MinConfidence       float64
	IncludeContradicted bool
	RecencyWeight       float64
	RelevanceWeight     float64
	SignificanceWeight  float64
	RecencyHalfLife     int64 // ticks; 0 or less: every episode is fresh
}

// DefaultRetrievalConfig gives LlamaBrain's defaults.
func DefaultRetrievalConfig() RetrievalConfig {
	return RetrievalConfig{
		MaxEpisodes: 15, MaxBeliefs: 10, MaxDialogue: 10,
		MinStrength: 0.1, MinConfidence: 0.3,
		RecencyWeight: 0.4, RelevanceWeight: 0.4, SignificanceWeight: 0.2,
		RecencyHalfLife: 36_000_000_000, // one hour
	}
}

// ReadRetrievalConfig reads overrides of the defaults.
func ReadRetrievalConfig(o *document.Object, name string) RetrievalConfig {
	o = o.Object(name)
	c := DefaultRetrievalConfig()
	c.MaxFacts = o.Int("MaxCanonicalFacts", c.MaxFacts)
	c.MaxWorld = o.Int("MaxWorldState", c.MaxWorld)
	c.MaxEpisodes = o.Int("MaxEpisodicMemories", c.MaxEpisodes)
	c.MaxBeliefs = o.Int("MaxBeliefs", c.MaxBeliefs)
	c.MaxDialogue = o.Int("MaxDialogueHistory", c.MaxDialogue)
	c.MinStrength = o.Real("MinEpisodicStrength", c.MinStrength)
	c.MinConfidence = o.Real("MinBeliefConfidence", c.MinConfidence)
	c.IncludeContradicted = o.Bool("IncludeContradictedBeliefs", c.IncludeContradicted)
	c.RecencyWeight = o.Real("RecencyWeight", c.RecencyWeight)
	c.RelevanceWeight = o.Real("RelevanceWeight", c.RelevanceWeight)
	c.SignificanceWeight = o.Real("SignificanceWeight", c.SignificanceWeight)
	c.RecencyHalfLife = o.Integer("RecencyHalfLifeTicks", c.RecencyHalfLife)
	if o.Has("EmbeddingConfig") {
		o.Fail("EmbeddingConfig", "semantic scoring is not done here: give the search's answer as candidates (R7)")
	}
	refuseUnknown(o)
	return c
}
