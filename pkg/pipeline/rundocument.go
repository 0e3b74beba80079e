package pipeline

import (
	"slices"

	"github.com/dmpl/dmpl/pkg/document"
)

// ReadRunConfig reads the configuration of a run (pipeline.config.v1). What a turn says of itself, ReadRunTurn adds.
func ReadRunConfig(o *document.Object, v Version) TurnConfig {
	for _, known := range []string{"schema_version", "pipeline_version", "context"} { // read by others
		o.Has(known)
	}
	c := TurnConfig{
		Retrieval: ReadRetrievalConfig(o, "retrieval"),
		Gate:      ReadGateConfig(o.Object("gate")),
		Mutation:  ReadMutationConfig(o, "mutation", v),
		Retry:     DefaultRetryPolicy(),
		Fallback:  DefaultFallbackConfig(),
	}
	c.Prompt = PromptConfig{
		Mode: PromptMode(o.Word("mode", string(SnapshotMode), string(WorkingMemoryMode), string(StructuredMode),
			string(MinimalMode), string(CacheMode))),
		Assembler:  ReadAssembleConfig(o, "assembler"),
		Boundary:   ReadCacheBoundary(o, "kv_cache"),
		Structured: ReadStructuredConfig(o, "structured"),
	}
	if o.Has("working_memory") {
		bounds := ReadBoundConfig(o, "working_memory")
		c.Prompt.Bounds = &bounds
	}
	parser := o.Object("parser")
	c.ParseMode = parser.Word("mode", "parse", "parse", "structured", "auto")
	c.Parser = ReadParserConfig(parser.Object("overrides"), preset(parser, DefaultParserConfig(), parserPresets))
	refuseUnknown(parser)
	refuseUnknown(o)
	return c
}

// ReadRunTurn reads a turn of a run (run.turn.v1), and what the turn adds to the configuration of the run. References and
// thread events are the caller's.
func ReadRunTurn(o *document.Object, c TurnConfig) (TurnInput, TurnConfig) {
	trigger, fallbacks := o.Object("trigger"), o.Object("fallbacks")
	in := TurnInput{
		Query: Query{
			PlayerInput: o.Text("player_input", ""), Topics: o.Texts("topics"), SnapshotTime: o.Integer("snapshot_time_utc_ticks", 0),
		},
		SystemPrompt: o.Text("system_prompt", ""),
		Dialogue:     o.Texts("dialogue"),
		Constraints:  readConstraints(o, "constraints"),
		NPCID:        o.Text("npc_id", ""),
		NPCName:      o.OptionalText("npc_name"),
		Recognition:  readRecognition(o, "recognition"),
		Forbidden:    o.Texts("forbidden_knowledge"),
		Rules:        ReadCustomRules(o, "custom_rules"),
		Fallback:     FallbackQuery{Trigger: fallbacks.Texts("trigger"), Reason: ReadTriggerReason(trigger, "reason"), Recorded: fallbacks.OptionalText("recorded")},
	}
	c.Retry = ReadRetryPolicy(o, "retry_policy")
	c.Fallback = readRunFallbacks(fallbacks)
	if examples := readExamples(o, "few_shot"); len(examples) > 0 {
		bounds := c.Prompt.bounds()
		bounds.Examples = append(slices.Clone(bounds.Examples), examples...)
		c.Prompt.Bounds = &bounds
	}
	return in, c
}

// triggerReasons are the names of the reasons, by value.
var triggerReasons = []string{
	"PlayerUtterance", "ZoneTrigger", "TimeTrigger", "QuestTrigger", "NpcInteraction", "WorldEvent", "Custom",
}

// readRunFallbacks reads the lists of a turn. They stand for themselves: what is not listed is not there.
func readRunFallbacks(o *document.Object) FallbackConfig {
	c := FallbackConfig{Generic: o.Texts("generic"), Emergency: o.Texts("emergency")}
	byReason := o.Object("by_reason")
	for i, name := range triggerReasons {
		c.ByReason[i] = byReason.Texts(name)
	}
	refuseUnknown(byReason)
	return c
}

func readExamples(o *document.Object, name string) []Example {
	var list []Example
	o.Each(name, func(e *document.Object) {
		list = append(list, Example{Player: e.Text("PlayerInput", ""), NPC: e.Text("NpcResponse", "")})
		refuseUnknown(e)
	})
	return list
}

// bounds gives the bounds that are configured, or those of the mode.
func (c *PromptConfig) bounds() BoundConfig {
	if c.Bounds != nil {
		return *c.Bounds
	}
	bounds := DefaultBoundConfig()
	if c.Mode == SnapshotMode || c.Mode == StructuredMode {
		bounds = c.Assembler.bounds()
	}
	return bounds
}

// bounds gives those of a snapshot that has no others: the working memory may nearly fill the prompt (llamabrain.md §5).
func (c AssembleConfig) bounds() BoundConfig {
	bounds := DefaultBoundConfig()
	bounds.MaxCharacters = max(500, c.MaxCharacters()-200)
	return bounds
}
