package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/dmpl/dmpl/pkg/canon"
)

func digestOf(text []byte) (string, error) {
	sum, err := canon.Digest(canon.JSONv1, text)
	return sum.Hex(), err
}

// Outcome is what became of a commit.
type Outcome struct {
	Run      Run
	Snapshot string // that the commit made, or made before
	Repeated bool   // M5: the commit was applied before, and nothing changed
}

// Request asks for the commit of what is buffered (M3). The fingerprint is held against the writes (M5).
func (s *Store) Request(ctx context.Context, runID, commitID, fingerprint string) (Run, error) {
	return s.on(ctx, runID, func(o *operation) error { return o.request(commitID, fingerprint) })
}

// Apply ends a pending commit. The token is that of the caller's lease, 0 for the run itself, which may where nobody holds
// the lease (M7). A commit that cannot be applied is aborted, durably, and the error is a *BufferError whose code is the
// reason.
func (s *Store) Apply(ctx context.Context, runID string, token int64) (out Outcome, err error) {
	out.Run, err = s.on(ctx, runID, func(o *operation) error { return o.apply(token, &out) })
	return out, err
}

// Commit is Request and Apply in one transaction.
func (s *Store) Commit(ctx context.Context, runID, commitID, fingerprint string) (out Outcome, err error) {
	out.Run, err = s.on(ctx, runID, func(o *operation) error {
		if err := o.request(commitID, fingerprint); err != nil {
			return err
		}
		return o.apply(0, &out)
	})
	return out, err
}

// Reject requests a commit and aborts it in one transaction, for a reason that is known without the store: the commit policy
// said no (D9), or the writes cannot even be applied to the start snapshot. The detail names the rule.
func (s *Store) Reject(ctx context.Context, runID, commitID, fingerprint string, reason AbortReason, detail string) (Run, error) {
	return s.on(ctx, runID, func(o *operation) error {
		if err := o.request(commitID, fingerprint); err != nil {
			return err
		}
		return o.abort(reason, detail)
	})
}

// Abort ends a pending commit without applying it; token as for Apply.
func (s *Store) Abort(ctx context.Context, runID string, token int64, reason AbortReason, detail string) (Run, error) {
	return s.on(ctx, runID, func(o *operation) error {
		if _, err := o.run.State.Next(AbortCommit); err != nil {
			return err
		}
		if err := o.run.Lease.admits(token, o.now); err != nil {
			return err
		}
		return o.abort(reason, detail)
	})
}

// Discard forgets an open buffer.
func (s *Store) Discard(ctx context.Context, runID string) (Run, error) {
	return s.on(ctx, runID, func(o *operation) error { return o.discard("") })
}

func (o *operation) discard(detail string) error {
	was := o.run
	if err := o.run.Buffer.Discard(); err != nil {
		return err
	}
	o.run = Run{Buffer: o.run.Buffer, Lease: Lease{Token: was.Lease.Token}}
	if err := o.tx.DropWrites(was.RunID); err != nil {
		return err
	}
	return o.book.enter(LedgerRow{Time: o.now, Event: BufferDiscarded, RunID: was.RunID, SnapshotID: was.Start, Detail: detail})
}

func (o *operation) request(commitID, fingerprint string) (err error) {
	if _, err := o.run.State.Next(RequestCommit); err != nil {
		return err
	}
	if len(commitID) > maxName {
		return &BufferError{CodeTooLarge, fmt.Sprintf("a commit id has at most %d bytes", maxName)}
	}
	if o.run.Writes, err = bufferedWrites(o.tx, o.run.RunID); err != nil {
		return err
	}
	if err := o.run.Buffer.Request(commitID, fingerprint); err != nil {
		return err
	}
	return o.log(CommitRequested, "")
}

func (o *operation) apply(token int64, out *Outcome) error {
	if _, err := o.run.State.Next(ApplyCommit); err != nil {
		return err
	}
	if err := o.run.Lease.admits(token, o.now); err != nil {
		return err
	}
	before, err := o.tx.Committed(o.run.CommitID)
	if err != nil {
		return err
	}
	var applied Snapshot
	if before != nil {
		if applied, err = readSnapshotRow(before); err != nil {
			return err
		}
	}
	repeated, err := o.run.Buffer.Apply(applied.Fingerprint)
	switch {
	case o.run.State == CommitAborted: // M5: payload_mismatch is durable, with both fingerprints
		o.refused = err
		return o.aborted("applied before was " + applied.Fingerprint)
	case err != nil:
		return err
	case repeated:
		*out = Outcome{Snapshot: applied.ID(), Repeated: true}
		if err := o.tx.DropWrites(o.run.RunID); err != nil {
			return err
		}
		o.run.Writes = nil
		return o.log(CommitRepeated, "made snapshot "+applied.ID())
	}
	return o.commit(out)
}

