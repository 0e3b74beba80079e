package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/record"
)

func (a *App) storeSnapshotCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "snapshot",
		Short: "Look at the snapshots of a store, take one out, bring one in",
		Example: `  dmpl store snapshot list
  dmpl store snapshot export > snapshot.json`,
	}
	c.AddCommand(a.snapshotListCommand(), a.snapshotShowCommand(), a.snapshotExportCommand(), a.snapshotImportCommand())
	return c
}

func (a *App) snapshotListCommand() *cobra.Command {
	var o storeOptions
	c := &cobra.Command{
		Use:     "list [FLAGS]",
		Short:   "List the snapshots that can be read",
		Example: `  dmpl store snapshot list --format json`,
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c, o, func(ctx context.Context, s *memory.Store) error {
				list, err := s.Snapshots(ctx)
				if err != nil {
					return err
				}
				lines := make([]string, len(list))
				for i, row := range list {
					lines[i] = snapshotLine(row)
				}
				return a.say(o, func(w *document.Writer) {
					w.List("snapshots", func() {
						for _, row := range list {
							w.Object("", func() { writeSnapshotRow(w, row) })
						}
					})
				}, "%s", strings.Join(lines, "\n"))
			})
		},
	}
	o.bind(c)
	return c
}

// snapshotLine tells in a line where a snapshot came from. Names stand in quotes, so that none can pass for another line.
func snapshotLine(row memory.Snapshot) string {
	from := "imported, or empty"
	if row.CommitID != "" {
		from = fmt.Sprintf("run %q, commit %s", row.RunID, row.CommitID)
	}
	return row.ID() + "  " + from
}

func writeSnapshotRow(w *document.Writer, row memory.Snapshot) {
	w.Text("memory_snapshot_id", row.ID())
	w.Text("run_id", row.RunID)
	w.Text("commit_id", row.CommitID)
	w.Text("commit_payload_fingerprint", row.Fingerprint)
	w.Integer("created_at_ticks", row.Created)
	w.Integer("next_sequence_number", row.Next)
}

// snapshotArgument gives the snapshot id of the arguments, the newest without one.
func snapshotArgument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func oneSnapshot(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("Run it once for each snapshot.", "%s takes one snapshot id, and %d were given", c.CommandPath(), len(args))
	}
	return nil
}

func (a *App) snapshotShowCommand() *cobra.Command {
	var o storeOptions
	c := &cobra.Command{
		Use:   "show [SNAPSHOT] [FLAGS]",
		Short: "Show what a snapshot is: its commit, its records, its digest",
		Long: `show tells where a snapshot came from, how many records it has, and the digest of its state, the newest snapshot's where
no id is given. The digest is computed now, from the records.`,
		Example: `  dmpl store snapshot show 00000000000000000007`,
		Args:    oneSnapshot,
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, o, func(ctx context.Context, s *memory.Store) error {
				return a.showSnapshot(ctx, s, o, snapshotArgument(args))
			})
		},
	}
	o.bind(c)
	return c
}

func (a *App) showSnapshot(ctx context.Context, s *memory.Store, o storeOptions, id string) error {
	row, err := s.Snapshot(ctx, id)
	if err != nil {
		return err
	}
	state, err := s.State(ctx, row.ID())
	if err != nil {
		return err
	}
	digest, err := state.Digest()
	if err != nil {
		return err
	}
	records := len(state.Records())
	return a.say(o, func(w *document.Writer) {
		writeSnapshotRow(w, row)
		w.Integer("records", int64(records))
		w.Text("state_digest", digest.Hex())
	}, "%s\n%s, state digest %s", snapshotLine(row), finding.Counted(records, "record"), digest.Hex())
}

func (a *App) snapshotExportCommand() *cobra.Command {
	var o storeOptions
	c := &cobra.Command{
		Use:   "export [SNAPSHOT] [FLAGS]",
		Short: "Print a snapshot as memory.snapshot.v1",
		Long: `export prints a whole snapshot as JSON (memory.snapshot.v1), the newest where no id is given. That is what a native run stores as
its start snapshot, and what import reads.`,
		Example: `  dmpl store snapshot export > snapshot.json`,
		Args:    oneSnapshot,
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, o, func(ctx context.Context, s *memory.Store) error {
				return a.exportSnapshot(ctx, s, snapshotArgument(args))
			})
		},
	}
	o.bind(c)
	return c
}

func (a *App) exportSnapshot(ctx context.Context, s *memory.Store, id string) error {
	row, err := s.Snapshot(ctx, id)
	if err != nil {
		return err
	}
	state, err := s.State(ctx, row.ID())
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.Out)
	_, err = out.Write(append(record.Snapshot(row.ID(), state), '\n'))
	if err = errors.Join(err, out.Flush()); err != nil {
		return outputError{err}
	}
	return nil
}

func (a *App) snapshotImportCommand() *cobra.Command {
	var o storeOptions
	c := &cobra.Command{
		Use:   "import [FILE|-] [FLAGS]",
		Short: "Bring a snapshot into a store",
		Long: `import reads a snapshot (memory.snapshot.v1) and makes a new snapshot of it: as it stands in a store that holds nothing yet, so
that the digest stays, else merged into the newest one. Merged records get new sequence numbers, and what is there already
byte for byte is not imported again.`,
		Example: `  dmpl store snapshot import snapshot.json`,
		Args:    fileArgument,
		RunE: func(c *cobra.Command, args []string) error {
			state, err := a.readSnapshotFile(fileOf(args))
			if err != nil {
				return err
			}
			return a.withStore(c, o, func(ctx context.Context, s *memory.Store) error {
				row, err := s.Import(ctx, state)
				if err != nil {
					return err
				}
				return a.say(o, func(w *document.Writer) { writeSnapshotRow(w, row) }, "snapshot %s", row.ID())
			})
		},
	}
	o.bind(c)
	return c
}

func (a *App) readSnapshotFile(path string) (memory.State, error) {
	o, err := a.readObject(path)
	if err != nil {
		return memory.State{}, err
	}
	if o.Text("schema_version", "") != "memory.snapshot.v1" {
		o.Fail("schema_version", "expected memory.snapshot.v1, the version that is known")
	}
	if !o.Has("records") {
		o.Fail("records", "is missing")
	}
	state := memory.ReadSnapshot(o)
	return state, located(path, badDocument(o.Err()))
}

// readObject reads a file strictly (CONTRACT C1).
func (a *App) readObject(path string) (*document.Object, error) {
	f, err := dialect.ReadFile(path, a.In, 0)
	if err != nil {
		return nil, err
	}
	value, err := canon.Parse(f.Data)
	if err != nil {
		return nil, located(path, err)
	}
	return document.Open(value), nil
}
