package memory

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
)

// Op is what a write does to its record (M4).
type Op string

// The ops of writes.
const (
	Append Op = "append" // a new record
	Put    Op = "put"    // a record in place of the one that is there, or a new one
	Delete Op = "delete"
)

// Write is one buffered write (M4). The record of an append has no sequence number: it gets one when it is applied (M9).
// A put or delete with a number means the record of that number; without one, the record of that id, which must be one
// alone. Of the record that a delete has, nothing but its name and its source counts.
type Write struct {
	Op     Op
	Record Record
}

// ReadWrites reads a list of writes.
func ReadWrites(o *document.Object, name string) []Write {
	var writes []Write
	o.Each(name, func(e *document.Object) {
		must(e, "record")
		filled(e, "op")
		op := e.Word("op", "", string(Append), string(Put), string(Delete))
		writes = append(writes, Write{Op: Op(op), Record: ReadRecord(e.Object("record"))})
		closed(e)
	})
	return writes
}

// WriteWrites writes a list of writes.
func WriteWrites(w *document.Writer, name string, writes []Write) {
	w.List(name, func() {
		for _, write := range writes {
			w.Object("", func() {
				w.Text("op", string(write.Op))
				WriteRecord(w, "record", write.Record)
			})
		}
	})
}

// PayloadFingerprint gives the fingerprint of an ordered write list (D7).
func PayloadFingerprint(writes []Write) (canon.Sum, error) {
	w := document.NewWriter(document.Style{})
	WriteWrites(w, "", writes)
	return canon.Digest(canon.JSONv1, w.Bytes())
}

// Ref names a record among others: what two writes of one record have in common. That is the key of a belief, else the
// record's id (the key of a world state).
type Ref struct{ Type, Key string }

// Ref gives the name of the record.
func (r Record) Ref() Ref {
	if r.Type != TypeBelief {
		return Ref{r.Type, r.ID}
	}
	key := ""
	if v, err := canon.ParseAs(canon.DBL, r.Content); err == nil {
		key = document.Open(v).Text("Key", "")
	}
	return Ref{r.Type, key}
}
