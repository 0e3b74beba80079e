package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
)

func (a *App) storeRunCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "run",
		Short: "Buffer the writes of a run and commit them",
		Example: `  dmpl store run open run-7
  dmpl store run write run-7 writes.json
  dmpl store run commit run-7 --policies policies.json`,
	}
	c.AddCommand(a.runOpenCommand(), a.runWriteCommand(), a.runCommitCommand(), a.runAbortCommand(), a.runShowCommand())
	return c
}

// environment says where a command runs, and which environments may write (CONTRACT M2).
type environment struct {
	env     string
	allowed []string
}

func (e *environment) bind(c *cobra.Command) {
	c.Flags().StringVar(&e.env, "env", "", "the environment that this is (DMPL_ENV)")
	c.Flags().StringSliceVar(&e.allowed, "buffered-write", nil, "environments that are opted in to writing to a store")
}

// writerOptions are the flags of commands by which a run writes.
type writerOptions struct {
	storeOptions
	environment
}

func (o *writerOptions) bind(c *cobra.Command) {
	o.storeOptions.bind(c)
	o.environment.bind(c)
}

// withWriter is withStore for a run that writes: only in an environment that is opted in.
func (a *App) withWriter(c *cobra.Command, o writerOptions, do func(context.Context, *memory.Store) error) error {
	asked := memory.Access{Mode: string(memory.BufferedWrite), Environment: o.env, BufferedWrite: o.allowed}
	if _, err := asked.Visibility(); err != nil {
		return storeError(err)
	}
	return a.withStore(c, o.storeOptions, do)
}

// runArguments wants a run id, and at most one file where there may be one.
func runArguments(file bool) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		most := 1
		if file {
			most = 2
		}
		if len(args) < 1 || len(args) > most {
			return usage(helpHint(c), "%s needs the id of a run, and %d arguments were given", c.CommandPath(), len(args))
		}
		return nil
	}
}

// sayRun prints where a run stands.
func (a *App) sayRun(o storeOptions, run memory.Run, snapshot string) error {
	line := fmt.Sprintf("run %q  %s", run.RunID, stateWord(run.State))
	if run.Reason != "" {
		line += "  " + string(run.Reason)
	}
	if run.Start != "" {
		line += "  start " + run.Start
	}
	if snapshot != "" {
		line += "  snapshot " + snapshot
	}
	return a.say(o, func(w *document.Writer) {
		w.Text("run_id", run.RunID)
		w.Text("buffer_state", string(run.State))
		w.Text("start_snapshot_id", run.Start)
		w.Integer("writes", run.Count)
		w.Text("commit_id", run.CommitID)
		w.Text("commit_payload_fingerprint", run.Fingerprint)
		w.Text("reason_code", string(run.Reason))
		w.Text("memory_snapshot_id", snapshot)
	}, "%s", line)
}

func stateWord(s memory.BufferState) string {
	if s == memory.NoBuffer {
		return "no buffer"
	}
	return string(s)
}

func (a *App) runOpenCommand() *cobra.Command {
	var o writerOptions
	var snapshot string
	c := &cobra.Command{
		Use:   "open RUN [FLAGS]",
		Short: "Open the write buffer of a run on a snapshot",
		Long: `open captures the start snapshot of a run, the newest where none is given, and opens its write buffer. A run that is repeated
after its commit is opened on the same snapshot again, so that its second commit is known to be one.`,
		Example: `  dmpl store run open run-7 --env ci --buffered-write ci`,
		Args:    runArguments(false),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withWriter(c, o, func(ctx context.Context, s *memory.Store) error {
				run, err := s.Open(ctx, args[0], snapshot)
				if err != nil {
					return err
				}
				return a.sayRun(o.storeOptions, run, "")
			})
		},
	}
	o.bind(c)
	c.Flags().StringVar(&snapshot, "snapshot", "", "id of the start snapshot; the newest where it is not given")
	return c
}

func (a *App) runWriteCommand() *cobra.Command {
	var o writerOptions
	c := &cobra.Command{
		Use:   "write RUN [FILE|-] [FLAGS]",
		Short: "Buffer writes of a run",
		Long: `write buffers the member writes of a document: a list of {op: append|put|delete, record}. A commit record (memory.commit.v1) has
one. Nobody reads what is buffered before it is committed, this run neither.`,
		Example: `  dmpl store run write run-7 writes.json`,
		Args:    runArguments(true),
		RunE: func(c *cobra.Command, args []string) error {
			writes, err := a.readWritesFile(fileOf(args[1:]))
			if err != nil {
				return err
			}
			return a.withWriter(c, o, func(ctx context.Context, s *memory.Store) error {
				run, err := s.Write(ctx, args[0], writes...)
				if err != nil {
					return err
				}
				return a.sayRun(o.storeOptions, run, "")
			})
		},
	}
	o.bind(c)
	return c
}

