package pipeline

import (
	"math"

	"github.com/dmpl/dmpl/pkg/memory"
)

// scorer rates memories against one player input (llamabrain.md §2). In llamabrain-v1 every operation rounds to binary32,
// in dmpl-v1 none does before the score is quantised (P2 b). Every product stands in a conversion, so that no compiler
// fuses it into the addition behind it.
type scorer struct {
	config  RetrievalConfig
	now     int64 // P4: the snapshot time, the only clock
	version Version
	words   *wordSet
	topics  topicSet
}

// newScorer gives the scorer of a query, with its words in the memory of another's.
func newScorer(q *Query, c *RetrievalConfig, v Version, words *wordSet) *scorer {
	words.reset(q.PlayerInput)
	return &scorer{config: *c, now: q.SnapshotTime, version: v, words: words, topics: topicsOf(q.Topics)}
}

// kept gives what the version keeps of an intermediate result.
func (s *scorer) kept(x float64) float64 {
	if s.version == memory.LlamaBrainV1 {
		return float64(float32(x))
	}
	return x
}

// relevance says how much of the input a text answers that has a share of its words, and names a topic or none.
func (s *scorer) relevance(share float64, named bool) float64 {
	relevance := s.kept(share)
	if named {
		relevance = min(1, s.kept(relevance+s.kept(0.3)))
	}
	return relevance
}

// episode gives the score of an episode of some relevance.
func (s *scorer) episode(e *memory.Episode, relevance float64) float64 {
	significance := s.kept(e.Significance)
	recency := 1.0
	if elapsed := s.now - e.CreatedAt; elapsed > 0 && s.config.RecencyHalfLife > 0 {
		decay := s.kept(half(float64(elapsed) / float64(s.config.RecencyHalfLife)))
		boost := s.kept(1 + s.kept(float64(significance*0.5)))
		recency = min(1, s.kept(float64(decay*boost)))
	}
	score := s.kept(float64(s.kept(s.config.RecencyWeight) * recency))
	score = s.kept(score + s.kept(float64(s.kept(s.config.RelevanceWeight)*relevance)))
	score = s.kept(score + s.kept(float64(s.kept(s.config.SignificanceWeight)*significance)))
	return s.version.Numbers().Round(score)
}

// belief gives the score of a belief of some relevance.
func (s *scorer) belief(b *memory.Belief, relevance float64) float64 {
	confidence := s.kept(b.Confidence)
	if b.Contradicted {
		confidence = s.kept(float64(confidence * 0.5))
	}
	score := s.kept(s.kept(float64(relevance*s.kept(0.6))) + s.kept(float64(confidence*s.kept(0.4))))
	return s.version.Numbers().Round(score)
}

// maxScore bounds scores so that a million of them is an exact integer in binary64 (P2 b).
const maxScore = 1e9

// rankable says that a score can be ordered: it is finite, and in dmpl-v1 its quantised form is an exact integer.
func (s *scorer) rankable(score float64) bool {
	if s.version == memory.LlamaBrainV1 {
		return math.Abs(score) <= math.MaxFloat32
	}
	return math.Abs(score) <= maxScore
}