// commit applies the writes to the newest snapshot (M4).
func (o *operation) commit(out *Outcome) (err error) {
	if o.run.Writes == nil {
		if changed, err := o.load(); changed || err != nil {
			return err
		}
	}
	head, err := newestOf(o.tx)
	if err != nil {
		return err
	}
	made, err := o.make(head)
	var rejected *Rejection
	if errors.As(err, &rejected) {
		o.run.State = CommitPending
		o.refused = &BufferError{string(ValidationFailed), rejected.Error()}
		return o.abort(ValidationFailed, rejected.Error())
	}
	if err != nil {
		return err
	}
	if err := o.tx.DropWrites(o.run.RunID); err != nil {
		return err
	}
	o.run.Writes = nil
	out.Snapshot = made.ID()
	return o.book.enter(LedgerRow{
		Time: o.now, Event: CommitWasApplied, RunID: o.run.RunID, SnapshotID: made.ID(), CommitID: o.run.CommitID,
		Fingerprint: o.run.Fingerprint, Detail: "from " + o.run.Start,
	})
}

// load reads the writes of a commit that was requested in an earlier transaction. M5: where they are no longer those of the
// fingerprint, nothing is applied.
func (o *operation) load() (changed bool, err error) {
	if o.run.Writes, err = bufferedWrites(o.tx, o.run.RunID); err != nil {
		return false, err
	}
	sum, err := PayloadFingerprint(o.run.Writes)
	if err != nil || sum.Hex() == o.run.Fingerprint {
		return false, err
	}
	detail := "the buffered writes have the fingerprint " + sum.Hex() + " now, not " + o.run.Fingerprint
	o.run.State = CommitPending
	o.refused = &BufferError{string(PayloadMismatch), detail}
	return true, o.abort(PayloadMismatch, detail)
}

// make gives the snapshot that the run's writes make of a head. A *Rejection has changed nothing.
func (o *operation) make(head Snapshot) (Snapshot, error) {
	start, err := numberOf(o.run.Start)
	if err != nil {
		return Snapshot{}, err
	}
	var failed error
	changed := func(name Ref) bool {
		is, err := o.tx.Changed(name, start)
		failed = errors.Join(failed, err)
		return is
	}
	changes, err := Plan(o.run.Writes, newestRecords{o.tx, head.Next}, changed)
	if failed != nil {
		return Snapshot{}, failed
	}
	if err != nil {
		return Snapshot{}, err
	}
	made := Snapshot{
		RunID: o.run.RunID, CommitID: o.run.CommitID, Fingerprint: o.run.Fingerprint,
		Created: o.now, PersonaID: head.PersonaID, Interactions: head.Interactions,
	}
	return addSnapshot(o.tx, head, made, changes)
}

// addSnapshot stores a snapshot behind a head with what is different in it.
func addSnapshot(tx Tx, head, made Snapshot, changes []Change) (Snapshot, error) {
	made.Number, made.Next = head.Number+1, head.Next
	lost := false // the highest number went
	for _, c := range changes {
		if c.Old != nil {
			lost = lost || c.Old.Sequence == made.Next-1
			if err := tx.Bury(c.Old.Sequence, made.Number); err != nil {
				return made, err
			}
		}
		if c.New != nil {
			made.Next = max(made.Next, c.New.Sequence+1)
			if err := tx.Insert(c.New.Sequence, c.New.Ref(), made.Number, recordDocument(*c.New)); err != nil {
				return made, err
			}
		}
	}
	if lost {
		highest, err := tx.Highest()
		if err != nil {
			return made, err
		}
		made.Next = highest + 1 // M9: as it will be loaded
	}
	return made, tx.AddSnapshot(made.Number, made.CommitID, made.document())
}

// abort ends the operation's pending commit.
func (o *operation) abort(reason AbortReason, detail string) error {
	if err := o.run.Buffer.Abort(reason); err != nil {
		return err
	}
	return o.aborted(detail)
}

// aborted forgets the writes of a commit that was aborted.
func (o *operation) aborted(detail string) error {
	if err := o.tx.DropWrites(o.run.RunID); err != nil {
		return err
	}
	o.run.Writes = nil
	return o.log(CommitWasAborted, detail)
}

// newestRecords are the living records as a head.
type newestRecords struct {
	tx   Tx
	next int64
}

// Next gives the number of the next entry.
func (h newestRecords) Next() int64 { return h.next }

// Find gives the records of a name.
func (h newestRecords) Find(name Ref) ([]Record, error) {
	texts, err := h.tx.Find(name)
	if err != nil {
		return nil, err
	}
	var list []Record
	for _, text := range texts {
		r, err := readRecordDocument(text)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}
