package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/trace"
	"github.com/dmpl/dmpl/pkg/verify"
)

func (a *App) storeLedgerCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "ledger",
		Short:   "Read and verify the ledger of a store",
		Example: `  dmpl store ledger verify`,
	}
	c.AddCommand(a.ledgerShowCommand(), a.ledgerVerifyCommand(), a.ledgerExportCommand())
	return c
}

func (a *App) ledgerShowCommand() *cobra.Command {
	var o storeOptions
	var run string
	c := &cobra.Command{
		Use:     "show [FLAGS]",
		Short:   "Show what happened, row by row",
		Example: `  dmpl store ledger show --run run-7`,
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c, o, func(ctx context.Context, s *memory.Store) error { return a.showLedger(ctx, s, o, run) })
		},
	}
	o.bind(c)
	c.Flags().StringVar(&run, "run", "", "only rows about this run")
	return c
}

func (a *App) showLedger(ctx context.Context, s *memory.Store, o storeOptions, run string) error {
	var lines []string
	var rows [][]byte
	err := s.Ledger(ctx, func(number int64, _ string, text []byte) error {
		row, err := memory.ReadLedgerRow(text)
		if err != nil {
			return &memory.LedgerFault{Row: number, Detail: "is damaged: " + err.Error()}
		}
		if run != "" && row.RunID != run {
			return nil
		}
		rows = append(rows, text)
		line := fmt.Sprintf("%d  %s", number, row.Event)
		for _, part := range []string{quoted(row.RunID), row.SnapshotID, string(row.Reason), quoted(row.Detail)} {
			if part != "" {
				line += "  " + part
			}
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		return err
	}
	return a.say(o, func(w *document.Writer) {
		w.List("rows", func() {
			for _, text := range rows {
				w.Raw("", text)
			}
		})
	}, "%s", strings.Join(lines, "\n"))
}

// quoted puts a text that has come from outside in quotes, and leaves an empty one out.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%q", text)
}

func (a *App) ledgerVerifyCommand() *cobra.Command {
	var o storeOptions
	c := &cobra.Command{
		Use:   "verify [FILE] [FLAGS]",
		Short: "Follow the digests of a ledger from row to row",
		Long: `verify follows the ledger of the store from row to row, and holds every snapshot and every run of the store to it: a row that was
removed, moved or edited is found, at the end as well. With a FILE that export wrote it follows that one; whether rows are
missing at its end, a file alone cannot tell. dmpl verify FILE does the same and gives a report.`,
		Example: `  dmpl store ledger verify
  dmpl store ledger verify ledger.json`,
		Args: fileArgument,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				chain, err := a.followFile(args[0])
				if err != nil {
					return storeError(err)
				}
				return a.sayChain(o, chain)
			}
			return a.withStore(c, o, func(ctx context.Context, s *memory.Store) error {
				chain, err := s.VerifyLedger(ctx)
				if err != nil {
					return err
				}
				return a.sayChain(o, chain)
			})
		},
	}
	o.bind(c)
	return c
}

func (a *App) sayChain(o storeOptions, chain memory.LedgerChain) error {
	return a.say(o, func(w *document.Writer) {
		w.Integer("rows", chain.Rows)
		w.Text("digest", chain.Digest)
	}, "%d rows hold, the last has the digest %s", chain.Rows, chain.Digest)
}

func (a *App) followFile(path string) (chain memory.LedgerChain, err error) {
	o, err := a.readObject(path)
	if err != nil {
		return chain, err
	}
	if o.Text("schema_version", "") != memory.LedgerSchema {
		o.Fail("schema_version", "expected "+memory.LedgerSchema+", the version that is known")
	}
	if !o.Has("rows") {
		o.Fail("rows", "is missing")
	}
	o.Each("rows", func(r *document.Object) {
		row := r.Object("row")
		if err == nil && o.Err() == nil {
			err = chain.Follow(row.Integer("row", 0), r.Text("digest", ""), row.Value().Raw())
		}
	})
	if bad := o.Err(); bad != nil {
		return chain, located(path, badDocument(bad))
	}
	if err == nil && chain.Rows == 0 {
		err = &memory.LedgerFault{Detail: "there is no row"}
	}
	if err == nil {
		err = heldHistory(trace.Document{Path: path, Value: o.Value()})
	}
	return chain, err
}

// heldHistory holds a ledger whose digests are in order to what a store can do, as dmpl verify does.
func heldHistory(ledger trace.Document) error {
	for _, f := range verify.Ledger(ledger, nil, verify.AuditOptions{Path: ledger.Path}).Findings {
		if f.Severity == finding.Error {
			return &memory.LedgerFault{Detail: f.Detail}
		}
	}
	return nil
}

func (a *App) ledgerExportCommand() *cobra.Command {
	var o storeOptions
	c := &cobra.Command{
		Use:     "export [FLAGS]",
		Short:   "Print the ledger as memory.ledger.v1",
		Example: `  dmpl store ledger export > ledger.json`,
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c, o, func(ctx context.Context, s *memory.Store) error { return a.exportLedger(ctx, s) })
		},
	}
	o.bind(c)
	return c
}

func (a *App) exportLedger(ctx context.Context, s *memory.Store) error {
	about, err := s.About(ctx)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.Out)
	id, err := canon.Append(nil, fmt.Appendf(nil, "%q", about.StoreID), canon.JSONv1)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "{\"schema_version\":%q,\"store_id\":%s,\"rows\":[", memory.LedgerSchema, id)
	err = s.Ledger(ctx, func(number int64, digest string, row []byte) error {
		if number > 1 {
			out.WriteString(",")
		}
		fmt.Fprintf(out, "\n{\"digest\":%q,\"row\":%s}", digest, row)
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprint(out, "]}\n")
	if err := errors.Join(out.Flush()); err != nil {
		return outputError{err}
	}
	return nil
}
