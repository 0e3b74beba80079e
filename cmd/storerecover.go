package cmd

import (
	"context"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
)

const tick = 100 * time.Nanosecond

type recoverOptions struct {
	storeOptions
	watch, abort bool
	idle         time.Duration
	worker       string
}

func (a *App) storeRecoverCommand() *cobra.Command {
	var o recoverOptions
	c := &cobra.Command{
		Use:   "recover [FLAGS]",
		Short: "End what crashed runs have left",
		Long: `recover discards the buffers of runs that have done nothing for --idle, and applies or aborts pending commits, each under a lease
of 30 s: another worker's commits are left alone until its lease has run out. A commit that the storage fails is tried three
times. With --watch it is a worker: it does this every 10 s until it gets SIGTERM, and then ends what it is at.`,
		Example: `  dmpl store recover
  dmpl store recover --watch`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.idle < 0 {
				return usage("Give a time like 10m.", "--idle %s is less than none", o.idle)
			}
			if o.worker == "" {
				o.worker = "worker-" + randomID()
			}
			return a.withStore(c, o.storeOptions, func(ctx context.Context, s *memory.Store) error { return a.recover(ctx, s, o) })
		},
	}
	o.bind(c)
	c.Flags().BoolVar(&o.watch, "watch", false, "go on until SIGTERM")
	c.Flags().BoolVar(&o.abort, "abort", false, "abort pending commits with storage_apply_failed")
	c.Flags().DurationVar(&o.idle, "idle", 10*time.Minute, "an open buffer without an operation for this long counts as left by a crash")
	c.Flags().StringVar(&o.worker, "worker", "", "name of this worker in leases and ledger; a random one where it is not given")
	return c
}

func (a *App) recover(ctx context.Context, s *memory.Store, o recoverOptions) error {
	how := memory.Recovery{Worker: o.worker, Idle: int64(o.idle / tick), Abort: o.abort}
	if !o.watch {
		pending, err := a.recoverOnce(ctx, s, o.storeOptions, how, true)
		if err == nil && pending > 0 {
			err = &storeFailure{finding.StorePending, finding.ExitFailed, fmt.Sprintf("%d commits are still pending", pending)}
		}
		return err
	}
	stopped, release := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer release()
	// A pass is ended when the worker is asked to stop, but not waited for where a database never answers.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(stopped, func() { time.AfterFunc(time.Duration(memory.LeaseRenewal)*tick, cancel) })()
	every := time.NewTicker(time.Duration(memory.LeaseRenewal) * tick) // M7: that also renews the leases of what is tried again
	defer every.Stop()
	for {
		// A storage that fails is no reason for a worker to stop: the commits stay pending, and are tried again.
		if _, err := a.recoverOnce(ctx, s, o.storeOptions, how, false); err != nil {
			a.fail(storeError(err))
		}
		select {
		case <-stopped.Done():
			return nil
		case <-every.C:
		}
	}
}

// recoverOnce recovers and tells of it; in a quiet pass of a worker only where something was done.
func (a *App) recoverOnce(ctx context.Context, s *memory.Store, o storeOptions, how memory.Recovery, always bool) (pending int, err error) {
	done, failed := s.Recover(ctx, how)
	lines := make([]string, 0, len(done)+1)
	for _, d := range done {
		line := fmt.Sprintf("run %q  %s", d.RunID, stateWord(d.State))
		if d.State == memory.CommitPending {
			pending++
		}
		if d.Detail != "" {
			line += "  " + d.Detail
		}
		lines = append(lines, line)
	}
	if len(done) == 0 && (failed != nil || !always) {
		return 0, failed
	}
	lines = append(lines, fmt.Sprintf("%s, %d still pending", finding.Counted(len(done), "run"), pending))
	err = a.say(o, func(w *document.Writer) {
		w.List("runs", func() {
			for _, d := range done {
				w.Object("", func() {
					w.Text("run_id", d.RunID)
					w.Text("buffer_state", string(d.State))
					w.Text("reason_code", string(d.Reason))
					w.Text("detail", d.Detail)
				})
			}
		})
		w.Integer("pending", int64(pending))
	}, "%s", strings.Join(lines, "\n"))
	if err != nil {
		return pending, err
	}
	return pending, failed
}