func (a *App) readWritesFile(path string) ([]memory.Write, error) {
	o, err := a.readObject(path)
	if err != nil {
		return nil, err
	}
	if !o.Has("writes") {
		o.Fail("writes", "is missing")
	}
	writes := memory.ReadWrites(o, "writes")
	return writes, located(path, badDocument(o.Err()))
}

func (a *App) runCommitCommand() *cobra.Command {
	var o writerOptions
	var policies string
	var gate bool
	c := &cobra.Command{
		Use:   "commit RUN --policies FILE [FLAGS]",
		Short: "Judge the buffer of a run by the commit policy, and apply or discard it",
		Long: `commit judges the whole buffer by the commit policy of the policy set. Where every rule says yes it is applied, atomically, to the
newest snapshot; else it is discarded with policy_rejected, and the rule stands in the ledger. Commit id and fingerprint are
computed here. A commit that was made before with the same writes changes nothing.`,
		Example: `  dmpl store run commit run-7 --policies policies.json --gate-passed`,
		Args:    runArguments(false),
		RunE: func(c *cobra.Command, args []string) error {
			if policies == "" {
				return usage("Give the policy set that the run was under.", "--policies is required")
			}
			set, err := readPolicies(policies)
			if err != nil {
				return err
			}
			return a.withWriter(c, o, func(ctx context.Context, s *memory.Store) error {
				return a.commitRun(ctx, s, o.storeOptions, set, args[0], gate)
			})
		},
	}
	o.bind(c)
	c.Flags().StringVar(&policies, "policies", "", "policy set (memory.policy_set.v1); required")
	c.Flags().BoolVar(&gate, "gate-passed", false, "the gate of every turn passed")
	return c
}

func (a *App) commitRun(ctx context.Context, s *memory.Store, o storeOptions, set *memory.PolicySet, runID string, gate bool) error {
	run, err := s.Run(ctx, runID)
	if err != nil {
		return err
	}
	writes, err := s.Buffered(ctx, runID)
	if err != nil {
		return err
	}
	commit, err := memory.CommitID(runID, run.Start, set.ID)
	if err != nil {
		return err
	}
	fingerprint, err := memory.PayloadFingerprint(writes)
	if err != nil {
		return err
	}
	judged, err := set.JudgeCommit(writes, gate, nil)
	if err != nil {
		return err
	}
	var out memory.Outcome
	if judged.Rejected() {
		detail := fmt.Sprintf("rule %q: %s", judged.RuleID, judged.Detail)
		if out.Run, err = s.Reject(ctx, runID, commit.Hex(), fingerprint.Hex(), memory.PolicyRejected, detail); err != nil {
			return err
		}
		err = &memory.BufferError{Code: string(memory.PolicyRejected), Detail: detail}
	} else {
		out, err = s.Commit(ctx, runID, commit.Hex(), fingerprint.Hex())
	}
	if out.Run.RunID == "" { // refused: nothing was done
		return err
	}
	return errors.Join(a.sayRun(o, out.Run, out.Snapshot), err)
}

func (a *App) runAbortCommand() *cobra.Command {
	var o storeOptions
	c := &cobra.Command{
		Use:   "abort RUN [FLAGS]",
		Short: "Discard an open buffer, or give up a pending commit",
		Long: `abort discards the buffer of a run that is open, and aborts a commit that is pending with storage_apply_failed, unless a recovery
worker has it. The memory does not change.`,
		Example: `  dmpl store run abort run-7`,
		Args:    runArguments(false),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, o, func(ctx context.Context, s *memory.Store) error {
				run, err := s.Run(ctx, args[0])
				if err != nil {
					return err
				}
				if run.State == memory.CommitPending {
					run, err = s.Abort(ctx, args[0], 0, memory.StorageApplyFailed, "asked for")
				} else {
					run, err = s.Discard(ctx, args[0])
				}
				if err != nil {
					return err
				}
				return a.sayRun(o, run, "")
			})
		},
	}
	o.bind(c)
	return c
}

func (a *App) runShowCommand() *cobra.Command {
	var o storeOptions
	c := &cobra.Command{
		Use:     "show RUN [FLAGS]",
		Short:   "Show where a run stands",
		Example: `  dmpl store run show run-7`,
		Args:    runArguments(false),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, o, func(ctx context.Context, s *memory.Store) error {
				run, err := s.Run(ctx, args[0])
				if err != nil {
					return err
				}
				if run.RunID == "" {
					return &storeFailure{finding.StoreState, finding.ExitTrouble, fmt.Sprintf("the store knows no run %q", args[0])}
				}
				return a.sayRun(o, run, "")
			})
		},
	}
	o.bind(c)
	return c
}
