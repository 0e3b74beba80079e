package pipeline

import "github.com/dmpl/dmpl/pkg/document"

// AssembleConfig is the form of a prompt (llamabrain.md §5).
type AssembleConfig struct {
	MaxTokens            int
	ReserveTokens        int // for the answer
	CharactersPerToken   float64
	IncludeRetryFeedback bool
	IncludeConstraints   bool
	IncludeExamples      bool
	SystemPrompt         Format
	ContextHeader        string
	ConversationHeader   string
	ExamplesHeader       string
	PlayerInput          Format
	NPCPrompt            Format
	DefaultNPC           string
}

// assemblePresets are the named configurations (llamabrain.md §5).
var assemblePresets = map[string]AssembleConfig{
	"Default":      assembleSize(2048, 256),
	"SmallContext": assembleSize(1024, 128),
	"LargeContext": assembleSize(4096, 512),
}

func assembleSize(tokens, reserve int) AssembleConfig {
	return AssembleConfig{
		MaxTokens: tokens, ReserveTokens: reserve, CharactersPerToken: 4,
		IncludeRetryFeedback: true, IncludeConstraints: true, IncludeExamples: true,
		SystemPrompt:  Format{[]string{"System: ", ""}},
		ContextHeader: "\n[Context]", ConversationHeader: "\n[Conversation]", ExamplesHeader: "\n[Examples]",
		PlayerInput: Format{[]string{"\nPlayer: ", ""}},
		NPCPrompt:   Format{[]string{"\n", ":"}},
		DefaultNPC:  "NPC",
	}
}

// DefaultAssembleConfig gives the configuration that holds where nothing is said.
func DefaultAssembleConfig() AssembleConfig { return assemblePresets["Default"] }

// MaxCharacters gives the length above which a prompt is said to exceed its limit, in binary32 (llamabrain.md §5).
func (c AssembleConfig) MaxCharacters() int64 {
	return int64(float32(int64(c.MaxTokens)-int64(c.ReserveTokens)) * float32(c.CharactersPerToken))
}

func (c AssembleConfig) npc(name *string) string { return textOr(name, c.DefaultNPC) }

// The bounds on the characters of a token: estimates stay whole numbers of 64 bits.
const (
	leastCharactersPerToken = 0.001
	mostCharactersPerToken  = 1e6
)

// ReadAssembleConfig reads overrides of a preset, or of the defaults where none is named.
func ReadAssembleConfig(o *document.Object, name string) AssembleConfig {
	o = o.Object(name)
	c := preset(o, DefaultAssembleConfig(), assemblePresets)
	c.MaxTokens = o.Int("MaxPromptTokens", c.MaxTokens)
	c.ReserveTokens = o.Int("ReserveResponseTokens", c.ReserveTokens)
	c.CharactersPerToken = o.Real("CharsPerToken", c.CharactersPerToken)
	if c.CharactersPerToken < leastCharactersPerToken || c.CharactersPerToken > mostCharactersPerToken {
		o.Fail("CharsPerToken", "expected a number from 0.001 to 1000000")
		return DefaultAssembleConfig()
	}
	c.IncludeRetryFeedback = o.Bool("IncludeRetryFeedback", c.IncludeRetryFeedback)
	c.IncludeConstraints = o.Bool("IncludeConstraints", c.IncludeConstraints)
	c.IncludeExamples = o.Bool("IncludeFewShotExamples", c.IncludeExamples)
	c.SystemPrompt = readFormat(o, "SystemPromptFormat", c.SystemPrompt)
	c.ContextHeader = o.Text("ContextHeader", c.ContextHeader)
	c.ConversationHeader = o.Text("ConversationHeader", c.ConversationHeader)
	c.ExamplesHeader = o.Text("FewShotHeader", c.ExamplesHeader)
	c.PlayerInput = readFormat(o, "PlayerInputFormat", c.PlayerInput)
	c.NPCPrompt = readFormat(o, "NpcPromptFormat", c.NPCPrompt)
	c.DefaultNPC = o.Text("DefaultNpcName", c.DefaultNPC)
	if o.Integer("MaxPromptCharacters", c.MaxCharacters()) != c.MaxCharacters() {
		o.Fail("MaxPromptCharacters", "is computed from the tokens and cannot be set")
	}
	readModeSettings(o)
	refuseUnknown(o)
	return c
}

// readModeSettings refuses what would pick the mode: the input's `mode` does, and the settings of a mode stand beside it.
func readModeSettings(o *document.Object) {
	for _, name := range []string{"UseStructuredContext", "UseKvCache"} {
		if o.Bool(name, false) {
			o.Fail(name, "the mode of the input picks the mode")
		}
	}
	for _, name := range []string{"StructuredContextConfig", "KvCacheConfig"} {
		if o.Has(name) {
			o.Fail(name, "the settings of a mode stand beside the mode of the input")
		}
	}
}
