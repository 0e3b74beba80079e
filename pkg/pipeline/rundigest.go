package pipeline

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
)

// Digest gives the digest of what an answer was parsed to (E10). The error is a *canon.Error: json-v1 has no form for it.
func (out ParsedOutput) Digest() (canon.Sum, error) {
	return digestOf(func(w *document.Writer) { writeParsed(w, "", out) })
}

// Digest gives the digest of what the gate said (E10). Errors as of ParsedOutput.
func (g GateResult) Digest() (canon.Sum, error) {
	return digestOf(func(w *document.Writer) { writeGateResult(w, "", g) })
}

// Digest gives the digest of what the mutations and intents of an answer did (E10). Errors as of ParsedOutput.
func (b *Batch) Digest() (canon.Sum, error) {
	return digestOf(func(w *document.Writer) { b.write(w, "") })
}

// ConstraintsDigest gives the digest of the constraints of an attempt (E10): the list that the turn states, as it stands, and
// behind it what retries have added. Errors as of ParsedOutput.
func (a *Attempt) ConstraintsDigest(stated canon.Value, own int) (canon.Sum, error) {
	return digestOf(func(w *document.Writer) {
		w.List("", func() {
			for _, e := range stated.Elements() {
				w.Raw("", e.Raw())
			}
			for _, c := range a.Constraints[own:] {
				writeConstraint(w, c)
			}
		})
	})
}

// DispatchedList gives the list of dispatched intents as events have it (E10).
func DispatchedList(list []Dispatched) []byte {
	w := document.NewWriter(DMPLv1.Style())
	writeDispatched(w, "", list)
	return w.Bytes()
}

// rankedKeys are the keys of an order that a selected record states besides its id and score.
type rankedKeys struct{ confidence, createdAt, sequence bool }

// WriteRecords writes the selected records of a retrieval event, with the score as ranked and the keys of the order (P3).
func (r *Retrieved) WriteRecords(w *document.Writer, name string) {
	keys := rankedKeys{r.Policy.Order.uses("confidence"), r.Policy.Order.uses("created_at_ticks"), r.Policy.Order.uses("sequence_number")}
	w.List(name, func() {
		for i := range r.Ranked {
			w.Object("", func() { r.Ranked[i].write(w, r.Kind, i+1, keys) })
		}
	})
}
