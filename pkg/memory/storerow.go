package memory

import (
	"fmt"

	"github.com/dmpl/dmpl/pkg/document"
)

// Run is what a store knows about a run: its buffer without the writes, and who may end its commit.
type Run struct {
	Buffer
	Count   int64 // of the buffered writes
	Touched int64 // ticks of the last operation
	Failed  int64 // attempts to apply that the storage failed
	Row     int64 // of the ledger, the last about the run
	Lease   Lease
}

func (r Run) document() []byte {
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		w.Text("run_id", r.RunID)
		w.Text("start_snapshot_id", r.Start)
		w.Text("state", string(r.State))
		w.Text("commit_id", r.CommitID)
		w.Text("commit_payload_fingerprint", r.Fingerprint)
		w.Text("reason_code", string(r.Reason))
		w.Integer("writes", r.Count)
		w.Integer("touched_ticks", r.Touched)
		w.Integer("failed", r.Failed)
		w.Integer("ledger_row", r.Row)
		r.Lease.write(w)
	})
	return w.Bytes()
}

func readRun(text []byte) (Run, error) {
	o, err := openDocument(text)
	if err != nil {
		return Run{}, damaged("run", err)
	}
	r := Run{
		Buffer: Buffer{
			RunID: o.Text("run_id", ""), Start: o.Text("start_snapshot_id", ""), State: BufferState(o.Text("state", "")),
			CommitID: o.Text("commit_id", ""), Fingerprint: o.Text("commit_payload_fingerprint", ""),
			Reason: AbortReason(o.Text("reason_code", "")),
		},
		Count: o.Integer("writes", 0), Touched: o.Integer("touched_ticks", 0), Failed: o.Integer("failed", 0),
		Row: o.Integer("ledger_row", 0), Lease: readLease(o),
	}
	return r, damaged("run", o.Err())
}

// Snapshot is one committed state of a store (M1).
type Snapshot struct {
	Number       int64
	RunID        string // of the commit that made it, as the next two; empty for the first state and an import
	CommitID     string
	Fingerprint  string
	Created      int64 // ticks
	Next         int64 // sequence number of the next entry (M9)
	PersonaID    string
	Interactions int64
}

// ID gives the snapshot's id.
func (s Snapshot) ID() string { return SnapshotID(s.Number) }

func (s Snapshot) document() []byte {
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		w.Integer("number", s.Number)
		w.Text("run_id", s.RunID)
		w.Text("commit_id", s.CommitID)
		w.Text("commit_payload_fingerprint", s.Fingerprint)
		w.Integer("created_at_ticks", s.Created)
		w.Integer("next_sequence_number", s.Next)
		writeUTF8(w, "persona_id", &s.PersonaID)
		w.Integer("interaction_count", s.Interactions)
	})
	return w.Bytes()
}

func readSnapshotRow(text []byte) (Snapshot, error) {
	o, err := openDocument(text)
	if err != nil {
		return Snapshot{}, damaged("snapshot", err)
	}
	s := Snapshot{
		Number: o.Integer("number", 0), RunID: o.Text("run_id", ""), CommitID: o.Text("commit_id", ""),
		Fingerprint: o.Text("commit_payload_fingerprint", ""), Created: o.Integer("created_at_ticks", 0),
		Next: o.Integer("next_sequence_number", 0), PersonaID: o.Text("persona_id", ""), Interactions: o.Integer("interaction_count", 0),
	}
	return s, damaged("snapshot", o.Err())
}

// About is what a store says about itself.
type About struct {
	StoreID string
	Oldest  int64 // number of the oldest snapshot that can still be read
}

// storeSchema names the form of the rows.
const storeSchema = "memory.store.v1"

func (a About) document() []byte {
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		w.Text("schema_version", storeSchema)
		w.Text("store_id", a.StoreID)
		w.Integer("oldest_snapshot", a.Oldest)
	})
	return w.Bytes()
}

func readAbout(text []byte) (About, error) {
	if text == nil {
		return About{}, &BufferError{CodeNoStore, "there is no store yet"}
	}
	o, err := openDocument(text)
	if err != nil {
		return About{}, damaged("store", err)
	}
	if version := o.Text("schema_version", ""); version != storeSchema {
		return About{}, &Unreadable{fmt.Sprintf("the store's rows are %q, and %s is the version that is known", version, storeSchema)}
	}
	a := About{StoreID: o.Text("store_id", ""), Oldest: o.Integer("oldest_snapshot", 0)}
	return a, damaged("store", o.Err())
}

// Unreadable says that rows of a store are damaged, or of a version that is not known.
type Unreadable struct{ Detail string }

// Error gives one line.
func (u *Unreadable) Error() string { return u.Detail }

func damaged(what string, err error) error {
	if err != nil {
		return &Unreadable{fmt.Sprintf("the row of a %s is damaged: %v", what, err)}
	}
	return nil
}

func recordDocument(r Record) []byte {
	w := document.NewWriter(document.Style{})
	WriteRecord(w, "", r)
	return w.Bytes()
}

func readRecordDocument(text []byte) (Record, error) {
	o, err := openDocument(text)
	if err != nil {
		return Record{}, damaged("record", err)
	}
	r := ReadRecord(o)
	return r, damaged("record", o.Err())
}

func writeDocument(write Write) []byte {
	w := document.NewWriter(document.Style{})
	w.Object("", func() { WriteWrites(w, "writes", []Write{write}) })
	return w.Bytes()
}

func readWriteDocument(text []byte) (Write, error) {
	o, err := openDocument(text)
	if err != nil {
		return Write{}, damaged("write", err)
	}
	list := ReadWrites(o, "writes")
	if err = o.Err(); err == nil && len(list) != 1 {
		err = fmt.Errorf("%d writes where one is due", len(list))
	}
	if err != nil {
		return Write{}, damaged("write", err)
	}
	return list[0], nil
}
