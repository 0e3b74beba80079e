package pipeline

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/thread"
)

// AssembleStage gives the stage that assembles: `mode`, `snapshot` and configurations in, the prompt out.
func AssembleStage(v Version) thread.Stage {
	return func(input canon.Value) ([]byte, error) {
		o := document.Open(input)
		mode := o.Word("mode", "snapshot", "snapshot", "workingMemory", "cache", "structured", "minimal")
		p := assembleModes[mode](o, v)
		if err := o.Err(); err != nil {
			return nil, err
		}
		w := document.NewWriter(document.Style{})
		w.Object("", func() {
			writePrompt(w, p)
			if mode == "snapshot" {
				w.Object("workingMemory", func() { writeWorkingMemory(w, *p.Memory, v) })
			}
			if p.Cache != nil {
				writeCacheInfo(w, *p.Cache, p.Tokens)
			}
		})
		return w.Bytes(), nil
	}
}

// assembleModes read what a mode needs, and make its prompt.
var assembleModes = map[string]func(*document.Object, Version) Prompt{
	"snapshot": assembleSnapshot,
	"workingMemory": func(o *document.Object, v Version) Prompt {
		return Assemble(readBound(o, v), readTurn(o), ReadAssembleConfig(o, "assemblerConfig"))
	},
	"cache": func(o *document.Object, v Version) Prompt {
		return AssembleCached(readBound(o, v), readTurn(o), ReadAssembleConfig(o, "assemblerConfig"), ReadCacheBoundary(o, "kvCacheConfig"))
	},
	"structured": func(o *document.Object, v Version) Prompt {
		c := ReadStructuredConfig(o, "structuredConfig")
		if !c.JSON {
			return assembleSnapshot(o, v)
		}
		return AssembleStructured(readSnapshot(o, "snapshot", v), o.OptionalText("npcName"), ReadAssembleConfig(o, "assemblerConfig"), c)
	},
	"minimal": func(o *document.Object, _ Version) Prompt {
		return AssembleMinimal(o.Text("systemPrompt", ""), o.Text("playerInput", ""), o.OptionalText("npcName"),
			ReadAssembleConfig(o, "assemblerConfig"))
	},
}

func assembleSnapshot(o *document.Object, v Version) Prompt {
	var bounds *BoundConfig
	if o.Has("workingMemoryConfig") {
		c := ReadBoundConfig(o, "workingMemoryConfig")
		bounds = &c
	}
	return AssembleSnapshot(readSnapshot(o, "snapshot", v), bounds, readTurn(o), ReadAssembleConfig(o, "assemblerConfig"), v)
}

// readBound reads and bounds a snapshot for the modes that take a working memory.
func readBound(o *document.Object, v Version) WorkingMemory {
	return Bound(readSnapshot(o, "snapshot", v), ReadBoundConfig(o, "workingMemoryConfig"), v)
}

func readTurn(o *document.Object) Turn {
	return Turn{
		NPC:         o.OptionalText("npcName"),
		Feedback:    o.Text("retryFeedback", ""),
		Recognition: readRecognition(o, "recognition"),
	}
}

// partNames are the members of a breakdown. The references have theirs only where there are some.
var partNames = [parts]string{
	"SystemPrompt", "Context", "References", "Constraints", "RetryFeedback", "Recognition", "FewShotExamples", "DialogueHistory",
	"PlayerInput", "Formatting",
}

// writePrompt writes the members of a prompt.
func writePrompt(w *document.Writer, p Prompt) {
	w.Text("text", p.Text)
	w.Integer("characterCount", p.Characters)
	w.Integer("estimatedTokens", p.Tokens)
	w.Bool("wasTruncated", p.Truncated)
	w.Object("breakdown", func() {
		for i, n := range p.Breakdown {
			if part(i) != referencesPart || n > 0 {
				w.Integer(partNames[i], n)
			}
		}
		w.Integer("Total", p.Breakdown.Total())
	})
	w.Text("sha256Base64", canon.Base64.Spell(p.SHA256()))
}

func writeCacheInfo(w *document.Writer, c CacheInfo, tokens int64) {
	w.Text("staticPrefix", c.Prefix)
	w.Text("dynamicSuffix", c.Suffix)
	w.Text("boundary", c.Boundary.String())
	w.Integer("estimatedStaticTokens", c.PrefixTokens)
	w.Integer("estimatedDynamicTokens", c.SuffixTokens)
	w.Integer("estimatedTotalTokens", tokens)
}
