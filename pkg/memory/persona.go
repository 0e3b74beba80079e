package memory

import "github.com/dmpl/dmpl/pkg/document"

// ReadState reads a PersonaMemorySnapshot (llamabrain.md §10) as it stands: a missing member is 0 or empty, the lists keep
// their order. dmpl-v1 reads members of its own as well. Reals are rounded to what the version stores.
func ReadState(o *document.Object, v Version) State {
	s := State{
		PersonaID:        o.Text("PersonaId", ""),
		NextSequence:     o.Integer("NextSequenceNumber", 0),
		InteractionCount: o.Integer("InteractionCount", 0),
	}
	o.Each("CanonicalFacts", func(e *document.Object) {
		s.Facts = append(s.Facts, readFact(e, Fact{Entry: readEntry(e, v)}))
	})
	o.Each("WorldState", func(e *document.Object) {
		w := readWorld(e, WorldState{Entry: readEntry(e, v)})
		w.Key = e.Text("Key", "")
		s.World = append(s.World, w)
	})
	o.Each("EpisodicMemories", func(e *document.Object) {
		s.Episodes = append(s.Episodes, readEpisode(e, Episode{Entry: readEntry(e, v)}, v))
	})
	o.Each("Beliefs", func(e *document.Object) {
		s.Beliefs = append(s.Beliefs, readBelief(e, Belief{Entry: readEntry(e, v)}, v))
	})
	return s
}

func readEntry(o *document.Object, v Version) Entry {
	e := Entry{
		ID:        o.Text("Id", ""),
		CreatedAt: o.Integer("CreatedAtTicks", 0),
		Sequence:  o.Integer("SequenceNumber", 0),
		Source:    Source(o.Int("Source", 0)),
	}
	if v == LlamaBrainV1 {
		return e
	}
	// M11: the members that LlamaBrain's snapshot has no place for.
	e.Source = Source(readTrust(o, "Source"))
	e.Namespace, e.Scope = o.Text("Namespace", ""), o.Text("Scope", "")
	e.Tags = someTexts(o.Texts("Tags"))
	e.ExpiresAt = o.OptionalInteger("ExpiresAtTicks")
	if o.Has("Trust") {
		e.setTrust(readTrust(o, "Trust"))
	}
	return e
}

// WriteState writes a PersonaMemorySnapshot (llamabrain.md §10), each list by sequence number. LlamaBrain saves no episode
// that has lost its strength; dmpl-v1 leaves nothing out (P2 g).
func WriteState(w *document.Writer, name string, s State, v Version) {
	w.Object(name, func() {
		w.Text("PersonaId", s.PersonaID)
		w.Integer("NextSequenceNumber", s.NextSequence)
		w.List("CanonicalFacts", func() {
			for _, f := range bySequence(s.Facts) {
				w.Object("", func() { writeFact(w, f, v) })
			}
		})
		w.List("WorldState", func() {
			for _, f := range bySequence(s.World) {
				w.Object("", func() { writeWorld(w, f, v) })
			}
		})
		w.List("EpisodicMemories", func() {
			for _, e := range bySequence(s.Episodes) {
				if v == LlamaBrainV1 && e.Strength <= 0 {
					continue
				}
				w.Object("", func() { writeEpisode(w, e, v) })
			}
		})
		w.List("Beliefs", func() {
			for _, b := range bySequence(s.Beliefs) {
				w.Object("", func() { writeBelief(w, b, v) })
			}
		})
		w.Integer("InteractionCount", s.InteractionCount)
	})
}

func writeFact(w *document.Writer, f Fact, v Version) {
	w.Text("Id", f.ID)
	w.Text("Fact", f.Text)
	w.OptionalText("Domain", f.Domain)
	w.OptionalText("Category", f.Category)
	w.Texts("ContradictionKeywords", f.Keywords)
	w.Integer("CreatedAtTicks", f.CreatedAt)
	writeEntry(w, f.Entry, v)
}

func writeWorld(w *document.Writer, s WorldState, v Version) {
	w.Text("Id", s.ID)
	w.Text("Key", s.Key)
	w.Text("Value", s.Value)
	w.OptionalText("Category", s.Category)
	w.Integer("CreatedAtTicks", s.CreatedAt)
	w.Integer("ModifiedAtTicks", s.ModifiedAt)
	w.Integer("ModificationCount", s.Modifications)
	writeEntry(w, s.Entry, v)
}

func writeEpisode(w *document.Writer, e Episode, v Version) {
	w.Text("Id", e.ID)
	w.Text("Description", e.Description)
	w.Integer("EpisodeType", int64(e.Type))
	w.OptionalText("Participant", e.Participant)
	w.OptionalText("Category", e.Category)
	w.Real("Significance", e.Significance)
	w.Real("Strength", e.Strength)
	w.Real("GameTime", e.GameTime)
	w.Integer("CreatedAtTicks", e.CreatedAt)
	writeEntry(w, e.Entry, v)
	if v != LlamaBrainV1 && e.Location != nil {
		w.Text("LocationId", *e.Location)
	}
}

func writeBelief(w *document.Writer, b Belief, v Version) {
	w.Text("Id", b.ID)
	w.Text("Key", b.Key)
	w.Text("Subject", b.Subject)
	w.Text("BeliefContent", b.Content)
	w.Integer("BeliefType", int64(b.Type))
	w.OptionalText("Category", b.Category)
	w.Real("Confidence", b.Confidence)
	w.Real("Sentiment", b.Sentiment)
	w.Bool("IsContradicted", b.Contradicted)
	w.OptionalText("Evidence", b.Evidence)
	w.Integer("CreatedAtTicks", b.CreatedAt)
	writeEntry(w, b.Entry, v)
}

// writeEntry writes the members that every kind ends with, and those of dmpl-v1 that are there.
func writeEntry(w *document.Writer, e Entry, v Version) {
	w.Integer("SequenceNumber", e.Sequence)
	w.Integer("Source", int64(e.Source))
	if v == LlamaBrainV1 {
		return
	}
	if e.Namespace != "" {
		w.Text("Namespace", e.Namespace)
	}
	if e.Scope != "" {
		w.Text("Scope", e.Scope)
	}
	if len(e.Tags) > 0 {
		w.Texts("Tags", e.Tags)
	}
	if e.Trust != nil {
		w.Integer("Trust", int64(*e.Trust))
	}
	if e.ExpiresAt != nil {
		w.Integer("ExpiresAtTicks", *e.ExpiresAt)
	}
}
