package pipeline

import (
	"bytes"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
)

// Digester gives the digests that the stages of a run are compared by (E10). The zero value is ready. Most turns of a run are held
// to the constraints of the turn before, pass the gate as it did and change nothing: what is written in the same bytes is not
// digested again. The errors are *canon.Errors: json-v1 has no form for it.
type Digester struct {
	document                         *document.Writer
	parsed, constraints, gate, batch digested
}

// digested is the document of a stage that was digested last.
type digested struct {
	document []byte
	sum      canon.Sum
}

// Parsed gives the digest of what an answer was parsed to.
func (d *Digester) Parsed(out ParsedOutput) (canon.Sum, error) {
	return d.sum(&d.parsed, func(w *document.Writer) { writeParsed(w, "", out) })
}

// Gate gives the digest of what the gate said.
func (d *Digester) Gate(g GateResult) (canon.Sum, error) {
	return d.sum(&d.gate, func(w *document.Writer) { writeGateResult(w, "", g) })
}

// Batch gives the digest of what the mutations and intents of an answer did.
func (d *Digester) Batch(b *Batch) (canon.Sum, error) {
	return d.sum(&d.batch, func(w *document.Writer) { b.write(w, "") })
}

// Constraints gives the digest of the constraints of an attempt: the list that the turn states, as it stands, and behind its own
// so many what retries have added.
func (d *Digester) Constraints(stated canon.Value, set []Constraint, own int) (canon.Sum, error) {
	return d.sum(&d.constraints, func(w *document.Writer) {
		w.List("", func() {
			for _, e := range stated.Elements() {
				w.Raw("", e.Raw())
			}
			for _, c := range set[own:] {
				writeConstraint(w, c)
			}
		})
	})
}

func (d *Digester) sum(last *digested, write func(*document.Writer)) (canon.Sum, error) {
	if d.document == nil {
		style := DMPLv1.Style()
		style.UTF8 = true // less to read, and the same text
		d.document = document.NewWriter(style)
	}
	d.document.Reset()
	write(d.document)
	doc := withoutHalves(d.document.Bytes())
	if bytes.Equal(doc, last.document) {
		return last.sum, nil
	}
	sum, err := canon.Digest(canon.JSONv1, doc)
	if err != nil { // its offset is that of the document that the stage prints
		w := document.NewWriter(DMPLv1.Style())
		write(w)
		return canon.Digest(canon.JSONv1, withoutHalves(w.Bytes()))
	}
	last.document, last.sum = append(last.document[:0], doc...), sum
	return sum, nil
}

// DispatchedList gives the list of dispatched intents as events have it (E10).
func DispatchedList(list []Dispatched) []byte {
	if len(list) == 0 {
		return []byte("[]")
	}
	w := document.NewWriter(DMPLv1.Style())
	writeDispatched(w, "", list)
	return w.Bytes()
}
