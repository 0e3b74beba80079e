package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/postgres"
	"github.com/dmpl/dmpl/pkg/memory/sqlite"
	"github.com/dmpl/dmpl/pkg/report"
)

const defaultStore = "sqlite:.dmpl/memory.db"

// storeCommand groups what is done to a memory store (CONTRACT M1 to M9).
func (a *App) storeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "store",
		Short: "Keep a memory that runs share: snapshots, commits, recovery, ledger",
		Example: `  dmpl store init
  dmpl store snapshot list
  dmpl store recover
  dmpl store ledger verify`,
	}
	c.AddCommand(a.storeInitCommand(), a.storeSnapshotCommand(), a.storeRunCommand(), a.storeRecoverCommand(), a.storeLedgerCommand(), a.storeCopyCommand(), a.storeCollectCommand())
	return c
}

// storeOptions are the flags that every command on a store has.
type storeOptions struct {
	store  string
	format choice
}

func (o *storeOptions) bind(c *cobra.Command) {
	c.Flags().StringVar(&o.store, "store", defaultStore, "the store: sqlite:PATH or postgres://USER@HOST/DATABASE")
	addFormat(c, &o.format)
}

// storeFailure is what a store refused or found.
type storeFailure struct {
	code   finding.Code
	exit   int
	detail string
}

// Error gives one line.
func (f *storeFailure) Error() string { return fmt.Sprintf("%s (%s)", f.detail, f.code) }

// storeCodes are what the refusals of a store mean here. A commit that ended otherwise than asked is a check that failed.
var storeCodes = map[string]struct {
	code finding.Code
	exit int
}{
	memory.CodeNoStore:                {finding.StoreUnusable, finding.ExitTrouble},
	memory.CodeNotAllowed:             {finding.StoreNotAllowed, finding.ExitTrouble},
	memory.CodeUnknownSnapshot:        {finding.StoreUnknownSnapshot, finding.ExitTrouble},
	memory.CodeNotOpen:                {finding.StoreState, finding.ExitTrouble},
	memory.CodeNotPending:             {finding.StoreState, finding.ExitTrouble},
	memory.CodeTransition:             {finding.StoreState, finding.ExitTrouble},
	memory.CodeLeaseHeld:              {finding.StoreLease, finding.ExitTrouble},
	string(memory.PolicyRejected):     {finding.StorePolicyRejected, finding.ExitFailed},
	string(memory.ValidationFailed):   {finding.StoreValidation, finding.ExitFailed},
	string(memory.PayloadMismatch):    {finding.StorePayload, finding.ExitFailed},
	string(memory.StorageApplyFailed): {finding.StorePending, finding.ExitFailed},
}

// storeError gives an error of a store the form of all errors of this package.
func storeError(err error) error {
	var refused *memory.BufferError
	if errors.As(err, &refused) {
		if known, ok := storeCodes[refused.Code]; ok {
			return &storeFailure{known.code, known.exit, refused.Detail}
		}
		return usage("The help of the command tells what it takes.", "%s", refused.Detail)
	}
	var fault *memory.LedgerFault
	if errors.As(err, &fault) {
		return &storeFailure{finding.StoreLedger, finding.ExitFailed, "the ledger is broken: " + fault.Error()}
	}
	var file *sqlite.Problem
	var database *postgres.Problem
	var rows *memory.Unreadable
	if errors.As(err, &file) || errors.As(err, &database) || errors.As(err, &rows) {
		return &storeFailure{finding.StoreUnusable, finding.ExitTrouble, err.Error()}
	}
	return err
}

// openStore opens the store of a --store flag.
func (a *App) openStore(ctx context.Context, o storeOptions, create bool) (*memory.Store, error) {
	var backend memory.Backend
	var err error
	switch kind, path, _ := strings.Cut(o.store, ":"); {
	case kind == "sqlite" && path != "":
		backend, err = sqlite.Open(ctx, path, create)
	case kind == "postgres" || kind == "postgresql":
		backend, err = postgres.Open(ctx, o.store, create)
	default: // the text may hold a password, so it is not repeated
		return nil, usage("Give sqlite:PATH or postgres://USER@HOST/DATABASE.", "a store is a file of SQLite or a database of PostgreSQL, and this is neither")
	}
	if err != nil {
		return nil, storeError(err)
	}
	return memory.NewStore(backend, func() int64 { return ticks(a.Now()) }), nil
}

// withStore runs do on the store of a --store flag.
func (a *App) withStore(c *cobra.Command, o storeOptions, do func(context.Context, *memory.Store) error) (err error) {
	s, err := a.openStore(c.Context(), o, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return storeError(do(c.Context(), s))
}

// say prints the answer of a store command: a line of text, or the document that fill writes.
func (a *App) say(o storeOptions, fill func(*document.Writer), format string, args ...any) error {
	text := fmt.Appendf(nil, format, args...)
	if o.format.value == formatJSON {
		w := document.NewWriter(document.Style{})
		w.Object("", func() { fill(w) })
		text = w.Bytes()
	} else {
		lines := strings.Split(string(text), "\n")
		for i := range lines {
			lines[i] = report.Visible(lines[i])
		}
		text = []byte(strings.Join(lines, "\n"))
	}
	if _, err := a.Out.Write(append(text, '\n')); err != nil {
		return outputError{err}
	}
	return nil
}

func (a *App) storeInitCommand() *cobra.Command {
	var o storeOptions
	c := &cobra.Command{
		Use:   "init [FLAGS]",
		Short: "Make an empty store",
		Long: `init makes the file of a store, with its folder, and the first snapshot, which is empty. A store that is there already is
left as it is; so is any other file.`,
		Example: `  dmpl store init
  dmpl store init --store sqlite:/var/lib/agent/memory.db`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return a.storeInit(c.Context(), o) },
	}
	o.bind(c)
	return c
}

func (a *App) storeInit(ctx context.Context, o storeOptions) (err error) {
	s, err := a.openStore(ctx, o, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	created, err := s.Create(ctx, randomID())
	if err != nil {
		return storeError(err)
	}
	about, err := s.About(ctx)
	if err != nil {
		return storeError(err)
	}
	word := "there already"
	if created {
		word = "made"
	}
	return a.say(o, func(w *document.Writer) {
		w.Text("store_id", about.StoreID)
		w.Bool("created", created)
	}, "store %s %s", about.StoreID, word)
}
