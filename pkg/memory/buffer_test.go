package memory_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
)

var (
	bufferStates = []memory.BufferState{
		memory.NoBuffer, memory.BufferOpen, memory.CommitPending, memory.CommitApplied, memory.CommitAborted,
	}
	bufferOperations = []memory.Operation{
		memory.OpenBuffer, memory.AppendWrite, memory.RequestCommit, memory.ApplyCommit, memory.AbortCommit, memory.DiscardBuffer,
	}
)

// M3, M4, M6: the table, all of it. What is not named is an error with its code and leaves the state.
func TestEveryTransitionOfABuffer(t *testing.T) {
	type step struct {
		from memory.BufferState
		do   memory.Operation
	}
	allowed := map[step]memory.BufferState{
		{"", "open"}:                      "buffer_open",
		{"commit_applied", "open"}:        "buffer_open",
		{"buffer_open", "write"}:          "buffer_open",
		{"buffer_open", "request_commit"}: "commit_pending",
		{"buffer_open", "discard"}:        "",
		{"commit_pending", "apply"}:       "commit_applied",
		{"commit_pending", "abort"}:       "commit_aborted",
	}
	codes := map[memory.Operation]string{
		"open": "invalid_state_transition", "request_commit": "invalid_state_transition", "discard": "invalid_state_transition",
		"write": "buffer_not_open", "apply": "commit_not_pending", "abort": "commit_not_pending",
	}
	for _, from := range bufferStates {
		for _, do := range bufferOperations {
			got, err := from.Next(do)
			if to, ok := allowed[step{from, do}]; ok {
				if err != nil || got != to {
					t.Errorf("%s in %q: %q, %v", do, from, got, err)
				}
				continue
			}
			var refused *memory.BufferError
			if !errors.As(err, &refused) || refused.Code != codes[do] || got != from {
				t.Errorf("%s in %q: %q, %v", do, from, got, err)
			}
		}
	}
}

func requested(t *testing.T, commitID string, list string) memory.Buffer {
	t.Helper()
	var b memory.Buffer
	if err := b.Open("run-1", memory.SnapshotID(41)); err != nil {
		t.Fatal(err)
	}
	for _, w := range writes(t, list) {
		if err := b.Append(w); err != nil {
			t.Fatal(err)
		}
	}
	sum := must[fingerprint](t)(memory.PayloadFingerprint(b.Writes))
	if err := b.Request(commitID, sum.Hex()); err != nil {
		t.Fatal(err)
	}
	return b
}

type fingerprint = interface{ Hex() string }

// M5: the same payload under the same id is no second commit; another one aborts the buffer.
func TestACommitIsAppliedOnce(t *testing.T) {
	note := write("append", "note", "n", 50, `{}`, unnumbered)
	first := requested(t, "c1", note)
	if repeated, err := first.Apply(""); repeated || err != nil || first.State != memory.CommitApplied {
		t.Errorf("first: %v, %v, %+v", repeated, err, first)
	}
	second := requested(t, "c1", note)
	if repeated, err := second.Apply(first.Fingerprint); !repeated || err != nil || second.State != memory.CommitApplied {
		t.Errorf("second: %v, %v, %+v", repeated, err, second)
	}
	third := requested(t, "c1", write("append", "note", "n", 50, `{"a":1}`, unnumbered))
	_, err := third.Apply(first.Fingerprint)
	var refused *memory.BufferError
	if !errors.As(err, &refused) || refused.Code != "payload_mismatch" ||
		refused.Detail != "the commit was applied with the payload "+first.Fingerprint+", not "+third.Fingerprint {
		t.Errorf("third: %v", err)
	}
	if third.State != memory.CommitAborted || third.Reason != memory.PayloadMismatch {
		t.Errorf("third: %+v", third)
	}
}

