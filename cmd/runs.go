package cmd

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/native"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/report"
	"github.com/dmpl/dmpl/pkg/run"
)

func (a *App) runsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "runs",
		Short:   "Keep recorded runs in order",
		Example: `  dmpl runs prune runs/ --dry-run`,
	}
	c.AddCommand(a.pruneCommand())
	return c
}

type pruneOptions struct {
	dryRun   bool
	policies string
	days     int
}

func (a *App) pruneCommand() *cobra.Command {
	o := pruneOptions{}
	c := &cobra.Command{
		Use:   "prune DIR [FLAGS]",
		Short: "Remove native runs that their lane no longer keeps",
		Long: `prune looks for native runs in DIR and below and removes those that are older than their lane is kept. How long that is stands
in the retention of a policy set: the given one, else the one that each run was recorded under. Runs of deterministic lanes
are kept for 14 days at least, whatever any setting says. A run whose age is not known, a run with files in its folder that no
run has, and a chain of which one run is kept, are kept. Each run is listed, with the reason.`,
		Example: `  dmpl runs prune runs/ --dry-run
  dmpl runs prune runs/ --policies policies.json --days 60`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.prune(o, args[0]) },
	}
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "list what would be done, and do nothing")
	c.Flags().StringVar(&o.policies, "policies", "", "policy set (memory.policy_set.v1) whose retention applies to every run")
	c.Flags().IntVar(&o.days, "days", 30, "days that runs of a lane are kept for which no policy says it")
	return c
}

func (a *App) prune(o pruneOptions, dir string) error {
	if o.days < 0 {
		return usage("Give a number of days.", "--days %d is less than none", o.days)
	}
	retention := run.Retention{Now: ticks(a.Now()), Days: o.days}
	if o.policies != "" {
		set, err := readPolicies(o.policies)
		if err != nil {
			return err
		}
		retention.Policies = set
	}
	tree, err := native.Reader{}.Find(dir, dialect.Options{})
	if err != nil {
		return err
	}
	var dirs []string
	for _, e := range tree.Entries {
		dirs = append(dirs, native.Folder(e.Path))
	}
	removed := 0
	for _, fate := range retention.Judge(dirs) {
		word := "keep    "
		if !fate.Keep {
			word = "remove  "
			removed++
			if !o.dryRun {
				if err := run.Remove(fate.Dir); err != nil {
					return dialect.Unreadable(fate.Dir, err)
				}
			}
		}
		if _, err := fmt.Fprintf(a.Out, "%s%s: %s\n", word, report.Visible(a.shown(fate.Dir, []string{dir})), report.Visible(fate.Why)); err != nil {
			return outputError{err}
		}
	}
	done := "removed"
	if o.dryRun {
		done = "would remove"
	}
	if _, err := fmt.Fprintf(a.Out, "%s %d of %s\n", done, removed, finding.Counted(len(dirs), "run")); err != nil {
		return outputError{err}
	}
	return nil
}

// ticks gives a time as recordings state it (CONTRACT P4).
func ticks(t time.Time) int64 { return run.Ticks(t) }
