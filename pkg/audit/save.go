package audit

import (
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
)

// Save is a save file: the memories of all personas, and what was said (llamabrain.md §10).
type Save struct {
	Version   int64
	SavedAt   int64 // ticks of the wall clock
	Personas  []Persona
	Histories []History
	Metadata  []Named
}

// Persona is the memory of one persona, under the key that the file keeps it by.
type Persona struct {
	Key   string
	State memory.State
}

// History is what a persona's conversation holds.
type History struct {
	Key       string
	PersonaID string
	Entries   []Line
}

// Line is one line of a conversation.
type Line struct {
	Speaker, Text string
	Timestamp     int64 // ticks
}

// Named is one named text.
type Named struct{ Name, Value string }

// ReadSave reads a save file as it stands. What is missing or null is empty or 0; the version is then the known one.
func ReadSave(o *document.Object) Save {
	s := Save{Version: o.Integer("Version", Version), SavedAt: o.Integer("SavedAtUtcTicks", 0)}
	o.Object("PersonaMemories").EachMember(func(name string, p *document.Object) {
		s.Personas = append(s.Personas, Persona{name, memory.ReadState(p, memory.LlamaBrainV1)})
	})
	o.Object("ConversationHistories").EachMember(func(name string, p *document.Object) {
		h := History{Key: name, PersonaID: p.Text("PersonaId", "")}
		p.Each("Entries", func(e *document.Object) {
			h.Entries = append(h.Entries, Line{e.Text("Speaker", ""), e.Text("Text", ""), e.Integer("TimestampTicks", 0)})
		})
		s.Histories = append(s.Histories, h)
	})
	o.Object("Metadata").EachText(func(name, value string) { s.Metadata = append(s.Metadata, Named{name, value}) })
	return s
}

// Write writes the save file as a document. Nulls are the style's matter.
func (s *Save) Write(w *document.Writer) {
	w.Object("", func() {
		w.Integer("Version", s.Version)
		w.Integer("SavedAtUtcTicks", s.SavedAt)
		w.Object("PersonaMemories", func() {
			for _, p := range s.Personas {
				memory.WriteState(w, p.Key, p.State, memory.LlamaBrainV1)
			}
		})
		w.Object("ConversationHistories", func() {
			for _, h := range s.Histories {
				w.Object(h.Key, func() { h.write(w) })
			}
		})
		w.Object("Metadata", func() {
			for _, m := range s.Metadata {
				w.Text(m.Name, m.Value)
			}
		})
	})
}

func (h History) write(w *document.Writer) {
	w.Text("PersonaId", h.PersonaID)
	w.List("Entries", func() {
		for _, e := range h.Entries {
			w.Object("", func() {
				w.Text("Speaker", e.Speaker)
				w.Text("Text", e.Text)
				w.Integer("TimestampTicks", e.Timestamp)
			})
		}
	})
}
