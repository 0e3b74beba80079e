package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
)

func (a *App) storeCollectCommand() *cobra.Command {
	var o storeOptions
	var days int64
	var dry bool
	c := &cobra.Command{
		Use:   "gc [FLAGS]",
		Short: "Forget records that only old snapshots have",
		Long: `gc forgets the records that only snapshots have which were last the newest more than --days ago, 14 days at least. The newest
snapshot stays whole, and so does every snapshot from the start of an unfinished run on. Commit ids and the ledger stay, so that a
commit is still known when it is repeated. What is kept is named, with the reason.`,
		Example: `  dmpl store gc --days 30 --dry-run`,
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if days < 0 {
				return usage("Give a number of days.", "--days %d is less than none", days)
			}
			return a.withStore(c, o, func(ctx context.Context, s *memory.Store) error { return a.collectStore(ctx, s, o, days, dry) })
		},
	}
	o.bind(c)
	c.Flags().Int64Var(&days, "days", memory.LeastDays, "days that a snapshot is kept after it was the newest; 14 at least")
	c.Flags().BoolVar(&dry, "dry-run", false, "tell what would be forgotten, and forget nothing")
	return c
}

func (a *App) collectStore(ctx context.Context, s *memory.Store, o storeOptions, days int64, dry bool) error {
	kept, forgotten, err := s.Collect(ctx, days, dry)
	if err != nil {
		return err
	}
	var lines []string
	for _, k := range kept {
		lines = append(lines, fmt.Sprintf("keep  %s: %s", k.Snapshot.ID(), k.Why))
	}
	done := "forgot"
	if dry {
		done = "would forget"
	}
	lines = append(lines, fmt.Sprintf("%s %s, kept %s", done, finding.Counted(forgotten, "record"), finding.Counted(len(kept), "snapshot")))
	return a.say(o, func(w *document.Writer) {
		w.List("kept", func() {
			for _, k := range kept {
				w.Object("", func() {
					w.Text("memory_snapshot_id", k.Snapshot.ID())
					w.Text("reason", k.Why)
				})
			}
		})
		w.Integer("forgotten", forgotten)
		w.Bool("dry_run", dry)
	}, "%s", strings.Join(lines, "\n"))
}
