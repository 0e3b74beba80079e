package memory

import "context"

// endings are the events that a run in a state must have as its last one.
var endings = map[BufferState][]LedgerEvent{
	NoBuffer:      {BufferDiscarded},
	BufferOpen:    {RunOpened, WritesBuffered},
	CommitPending: {CommitRequested, LeaseTaken, ApplyFailed},
	CommitApplied: {CommitWasApplied, CommitRepeated},
	CommitAborted: {CommitWasAborted},
}

// VerifyLedger follows the whole ledger and holds the store to it: every snapshot has the row that it came with, every run is
// where its last row says. So rows that were cut off at the end are missed as well. The error is a *LedgerFault, or the
// backend's.
func (s *Store) VerifyLedger(ctx context.Context) (chain LedgerChain, err error) {
	err = s.backend.View(ctx, func(tx Tx) error {
		if _, err := aboutOf(tx); err != nil {
			return err
		}
		chain, err = verifyLedger(tx)
		return err
	})
	return chain, err
}

func verifyLedger(tx Tx) (LedgerChain, error) {
	l := ledgerLook{made: map[string]LedgerRow{}, last: map[string]LedgerRow{}}
	if err := tx.EachRow(l.see); err != nil {
		return l.chain, err
	}
	if err := tx.EachSnapshot(l.holdSnapshot); err != nil {
		return l.chain, err
	}
	for _, state := range bufferStates {
		if err := tx.EachRun(state, l.holdRun); err != nil {
			return l.chain, err
		}
	}
	return l.chain, nil
}

// ledgerLook is what a ledger says about snapshots and runs.
type ledgerLook struct {
	chain LedgerChain
	made  map[string]LedgerRow // by snapshot id
	last  map[string]LedgerRow // by run id
}

func (l *ledgerLook) see(number int64, digest string, text []byte) error {
	if err := l.chain.Follow(number, digest, text); err != nil {
		return err
	}
	row, err := ReadLedgerRow(text)
	if err != nil {
		return err
	}
	switch row.Event {
	case StoreCreated, SnapshotImported, CommitWasApplied:
		l.made[row.SnapshotID] = row
	}
	if row.RunID != "" {
		l.last[row.RunID] = row
	}
	return nil
}

func (l *ledgerLook) holdSnapshot(text []byte) error {
	snapshot, err := readSnapshotRow(text)
	if err != nil {
		return err
	}
	row, there := l.made[snapshot.ID()]
	switch {
	case !there:
		return faultAt(0, "no row tells where the snapshot %s came from", snapshot.ID())
	case row.CommitID != snapshot.CommitID || row.Fingerprint != snapshot.Fingerprint || row.RunID != snapshot.RunID:
		return faultAt(row.Number, "names another commit than the snapshot %s has", snapshot.ID())
	}
	return nil
}

func (l *ledgerLook) holdRun(text []byte) error {
	run, err := readRun(text)
	if err != nil {
		return err
	}
	row := l.last[run.RunID]
	if row.Number != run.Row {
		return faultAt(0, "the last row about the run %q is %d, and %d is known to be: rows were removed or added", run.RunID, row.Number, run.Row)
	}
	for _, event := range endings[run.State] {
		if row.Event == event {
			return nil
		}
	}
	return faultAt(row.Number, "says %s of the run %q, which is in %q", row.Event, run.RunID, run.State)
}
