package audit

import (
	"github.com/dmpl/dmpl/pkg/dotnet"
)

// DriftType is how a replayed record leaves the original, by LlamaBrain's own word (llamabrain.md §9). The first mismatch
// decides: memory, prompt, output, validation.
type DriftType string

// The types of drift.
const (
	NoDrift         DriftType = "None"
	MemoryDrift     DriftType = "Memory"
	PromptDrift     DriftType = "Prompt"
	OutputDrift     DriftType = "Output"
	ValidationDrift DriftType = "Validation"
)

// Drift says what LlamaBrain compares of two records. It knows neither constraints nor dialogue nor mutations.
type Drift struct {
	Type                                                           DriftType
	Description                                                    string // "" where nothing drifted
	MemoryMatches, PromptMatches, OutputMatches, ValidationMatches bool
}

// DriftOf compares a replayed record with the original.
func DriftOf(original, replayed *Record) Drift {
	d := Drift{
		Type:              NoDrift,
		MemoryMatches:     original.MemoryHashBefore == replayed.MemoryHashBefore,
		PromptMatches:     original.PromptHash == replayed.PromptHash,
		OutputMatches:     original.OutputHash == replayed.OutputHash,
		ValidationMatches: original.ValidationPassed == replayed.ValidationPassed,
	}
	switch {
	case !d.MemoryMatches:
		d.Type = MemoryDrift
		d.Description = "Memory state differs from original. " + hashes(original.MemoryHashBefore, replayed.MemoryHashBefore)
	case !d.PromptMatches:
		d.Type = PromptDrift
		d.Description = "Prompt assembly differs from original. " + hashes(original.PromptHash, replayed.PromptHash) +
			" May indicate template or governance changes."
	case !d.OutputMatches:
		d.Type = OutputDrift
		d.Description = "LLM output differs from original. " + hashes(original.OutputHash, replayed.OutputHash) +
			" May indicate model change or non-determinism."
	case !d.ValidationMatches:
		d.Type = ValidationDrift
		d.Description = "Validation outcome differs. Original: " + outcome(original) + ", Replayed: " + outcome(replayed)
	}
	return d
}

// hashes shows two hashes where both are there.
func hashes(original, replayed string) string {
	if original == "" || replayed == "" {
		return ""
	}
	return "Original: " + short(original) + ", Replayed: " + short(replayed)
}

// short cuts a hash, and what is half of a pair then is written as LlamaBrain writes it.
func short(hash string) string {
	const shown = 8
	return dotnet.UTF8(dotnet.Cut(hash, 0, min(shown, dotnet.Len(hash))))
}

func outcome(r *Record) string {
	if r.ValidationPassed {
		return "passed"
	}
	return "failed"
}
