package memory

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of what a store takes.
const (
	maxName  = 256      // bytes of a run id or a worker's name
	maxWrite = 16 << 20 // bytes of one write
)

// MostFailures is after how many failed attempts recovery aborts a commit (M6).
const MostFailures = 3

// Store is a memory that runs share: immutable snapshots, one write buffer a run, commits that are applied whole and one
// after the other, and a ledger of it all (M1 to M8). Every method is one transaction of its backend.
type Store struct {
	backend Backend
	clock   Clock
}

// NewStore gives the store that a backend holds. The clock is asked inside transactions, where nothing waits any more.
func NewStore(backend Backend, clock Clock) *Store { return &Store{backend, clock} }

// Close closes the backend.
func (s *Store) Close() error { return s.backend.Close() }

// Create makes an empty store with its first snapshot, number 0. Where there is one already it stays as it is, and created is
// false.
func (s *Store) Create(ctx context.Context, id string) (created bool, err error) {
	err = s.backend.Update(ctx, func(tx Tx) error {
		text, err := tx.About()
		if err != nil {
			return err
		}
		if created = text == nil; !created {
			_, err := readAbout(text)
			return err
		}
		if err := tx.SetAbout(About{StoreID: id}.document()); err != nil {
			return err
		}
		first := Snapshot{Created: s.clock(), Next: 1}
		if err := tx.AddSnapshot(0, "", first.document()); err != nil {
			return err
		}
		return newBook(tx).enter(LedgerRow{Time: first.Created, Event: StoreCreated, SnapshotID: first.ID(), Detail: id})
	})
	return created, err
}

// About gives what the store says about itself; a *BufferError with no_store where there is none.
func (s *Store) About(ctx context.Context) (about About, err error) {
	err = s.backend.View(ctx, func(tx Tx) error {
		about, err = aboutOf(tx)
		return err
	})
	return about, err
}

func aboutOf(tx Tx) (About, error) {
	text, err := tx.About()
	if err != nil {
		return About{}, err
	}
	return readAbout(text)
}

// book enters rows in the ledger.
type book struct {
	tx     Tx
	known  bool
	number int64
	digest string
}

func newBook(tx Tx) *book { return &book{tx: tx} }

func (b *book) enter(row LedgerRow) (err error) {
	if !b.known {
		if b.number, b.digest, err = b.tx.LastRow(); err != nil {
			return err
		}
		b.known = true
	}
	row.Number, row.Previous = b.number+1, b.digest
	text := row.Document()
	sum, err := digestOf(text)
	if err != nil {
		return err
	}
	b.number, b.digest = row.Number, sum
	return b.tx.AddRow(row.Number, sum, text)
}

// operation is one transaction on one run.
type operation struct {
	tx   Tx
	book *book
	now  int64
	run  Run
	// refused is said when what was done is durable: a commit that was aborted (M5).
	refused error
}

// on runs an operation on a run and stores what became of it.
func (s *Store) on(ctx context.Context, runID string, do func(*operation) error) (Run, error) {
	if err := checkRunID(runID); err != nil {
		return Run{}, err
	}
	var o *operation
	err := s.backend.Update(ctx, func(tx Tx) error {
		if _, err := aboutOf(tx); err != nil {
			return err
		}
		o = &operation{tx: tx, book: newBook(tx), now: s.clock()}
		text, err := tx.Run(runID)
		if err != nil {
			return err
		}
		if text != nil {
			if o.run, err = readRun(text); err != nil {
				return err
			}
		}
		if err := do(o); err != nil {
			return err
		}
		if o.run.State == NoBuffer && o.run.Lease.Token == 0 && o.run.Applied == "" { // a token is never given twice
			return tx.DropRun(runID)
		}
		o.run.Touched = o.now
		if o.book.known {
			o.run.Row = o.book.number
		}
		return tx.SetRun(runID, o.run.State, o.run.document())
	})
	if err != nil {
		return Run{}, err
	}
	return o.run, o.refused
}

