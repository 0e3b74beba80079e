package memory

import (
	"errors"
	"fmt"
)

// BufferState is where a run's write buffer stands (M3).
type BufferState string

// The states of a buffer. A run without one has NoBuffer.
const (
	NoBuffer      BufferState = ""
	BufferOpen    BufferState = "buffer_open"
	CommitPending BufferState = "commit_pending"
	CommitApplied BufferState = "commit_applied"
	CommitAborted BufferState = "commit_aborted"
)

// Operation is what may be done to a buffer.
type Operation string

// The operations on buffers.
const (
	OpenBuffer    Operation = "open"
	AppendWrite   Operation = "write"
	RequestCommit Operation = "request_commit"
	ApplyCommit   Operation = "apply"
	AbortCommit   Operation = "abort"
	DiscardBuffer Operation = "discard" // M6: what recovery does to a buffer that a crash left open
)

// AbortReason says why a commit was aborted (M3).
type AbortReason string

// The reasons of an abort.
const (
	PolicyRejected     AbortReason = "policy_rejected"
	ValidationFailed   AbortReason = "validation_failed"
	StorageApplyFailed AbortReason = "storage_apply_failed"
	PayloadMismatch    AbortReason = "payload_mismatch"
)

// AbortReasons gives all reasons.
func AbortReasons() []AbortReason {
	return []AbortReason{PolicyRejected, ValidationFailed, StorageApplyFailed, PayloadMismatch}
}

// transitions are all that is allowed (M3). An applied run may be opened again, a pending one not (M4).
var transitions = []struct {
	from BufferState
	do   Operation
	to   BufferState
}{
	{NoBuffer, OpenBuffer, BufferOpen},
	{CommitApplied, OpenBuffer, BufferOpen},
	{BufferOpen, AppendWrite, BufferOpen},
	{BufferOpen, RequestCommit, CommitPending},
	{BufferOpen, DiscardBuffer, NoBuffer},
	{CommitPending, ApplyCommit, CommitApplied},
	{CommitPending, AbortCommit, CommitAborted},
}

// BufferError says why an operation was refused. But for payload_mismatch it changed nothing.
type BufferError struct {
	Code   string // one of the Code constants, or payload_mismatch
	Detail string
}

// Error gives one line.
func (e *BufferError) Error() string { return e.Code + ": " + e.Detail }

// The codes of a BufferError.
const (
	CodeNotOpen             = "buffer_not_open"
	CodeNotPending          = "commit_not_pending"
	CodeTransition          = "invalid_state_transition"
	CodeMissingCommitID     = "missing_commit_id"
	CodeFingerprintMismatch = "fingerprint_mismatch"
	CodeUnknownReason       = "unknown_reason"
	CodeLease               = "invalid_lease"
	CodeLeaseHeld           = "lease_not_acquired"
	CodeNoStore             = "no_store"
	CodeUnknownSnapshot     = "unknown_snapshot"
	CodeRunID               = "invalid_run_id"
	CodeTooLarge            = "too_large"
	CodeNotAllowed          = "not_allowed"
)

// refusals are the codes for operations where the table has no row.
var refusals = map[Operation]string{
	AppendWrite: CodeNotOpen,
	ApplyCommit: CodeNotPending,
	AbortCommit: CodeNotPending,
}

// Next gives the state after an operation; an operation that the table does not have is a *BufferError.
func (s BufferState) Next(do Operation) (BufferState, error) {
	for _, t := range transitions {
		if t.from == s && t.do == do {
			return t.to, nil
		}
	}
	code := refusals[do]
	if code == "" {
		code = CodeTransition
	}
	state := string(s)
	if s == NoBuffer {
		state = "no buffer"
	}
	return s, &BufferError{code, fmt.Sprintf("%s is not possible in %s", do, state)}
}

// Buffer is the write buffer of one run (M3). Nobody reads its writes before they are applied (M1).
type Buffer struct {
	RunID       string
	Start       string // the start snapshot
	State       BufferState
	Writes      []Write
	CommitID    string
	Fingerprint string // of the payload
	Reason      AbortReason
}

// Open opens the buffer of a run on its start snapshot.
func (b *Buffer) Open(runID, start string) error {
	state, err := b.State.Next(OpenBuffer)
	if err == nil {
		*b = Buffer{RunID: runID, Start: start, State: state}
	}
	return err
}

// Append buffers a write.
func (b *Buffer) Append(w Write) error {
	state, err := b.State.Next(AppendWrite)
	if err == nil {
		w.Record = w.Record.clone()
		b.State, b.Writes = state, append(b.Writes, w)
	}
	return err
}

// Request asks for the commit of what is buffered. M5: the fingerprint is checked against the writes.
func (b *Buffer) Request(commitID, fingerprint string) error {
	state, err := b.State.Next(RequestCommit)
	if err != nil {
		return err
	}
	if commitID == "" {
		return &BufferError{CodeMissingCommitID, "a commit needs an id"}
	}
	sum, err := PayloadFingerprint(b.Writes)
	if err != nil {
		return err
	}
	if fingerprint != sum.Hex() {
		return &BufferError{CodeFingerprintMismatch, fmt.Sprintf("the writes have the fingerprint %s, not %q", sum.Hex(), fingerprint)}
	}
	b.State, b.CommitID, b.Fingerprint = state, commitID, fingerprint
	return nil
}

// Apply ends a pending commit. Applied is the fingerprint that was applied under this commit id before, empty for none
// (M5): the same one makes the commit a repetition, whose writes are not applied again. Another one is the error
// payload_mismatch, and the one error that changes the buffer: it is aborted, which is to be made durable.
func (b *Buffer) Apply(applied string) (repetition bool, err error) {
	state, err := b.State.Next(ApplyCommit)
	if err != nil {
		return false, err
	}
	if applied != "" && applied != b.Fingerprint {
		return false, errors.Join(b.Abort(PayloadMismatch), &BufferError{
			string(PayloadMismatch), fmt.Sprintf("the commit was applied with the payload %s, not %s", applied, b.Fingerprint),
		})
	}
	b.State = state
	return applied != "", nil
}

// Abort ends a pending commit without applying it.
func (b *Buffer) Abort(reason AbortReason) error {
	state, err := b.State.Next(AbortCommit)
	if err != nil {
		return err
	}
	for _, known := range AbortReasons() {
		if reason == known {
			b.State, b.Reason = state, reason
			return nil
		}
	}
	return &BufferError{CodeUnknownReason, fmt.Sprintf("%q is no reason of an abort", reason)}
}

// Discard forgets an open buffer (M6).
func (b *Buffer) Discard() error {
	state, err := b.State.Next(DiscardBuffer)
	if err == nil {
		*b = Buffer{RunID: b.RunID, State: state}
	}
	return err
}
