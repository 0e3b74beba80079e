package pipeline

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/thread"
)

// readSnapshot reads the JSON form of a snapshot. References need dmpl-v1 (P2 j); under llamabrain-v1 the member is unknown.
func readSnapshot(o *document.Object, name string, v Version) Snapshot {
	o = o.Object(name)
	s := Snapshot{
		SystemPrompt: o.Text("systemPrompt", ""),
		PlayerInput:  o.Text("playerInput", ""),
		Facts:        o.Texts("canonicalFacts"),
		World:        o.Texts("worldState"),
		Episodes:     o.Texts("episodicMemories"),
		Beliefs:      o.Texts("beliefs"),
		Dialogue:     o.Texts("dialogueHistory"),
		Constraints:  readConstraints(o, "constraints"),
		Attempt:      o.Int("attemptNumber", 0),
	}
	if s.Attempt < 0 || s.Attempt > mostRetries {
		o.Fail("attemptNumber", "expected a whole number from 0 to 1000")
	}
	if v == DMPLv1 {
		s.References = o.Texts("references")
	}
	refuseUnknown(o)
	return s
}

// ReadBoundConfig reads overrides of a preset, or of the defaults where none is named.
func ReadBoundConfig(o *document.Object, name string) BoundConfig {
	o = o.Object(name)
	c := preset(o, DefaultBoundConfig(), boundPresets)
	c.MaxDialogueExchanges = o.Int("MaxDialogueExchanges", c.MaxDialogueExchanges)
	c.MaxEpisodes = o.Int("MaxEpisodicMemories", c.MaxEpisodes)
	c.MaxBeliefs = o.Int("MaxBeliefs", c.MaxBeliefs)
	c.MaxCharacters = int64(o.Int("MaxContextCharacters", int(c.MaxCharacters)))
	c.AlwaysFacts = o.Bool("AlwaysIncludeCanonicalFacts", c.AlwaysFacts)
	c.AlwaysWorld = o.Bool("AlwaysIncludeWorldState", c.AlwaysWorld)
	c.Examples = append(c.Examples, readExamples(o, "FewShotExamples")...)
	c.MaxExamples = o.Int("MaxFewShotExamples", c.MaxExamples)
	c.AlwaysExamples = o.Bool("AlwaysIncludeFewShot", c.AlwaysExamples)
	refuseUnknown(o)
	return c
}

// preset gives the named configuration that overrides start from.
func preset[C any](o *document.Object, defaults C, presets map[string]C) C {
	if c, ok := presets[o.Word("preset", "", canon.SortedKeys(presets)...)]; ok {
		return c
	}
	return defaults
}

// BoundStage gives the stage that bounds: `snapshot` and `config` in, the working memory out.
func BoundStage(v Version) thread.Stage {
	return func(input canon.Value) ([]byte, error) {
		o := document.Open(input)
		s := readSnapshot(o, "snapshot", v)
		c := ReadBoundConfig(o, "config")
		if err := o.Err(); err != nil {
			return nil, err
		}
		m := Bound(s, c, v)
		w := document.NewWriter(document.Style{})
		w.Object("", func() {
			writeWorkingMemory(w, m, v)
			w.Text("formattedContext", m.FormattedContext())
			w.Text("formattedDialogue", m.FormattedDialogue())
		})
		return w.Bytes(), nil
	}
}

// writeWorkingMemory writes the members of a working memory.
func writeWorkingMemory(w *document.Writer, m WorkingMemory, v Version) {
	writeTexts(w, "dialogueHistory", m.Dialogue)
	writeTexts(w, "canonicalFacts", m.Facts)
	writeTexts(w, "worldState", m.World)
	writeTexts(w, "episodicMemories", m.Episodes)
	writeTexts(w, "beliefs", m.Beliefs)
	w.List("fewShotExamples", func() {
		for _, e := range m.Examples {
			w.Object("", func() {
				w.Text("PlayerInput", e.Player)
				w.Text("NpcResponse", e.NPC)
			})
		}
	})
	w.Integer("totalCharacterCount", m.Characters)
	w.Bool("wasTruncated", m.Truncated)
	if v == DMPLv1 {
		writeBounds(w, m)
	}
}

// writeBounds writes what dmpl-v1 says besides: the references, and over the limit what was dropped (P2 a).
func writeBounds(w *document.Writer, m WorkingMemory) {
	if m.ExceedsLimit {
		w.Bool("exceedsLimit", true)
	}
	if len(m.References) > 0 {
		w.Texts("references", m.References)
	}
	if !m.Truncated {
		return // within the limit both versions give the same answer
	}
	w.List("dropped", func() {
		for _, d := range m.Dropped {
			w.Object("", func() {
				w.Text("section", string(d.Section))
				w.Integer("from", int64(d.From))
				w.Integer("to", int64(d.To))
				w.Text("reason", string(d.Reason))
			})
		}
	})
}

// writeTexts writes a list of strings, an empty one for nil.
func writeTexts(w *document.Writer, name string, values []string) {
	w.List(name, func() {
		for _, value := range values {
			w.Text("", value)
		}
	})
}