func checkRunID(id string) error {
	if strings.TrimSpace(id) == "" || len(id) > maxName || !utf8.ValidString(id) || strings.ContainsRune(id, 0) {
		return &BufferError{CodeRunID, fmt.Sprintf("a run id is UTF-8 of 1 to %d bytes, not blank, without NUL", maxName)}
	}
	return nil
}

// log enters a row about the operation's run.
func (o *operation) log(event LedgerEvent, detail string) error {
	return o.book.enter(LedgerRow{
		Time: o.now, Event: event, RunID: o.run.RunID, SnapshotID: o.run.Start, CommitID: o.run.CommitID,
		Fingerprint: o.run.Fingerprint, Reason: o.run.Reason, Detail: detail,
	})
}

// Open opens the buffer of a run on a committed snapshot, the newest for "" (M1). The same run opened again on the same
// snapshot gets the same commit id (D7), so that M5 decides what its second commit is.
func (s *Store) Open(ctx context.Context, runID, start string) (Run, error) {
	return s.on(ctx, runID, func(o *operation) error { return o.open(runID, start) })
}

// OpenOnce is Open for who wants the run to be applied once, whatever happened since: a run whose commit was applied is opened on
// the snapshot that it started from, so that its commit id is the same and M5 decides. From another snapshot it is refused.
func (s *Store) OpenOnce(ctx context.Context, runID, start string) (Run, error) {
	return s.on(ctx, runID, func(o *operation) error {
		switch before := o.run.Applied; {
		case before == "":
		case start == "" || start == before:
			start = before
		default:
			return &BufferError{CodeTransition, fmt.Sprintf(
				"the run %q was committed from the snapshot %s: from %s it is another run, and needs another id", runID, before, start)}
		}
		return o.open(runID, start)
	})
}

func (o *operation) open(runID, start string) error {
	if _, err := o.run.State.Next(OpenBuffer); err != nil {
		return err
	}
	from, err := snapshotOf(o.tx, start)
	if err != nil {
		return err
	}
	if err := o.run.Buffer.Open(runID, from.ID()); err != nil {
		return err
	}
	if err := o.tx.DropWrites(runID); err != nil {
		return err
	}
	o.run = Run{Buffer: o.run.Buffer, Lease: Lease{Token: o.run.Lease.Token}, Applied: o.run.Applied}
	return o.log(RunOpened, "")
}

// Write buffers writes, all or none. Nobody reads them before they are applied (M1).
func (s *Store) Write(ctx context.Context, runID string, writes ...Write) (Run, error) {
	return s.on(ctx, runID, func(o *operation) error {
		for _, w := range writes {
			if err := o.run.Append(w); err != nil {
				return err
			}
			text := writeDocument(w)
			if len(text) > maxWrite {
				return &BufferError{CodeTooLarge, fmt.Sprintf("a write has at most %d bytes, and this one has %d", maxWrite, len(text))}
			}
			if err := o.tx.AddWrite(runID, o.run.Count, text); err != nil {
				return err
			}
			o.run.Count++
		}
		o.run.Writes = nil
		if _, err := o.run.State.Next(AppendWrite); err != nil {
			return err
		}
		return o.log(WritesBuffered, counted(len(writes), "write"))
	})
}

// Run gives what is known about a run; State is NoBuffer for one that is not there.
func (s *Store) Run(ctx context.Context, runID string) (run Run, err error) {
	err = s.backend.View(ctx, func(tx Tx) error {
		if _, err := aboutOf(tx); err != nil {
			return err
		}
		text, err := tx.Run(runID)
		if err != nil || text == nil {
			return err
		}
		run, err = readRun(text)
		return err
	})
	return run, err
}

// Buffered gives the writes that a run has buffered, for who judges them before they are committed.
func (s *Store) Buffered(ctx context.Context, runID string) (writes []Write, err error) {
	err = s.backend.View(ctx, func(tx Tx) error {
		if _, err := aboutOf(tx); err != nil {
			return err
		}
		writes, err = bufferedWrites(tx, runID)
		return err
	})
	return writes, err
}

func bufferedWrites(tx Tx, runID string) (writes []Write, err error) {
	err = tx.Writes(runID, func(text []byte) error {
		w, err := readWriteDocument(text)
		writes = append(writes, w)
		return err
	})
	return writes, err
}
