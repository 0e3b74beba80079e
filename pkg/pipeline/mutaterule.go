package pipeline

import "github.com/dmpl/dmpl/pkg/memory"

// needs are what a mutation of each type must have, with LlamaBrain's words where it is missing (llamabrain.md §7).
var needs = [...]struct{ target, content string }{
	AppendEpisodic:        {"", "Episodic memory content cannot be empty"},
	TransformBelief:       {"Belief mutation requires a target (belief ID)", "Belief content cannot be empty"},
	TransformRelationship: {"Relationship mutation requires a target (entity ID)", "Relationship content cannot be empty"},
	EmitWorldIntent:       {"World intent requires an intent type (target)", ""},
}

// incomplete says what a mutation lacks; empty where it has all that its type needs, or where the type is unknown.
func incomplete(m Mutation) string {
	if m.Type < 0 || int(m.Type) >= len(needs) {
		return ""
	}
	switch need := needs[m.Type]; {
	case need.target != "" && blank(m.Target):
		return need.target
	case need.content != "" && blank(m.Content):
		return need.content
	}
	return ""
}

// refusal says why a mutation is not executed; empty where it is.
func refusal(m Mutation, y *memory.System) string {
	switch {
	case m.Type < AppendEpisodic || m.Type > EmitWorldIntent:
		return "Unknown mutation type: " + m.Type.String()
	case incomplete(m) != "":
		return incomplete(m)
	case !deniesFact(m, y):
		return ""
	case m.Type == TransformBelief:
		return "Cannot modify canonical fact: " + *m.Target
	}
	return "Cannot modify canonical relationship: " + relationshipKey(m)
}

// deniesFact says that a mutation would write over a canonical fact: a belief under its id, or a relationship whose key is
// one (M10).
func deniesFact(m Mutation, y *memory.System) bool {
	switch m.Type {
	case TransformBelief:
		return m.Target != nil && y.HasFact(*m.Target)
	case TransformRelationship:
		return m.Target != nil && y.HasFact(relationshipKey(m))
	}
	return false
}

func relationshipKey(m Mutation) string { return "relationship_" + *m.Target }

// Preflight says what is wrong with a mutation before it is executed, as LlamaBrain's own check does: it takes every target
// for the id of a fact, and does not know a relationship's key. Empty: nothing.
func Preflight(m Mutation, y *memory.System) string {
	if m.Target != nil && y.HasFact(*m.Target) {
		return "Cannot modify canonical fact: " + *m.Target
	}
	return incomplete(m)
}
