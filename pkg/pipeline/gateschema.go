package pipeline

import (
	"strconv"

	"github.com/dmpl/dmpl/pkg/dotnet"
)

// SchemaFault says why a mutation is no well-formed one; empty where it is (llamabrain.md §6.3, the optional filter).
func (m Mutation) SchemaFault() string {
	noTarget := m.Target == nil || dotnet.Blank(*m.Target)
	switch {
	case m.Content == nil || dotnet.Blank(*m.Content):
		return "Mutation content is required"
	case m.Type == TransformBelief && noTarget:
		return "TransformBelief requires a target (belief ID)"
	case m.Type == TransformBelief && (m.Confidence < 0 || m.Confidence > 1):
		return "Confidence must be between 0 and 1 (got " + strconv.FormatFloat(m.Confidence, 'f', -1, 32) + ")"
	case m.Type == TransformRelationship && noTarget:
		return "TransformRelationship requires a target (entity ID)"
	case m.Type == EmitWorldIntent && noTarget:
		return "EmitWorldIntent requires a target (intent type)"
	case m.Type < AppendEpisodic || m.Type > EmitWorldIntent:
		return "Unknown mutation type: " + m.Type.String()
	}
	return ""
}

// SchemaFault says why an intent is no well-formed one; empty where it is.
func (i Intent) SchemaFault() string {
	switch {
	case i.Type == nil || dotnet.Blank(*i.Type):
		return "Intent type is required"
	case i.Priority < 0:
		return "Priority must be non-negative (got " + strconv.Itoa(i.Priority) + ")"
	}
	return ""
}

// SchemaFilter drops the mutations and intents of an output that are not well formed, before the gate sees them.
func SchemaFilter(out ParsedOutput) ParsedOutput {
	kept := out
	kept.Mutations, kept.Intents = nil, nil
	for _, m := range out.Mutations {
		if m.SchemaFault() == "" {
			kept.Mutations = append(kept.Mutations, m)
		}
	}
	for _, i := range out.Intents {
		if i.SchemaFault() == "" {
			kept.Intents = append(kept.Intents, i)
		}
	}
	return kept
}
