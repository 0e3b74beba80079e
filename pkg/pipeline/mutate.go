package pipeline

import (
	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/memory"
)

// MutationConfig says what a mutation does not say itself (llamabrain.md §7).
type MutationConfig struct {
	Significance float64 // of a new episode
	Sentiment    float64 // of a new relationship
	Logging      bool    // kept for the record, no stage reads it
	Statistics   bool    // count what was done
}

// DefaultMutationConfig gives LlamaBrain's defaults.
func DefaultMutationConfig() MutationConfig {
	return MutationConfig{Significance: 0.5, Logging: true, Statistics: true}
}

// MutationResult says what one mutation did.
type MutationResult struct {
	Mutation Mutation
	Failure  string    // in LlamaBrain's words; empty: it was done
	Affected *Affected // the entry that was written; nil where none was
}

// Affected is an entry that a mutation wrote. P2(h): in dmpl-v1 it has neither id nor number before its commit is applied.
type Affected struct {
	ID       string
	Sequence *int64
	Text     string // as a prompt shows it
}

func (r *mutator) affected(e memory.Entry, text string) *Affected {
	if r.version == memory.DMPLv1 {
		return &Affected{Text: text}
	}
	return &Affected{e.ID, &e.Sequence, text}
}

// Statistics counts what a batch did.
type Statistics struct {
	Attempted, Succeeded, Failed        int
	Episodes, Beliefs, Relationships    int // written
	Intents                             int // approved ones, emitted
	CanonicalAttempts, AuthorityRefused int
}

// Batch is what the mutations and intents of one answer did. The memory was changed in the order of the results.
type Batch struct {
	Results    []MutationResult
	Statistics Statistics
	approved   []Intent // the gate's, as emitted
	emitted    Emitted
}

// Succeeded counts the mutations that were done.
func (b *Batch) Succeeded() int {
	n := 0
	for i := range b.Results {
		if b.Results[i].Failure == "" {
			n++
		}
	}
	return n
}

// Emitted gives what the batch asks the world to do: the only thing that can be dispatched (P1).
func (b *Batch) Emitted() Emitted { return b.emitted }

// Mutate executes what the gate approved: nothing unless it passed (P5). A mutation that fails does not stop the others.
func Mutate(y *memory.System, g *GateResult, npcID string, c MutationConfig, v Version) *Batch {
	b := &Batch{emitted: Emitted{npcID: npcID}}
	if !g.Passed {
		return b
	}
	run := mutator{system: y, config: c, version: v, batch: b}
	for _, m := range g.ApprovedMutations {
		r := run.execute(m)
		b.Results = append(b.Results, r)
		run.count(r)
	}
	b.approved = g.ApprovedIntents
	b.emitted.intents = append(b.emitted.intents, g.ApprovedIntents...)
	b.Statistics.Intents = len(g.ApprovedIntents)
	if !c.Statistics {
		b.Statistics = Statistics{}
	}
	return b
}

// mutator executes the mutations of one batch.
type mutator struct {
	system  *memory.System
	config  MutationConfig
	version Version
	batch   *Batch
}

func (r *mutator) execute(m Mutation) MutationResult {
	result := MutationResult{Mutation: m, Failure: refusal(m, r.system)}
	if result.Failure != "" {
		return result
	}
	var err error
	switch m.Type {
	case AppendEpisodic:
		result.Affected, err = r.appendEpisodic(m)
	case TransformBelief:
		result.Affected, err = r.setBelief(*m.Target, m, memory.PlainBelief, 0)
	case TransformRelationship:
		result.Affected, err = r.setBelief(relationshipKey(m), m, memory.Relationship, r.config.Sentiment)
	case EmitWorldIntent:
		r.emit(m)
	}
	if err != nil { // a memory refuses only for want of authority
		result.Failure, result.Affected = err.Error(), nil
		r.batch.Statistics.AuthorityRefused++
	}
	return result
}

// appendEpisodic adds an episode; one whose source text is known weighs a little more.
func (r *mutator) appendEpisodic(m Mutation) (*Affected, error) {
	e := memory.NewEpisode(*m.Content)
	e.Type = memory.LearnedInfo
	numbers := r.version.Numbers()
	e.Significance = numbers.Round(r.config.Significance)
	if textOr(m.SourceText, "") != "" {
		e.Significance = min(1, numbers.Round(e.Significance+numbers.Round(0.1)))
	}
	e, err := r.system.AddEpisodic(e, memory.ValidatedOutput)
	return r.affected(e.Entry, e.Description), err
}

func (r *mutator) setBelief(key string, m Mutation, t memory.BeliefType, sentiment float64) (*Affected, error) {
	b := memory.NewBelief(*m.Target, *m.Content)
	b.Type, b.Confidence, b.Sentiment, b.Evidence = t, m.Confidence, sentiment, m.SourceText
	b, err := r.system.SetBelief(key, b, memory.ValidatedOutput)
	return r.affected(b.Entry, b.PromptText(r.version)), err
}

func (r *mutator) emit(m Mutation) {
	i := Intent{Type: m.Target, Target: &r.batch.emitted.npcID, SourceText: m.SourceText}
	if !blank(m.Content) {
		i.Parameters = []Parameter{{Name: "content", Value: *m.Content}}
	}
	r.batch.emitted.intents = append(r.batch.emitted.intents, i)
}

func (r *mutator) count(m MutationResult) {
	s := &r.batch.Statistics
	s.Attempted++
	if m.Failure != "" {
		s.Failed++
		if deniesFact(m.Mutation, r.system) {
			s.CanonicalAttempts++
		}
		return
	}
	s.Succeeded++
	switch m.Mutation.Type {
	case AppendEpisodic:
		s.Episodes++
	case TransformBelief:
		s.Beliefs++
	case TransformRelationship:
		s.Relationships++
	}
}

func blank(text *string) bool { return text == nil || dotnet.Blank(*text) }
