package shape

import (
	"sync"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// The schemas of orket.md §2 and §3 as data, member by member in the order in which Orket writes them.

// text is a string that must not be empty.
func text[T any](name string, n need, field func(*T) *trace.Field) member[T] {
	return member[T]{name: name, need: n, want: canon.String, field: field, check: nonEmpty[T]}
}

var traceMembers = sync.OnceValue(func() []member[trace.Trace] {
	return []member[trace.Trace]{
		text("run_id", required, func(t *trace.Trace) *trace.Field { return &t.RunID }),
		text("workflow_id", required, func(t *trace.Trace) *trace.Field { return &t.WorkflowID }),
		text("memory_snapshot_id", required, func(t *trace.Trace) *trace.Field { return &t.SnapshotID }),
		{
			name: "visibility_mode", need: required, want: canon.String,
			field: func(t *trace.Trace) *trace.Field { return &t.Visibility },
			check: oneOf[trace.Trace]("off", "read_only", "buffered_write", "live_read_write"),
		},
		text("model_config_id", required, func(t *trace.Trace) *trace.Field { return &t.ModelConfigID }),
		text("policy_set_id", required, func(t *trace.Trace) *trace.Field { return &t.PolicySetID }),
		{
			name: "determinism_trace_schema_version", need: required, want: canon.String,
			field: func(t *trace.Trace) *trace.Field { return &t.SchemaVersion },
			check: version[trace.Trace](trace.SchemaVersion),
		},
		{
			name: "events", need: required, want: canon.Array,
			field: func(t *trace.Trace) *trace.Field { return &t.EventList },
			read: func(r *reader, t *trace.Trace) error {
				return elements(r, &t.Events, eventMembers(),
					func(e *trace.Event) *trace.Field { return &e.Field }, func(e *trace.Event, i int) { e.Position = i }, r.twin.Events)
			},
		},
		{
			name: "output", need: required, want: canon.Object,
			field: func(t *trace.Trace) *trace.Field { return &t.Output.Field },
			read:  func(r *reader, t *trace.Trace) error { return object(r, outputMembers(), &t.Output) },
		},
		{
			name:  "issue_id",
			check: func(_ *reader, t *trace.Trace, _ *trace.Field) { t.Foreign = true },
		},
		{
			name:  "role_id",
			check: func(_ *reader, t *trace.Trace, _ *trace.Field) { t.Foreign = true },
		},
		metadataOf(func(t *trace.Trace) metadata {
			return metadata{truncated: &t.Truncated, lane: &t.Lane, total: &t.EventsTotal, kept: &t.EventsKept}
		}),
		{
			name: "model_config", want: canon.Object,
			field: func(t *trace.Trace) *trace.Field { return &t.ModelConfig },
		},
		{
			name: "commit", want: canon.Object,
			field: func(t *trace.Trace) *trace.Field { return &t.Commit.Field },
			read:  readCommit,
		},
	}
})

var eventMembers = sync.OnceValue(func() []member[trace.Event] {
	return []member[trace.Event]{
		text("event_id", required, func(e *trace.Event) *trace.Field { return &e.ID }),
		{
			name: "index", need: required, want: canon.Number,
			field: func(e *trace.Event) *trace.Field { return &e.IndexField },
			check: func(r *reader, e *trace.Event, f *trace.Field) { e.Index, _ = integer(r, f, 0) },
		},
		text("role", required, func(e *trace.Event) *trace.Field { return &e.Role }),
		text("interceptor", required, func(e *trace.Event) *trace.Field { return &e.Interceptor }),
		text("decision_type", required, func(e *trace.Event) *trace.Field { return &e.Decision }),
		{
			name: "tool_calls", need: required, want: canon.Array,
			field: func(e *trace.Event) *trace.Field { return &e.CallList },
			read:  readCalls,
		},
		{
			name: "guardrails_triggered", need: required, want: canon.Array,
			field: func(e *trace.Event) *trace.Field { return &e.GuardrailList },
			read:  func(r *reader, e *trace.Event) error { return texts(r, &e.Guardrails) },
		},
		{
			name: "retrieval_event_ids", need: required, want: canon.Array,
			field: func(e *trace.Event) *trace.Field { return &e.LinkList },
			read:  func(r *reader, e *trace.Event) error { return texts(r, &e.Links) },
		},
		{
			name: "stage", want: canon.Object,
			field: func(e *trace.Event) *trace.Field {
				if e.Stage == nil {
					e.Stage = &trace.Stage{}
				}
				return &e.Stage.Field
			},
			read: func(r *reader, e *trace.Event) error { return object(r, stageMembers(), e.Stage) },
		},
	}
})

// place is a number of a stage: a turn, an attempt, a call.
func place(name string, field func(*trace.Stage) (*trace.Field, *int)) member[trace.Stage] {
	return member[trace.Stage]{
		name: name, want: canon.Number,
		field: func(s *trace.Stage) *trace.Field { f, _ := field(s); return f },
		check: func(r *reader, s *trace.Stage, f *trace.Field) {
			_, n := field(s)
			*n, _ = integer(r, f, 0)
		},
	}
}

// stageMembers are what the stages of a native run made (CONTRACT E10).
var stageMembers = sync.OnceValue(func() []member[trace.Stage] {
	return []member[trace.Stage]{
		place("turn", func(s *trace.Stage) (*trace.Field, *int) { return &s.TurnField, &s.Turn }),
		place("attempt", func(s *trace.Stage) (*trace.Field, *int) { return &s.AttemptField, &s.Attempt }),
		place("call", func(s *trace.Stage) (*trace.Field, *int) { return &s.CallField, &s.Call }),
		text("context_digest", optional, func(s *trace.Stage) *trace.Field { return &s.Context }),
		text("constraints_digest", optional, func(s *trace.Stage) *trace.Field { return &s.Constraints }),
		text("prompt_digest", optional, func(s *trace.Stage) *trace.Field { return &s.Prompt }),
		text("parse_digest", optional, func(s *trace.Stage) *trace.Field { return &s.Parse }),
		text("gate_digest", optional, func(s *trace.Stage) *trace.Field { return &s.Gate }),
		text("mutation_batch_digest", optional, func(s *trace.Stage) *trace.Field { return &s.Mutations }),
		{name: "dispatched_intents", want: canon.Array, field: func(s *trace.Stage) *trace.Field { return &s.Intents }},
		text("state_digest", optional, func(s *trace.Stage) *trace.Field { return &s.State }),
	}
})

// readCalls reads tool calls, or takes over those of the twin where they are written alike.
func readCalls(r *reader, e *trace.Event) error {
	if e.Position < len(r.twin.Events) {
		if twin := &r.twin.Events[e.Position]; r.src.SkipSame(twin.CallList.Raw) {
			e.Calls = twin.Calls
			return nil
		}
	}
	const block = 64
	if cap(r.free) == 0 {
		r.free = make([]trace.Call, 0, block)
	}
	e.Calls = r.free
	err := elements(r, &e.Calls, callMembers(), func(c *trace.Call) *trace.Field { return &c.Field }, nil, nil)
	if n := len(e.Calls); n <= cap(r.free) {
		e.Calls, r.free = e.Calls[:n:n], r.free[n:n]
	}
	return err
}

var callMembers = sync.OnceValue(func() []member[trace.Call] {
	return []member[trace.Call]{
		text("tool_name", required, func(c *trace.Call) *trace.Field { return &c.Name }),
		{name: "tool_profile_id", want: canon.String},
		text("tool_profile_version", required, func(c *trace.Call) *trace.Field { return &c.ProfileVersion }),
		{
			name: "normalized_args", need: required, want: canon.Object,
			field: func(c *trace.Call) *trace.Field { return &c.Args },
			check: func(r *reader, c *trace.Call, f *trace.Field) { c.Beyond = r.src.Beyond() > f.Offset(r.data) },
		},
		{
			name: "normalization_version", need: required, want: canon.String,
			field: func(c *trace.Call) *trace.Field { return &c.Normalization },
			check: version[trace.Call](trace.NormalizationVersion),
		},
		text("tool_result_fingerprint", required, func(c *trace.Call) *trace.Field { return &c.Result }),
		text("side_effect_fingerprint", nullable, func(c *trace.Call) *trace.Field { return &c.SideEffect }),
		{
			name: "args", want: canon.Object,
			field: func(c *trace.Call) *trace.Field { return &c.RawArgs },
		},
		{name: "result", field: func(c *trace.Call) *trace.Field { return &c.RawResult }},
		{name: "side_effects", field: func(c *trace.Call) *trace.Field { return &c.RawSideEffect }},
	}
})

var outputMembers = sync.OnceValue(func() []member[trace.Output] {
	return []member[trace.Output]{
		text("output_type", required, func(o *trace.Output) *trace.Field { return &o.Type }),
		text("output_shape_hash", required, func(o *trace.Output) *trace.Field { return &o.ShapeHash }),
		{
			name: "normalization_version", need: required, want: canon.String,
			field: func(o *trace.Output) *trace.Field { return &o.Normalization },
			check: version[trace.Output](trace.NormalizationVersion),
		},
		{
			name: "structure", want: canon.Object,
			field: func(o *trace.Output) *trace.Field { return &o.Structure },
		},
	}
})

// metadata holds the members of a metadata object that a rule reads; the others are only held to their types.
type metadata struct {
	truncated, lane, total, kept *trace.Field // nil for one that is not read
	other                        trace.Field
}

func (m *metadata) rest() *trace.Field { return &m.other }

func (m *metadata) or(field *trace.Field) *trace.Field {
	if field == nil {
		return &m.other
	}
	return field
}

var metadataMembers = sync.OnceValue(func() []member[metadata] {
	return []member[metadata]{
		{name: "truncated", want: canon.Bool, field: func(m *metadata) *trace.Field { return m.truncated }},
		{name: "lane", want: canon.String, field: func(m *metadata) *trace.Field { return m.lane }},
		{name: "events_total", want: canon.Number, field: func(m *metadata) *trace.Field { return m.or(m.total) }, check: count[metadata]},
		{name: "events_kept", want: canon.Number, field: func(m *metadata) *trace.Field { return m.or(m.kept) }, check: count[metadata]},
		{name: "dropped_digest", want: canon.String, field: (*metadata).rest},
	}
})

// metadataOf is the member of a document that says whether the writer left something out (CONTRACT V4).
func metadataOf[T any](kept func(*T) metadata) member[T] {
	return member[T]{
		name: "metadata", want: canon.Object,
		read: func(r *reader, t *T) error {
			m := kept(t)
			if m.lane == nil {
				m.lane = &m.other
			}
			return object(r, metadataMembers(), &m)
		},
	}
}

var commitMembers = sync.OnceValue(func() []member[trace.Commit] {
	return []member[trace.Commit]{
		{
			name: "buffer_state", need: required, want: canon.String,
			field: func(c *trace.Commit) *trace.Field { return &c.Buffer },
			check: oneOf[trace.Commit]("buffer_open", "commit_pending", "commit_applied", "commit_aborted"),
		},
		{
			name: "reason_code", need: nullable, want: canon.String,
			field: func(c *trace.Commit) *trace.Field { return &c.Reason },
			check: oneOf[trace.Commit]("policy_rejected", "validation_failed", "storage_apply_failed", "payload_mismatch"),
		},
		text("commit_id", required, func(c *trace.Commit) *trace.Field { return &c.ID }),
		text("commit_payload_fingerprint", required, func(c *trace.Commit) *trace.Field { return &c.Payload }),
		{
			name: "writes", want: canon.Array,
			field: func(c *trace.Commit) *trace.Field { return &c.Writes },
		},
	}
})

// readCommit holds the abort reason to the state: it is there exactly when the buffer was aborted (CONTRACT M3).
func readCommit(r *reader, t *trace.Trace) error {
	c := &t.Commit
	if err := object(r, commitMembers(), c); err != nil || !c.Buffer.Ok() {
		return err
	}
	r.push(step{name: "reason_code"})
	defer r.pop()
	switch aborted := textIs(&c.Buffer, "commit_aborted"); {
	case aborted && c.Reason.Missing():
		r.note(finding.ShapeMissing, nil, "reason_code is missing, and the buffer was aborted")
	case !aborted && !c.Reason.Missing():
		r.reject(finding.ShapeValue, &c.Reason, "reason_code is given, and the buffer was not aborted")
	}
	return nil
}

// ReadTrace reads a determinism trace and gives the findings of its shape. Twin is a trace that this one is expected to
// equal, or nil: what is written alike is not looked at again. The error is a *canon.Error.
func ReadTrace(path string, data []byte, twin *trace.Trace) (*trace.Trace, []finding.Finding, error) {
	t := &trace.Trace{Path: path, Size: int64(len(data))}
	r := newReader(path, data)
	r.events = true
	if twin != nil {
		r.twin = twin
	}
	findings, err := whole(r, traceMembers(), t)
	for i := range findings {
		findings[i].EventIndex = indexAt(t, findings[i].EventIndex)
	}
	return t, findings, err
}

// indexAt gives the index of the event at a position: an event that states none has no place in the order.
func indexAt(t *trace.Trace, position int) int {
	if position < 0 || position >= len(t.Events) {
		return finding.NoEvent
	}
	if index, ok := t.Events[position].Stated(); ok {
		return index
	}
	return finding.NoEvent
}
