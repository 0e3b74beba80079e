package memorytest

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/memory"
)

// pausedChild takes a short lease, says so, waits to be let on, and applies.
func pausedChild(reach Reach, args []string) error {
	s, err := storeAt(reach, args[0])
	if err != nil {
		return err
	}
	lease, err := s.Acquire(ctx, "run", "paused", 2_000_000) // 0.2 s
	if err != nil {
		return err
	}
	fmt.Println("ready")
	var word string
	if _, err := fmt.Scan(&word); err != nil {
		return err
	}
	for _, do := range []func() error{
		func() error { _, err := s.Renew(ctx, "run", lease, memory.LeaseLength); return err },
		func() error {
			_, err := s.Abort(ctx, "run", lease.Token, memory.StorageApplyFailed, "late")
			return err
		},
		func() error { _, err := s.Apply(ctx, "run", lease.Token); return err },
	} {
		err := do()
		var refused *memory.BufferError
		if !errors.As(err, &refused) {
			return fmt.Errorf("a late owner was let in: %w", err)
		}
		fmt.Println(refused.Code)
	}
	return s.Close()
}

// StoppedOwner holds a store to M7: an owner that was stopped past the end of its lease and goes on then can do no harm, whether
// another worker has the lease now, or has ended the commit with it.
func StoppedOwner(t *testing.T, reach Reach, place Place) {
	for _, ended := range []bool{false, true} {
		address, drop := place(t)
		s, err := storeAt(reach, address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Create(ctx, "fence"); err != nil {
			t.Fatal(err)
		}
		pend(t, s, "run")
		c := child("paused", address)
		in, err1 := c.StdinPipe()
		out, err2 := c.StdoutPipe()
		if err := errors.Join(err1, err2, c.Start()); err != nil {
			t.Fatal(err)
		}
		says := func(want string) {
			t.Helper()
			var word string
			if _, err := fmt.Fscan(out, &word); err != nil || word != want {
				t.Fatalf("ended %v: %q, %v, want %s", ended, word, err, want)
			}
		}
		says("ready")
		if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		lease := waitForLease(t, s)
		if ended {
			if _, err := s.Apply(ctx, "run", lease.Token); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := fmt.Fprintln(in, "go"); err != nil {
			t.Fatal(err)
		}
		if err := c.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		late := memory.CodeLeaseHeld
		if ended {
			late = memory.CodeNotPending
		}
		says(memory.CodeLeaseHeld) // it renews
		says(late)                 // it aborts
		says(late)                 // it applies
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		want := memory.CommitPending
		if ended {
			want = memory.CommitApplied
		}
		if run, err := s.Run(ctx, "run"); err != nil || run.State != want {
			t.Errorf("ended %v: the run is in %q, %v", ended, run.State, err)
		}
		sound(t, s, "a late owner")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		drop()
	}
}

// pend leaves a run in commit_pending.
func pend(t *testing.T, s *memory.Store, run string) {
	t.Helper()
	sum, err := memory.PayloadFingerprint(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(ctx, run, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Request(ctx, run, "commit of "+run, sum.Hex()); err != nil {
		t.Fatal(err)
	}
}

// waitForLease takes the lease of the run as soon as nobody has it any more.
func waitForLease(t *testing.T, s *memory.Store) memory.Lease {
	t.Helper()
	ending, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	for {
		lease, err := s.Acquire(ending, "run", "other", memory.LeaseLength)
		if err == nil {
			return lease
		}
		var refused *memory.BufferError
		if !errors.As(err, &refused) || refused.Code != memory.CodeLeaseHeld {
			t.Fatal(err)
		}
	}
}
