// Package trace is the model of one recorded run: envelope, events, tool calls, retrievals, output.
//
// Every field keeps its bytes as found and knows whether it is present, absent, null or malformed, so that a rule can
// leave out what cannot be compared (CONTRACT V1, E1). The model judges nothing.
package trace

import (
	"math"
	"strconv"
)

// The schema versions that this model holds, and the one normalisation version (CONTRACT V1).
const (
	SchemaVersion          = "memory.determinism_trace.v1"
	RetrievalSchemaVersion = "memory.retrieval_trace.v1"
	NormalizationVersion   = "json-v1"
)

// State says what is known of a field.
type State uint8

// The states. A field that is present has the type and the range that its schema asks for.
const (
	Absent State = iota
	Null
	Malformed
	Present
)

// Field is one member of an artifact.
type Field struct {
	Raw   []byte // the JSON value as found, without surrounding white space: a span of the document; nil when absent
	State State
}

// Offset gives the byte offset of the field in the document that it is a span of. A span keeps the capacity up to the
// document's end, so nothing has to be stored for it.
func (f Field) Offset(document []byte) int { return cap(document) - cap(f.Raw) }

// Ok says that the field is present and well formed.
func (f Field) Ok() bool { return f.State == Present }

// Missing says that the field is absent or null, which some optional fields do not tell apart (CONTRACT D2).
func (f Field) Missing() bool { return f.State == Absent || f.State == Null }

// Trace is one determinism trace with the files that belong to it.
type Trace struct {
	Path    string // the determinism trace as typed
	Foreign bool   // written by a runtime with habits of its own: some failures are then warnings (CONTRACT V2)
	Size    int64  // bytes of the trace's text

	RunID, WorkflowID, SnapshotID, Visibility Field
	ModelConfigID, PolicySetID, SchemaVersion Field
	EventList                                 Field // the list `events` as a whole
	Events                                    []Event
	Output                                    Output
	Truncated                                 Field // metadata.truncated
	Lane                                      Field // metadata.lane
	EventsTotal, EventsKept                   Field // of metadata
	ModelConfig                               Field // CONTRACT D8: preimage of model_config_id
	Commit                                    Commit
	Retrieval                                 *Retrieval // nil when no retrieval trace was given
	ToolResults                               []ToolResult
	SharedResults                             bool       // other traces lie in the same folder: a tool result may be another trace's
	Recording                                 *Recording // the rest of a native run (CONTRACT D8); nil for a single trace
}

// Event is one step of a run. Its index is the only order (CONTRACT W); Position is where the array holds it.
type Event struct {
	Field                             // the object itself: malformed when it is none
	Position                          int
	Index                             int // meaningful when IndexField is ok; never more than Beyond
	ID, IndexField                    Field
	Role, Interceptor, Decision       Field
	CallList, GuardrailList, LinkList Field
	Calls                             []Call
	Guardrails                        []Field
	Links                             []Field // retrieval_event_ids
	Stage                             *Stage  // native runs; nil for every other
}

// Beyond stands for every index and every rank that no list is long enough for. It fits in 32 bits, so that all
// platforms see the same.
const Beyond = math.MaxInt32

// Stated gives the index, or false for an event that states none, or one beyond every list.
func (e *Event) Stated() (int, bool) {
	return e.Index, e.IndexField.Ok() && e.Index < Beyond
}

// Pointer gives the event's RFC 6901 pointer in its file.
func (e *Event) Pointer() string { return "/events/" + strconv.Itoa(e.Position) }

// Call is one tool call of an event.
type Call struct {
	Field
	Name, ProfileVersion              Field
	Args, Normalization               Field // normalized_args, normalization_version
	Result, SideEffect                Field // the two fingerprints
	RawArgs, RawResult, RawSideEffect Field // CONTRACT D8: preimages, where the trace carries them
	Beyond                            bool  // normalized_args hold a number that json-v1 refuses (CONTRACT C5)
}

