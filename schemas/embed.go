// Package schemas holds the JSON Schemas (draft 2020-12) of the artifacts that dmpl reads and writes.
package schemas

import (
	"embed"
	"fmt"
)

//go:embed *.json
var files embed.FS

const suffix = ".schema.json"

// Names gives the schema names in ascending order. A name is the version that an artifact of the kind states about
// itself, e.g. "memory.determinism_trace.v1".
func Names() []string {
	return []string{
		"context.config.v1",
		"dmpl.report.v1",
		"dmpl.run.v1",
		"memory.commit.v1",
		"memory.determinism_trace.v1",
		"memory.ledger.v1",
		"memory.policy_set.v1",
		"memory.retrieval_trace.v1",
		"memory.snapshot.v1",
		"memory.tool_profile.v1",
		"pipeline.config.v1",
		"run.candidates.v1",
		"run.output.v1",
		"run.profiles.v1",
		"run.prompt.v1",
		"run.tool_result.v1",
		"run.turn.v1",
	}
}

// Read gives the schema of that name as JSON text. The error says which name is not known.
func Read(name string) ([]byte, error) {
	text, err := files.ReadFile(name + suffix)
	if err != nil {
		return nil, fmt.Errorf("no schema %q: %w", name, err)
	}
	return text, nil
}
