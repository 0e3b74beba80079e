package pipeline

import "github.com/dmpl/dmpl/pkg/document"

// ParserConfig says how a model output becomes dialogue (llamabrain.md §6.1).
type ParserConfig struct {
	EnforceSingleLine      bool
	RemoveStageDirections  bool // *sighs*
	RemoveScriptDirections bool // [nods]
	RemoveSpeakerLabels    bool // Guard:
	ExtractStructuredData  bool // markers and JSON blocks; off is raw mode
	TrimToCompleteSentence bool
	MinimumCharacters      int
	MetaPatterns           []string // what dialogue does not say
	UseStructuredOutput    bool     // the model was asked for JSON
}

// parserPresets are the configurations that have a name, all with the same meta patterns.
var parserPresets = map[string]ParserConfig{
	"Default":          {true, true, true, true, true, true, 1, metaPatterns, false},
	"Minimal":          {MinimumCharacters: 1, MetaPatterns: metaPatterns},
	"Structured":       {false, true, true, true, true, false, 1, metaPatterns, false},
	"NativeStructured": {MinimumCharacters: 1, MetaPatterns: metaPatterns, UseStructuredOutput: true},
}

// DefaultParserConfig does all cleaning and extraction.
func DefaultParserConfig() ParserConfig { return parserPresets["Default"] }

var metaPatterns = []string{
	"example answer:", "for example:", "example:", "note:", "remember:", "important:", "hint:", "tip:", "answer:", "reply:", "response:",
	"player asks", "player says", "npc replies", "npc says", "character responds", "if you wish", "if you want", "don't forget",
	"keep in mind", "you should", "you can", "you may", "use punctuation", "indicate a question", "respectively", "for strong emotions",
}

// ReadParserConfig reads overrides of a preset, or of the given configuration where none is named.
func ReadParserConfig(o *document.Object, otherwise ParserConfig) ParserConfig {
	c := preset(o, otherwise, parserPresets)
	c.EnforceSingleLine = o.Bool("EnforceSingleLine", c.EnforceSingleLine)
	c.RemoveStageDirections = o.Bool("RemoveStageDirections", c.RemoveStageDirections)
	c.RemoveScriptDirections = o.Bool("RemoveScriptDirections", c.RemoveScriptDirections)
	c.RemoveSpeakerLabels = o.Bool("RemoveSpeakerLabels", c.RemoveSpeakerLabels)
	c.ExtractStructuredData = o.Bool("ExtractStructuredData", c.ExtractStructuredData)
	c.TrimToCompleteSentence = o.Bool("TrimToCompleteSentence", c.TrimToCompleteSentence)
	c.MinimumCharacters = o.Int("MinimumCharacterCount", c.MinimumCharacters)
	if o.Has("MetaTextPatterns") {
		c.MetaPatterns = o.Texts("MetaTextPatterns")
	}
	c.UseStructuredOutput = o.Bool("UseStructuredOutput", c.UseStructuredOutput)
	refuseUnknown(o)
	return c
}
