package pipeline

// PromptMode says which kind of prompt is assembled (llamabrain.md §5).
type PromptMode string

// The modes.
const (
	SnapshotMode      PromptMode = "snapshot"
	WorkingMemoryMode PromptMode = "workingMemory"
	StructuredMode    PromptMode = "structured"
	MinimalMode       PromptMode = "minimal"
	CacheMode         PromptMode = "cache"
)

// PromptConfig is the configuration of bounds and assembly.
type PromptConfig struct {
	Mode       PromptMode
	Bounds     *BoundConfig // nil: the defaults of the mode
	Assembler  AssembleConfig
	Boundary   CacheBoundary    // of CacheMode
	Structured StructuredConfig // of StructuredMode
}

// assemble makes the prompt of a snapshot in the mode that is configured.
func (c *PromptConfig) assemble(s Snapshot, t Turn, v Version) Prompt {
	bounds := DefaultBoundConfig()
	if c.Bounds != nil {
		bounds = *c.Bounds
	}
	switch {
	case c.Mode == WorkingMemoryMode:
		return Assemble(Bound(s, bounds, v), t, c.Assembler)
	case c.Mode == CacheMode:
		return AssembleCached(Bound(s, bounds, v), t, c.Assembler, c.Boundary)
	case c.Mode == MinimalMode:
		return AssembleMinimal(s.SystemPrompt, s.PlayerInput, t.NPC, c.Assembler)
	case c.Mode == StructuredMode && c.Structured.JSON:
		return AssembleStructured(s, t.NPC, c.Assembler, c.Structured)
	}
	return AssembleSnapshot(s, c.Bounds, t, c.Assembler, v)
}
