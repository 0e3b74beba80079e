package shape

import (
	"bytes"
	"errors"
	"slices"
	"sync"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

var rowMembers = sync.OnceValue(func() []member[trace.Row] {
	return []member[trace.Row]{
		text("retrieval_event_id", required, func(w *trace.Row) *trace.Field { return &w.ID }),
		text("run_id", required, func(w *trace.Row) *trace.Field { return &w.RunID }),
		text("event_id", required, func(w *trace.Row) *trace.Field { return &w.EventID }),
		text("policy_id", required, func(w *trace.Row) *trace.Field { return &w.PolicyID }),
		text("policy_version", required, func(w *trace.Row) *trace.Field { return &w.PolicyVersion }),
		{
			name: "query_normalization_version", need: required, want: canon.String,
			field: func(w *trace.Row) *trace.Field { return &w.QueryNormalization },
			check: queryVersion,
		},
		text("query_fingerprint", required, func(w *trace.Row) *trace.Field { return &w.QueryFingerprint }),
		text("retrieval_mode", required, func(w *trace.Row) *trace.Field { return &w.Mode }),
		{
			name: "candidate_count", need: required, want: canon.Number,
			field: func(w *trace.Row) *trace.Field { return &w.CandidateCount },
			check: count[trace.Row],
		},
		{
			name: "selected_records", need: required, want: canon.Array,
			field: func(w *trace.Row) *trace.Field { return &w.RecordList },
			read:  readRecords,
		},
		{
			name: "applied_filters", need: required, want: canon.Object,
			field: func(w *trace.Row) *trace.Field { return &w.Filters },
		},
		{
			name: "retrieval_trace_schema_version", need: required, want: canon.String,
			field: func(w *trace.Row) *trace.Field { return &w.SchemaVersion },
			check: version[trace.Row](trace.RetrievalSchemaVersion),
		},
		{
			name: "order", want: canon.String,
			field: func(w *trace.Row) *trace.Field { return &w.Order },
			check: oneOf[trace.Row](trace.OrderScoreID, trace.OrderScoreCreated, trace.OrderScoreConfidence, trace.OrderID),
		},
		{
			name: "candidates", want: canon.Array, field: func(*trace.Row) *trace.Field { return new(trace.Field) },
			read: func(r *reader, _ *trace.Row) error {
				var list []candidate
				return elements(r, &list, candidateMembers(), func(c *candidate) *trace.Field { return &c.Field }, nil, nil)
			},
		},
	}
})

// records is the list of a row that was read without a finding, with its text.
type records struct {
	text []byte
	list []trace.Record
}

// readRecords reads the selected records of a row, or takes over those of one of the rows before that has them in the same
// bytes: turn by turn the same facts are selected.
func readRecords(r *reader, w *trace.Row) error {
	for _, known := range r.lists {
		if r.src.SkipSame(known.text) {
			w.Records = known.list
			return nil
		}
	}
	start, found := r.src.Offset(), len(r.findings)
	if err := readList(r, w); err != nil || len(r.findings) > found || len(w.Records) == 0 {
		return err
	}
	const most = 8
	read := records{bytes.TrimLeft(r.data[start:r.src.Offset()], " \t\r\n"), w.Records}
	if len(r.lists) < most {
		r.lists = append(r.lists, read)
		return nil
	}
	r.lists[r.next] = read
	r.next = (r.next + 1) % most
	return nil
}

func readList(r *reader, w *trace.Row) error {
	const block, usual = 64, 16
	if cap(r.room) < usual {
		r.room = make([]trace.Record, 0, block)
	}
	w.Records = r.room
	err := elements(r, &w.Records, recordMembers(),
		func(c *trace.Record) *trace.Field { return &c.Field }, func(c *trace.Record, i int) { c.Position = i }, nil)
	if n := len(w.Records); n <= cap(r.room) {
		w.Records, r.room = w.Records[:n:n], r.room[n:n]
	}
	return err
}

// candidate is one record as a backend returned it (CONTRACT R7); nothing but its shape is judged here.
type candidate struct {
	trace.Field
	id, score trace.Field
}

var candidateMembers = sync.OnceValue(func() []member[candidate] {
	return []member[candidate]{
		{name: "record_id", need: required, want: canon.String, field: func(c *candidate) *trace.Field { return &c.id }},
		{name: "score", need: required, want: canon.Number, field: func(c *candidate) *trace.Field { return &c.score }},
	}
})

// queryVersion warns of a query normalisation that is not ours: its fingerprints can only be compared as text.
func queryVersion(r *reader, w *trace.Row, f *trace.Field) {
	nonEmpty(r, w, f)
	if f.Ok() && !textIs(f, trace.NormalizationVersion) {
		r.note(finding.ShapeQueryVersion, f, "query_normalization_version is not %s", trace.NormalizationVersion)
	}
}

var recordMembers = sync.OnceValue(func() []member[trace.Record] {
	return []member[trace.Record]{
		{name: "record_id", need: required, want: canon.String, field: func(c *trace.Record) *trace.Field { return &c.ID }},
		{name: "record_type", need: required, want: canon.String, field: func(c *trace.Record) *trace.Field { return &c.Type }},
		{
			name: "score", need: required, want: canon.Number,
			field: func(c *trace.Record) *trace.Field { return &c.Score },
		},
		{
			name: "rank", need: required, want: canon.Number,
			field: func(c *trace.Record) *trace.Field { return &c.RankField },
			check: func(r *reader, c *trace.Record, f *trace.Field) { c.Rank, _ = integer(r, f, 1) },
		},
		rankKey("created_at_ticks", func(c *trace.Record) *trace.Field { return &c.CreatedAt }),
		rankKey("confidence", func(c *trace.Record) *trace.Field { return &c.Confidence }),
		rankKey("sequence_number", func(c *trace.Record) *trace.Field { return &c.Sequence }),
	}
})

// rankKey is a member that only some orders ask for, and that only native runs are held to (CONTRACT P3).
func rankKey(name string, field func(*trace.Record) *trace.Field) member[trace.Record] {
	return member[trace.Record]{name: name, field: field, check: func(_ *reader, _ *trace.Record, f *trace.Field) {
		if string(f.Raw) == "null" {
			f.State = trace.Null
		}
	}}
}

// retrievalMembers are those of the object that wraps the rows.
var retrievalMembers = sync.OnceValue(func() []member[trace.Retrieval] {
	return []member[trace.Retrieval]{
		{
			name: "events", need: required, want: canon.Array,
			field: func(t *trace.Retrieval) *trace.Field { return &t.RowList },
			read:  readRows,
		},
		{
			name: "retrieval_trace_schema_version", want: canon.String,
			field: func(t *trace.Retrieval) *trace.Field { return &t.SchemaVersion },
			check: version[trace.Retrieval](trace.RetrievalSchemaVersion),
		},
		metadataOf(func(t *trace.Retrieval) metadata { return metadata{truncated: &t.Truncated} }),
	}
})

func readRows(r *reader, t *trace.Retrieval) error {
	var twins []trace.Row
	if twin := r.twin.Retrieval; twin != nil && !twin.Single && twin.Prefix == t.Prefix { // C1: rows stand as deep in both
		twins = twin.Rows
	}
	return elements(r, &t.Rows, rowMembers(),
		func(w *trace.Row) *trace.Field { return &w.Field }, func(w *trace.Row, i int) { w.Position = i }, twins)
}

// ReadRetrieval reads a retrieval trace of one of the three shapes: an object with events, a bare list, one bare row
// (orket.md §3). It gives the findings of its shape. Twin is the trace whose retrieval this one is expected to equal, or nil, as
// for ReadTrace. The error is a *canon.Error.
func ReadRetrieval(path string, data []byte, twin *trace.Trace) (*trace.Retrieval, []finding.Finding, error) {
	t := &trace.Retrieval{Path: path, Size: int64(len(data))}
	r := newReader(path, data)
	if twin != nil {
		r.twin = twin
	}
	t.State = trace.Present
	var err error
	switch kind := r.src.Kind(); kind {
	case canon.Array:
		t.RowList.State = trace.Present
		err = readRows(r, t)
	case canon.Object:
		err = readRetrievalObject(r, t, data)
	default:
		var span canon.Span
		if span, err = r.src.Skip(); err == nil {
			t.Raw = data[span.Start:span.End]
			r.reject(finding.ShapeType, &t.Field, "retrieval trace is %s, not an object or a list", article(kind))
		}
	}
	if err == nil {
		err = r.src.End()
	}
	return t, r.findings, err
}

func readRetrievalObject(r *reader, t *trace.Retrieval, data []byte) error {
	wrapped, err := hasMember(data, "events")
	if err != nil {
		return err
	}
	if wrapped {
		t.Prefix = "/events"
		return object(r, retrievalMembers(), t)
	}
	t.Single = true
	t.RowList.State = trace.Present
	t.Rows = make([]trace.Row, 1)
	truncated := metadataOf(func(*trace.Row) metadata { return metadata{truncated: &t.Truncated} })
	return element(r, append(slices.Clip(rowMembers()), truncated), &t.Rows[0], &t.Rows[0].Field)
}

var errFound = errors.New("found")

func hasMember(data []byte, name string) (bool, error) {
	src := canon.NewReader(data)
	err := src.Members(func(got []byte) error {
		if string(got) == name {
			return errFound
		}
		_, err := src.Skip()
		return err
	})
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}
