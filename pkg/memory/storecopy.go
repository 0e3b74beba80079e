package memory

import "context"

// bufferStates are all states that a run in a store may have; NoBuffer where only its lease token is kept.
var bufferStates = []BufferState{NoBuffer, BufferOpen, CommitPending, CommitApplied, CommitAborted}

// Copied says how much a copy holds.
type Copied struct{ Snapshots, Records, Runs, Rows int64 }

// CopyTo copies the whole store to a place without one, in one transaction: every snapshot, record, run and buffer, and the
// ledger to the byte; what is there then is held to the ledger before it is kept. The copy is the same store, with the same id: whoever writes to one of both must not write to the other.
func (s *Store) CopyTo(ctx context.Context, to *Store) (done Copied, err error) {
	err = s.backend.View(ctx, func(from Tx) error {
		about, err := aboutOf(from)
		if err != nil {
			return err
		}
		return to.backend.Update(ctx, func(tx Tx) error {
			there, err := tx.About()
			if err != nil {
				return err
			}
			if there != nil {
				return &BufferError{CodeTransition, "a store is copied only to a place without one"}
			}
			c := copying{from: from, to: tx}
			if err := tx.SetAbout(about.document()); err != nil {
				return err
			}
			for _, kind := range []func() error{c.snapshots, c.records, c.runs, c.ledger} {
				if err := kind(); err != nil {
					return err
				}
			}
			done = c.done
			_, err = verifyLedger(tx)
			return err
		})
	})
	return done, err
}

// copying copies the rows of one store, kind by kind.
type copying struct {
	from, to Tx
	done     Copied
}

func (c *copying) snapshots() error {
	return c.from.EachSnapshot(func(text []byte) error {
		row, err := readSnapshotRow(text)
		if err != nil {
			return err
		}
		c.done.Snapshots++
		return c.to.AddSnapshot(row.Number, row.CommitID, text)
	})
}

func (c *copying) records() error {
	return c.from.EachRecord(func(came, went int64, text []byte) error {
		r, err := readRecordDocument(text)
		if err != nil {
			return err
		}
		c.done.Records++
		if err := c.to.Insert(r.Sequence, r.Ref(), came, text); err != nil || went == 0 {
			return err
		}
		return c.to.Bury(r.Sequence, went)
	})
}

func (c *copying) runs() error {
	for _, state := range bufferStates {
		runs, err := runsIn(c.from, state)
		if err != nil {
			return err
		}
		for _, run := range runs {
			c.done.Runs++
			if err := c.to.SetRun(run.RunID, run.State, run.document()); err != nil {
				return err
			}
			place := int64(0)
			err := c.from.Writes(run.RunID, func(text []byte) error {
				place++
				return c.to.AddWrite(run.RunID, place-1, text)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *copying) ledger() error {
	return c.from.EachRow(func(number int64, digest string, text []byte) error {
		c.done.Rows++
		return c.to.AddRow(number, digest, text)
	})
}
