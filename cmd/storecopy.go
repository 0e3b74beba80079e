package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
)

func (a *App) storeCopyCommand() *cobra.Command {
	var o storeOptions
	to := ""
	c := &cobra.Command{
		Use:   "copy --to STORE [FLAGS]",
		Short: "Copy a whole store to another place",
		Long: `copy brings a store to a place without one, a file or a database: every snapshot, record, run and buffer, and the ledger to the
byte, in one transaction. What is there then is held to the ledger before it is kept. The copy is the same store, with the same
id: stop everything that writes before, and let nothing write to the old place after.`,
		Example: `  dmpl store copy --to sqlite:backup.db
  dmpl store copy --store sqlite:memory.db --to postgres://agent@db/memory`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if to == "" {
				return usage("Give sqlite:PATH or postgres://USER@HOST/DATABASE.", "--to is required")
			}
			return a.withStore(c, o, func(ctx context.Context, s *memory.Store) error { return a.copyStore(ctx, s, o, to) })
		},
	}
	o.bind(c)
	c.Flags().StringVar(&to, "to", "", "the place to copy to: sqlite:PATH or postgres://USER@HOST/DATABASE; required")
	return c
}

func (a *App) copyStore(ctx context.Context, s *memory.Store, o storeOptions, to string) (err error) {
	target, err := a.openStore(ctx, storeOptions{store: to}, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	done, err := s.CopyTo(ctx, target)
	if err != nil {
		return err
	}
	return a.say(o, func(w *document.Writer) {
		w.Integer("snapshots", done.Snapshots)
		w.Integer("records", done.Records)
		w.Integer("runs", done.Runs)
		w.Integer("ledger_rows", done.Rows)
	}, "copied %s, %s, %s, %s of the ledger", finding.Counted(done.Snapshots, "snapshot"), finding.Counted(done.Records, "record"),
		finding.Counted(done.Runs, "run"), finding.Counted(done.Rows, "row"))
}
