package memory

import "context"

// Backend keeps the rows of a store, and knows no rule. Every rule of snapshots, commits and leases is in Store, so that all
// backends answer alike.
type Backend interface {
	// Update runs do in a transaction that excludes every other Update, of any process. Where do gives an error, nothing of
	// it is kept; where Update gives none, all of it survives a crash of the process and of the machine (M4).
	Update(ctx context.Context, do func(Tx) error) error
	// View runs do on one consistent state.
	View(ctx context.Context, do func(Tx) error) error
	Close() error
}

// Tx is what a transaction does to the rows. Documents are JSON that the store reads and writes.
type Tx interface {
	// About gives the document about the store itself, nil where there is no store yet.
	About() ([]byte, error)
	SetAbout(document []byte) error

	// Newest, Snapshot and Committed give a snapshot's document: of the highest number, of a number, of a commit id; nil
	// where there is none. EachSnapshot visits all by number.
	Newest() ([]byte, error)
	Snapshot(number int64) ([]byte, error)
	Committed(commitID string) ([]byte, error)
	EachSnapshot(visit func(document []byte) error) error
	AddSnapshot(number int64, commitID string, document []byte) error

	// A record lives from the snapshot that it came with until before the one that it went with: snapshots share what did
	// not change. Find gives the living records of a name by sequence number, Highest the highest number of all living, 0
	// for none. Changed tells whether a record of the name came or went after a snapshot.
	Find(Ref) ([][]byte, error)
	Highest() (int64, error)
	Changed(name Ref, after int64) (bool, error)
	Insert(sequence int64, name Ref, came int64, document []byte) error
	// Bury lets the living record of a sequence number go with a snapshot; one that came with it was never there.
	Bury(sequence, went int64) error
	// Records visits the records of a snapshot by sequence number.
	Records(snapshot int64, visit func(document []byte) error) error
	// EachRecord visits all records by sequence number and snapshot, with went 0 where one lives.
	EachRecord(visit func(came, went int64, document []byte) error) error
	// Forget removes the records that went with a snapshot or before, and says how many.
	Forget(went int64) (int64, error)

	// Run gives a run's document, nil where there is none. EachRun visits those in a state by id.
	Run(id string) ([]byte, error)
	EachRun(state BufferState, visit func(document []byte) error) error
	SetRun(id string, state BufferState, document []byte) error
	DropRun(id string) error

	// Writes visits the buffered writes of a run by place.
	Writes(run string, visit func(document []byte) error) error
	AddWrite(run string, place int64, document []byte) error
	DropWrites(run string) error

	// The ledger only grows (M8). LastRow gives number 0 where it is empty.
	LastRow() (number int64, digest string, err error)
	AddRow(number int64, digest string, document []byte) error
	EachRow(visit func(number int64, digest string, document []byte) error) error
}
