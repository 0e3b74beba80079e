package pipeline

import (
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/dotnet"
)

// StructuredConfig is the form of a prompt whose context is a JSON document (llamabrain.md §5).
type StructuredConfig struct {
	JSON            bool // false falls back to the plain form
	OpenTag, EndTag string
	Compact         bool
}

// DefaultStructuredConfig gives the configuration that holds where nothing is said.
func DefaultStructuredConfig() StructuredConfig {
	return StructuredConfig{JSON: true, OpenTag: "<context_json>", EndTag: "</context_json>", Compact: true}
}

// structuredPresets are the named configurations. They differ only in what happens where no JSON can be made: never.
var structuredPresets = map[string]StructuredConfig{"Default": DefaultStructuredConfig(), "Strict": DefaultStructuredConfig()}

// ReadStructuredConfig reads overrides of the defaults. The format is 0 for none or 1 for JSON.
func ReadStructuredConfig(o *document.Object, name string) StructuredConfig {
	o = o.Object(name)
	c := preset(o, DefaultStructuredConfig(), structuredPresets)
	switch o.Int("PreferredFormat", 1) {
	case 0:
		c.JSON = false
	case 1:
	default:
		o.Fail("PreferredFormat", "is none of 0 (text), 1 (JSON)")
	}
	o.Bool("FallbackToTextAssembly", true)
	o.Bool("ValidateSchema", true)
	c.OpenTag = o.Text("ContextBlockOpenTag", c.OpenTag)
	c.EndTag = o.Text("ContextBlockCloseTag", c.EndTag)
	c.Compact = o.Bool("UseCompactJson", c.Compact)
	refuseUnknown(o)
	return c
}

// AssembleStructured makes a prompt of a JSON document of the whole snapshot, without bounds, feedback and input section
// (llamabrain.md §5). P2(j): referenced events follow the context here too.
func AssembleStructured(s Snapshot, npc *string, c AssembleConfig, sc StructuredConfig) Prompt {
	a := assembly{c: c, npc: c.npc(npc)}
	a.system(s.SystemPrompt)
	a.add(piece{of: contextPart, header: "\n" + sc.OpenTag + "\n", text: string(structuredContext(s, sc.Compact))})
	a.add(piece{of: formattingPart, text: "\n" + sc.EndTag})
	a.references(s.References)
	a.answer()
	p := a.prompt()
	p.Tokens = int64(c.tokenRatio(p.Characters))
	return p
}

func structuredContext(s Snapshot, compact bool) []byte {
	w := document.NewWriter(document.Style{LlamaBrain: true, Indent: !compact})
	w.Object("", func() {
		w.Text("schemaVersion", "1.0")
		w.Object("context", func() { writeContext(w, s) })
		w.Object("constraints", func() {
			writeTexts(w, "prohibitions", injections(s.Constraints, Prohibition))
			writeTexts(w, "requirements", injections(s.Constraints, Requirement))
			writeTexts(w, "permissions", injections(s.Constraints, Permission))
		})
		w.Object("dialogue", func() {
			writeEach(w, "history", s.Dialogue, func(_ int, line string) {
				speaker, text := splitDialogue(line)
				w.Text("speaker", speaker)
				w.Text("text", text)
			})
			w.Text("playerInput", s.PlayerInput)
		})
	})
	return w.Bytes()
}

// writeContext writes the memory. What a snapshot does not hold has fixed values (llamabrain.md §5).
func writeContext(w *document.Writer, s Snapshot) {
	writeTexts(w, "canonicalFacts", s.Facts)
	writeEach(w, "worldState", s.World, func(_ int, item string) {
		key, value, _ := strings.Cut(item, "=")
		w.Text("key", dotnet.Trim(key))
		w.Text("value", dotnet.Trim(value))
	})
	writeEach(w, "episodicMemories", s.Episodes, func(i int, item string) {
		recency := float32(1)
		if len(s.Episodes) > 1 {
			recency = float32(i) / float32(len(s.Episodes)-1)
		}
		w.Text("content", item)
		w.Real("recency", float64(recency))
		w.Real("importance", 0.5)
	})
	writeEach(w, "beliefs", s.Beliefs, func(i int, item string) {
		w.Text("id", "belief_"+strconv.Itoa(i))
		w.Text("content", item)
		w.Real("confidence", 0.7)
		w.Real("sentiment", 0)
	})
}

// writeEach writes a list of objects, one for each item.
func writeEach(w *document.Writer, name string, items []string, members func(i int, item string)) {
	w.List(name, func() {
		for i, item := range items {
			w.Object("", func() { members(i, item) })
		}
	})
}

// injections gives what the constraints of a type tell the model, where they tell anything.
func injections(set []Constraint, t ConstraintType) []string {
	var texts []string
	for _, c := range ofType(set, t) {
		if text := textOr(c.PromptInjection, ""); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// splitDialogue splits a line at its first colon, unless that is where it begins (llamabrain.md §5).
func splitDialogue(line string) (speaker, text string) {
	if at := strings.IndexByte(line, ':'); at > 0 {
		return dotnet.Trim(line[:at]), dotnet.Trim(line[at+1:])
	}
	return "Unknown", line
}