// M3, M5: what is refused changes nothing.
func TestARefusedOperationChangesNothing(t *testing.T) {
	open := memory.Buffer{RunID: "r", Start: "s", State: memory.BufferOpen}
	pending := requested(t, "c1", write("append", "note", "n", 50, `{}`, unnumbered))
	tests := []struct {
		buffer memory.Buffer
		do     func(*memory.Buffer) error
		code   string
	}{
		{open, func(b *memory.Buffer) error { return b.Request("", "x") }, memory.CodeMissingCommitID},
		{open, func(b *memory.Buffer) error { return b.Request("c", "") }, memory.CodeFingerprintMismatch},
		{open, func(b *memory.Buffer) error { return b.Request("c", pending.Fingerprint) }, memory.CodeFingerprintMismatch},
		{open, func(b *memory.Buffer) error { return b.Open("r", "s") }, memory.CodeTransition},
		{open, func(b *memory.Buffer) error { return second(b.Apply("")) }, memory.CodeNotPending},
		{pending, func(b *memory.Buffer) error { return b.Append(memory.Write{}) }, memory.CodeNotOpen},
		{pending, func(b *memory.Buffer) error { return b.Open("r", "s") }, memory.CodeTransition},
		{pending, func(b *memory.Buffer) error { return b.Request("c", "") }, memory.CodeTransition},
		{pending, func(b *memory.Buffer) error { return b.Discard() }, memory.CodeTransition},
		{pending, func(b *memory.Buffer) error { return b.Abort("") }, memory.CodeUnknownReason},
		{open, func(b *memory.Buffer) error { return b.Abort(memory.PolicyRejected) }, memory.CodeNotPending},
	}
	for i, tt := range tests {
		b := tt.buffer
		var refused *memory.BufferError
		if err := tt.do(&b); !errors.As(err, &refused) || refused.Code != tt.code {
			t.Errorf("%d: %v, want %s", i, err, tt.code)
		}
		if !reflect.DeepEqual(b, tt.buffer) {
			t.Errorf("%d: %+v", i, b)
		}
	}
}

func TestABufferIsAbortedOrDiscarded(t *testing.T) {
	for _, reason := range memory.AbortReasons() {
		b := requested(t, "c", "")
		if err := b.Abort(reason); err != nil || b.State != memory.CommitAborted || b.Reason != reason {
			t.Errorf("%s: %v, %+v", reason, err, b)
		}
	}
	var b memory.Buffer
	if err := errors.Join(b.Open("r", "s"), b.Append(memory.Write{}), b.Discard()); err != nil || len(b.Writes) != 0 || b.State != memory.NoBuffer {
		t.Errorf("%v, %+v", err, b)
	}
}

// M1: what is buffered is no longer the caller's.
func TestABufferedWriteIsACopy(t *testing.T) {
	b := memory.Buffer{State: memory.BufferOpen}
	r := memory.Record{Type: "note", Content: []byte(`{"a":1}`)}
	r.Tags, r.Trust, r.ExpiresAt = []string{"x"}, ptr(7), ptr(int64(7))
	if err := b.Append(memory.Write{Op: memory.Append, Record: r}); err != nil {
		t.Fatal(err)
	}
	before := must[fingerprint](t)(memory.PayloadFingerprint(b.Writes)).Hex()
	r.Content[5], r.Tags[0], *r.Trust, *r.ExpiresAt = '2', "y", 8, 8
	if after := must[fingerprint](t)(memory.PayloadFingerprint(b.Writes)).Hex(); after != before {
		t.Error("the caller changed what is buffered")
	}
}

// D7: both identities over hand-written json-v1.
func TestIdentitiesOfACommit(t *testing.T) {
	id := must[fingerprint](t)(memory.CommitID("run-7", memory.SnapshotID(41), "p"))
	want := memory.HashText(`{"memory_snapshot_id":"00000000000000000041","policy_set_id":"p","run_id":"run-7"}`)
	if id.Hex() != want.Hex() {
		t.Error(id.Hex())
	}
	payload := must[fingerprint](t)(memory.PayloadFingerprint(writes(t, write("append", "episodic", "", 50, `{"Description":"x"}`, unnumbered))))
	want = memory.HashText(`[{"op":"append","record":{"content":{"Description":"x","EpisodeType":0,"GameTime":0,"Significance":0.5,"Strength":1},"created_at_ticks":7,"namespace":"","record_type":"episodic",` +
		`"scope":"","sequence_number":0,"source":50,"tags":[],"trust":50}}]`)
	if payload.Hex() != want.Hex() {
		t.Error(payload.Hex())
	}
}
