// Package audit has the debug packages, rolling logs and save files of LlamaBrain: what they hold, in which order they are
// written, and what their hashes cover (llamabrain.md §9, §10).
package audit

import (
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
)

// Record is one recorded turn, LlamaBrain's AuditRecord.
type Record struct {
	File                  string // of a rolling log: the one where the record stands; else empty
	RecordID              string // random
	NpcID                 string
	InteractionCount      int64
	BufferIndex           int64 // place among the records of its NPC
	CapturedAt            int64 // ticks of the wall clock
	SnapshotTime          int64 // ticks
	Seed                  int64
	PlayerInput           string
	TriggerReason         int64
	TriggerID             string
	SceneName             string
	MemoryHashBefore      string // of the context lines, or the state hash: writers differ (llamabrain.md §9)
	PromptHash            string
	ConstraintsHash       string
	ConstraintsSerialized string
	RawOutput             string
	OutputHash            string
	DialogueText          string
	ValidationPassed      bool
	ViolationCount        int64
	MutationsApplied      int64
	FallbackUsed          bool
	FallbackReason        string
	TtftMs                int64
	TotalTimeMs           int64
	PromptTokenCount      int64
	GeneratedTokenCount   int64

	// What its reader found out.
	Position    int    // among the records, from 0
	Pointer     string // RFC 6901, into the package, or into the log as a list of its lines
	Malformed   bool   // a member has a wrong type: nothing that the record says may be relied on
	Constraints Constraints
}

// Constraints is what ConstraintsSerialized gives: the preimage of ConstraintsHash.
type Constraints struct {
	Block   []byte // nil: there is none, for this reason
	Reason  string
	Whole   bool   // the text says what the set is; {} does not
	Deviant string // how the text differs from what LlamaBrain writes for the set; "" where it does not
}

// Field is one member of a record. One of its accessors is there.
type Field struct {
	Name    string
	Ignored bool // never compared (E12)

	text  func(*Record) *string
	whole func(*Record) *int64
	truth func(*Record) *bool
}

// Fields gives the members of a record in the order in which they are written (llamabrain.md §9).
func Fields() []Field { return fields }

var fields = []Field{
	{Name: "RecordId", Ignored: true, text: func(r *Record) *string { return &r.RecordID }},
	{Name: "NpcId", text: func(r *Record) *string { return &r.NpcID }},
	{Name: "InteractionCount", whole: func(r *Record) *int64 { return &r.InteractionCount }},
	{Name: "BufferIndex", Ignored: true, whole: func(r *Record) *int64 { return &r.BufferIndex }},
	{Name: "CapturedAtUtcTicks", Ignored: true, whole: func(r *Record) *int64 { return &r.CapturedAt }},
	{Name: "SnapshotTimeUtcTicks", whole: func(r *Record) *int64 { return &r.SnapshotTime }},
	{Name: "Seed", whole: func(r *Record) *int64 { return &r.Seed }},
	{Name: "PlayerInput", text: func(r *Record) *string { return &r.PlayerInput }},
	{Name: "TriggerReason", whole: func(r *Record) *int64 { return &r.TriggerReason }},
	{Name: "TriggerId", text: func(r *Record) *string { return &r.TriggerID }},
	{Name: "SceneName", text: func(r *Record) *string { return &r.SceneName }},
	{Name: "MemoryHashBefore", text: func(r *Record) *string { return &r.MemoryHashBefore }},
	{Name: "PromptHash", text: func(r *Record) *string { return &r.PromptHash }},
	{Name: "ConstraintsHash", text: func(r *Record) *string { return &r.ConstraintsHash }},
	{Name: "ConstraintsSerialized", text: func(r *Record) *string { return &r.ConstraintsSerialized }},
	{Name: "RawOutput", text: func(r *Record) *string { return &r.RawOutput }},
	{Name: "OutputHash", text: func(r *Record) *string { return &r.OutputHash }},
	{Name: "DialogueText", text: func(r *Record) *string { return &r.DialogueText }},
	{Name: "ValidationPassed", truth: func(r *Record) *bool { return &r.ValidationPassed }},
	{Name: "ViolationCount", whole: func(r *Record) *int64 { return &r.ViolationCount }},
	{Name: "MutationsApplied", whole: func(r *Record) *int64 { return &r.MutationsApplied }},
	{Name: "FallbackUsed", truth: func(r *Record) *bool { return &r.FallbackUsed }},
	{Name: "FallbackReason", text: func(r *Record) *string { return &r.FallbackReason }},
	{Name: "TtftMs", Ignored: true, whole: func(r *Record) *int64 { return &r.TtftMs }},
	{Name: "TotalTimeMs", Ignored: true, whole: func(r *Record) *int64 { return &r.TotalTimeMs }},
	{Name: "PromptTokenCount", Ignored: true, whole: func(r *Record) *int64 { return &r.PromptTokenCount }},
	{Name: "GeneratedTokenCount", Ignored: true, whole: func(r *Record) *int64 { return &r.GeneratedTokenCount }},
}

// Same tells whether two records have the same value of the member.
func (f Field) Same(a, b *Record) bool {
	switch {
	case f.text != nil:
		return *f.text(a) == *f.text(b)
	case f.whole != nil:
		return *f.whole(a) == *f.whole(b)
	}
	return *f.truth(a) == *f.truth(b)
}

// Value gives the member as JSON.
func (f Field) Value(r *Record) []byte {
	switch {
	case f.text != nil:
		return canon.QuoteASCII(nil, []byte(*f.text(r)))
	case f.whole != nil:
		return strconv.AppendInt(nil, *f.whole(r), 10)
	}
	return strconv.AppendBool(nil, *f.truth(r))
}

// ReadRecord reads a record. What is missing or null is empty, 0 or false, as its producer reads it.
func ReadRecord(o *document.Object) Record {
	var r Record
	for _, f := range fields {
		switch {
		case f.text != nil:
			*f.text(&r) = o.Text(f.Name, "")
		case f.whole != nil:
			*f.whole(&r) = o.Integer(f.Name, 0)
		default:
			*f.truth(&r) = o.Bool(f.Name, false)
		}
	}
	return r
}

// Write writes the record as a member of that name, or as a whole document or an element where the name is empty.
func (r *Record) Write(w *document.Writer, name string) {
	w.Object(name, func() {
		for _, f := range fields {
			switch {
			case f.text != nil:
				w.Text(f.Name, *f.text(r))
			case f.whole != nil:
				w.Integer(f.Name, *f.whole(r))
			default:
				w.Bool(f.Name, *f.truth(r))
			}
		}
	})
}
