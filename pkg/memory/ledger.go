package memory

import (
	"fmt"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
)

// LedgerSchema names the format of an exported ledger.
const LedgerSchema = "memory.ledger.v1"

// LedgerEvent is what a row of the ledger tells of.
type LedgerEvent string

// The events of a ledger: every transition of every buffer, and what else changes a store (M8).
const (
	StoreCreated     LedgerEvent = "store_created"
	RunOpened        LedgerEvent = "run_opened"
	WritesBuffered   LedgerEvent = "writes_buffered"
	CommitRequested  LedgerEvent = "commit_requested"
	CommitWasApplied LedgerEvent = "commit_applied"
	CommitRepeated   LedgerEvent = "commit_repeated"
	CommitWasAborted LedgerEvent = "commit_aborted"
	BufferDiscarded  LedgerEvent = "buffer_discarded"
	LeaseTaken       LedgerEvent = "lease_taken"
	ApplyFailed      LedgerEvent = "apply_failed"
	SnapshotImported LedgerEvent = "snapshot_imported"
	RecordsForgotten LedgerEvent = "records_forgotten"
)

// LedgerRow is one row of a store's ledger (M8).
type LedgerRow struct {
	Number      int64 // from 1
	Time        int64 // ticks
	Event       LedgerEvent
	RunID       string
	SnapshotID  string // the start snapshot; of an applied commit the one that it made
	CommitID    string
	Fingerprint string
	Reason      AbortReason
	Detail      string
	Previous    string // digest of the row before, empty in the first
}

// Document gives the row as JSON; the digest of a row is that of its json-v1 bytes.
func (r LedgerRow) Document() []byte {
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		w.Integer("row", r.Number)
		w.Integer("time_ticks", r.Time)
		w.Text("event", string(r.Event))
		writeFilled(w, "run_id", r.RunID)
		writeFilled(w, "memory_snapshot_id", r.SnapshotID)
		writeFilled(w, "commit_id", r.CommitID)
		writeFilled(w, "commit_payload_fingerprint", r.Fingerprint)
		writeFilled(w, "reason_code", string(r.Reason))
		writeFilled(w, "detail", r.Detail)
		w.Text("previous", r.Previous)
	})
	return w.Bytes()
}

// writeFilled writes a text that is not empty.
func writeFilled(w *document.Writer, name, value string) {
	if value != "" {
		writeUTF8(w, name, &value)
	}
}

// LedgerChain follows a ledger row by row. The zero value stands before the first row.
type LedgerChain struct {
	Rows   int64
	Digest string // of the last row
}

// Follow says what is wrong with the next row: its bytes are not those of its digest, its number is not the next one, or it
// does not name the row before it.
func (c *LedgerChain) Follow(number int64, digest string, row []byte) error {
	sum, err := canon.Digest(canon.JSONv1, row)
	if err != nil {
		return fmt.Errorf("row %d is damaged: %w", number, err)
	}
	if sum.Hex() != digest {
		return fmt.Errorf("row %d was edited: its digest is %s, and %s was stored", number, sum.Hex(), digest)
	}
	o, err := openDocument(row)
	if err != nil {
		return fmt.Errorf("row %d is damaged: %w", number, err)
	}
	stated, previous := o.Integer("row", 0), o.Text("previous", "")
	if stated != c.Rows+1 || number != stated {
		return fmt.Errorf("row %d stands where row %d is due: a row was removed, added or moved", number, c.Rows+1)
	}
	if previous != c.Digest {
		return fmt.Errorf("row %d follows a row with the digest %q, and the one before it has %q", number, previous, c.Digest)
	}
	c.Rows, c.Digest = number, digest
	return nil
}

// openDocument reads a document that a store wrote.
func openDocument(text []byte) (*document.Object, error) {
	v, err := canon.ParseAs(canon.DBL, text)
	if err != nil {
		return nil, err
	}
	return document.Open(v), nil
}
