package pipeline

import (
	"strconv"

	"github.com/dmpl/dmpl/pkg/document"
)

// RecordWriter writes the records that retrieval events of one kind of memory say were selected. What they say of a record besides
// its score and rank is the same in each turn of a run, and is put in words once. The zero value is ready.
type RecordWriter struct {
	kind  string
	keys  rankedKeys
	spelt []speltRecord // by place in the memory
	row   []byte        // scratch
}

// rankedKeys are the keys of an order that a selected record states besides its id and score.
type rankedKeys struct{ confidence, createdAt, sequence bool }

// speltRecord is a record in words, up to its score and from behind its rank.
type speltRecord struct {
	of         Ranked
	head, tail string
}

// mostSpelt is the most records whose words are kept.
const mostSpelt = 1 << 12

// Write writes the selected records of a retrieval event, with the score as ranked and the keys of the order (P3).
func (k *RecordWriter) Write(w *document.Writer, name string, r *Retrieved) {
	keys := rankedKeys{r.Policy.Order.uses("confidence"), r.Policy.Order.uses("created_at_ticks"), r.Policy.Order.uses("sequence_number")}
	if k.kind != r.Kind || k.keys != keys {
		*k = RecordWriter{kind: r.Kind, keys: keys}
	}
	w.List(name, func() {
		for i := range r.Ranked {
			m := &r.Ranked[i]
			of := k.record(m)
			k.row = document.AppendReal(append(k.row[:0], of.head...), m.Score)
			k.row = strconv.AppendInt(append(k.row, `,"rank":`...), int64(i+1), 10)
			k.row = append(k.row, of.tail...)
			w.Raw("", k.row)
		}
	})
}

// record gives a record in words: those that are kept of its place, if they are the same record's.
func (k *RecordWriter) record(m *Ranked) *speltRecord {
	if m.place >= mostSpelt {
		return k.spell(m)
	}
	for m.place >= len(k.spelt) {
		k.spelt = append(k.spelt, speltRecord{})
	}
	kept := &k.spelt[m.place]
	if o := &kept.of; kept.head == "" || o.RecordID != m.RecordID || o.Confidence != m.Confidence || o.CreatedAt != m.CreatedAt || o.Sequence != m.Sequence {
		*kept = *k.spell(m)
	}
	return kept
}

func (k *RecordWriter) spell(m *Ranked) *speltRecord {
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		w.Text("record_id", m.RecordID)
		w.Text("record_type", k.kind)
	})
	of := &speltRecord{of: *m, head: string(w.Bytes()[:len(w.Bytes())-1]) + `,"score":`, tail: "}"}
	w.Reset()
	w.Object("", func() {
		if k.keys.confidence {
			w.Real("confidence", m.Confidence)
		}
		if k.keys.createdAt {
			w.Integer("created_at_ticks", m.CreatedAt)
		}
		if k.keys.sequence {
			w.Integer("sequence_number", m.Sequence)
		}
	})
	if k.keys != (rankedKeys{}) {
		of.tail = "," + string(w.Bytes()[1:])
	}
	return of
}