// Output describes the run's final output by its structure.
type Output struct {
	Field
	Type, ShapeHash, Normalization Field
	Structure                      Field // CONTRACT D8: preimage of the shape hash
}

// Commit is what became of a run's buffered writes (CONTRACT M3, D7).
type Commit struct {
	Field
	Buffer, Reason, ID, Payload Field
	Writes                      Field // preimage of the payload fingerprint
}

// Retrieval is the retrieval trace of a run.
type Retrieval struct {
	Path          string
	Size          int64
	Field                // the document itself: malformed when it is neither object nor list
	SchemaVersion Field  // of the container; rows carry their own
	Truncated     Field  // metadata.truncated
	RowList       Field  // the list of rows as a whole
	Prefix        string // pointer of the list: "/events", "" for a bare list
	Single        bool   // the document is one bare row
	Rows          []Row
}

// RowPointer gives the pointer of the row at a position of the list.
func (r *Retrieval) RowPointer(position int) string {
	if r.Single {
		return ""
	}
	return r.Prefix + "/" + strconv.Itoa(position)
}

// Row is one retrieval event.
type Row struct {
	Field
	Position                             int
	ID, RunID, EventID                   Field
	PolicyID, PolicyVersion              Field
	QueryNormalization, QueryFingerprint Field
	Mode, SchemaVersion                  Field
	CandidateCount, Filters, Order       Field
	RecordList                           Field
	Records                              []Record
}

// Record is one selected record of a retrieval event.
type Record struct {
	Field
	Position        int
	Rank            int // meaningful when RankField is ok; never more than Beyond
	ID, Type, Score Field
	RankField       Field

	CreatedAt, Confidence, Sequence Field // keys of orders, where the record states them (CONTRACT P3)
}

// Key gives a key of an order by its name.
func (r *Record) Key(name string) Field {
	switch name {
	case "record_id":
		return r.ID
	case "created_at_ticks":
		return r.CreatedAt
	case "confidence":
		return r.Confidence
	case "sequence_number":
		return r.Sequence
	}
	return Field{}
}

// ToolResult is a tool's raw result kept in a file of its own.
type ToolResult struct {
	Path string
	Key  string // the hex digits that end the file's name: the head of the call's replay key
	Data []byte
}

// ByIndex gives the events in the order of their indices, or false when the indices are no permutation of 0…n-1 or an
// event is no object; then no rule about events can be applied (CONTRACT V2, E1).
func (t *Trace) ByIndex() ([]*Event, bool) {
	if !t.EventList.Ok() {
		return nil, false
	}
	ordered := make([]*Event, len(t.Events))
	for i := range t.Events {
		e := &t.Events[i]
		if !e.Ok() || !e.IndexField.Ok() || e.Index >= len(ordered) || ordered[e.Index] != nil {
			return nil, false
		}
		ordered[e.Index] = e
	}
	return ordered, true
}

// ByRank gives the row's records in the order of their ranks, or false when a record is malformed or the ranks are no
// permutation of 1…k.
func (r *Row) ByRank() ([]*Record, bool) {
	if !r.RecordList.Ok() {
		return nil, false
	}
	ordered := make([]*Record, len(r.Records))
	for i := range r.Records {
		rec := &r.Records[i]
		if !rec.WellFormed() || rec.Rank > len(ordered) || ordered[rec.Rank-1] != nil {
			return nil, false
		}
		ordered[rec.Rank-1] = rec
	}
	return ordered, true
}

// WellFormed says that the record's identity, score and rank can be used.
func (r *Record) WellFormed() bool {
	return r.Ok() && r.ID.Ok() && r.Score.Ok() && r.RankField.Ok() && r.Type.Ok()
}

// The orders that a retrieval row can name for its ranks (CONTRACT P3). A row that names none uses OrderScoreID.
const (
	OrderScoreID         = "score,record_id"
	OrderScoreCreated    = "score,created_at_ticks,record_id,sequence_number"
	OrderScoreConfidence = "score,confidence,record_id,sequence_number"
	OrderID              = "record_id"
)
