package memory

import (
	"fmt"
	"strconv"

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

// ledgerEvents are all events: a row with another one is damaged.
var ledgerEvents = []string{
	string(StoreCreated), string(RunOpened), string(WritesBuffered), string(CommitRequested), string(CommitWasApplied), string(CommitRepeated),
	string(CommitWasAborted), string(BufferDiscarded), string(LeaseTaken), string(ApplyFailed), string(SnapshotImported), string(RecordsForgotten),
}

// LedgerEvents gives all events.
func LedgerEvents() []string { return ledgerEvents }

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

// ReadLedgerRow reads what Document writes.
func ReadLedgerRow(text []byte) (LedgerRow, error) {
	o, err := openDocument(text)
	if err != nil {
		return LedgerRow{}, damaged("ledger", err)
	}
	must(o, "row", "time_ticks", "event", "previous")
	r := LedgerRow{
		Number: o.Integer("row", 0), Time: o.Integer("time_ticks", 0), Event: LedgerEvent(o.Word("event", "", ledgerEvents...)),
		RunID: o.Text("run_id", ""), SnapshotID: o.Text("memory_snapshot_id", ""), CommitID: o.Text("commit_id", ""),
		Fingerprint: o.Text("commit_payload_fingerprint", ""), Reason: AbortReason(o.Text("reason_code", "")),
		Detail: o.Text("detail", ""), Previous: o.Text("previous", ""),
	}
	return r, damaged("ledger", o.Err())
}

// writeFilled writes a text that is not empty.
func writeFilled(w *document.Writer, name, value string) {
	if value != "" {
		writeUTF8(w, name, &value)
	}
}

// LedgerFault says what is wrong with a ledger.
type LedgerFault struct {
	Row    int64 // 0 where it is about no row
	Detail string
}

// Error gives one line.
func (f *LedgerFault) Error() string {
	if f.Row == 0 {
		return f.Detail
	}
	return fmt.Sprintf("row %d %s", f.Row, f.Detail)
}

func faultAt(row int64, format string, args ...any) error {
	return &LedgerFault{row, fmt.Sprintf(format, args...)}
}

// LedgerChain follows a ledger row by row. The zero value stands before the first row.
type LedgerChain struct {
	Rows   int64
	Digest string // of the last row
}

// Follow says what is wrong with the next row: its bytes are not those of its digest, its number is not the next one, or it
// does not name the row before it. The error is a *LedgerFault.
func (c *LedgerChain) Follow(number int64, digest string, row []byte) error {
	sum, err := canon.Digest(canon.JSONv1, row)
	if err != nil {
		return faultAt(number, "is damaged: %v", err)
	}
	if sum.Hex() != digest {
		return faultAt(number, "was edited: its digest is %s, and %s was stored", sum.Hex(), digest)
	}
	stated, err := ReadLedgerRow(row)
	if err != nil {
		return faultAt(number, "is damaged: %v", err)
	}
	if number != stated.Number {
		return faultAt(number, "says that it is row %d: a row was removed, added or moved", stated.Number)
	}
	if number != c.Rows+1 {
		return faultAt(number, "stands where row %d is due: a row was removed, added or moved", c.Rows+1)
	}
	if stated.Previous != c.Digest {
		return faultAt(number, "follows a row with the digest %q, and the one before it has %q", stated.Previous, c.Digest)
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

// counted gives a number with its noun, for the details of rows.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
