package verify

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
)

// storeHistory is what the rows of a ledger have told so far.
type storeHistory struct {
	storeID      string
	rows         int
	head, oldest int64
	runs         map[string]*runHistory
	applied      map[string]memory.LedgerRow // by commit id
}

// runHistory is what they have told of a run.
type runHistory struct {
	state               memory.BufferState
	start               string
	commit, fingerprint string // asked for
	token               int64  // of the last lease
}

func newStoreHistory(storeID string) *storeHistory {
	return &storeHistory{storeID: storeID, runs: map[string]*runHistory{}, applied: map[string]memory.LedgerRow{}}
}

// ledgerSteps are the events that take a buffer from state to state (M3).
var ledgerSteps = map[memory.LedgerEvent]struct {
	do memory.Operation
	to memory.BufferState // also where it could not be done, so that one row is told of once
}{
	memory.RunOpened:        {memory.OpenBuffer, memory.BufferOpen},
	memory.WritesBuffered:   {memory.AppendWrite, memory.BufferOpen},
	memory.CommitRequested:  {memory.RequestCommit, memory.CommitPending},
	memory.CommitWasApplied: {memory.ApplyCommit, memory.CommitApplied},
	memory.CommitRepeated:   {memory.ApplyCommit, memory.CommitApplied},
	memory.CommitWasAborted: {memory.AbortCommit, memory.CommitAborted},
	memory.BufferDiscarded:  {memory.DiscardBuffer, memory.NoBuffer},
}

// step takes a row into account, and says what no store can have written; code is empty for nothing.
func (h *storeHistory) step(row memory.LedgerRow) (problem string, code finding.Code) {
	h.rows++
	if (h.rows == 1) != (row.Event == memory.StoreCreated) {
		return fmt.Sprintf("the first row, and no other, says %s, and this one says %s", memory.StoreCreated, row.Event), finding.LedgerStore
	}
	switch row.Event {
	case memory.StoreCreated:
		if row.Detail != h.storeID || row.SnapshotID != memory.SnapshotID(0) {
			return fmt.Sprintf("the store was made as %q with the snapshot %q, and the ledger is that of %q", row.Detail, row.SnapshotID, h.storeID), finding.LedgerStore
		}
		return "", ""
	case memory.SnapshotImported:
		return h.next(row)
	case memory.RecordsForgotten:
		return h.forget(row)
	}
	if row.RunID == "" {
		return fmt.Sprintf("%s without a run", row.Event), finding.LedgerState
	}
	run := h.runs[row.RunID]
	if run == nil {
		run = &runHistory{}
		h.runs[row.RunID] = run
	}
	for _, rule := range []func(*runHistory, memory.LedgerRow) (string, finding.Code){h.transition, h.start, h.commit} {
		if told, found := rule(run, row); code == "" {
			problem, code = told, found
		}
	}
	return problem, code
}

// next is the snapshot after the newest (M1).
func (h *storeHistory) next(row memory.LedgerRow) (string, finding.Code) {
	h.head++
	if due := memory.SnapshotID(h.head); row.SnapshotID != due {
		return fmt.Sprintf("it made the snapshot %q, and %s is next", row.SnapshotID, due), finding.LedgerSnapshot
	}
	return "", ""
}

// readable gives the number of a snapshot that was there and not forgotten.
func (h *storeHistory) readable(id string) (int64, bool) {
	n, err := strconv.ParseInt(id, 10, 64)
	return n, err == nil && memory.SnapshotID(n) == id && n >= h.oldest && n <= h.head
}

func (h *storeHistory) forget(row memory.LedgerRow) (string, finding.Code) {
	n, ok := h.readable(row.SnapshotID)
	if !ok || n == h.oldest {
		return fmt.Sprintf("records of snapshots before %q were forgotten, which cannot be", row.SnapshotID), finding.LedgerSnapshot
	}
	h.oldest = n
	return "", ""
}

// transition holds a row to the state machine of buffers, leases and failures to a pending commit (M3, M6, M7).
func (h *storeHistory) transition(run *runHistory, row memory.LedgerRow) (string, finding.Code) {
	step, ok := ledgerSteps[row.Event]
	if !ok {
		if run.state != memory.CommitPending {
			return fmt.Sprintf("%s of the run %q, which has no pending commit", row.Event, row.RunID), finding.LedgerState
		}
		return lease(run, row)
	}
	_, err := run.state.Next(step.do)
	was := run.state
	run.state = step.to
	if err != nil {
		return fmt.Sprintf("%s of the run %q, which is in %q", row.Event, row.RunID, was), finding.LedgerState
	}
	return "", ""
}

// lease holds the token of a lease to the one before (M7): the detail is `TOKEN by WORKER`.
func lease(run *runHistory, row memory.LedgerRow) (string, finding.Code) {
	if row.Event != memory.LeaseTaken {
		return "", ""
	}
	run.token++
	token, _, _ := strings.Cut(row.Detail, " by ")
	if token != strconv.FormatInt(run.token, 10) {
		return fmt.Sprintf("the lease of the run %q has the token %q, and %d is next", row.RunID, token, run.token), finding.LedgerLease
	}
	return "", ""
}

// start holds a run to the snapshot that it was opened on (M1).
func (h *storeHistory) start(run *runHistory, row memory.LedgerRow) (string, finding.Code) {
	switch row.Event {
	case memory.RunOpened:
		run.start = row.SnapshotID
		if _, ok := h.readable(row.SnapshotID); !ok {
			return fmt.Sprintf("the run %q starts from the snapshot %q, which could not be read then", row.RunID, row.SnapshotID), finding.LedgerSnapshot
		}
	case memory.CommitWasApplied:
		return h.next(row)
	default:
		if row.SnapshotID != run.start {
			return fmt.Sprintf("the run %q was opened on the snapshot %q, and the row says %q", row.RunID, run.start, row.SnapshotID), finding.LedgerSnapshot
		}
	}
	return "", ""
}

// commit holds what became of a commit to what was asked for, and to what was applied before (M3, M5).
func (h *storeHistory) commit(run *runHistory, row memory.LedgerRow) (string, finding.Code) {
	aborted := row.Event == memory.CommitWasAborted
	if aborted != (row.Reason != "") {
		return fmt.Sprintf("%s with the reason %q", row.Event, row.Reason), finding.LedgerCommit
	}
	switch row.Event {
	case memory.RunOpened:
		run.commit, run.fingerprint = "", ""
	case memory.CommitRequested:
		if run.commit, run.fingerprint = row.CommitID, row.Fingerprint; row.CommitID == "" || row.Fingerprint == "" {
			return fmt.Sprintf("the run %q asks for a commit without an id or a fingerprint", row.RunID), finding.LedgerCommit
		}
	case memory.BufferDiscarded:
		return "", ""
	}
	if row.CommitID != run.commit || row.Fingerprint != run.fingerprint {
		return fmt.Sprintf("the run %q asked for another commit", row.RunID), finding.LedgerCommit
	}
	before, known := h.applied[row.CommitID]
	switch {
	case row.Event == memory.CommitWasApplied && known:
		return fmt.Sprintf("the commit was applied before, in row %d", before.Number), finding.LedgerCommit
	case row.Event == memory.CommitWasApplied:
		h.applied[row.CommitID] = row
	case row.Event == memory.CommitRepeated && (!known || before.Fingerprint != row.Fingerprint || row.Detail != "made snapshot "+before.SnapshotID):
		return "the commit repeats none that was applied before", finding.LedgerCommit
	}
	return "", ""
}
