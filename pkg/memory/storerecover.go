package memory

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// Acquire takes or keeps the recovery lease of a pending commit for a worker (M7).
func (s *Store) Acquire(ctx context.Context, runID, worker string, length int64) (Lease, error) {
	run, err := s.on(ctx, runID, func(o *operation) error {
		if o.run.State != CommitPending {
			return &BufferError{CodeNotPending, fmt.Sprintf("only a pending commit is recovered, and the run is in %q", o.run.State)}
		}
		lease, err := o.run.Lease.take(worker, o.now, length)
		if err != nil {
			return err
		}
		fresh := lease.Token != o.run.Lease.Token
		o.run.Lease = lease
		if !fresh {
			return nil
		}
		return o.log(LeaseTaken, strconv.FormatInt(lease.Token, 10)+" by "+worker)
	})
	return run.Lease, err
}

// Renew prolongs a lease that its owner still holds (M7).
func (s *Store) Renew(ctx context.Context, runID string, lease Lease, length int64) (Lease, error) {
	run, err := s.on(ctx, runID, func(o *operation) error {
		if lease.Token == 0 {
			return &BufferError{CodeLeaseHeld, "only the owner of a lease renews it"}
		}
		if err := o.run.Lease.admits(lease.Token, o.now); err != nil {
			return err
		}
		kept, err := o.run.Lease.take(lease.Worker, o.now, length)
		o.run.Lease = kept
		return err
	})
	return run.Lease, err
}

// Recovery is how a worker recovers.
type Recovery struct {
	Worker string
	Length int64 // of a lease, in ticks; 0 for LeaseLength
	Idle   int64 // ticks without an operation after which an open buffer counts as left by a crash
	Abort  bool  // abort pending commits at once (M6)
}

// Recovered is what became of one run.
type Recovered struct {
	RunID  string
	State  BufferState // NoBuffer: the buffer was discarded; CommitPending: another worker has it, or it is tried again
	Reason AbortReason
	Detail string
}

// Recover ends what crashes have left (M6): open buffers are discarded, pending commits applied or aborted. A commit that the
// storage fails stays pending until MostFailures attempts; of that the error tells.
func (s *Store) Recover(ctx context.Context, r Recovery) ([]Recovered, error) {
	if r.Length == 0 {
		r.Length = LeaseLength
	}
	done, err := s.DiscardIdle(ctx, r.Idle)
	if err != nil {
		return done, err
	}
	pending, err := s.runs(ctx, CommitPending)
	if err != nil {
		return done, err
	}
	var failures error
	for _, run := range pending {
		ended, err := s.end(ctx, run.RunID, r)
		failures = errors.Join(failures, err)
		done = append(done, ended)
	}
	return done, failures
}

// DiscardIdle discards the open buffers whose runs have done nothing for some ticks (M6).
func (s *Store) DiscardIdle(ctx context.Context, idle int64) (done []Recovered, err error) {
	open, err := s.runs(ctx, BufferOpen)
	if err != nil {
		return nil, err
	}
	for _, run := range open {
		discarded, err := s.discardIdle(ctx, run.RunID, idle)
		if err != nil {
			return done, err
		}
		if discarded {
			done = append(done, Recovered{RunID: run.RunID, Detail: "the buffer was left open and is discarded"})
		}
	}
	return done, nil
}

// runs gives the runs in a state, by id.
func (s *Store) runs(ctx context.Context, state BufferState) (list []Run, err error) {
	err = s.backend.View(ctx, func(tx Tx) error {
		if _, err := aboutOf(tx); err != nil {
			return err
		}
		list, err = runsIn(tx, state)
		return err
	})
	return list, err
}

func runsIn(tx Tx, state BufferState) (list []Run, err error) {
	err = tx.EachRun(state, func(text []byte) error {
		run, err := readRun(text)
		list = append(list, run)
		return err
	})
	return list, err
}

// discardIdle discards an open buffer unless its run has done something lately.
func (s *Store) discardIdle(ctx context.Context, runID string, idle int64) (discarded bool, err error) {
	_, err = s.on(ctx, runID, func(o *operation) error {
		if o.run.State != BufferOpen || o.run.Touched > o.now-idle {
			return errNothing
		}
		discarded = true
		return o.discard("recovery")
	})
	if errors.Is(err, errNothing) {
		return false, nil
	}
	return discarded, err
}

// errNothing leaves an operation without a change.
var errNothing = errors.New("nothing to do")

// end applies or aborts one pending commit under a lease of its own.
func (s *Store) end(ctx context.Context, runID string, r Recovery) (Recovered, error) {
	lease, err := s.Acquire(ctx, runID, r.Worker, r.Length)
	var refused *BufferError
	if errors.As(err, &refused) && (refused.Code == CodeLeaseHeld || refused.Code == CodeNotPending) {
		return Recovered{RunID: runID, State: CommitPending, Detail: refused.Error()}, nil
	}
	if err != nil {
		return Recovered{RunID: runID, State: CommitPending, Detail: err.Error()}, err
	}
	if r.Abort {
		run, err := s.Abort(ctx, runID, lease.Token, StorageApplyFailed, "asked for")
		return recovered(runID, run, "asked for", err)
	}
	out, err := s.Apply(ctx, runID, lease.Token)
	if err == nil || errors.As(err, &refused) {
		return recovered(runID, out.Run, out.Snapshot, err)
	}
	run, later := s.fail(ctx, runID, lease.Token, err.Error())
	if errors.Is(later, errNothing) { // the answer alone was lost, and the commit is at its end
		run, later = s.Run(ctx, runID)
	}
	ended, _ := recovered(runID, run, err.Error(), nil)
	if later != nil || run.State == CommitPending {
		ended.State = CommitPending
		return ended, errors.Join(err, later)
	}
	return ended, nil
}

// recovered tells what became of a run; an aborted commit is no error of the recovery.
func recovered(runID string, run Run, detail string, err error) (Recovered, error) {
	var refused *BufferError
	if err != nil {
		detail = err.Error()
	}
	if errors.As(err, &refused) {
		err = nil
		if run.State == NoBuffer { // refused before anything was done: the lease was lost
			run.State = CommitPending
		}
	}
	return Recovered{runID, run.State, run.Reason, detail}, err
}

// fail counts a failed attempt to apply and aborts the commit after the last one (M6).
func (s *Store) fail(ctx context.Context, runID string, token int64, detail string) (Run, error) {
	return s.on(ctx, runID, func(o *operation) error {
		if o.run.State != CommitPending {
			return errNothing
		}
		if err := o.run.Lease.admits(token, o.now); err != nil {
			return err
		}
		o.run.Failed++
		if o.run.Failed >= MostFailures {
			return o.abort(StorageApplyFailed, detail)
		}
		return o.log(ApplyFailed, detail)
	})
}
