package memory

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
)

// WriteSnapshot writes the members of a snapshot document (memory.snapshot.v1) that hold the state: persona_id,
// next_sequence_number, interaction_count and records, by sequence number.
func WriteSnapshot(w *document.Writer, s State) {
	writeUTF8(w, "persona_id", &s.PersonaID)
	w.Integer("next_sequence_number", s.NextSequence)
	w.Integer("interaction_count", s.InteractionCount)
	w.List("records", func() {
		for _, r := range s.Records() {
			WriteRecord(w, "", r)
		}
	})
}

// ReadSnapshot reads what WriteSnapshot writes, and loads it under dmpl-v1 (M9).
func ReadSnapshot(o *document.Object) State {
	s := State{
		PersonaID:        o.Text("persona_id", ""),
		NextSequence:     o.Integer("next_sequence_number", 0),
		InteractionCount: o.Integer("interaction_count", 0),
	}
	var one State
	o.Each("records", func(e *document.Object) { s.read(e, &one) })
	if o.Err() != nil {
		return State{}
	}
	loaded, err := Load(s, DMPLv1)
	if err != nil {
		o.Fail("records", err.Error())
	}
	return loaded
}

// read reads a record into the list of its kind. What counts is what its entry writes of it (ReadRecord), and that is what was read
// but for halves of pairs: rounding once more changes no real. One is scratch.
func (s *State) read(o *document.Object, one *State) {
	r, content := readOutside(o)
	read, known := contents[r.Type]
	if !known {
		r.Content = slices.Clone(content.Value().Raw())
		s.Others = append(s.Others, r)
		return
	}
	*one = State{Facts: one.Facts[:0], World: one.World[:0], Episodes: one.Episodes[:0], Beliefs: one.Beliefs[:0]}
	read(one, r.Entry, content)
	closed(content)
	switch {
	case o.Err() != nil:
	case !mayHaveHalves(content.Value().Raw()):
		s.Facts, s.World = append(s.Facts, one.Facts...), append(s.World, one.World...)
		s.Episodes, s.Beliefs = append(s.Episodes, one.Episodes...), append(s.Beliefs, one.Beliefs...)
	case s.add(one.Records()[0]) != nil:
		o.Fail("content", "no content of a "+r.Type+" record")
	}
}

// mayHaveHalves tells whether halves of surrogate pairs may stand in the texts of a document: they are written as U+FFFD.
func mayHaveHalves(doc []byte) bool {
	return bytes.Contains(doc, []byte(`\ud`)) || bytes.Contains(doc, []byte(`\uD`)) || !utf8.Valid(doc)
}

// Digest gives the state digest (P2 g): SHA-256 of json-v1 of the whole state. Nothing is left out, so that a real that
// json-v1 would round stands in it as text. The error is that of a record whose content is no JSON of json-v1.
func (s State) Digest() (canon.Sum, error) {
	w := document.NewWriter(document.Style{})
	w.Object("", func() { WriteSnapshot(w, s) })
	return canon.Digest(canon.JSONv1, w.Bytes())
}

// CommitID gives the id of a run's commit (D7).
func CommitID(runID, snapshotID, policySetID string) (canon.Sum, error) {
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		w.Text("memory_snapshot_id", snapshotID)
		w.Text("policy_set_id", policySetID)
		w.Text("run_id", runID)
	})
	return canon.Digest(canon.JSONv1, w.Bytes())
}

// SnapshotID is the id of the nth committed state of a native store: it sorts in commit order as text (M1).
func SnapshotID(n int64) string { return digits(n) }

// digits gives a number as 20 decimal digits.
func digits(n int64) string {
	text := strconv.FormatInt(n, 10)
	return "00000000000000000000"[min(len(text), 20):] + text
}
