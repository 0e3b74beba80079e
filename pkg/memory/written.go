package memory

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
)

// Written is a state with a write list that grows, as the buffer of a run does from turn to turn (E10). It keeps every record in
// the bytes that are digested, so that further writes cost what they change and the hash, and not the whole list again.
type Written struct {
	start   State
	plan    planner
	records []inSnapshot // of the state with what was taken of the list, by sequence number
	unknown bool         // a record had no json-v1, so that records is not the state
	sum     canon.Sum    // of the state
	writer  *document.Writer
	doc     []byte // memory of the document that was digested last
}

// inSnapshot is a record in the bytes that json-v1 has for it in a snapshot document.
type inSnapshot struct {
	sequence int64
	text     []byte // nil where it went
}

// NewWritten begins with a state that was loaded under dmpl-v1 (Load) and that nobody changes.
func NewWritten(start State) *Written {
	w := &Written{start: start, plan: newPlanner(&stateHead{state: start}), writer: document.NewWriter(document.Style{})}
	for _, r := range start.Records() {
		w.put(r)
	}
	return w
}

// Digest gives the digest of the state that Apply makes of the start and a list; errors as Apply and State.Digest. The list of
// a call begins with the list of the call before.
func (w *Written) Digest(list []Write) (canon.Sum, error) {
	fresh := list[w.plan.taken:]
	if err := w.plan.take(fresh, nil); err != nil {
		return canon.Sum{}, err
	}
	for _, c := range w.plan.changes {
		w.change(c)
	}
	w.plan.changes = w.plan.changes[:0]
	switch {
	case w.unknown: // the record may have gone since; if not, Apply or the digest says what is wrong with it
		after, err := w.start.Apply(list, nil)
		if err != nil {
			return canon.Sum{}, err
		}
		return after.Digest()
	case len(fresh) == 0 && w.sum != canon.Sum{}:
		return w.sum, nil
	}
	return w.digest()
}

// change makes a change to the records. What counts of a new record is what its entry has of it, as in Apply.
func (w *Written) change(c Change) {
	if c.Old != nil {
		if i, there := w.find(c.Old.Sequence); there {
			w.records[i].text = nil
		}
	}
	if c.New == nil {
		return
	}
	var one State
	if err := one.add(*c.New); err != nil {
		w.unknown = true
		return
	}
	w.put(one.Records()[0])
}

func (w *Written) find(sequence int64) (place int, there bool) {
	return slices.BinarySearchFunc(w.records, sequence, func(r inSnapshot, n int64) int { return cmp.Compare(r.sequence, n) })
}

// put takes a record in. It is written as deep as in a snapshot document, since C1 says how deep a document may be.
func (w *Written) put(r Record) {
	const before, behind = `{"records":[`, `]}`
	w.writer.Reset()
	w.writer.Object("", func() {
		w.writer.List("records", func() { WriteRecord(w.writer, "", r) })
	})
	src := w.writer.Bytes()
	doc, err := canon.Append(make([]byte, 0, len(src)), src, canon.JSONv1)
	if err != nil {
		w.unknown = true
		return
	}
	i, there := w.find(r.Sequence)
	if !there {
		w.records = slices.Insert(w.records, i, inSnapshot{sequence: r.Sequence})
	}
	w.records[i].text = doc[len(before) : len(doc)-len(behind)]
}

// digest puts the records into the snapshot document of a state that has none: json-v1 has them behind its other members.
func (w *Written) digest() (canon.Sum, error) {
	w.records = slices.DeleteFunc(w.records, func(r inSnapshot) bool { return r.text == nil }) // all at once: a turn may forget most of a memory
	s := State{PersonaID: w.start.PersonaID, InteractionCount: w.start.InteractionCount, NextSequence: 1}
	if n := len(w.records); n > 0 {
		s.NextSequence = w.records[n-1].sequence + 1 // M9: as it will be loaded
	}
	w.writer.Reset()
	w.writer.Object("", func() { WriteSnapshot(w.writer, s) })
	doc, err := canon.Append(w.doc[:0], w.writer.Bytes(), canon.JSONv1)
	if err != nil {
		return canon.Sum{}, err
	}
	const behind = "]}"
	doc = doc[:len(doc)-len(behind)]
	for i, r := range w.records {
		if i > 0 {
			doc = append(doc, ',')
		}
		doc = append(doc, r.text...)
	}
	w.doc = append(doc, behind...)
	w.sum = sha256.Sum256(w.doc)
	return w.sum, nil
}
