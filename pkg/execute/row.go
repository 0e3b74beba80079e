package execute

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/trace"
)

// rowWriter writes the rows of one kind.
type rowWriter struct {
	document *document.Writer
	records  pipeline.RecordWriter
}

// retrieved gives a row for each kind of memory (P3, R7).
func (t *turn) retrieved() ([][]byte, error) {
	kinds := t.report.Result.Retrieval.Kinds()
	rows := make([][]byte, 0, len(kinds))
	for i, kind := range kinds {
		if len(t.run.ranked) == i {
			t.run.ranked = append(t.run.ranked, rowWriter{document: document.NewWriter(document.Style{})})
		}
		w := &t.run.ranked[i]
		w.document.Reset()
		if err := t.row(w, kind, candidatesOf(&t.input.Query.Candidates, i)); err != nil {
			return nil, err
		}
		t.run.rows++
		rows = append(rows, w.document.Bytes())
	}
	return rows, nil
}

// candidatesOf gives the candidates of a kind, by its place in the order of the prompt.
func candidatesOf(c *pipeline.Candidates, kind int) []pipeline.Candidate {
	return [][]pipeline.Candidate{c.Facts, c.World, c.Episodes, c.Beliefs}[kind]
}

// mode names how the records of a kind were found.
func mode(r *pipeline.Retrieved) string {
	switch {
	case r.Searched:
		return "search"
	case r.Policy.Order == pipeline.OrderID:
		return "all"
	}
	return "scored"
}

// query gives the fingerprint of what the turn asks in a mode (D6).
func (t *turn) query(mode string) (canon.Sum, error) {
	for _, known := range t.queries {
		if known.mode == mode {
			return known.sum, nil
		}
	}
	sum, err := canon.Digest(canon.JSONv1, t.doc.Query(trace.NormalizationVersion, mode))
	if err != nil {
		return sum, &Error{t.doc.Path, t.doc.At + "/topics", err.Error()}
	}
	t.queries = append(t.queries, query{mode, sum})
	return sum, nil
}

// query is the fingerprint of what a turn asks in a mode.
type query struct {
	mode string
	sum  canon.Sum
}

func (t *turn) row(to *rowWriter, kind *pipeline.Retrieved, candidates []pipeline.Candidate) error {
	asked, err := t.query(mode(kind))
	if err != nil {
		return err
	}
	w := to.document
	w.Object("", func() {
		w.Numbered("retrieval_event_id", "r", int64(t.run.rows))
		w.Text("run_id", t.run.o.RunID)
		w.Numbered("event_id", "e", int64(t.run.events))
		w.Text("policy_id", kind.Policy.ID)
		w.Text("policy_version", kind.Policy.Version)
		w.Text("query_normalization_version", trace.NormalizationVersion)
		w.Sum("query_fingerprint", asked)
		w.Text("retrieval_mode", mode(kind))
		w.Integer("candidate_count", int64(kind.Considered))
		to.records.Write(w, "selected_records", kind)
		kind.Policy.Filters.Write(w, "applied_filters")
		w.Text("order", string(kind.Policy.Order))
		if kind.Searched {
			w.List("candidates", func() {
				for _, c := range candidates {
					w.Object("", func() {
						w.Text("record_id", c.RecordID)
						w.Real("score", c.Score)
					})
				}
			})
		}
		w.Text("retrieval_trace_schema_version", trace.RetrievalSchemaVersion)
	})
	return nil
}
