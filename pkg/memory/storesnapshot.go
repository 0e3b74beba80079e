package memory

import (
	"context"
	"fmt"
	"strconv"
)

// numberOf gives the number that a snapshot id of a native store is made of (M1).
func numberOf(id string) (int64, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n < 0 || SnapshotID(n) != id {
		return 0, &BufferError{CodeUnknownSnapshot, fmt.Sprintf("%q is no snapshot id: 20 digits are expected", id)}
	}
	return n, nil
}

// snapshotOf gives the snapshot of an id that can be read, the newest for "".
func snapshotOf(tx Tx, id string) (Snapshot, error) {
	if id == "" {
		return newestOf(tx)
	}
	n, err := numberOf(id)
	if err != nil {
		return Snapshot{}, err
	}
	about, err := aboutOf(tx)
	if err != nil {
		return Snapshot{}, err
	}
	text, err := tx.Snapshot(n)
	switch {
	case err != nil:
		return Snapshot{}, err
	case text == nil:
		return Snapshot{}, &BufferError{CodeUnknownSnapshot, fmt.Sprintf("the store has no snapshot %s", id)}
	case n < about.Oldest:
		return Snapshot{}, &BufferError{CodeUnknownSnapshot, fmt.Sprintf("the records of snapshot %s were forgotten; the oldest is %s", id, SnapshotID(about.Oldest))}
	}
	return readSnapshotRow(text)
}

func newestOf(tx Tx) (Snapshot, error) {
	text, err := tx.Newest()
	if err != nil {
		return Snapshot{}, err
	}
	if text == nil {
		return Snapshot{}, &Unreadable{"the store is damaged: it has no snapshot"}
	}
	return readSnapshotRow(text)
}

// Snapshots gives all snapshots that can be read, by number.
func (s *Store) Snapshots(ctx context.Context) (list []Snapshot, err error) {
	err = s.backend.View(ctx, func(tx Tx) error {
		about, err := aboutOf(tx)
		if err != nil {
			return err
		}
		return tx.EachSnapshot(func(text []byte) error {
			row, err := readSnapshotRow(text)
			if row.Number >= about.Oldest {
				list = append(list, row)
			}
			return err
		})
	})
	return list, err
}

// Snapshot gives a snapshot, the newest for "".
func (s *Store) Snapshot(ctx context.Context, id string) (row Snapshot, err error) {
	err = s.backend.View(ctx, func(tx Tx) error {
		if _, err := aboutOf(tx); err != nil {
			return err
		}
		row, err = snapshotOf(tx, id)
		return err
	})
	return row, err
}

// Committed gives the snapshot that a commit made; false where none of that id was applied. It is known for good (M5), whether
// or not the records can still be read.
func (s *Store) Committed(ctx context.Context, commitID string) (row Snapshot, applied bool, err error) {
	err = s.backend.View(ctx, func(tx Tx) error {
		if _, err := aboutOf(tx); err != nil {
			return err
		}
		text, err := tx.Committed(commitID)
		if err != nil || text == nil {
			return err
		}
		applied = true
		row, err = readSnapshotRow(text)
		return err
	})
	return row, applied, err
}

// Records visits the records of a snapshot by sequence number, each as a JSON document (M11). What is visited is the
// caller's.
func (s *Store) Records(ctx context.Context, id string, visit func(record []byte) error) error {
	return s.backend.View(ctx, func(tx Tx) error {
		if _, err := aboutOf(tx); err != nil {
			return err
		}
		row, err := snapshotOf(tx, id)
		if err != nil {
			return err
		}
		return tx.Records(row.Number, visit)
	})
}

// State gives the memory of a snapshot.
func (s *Store) State(ctx context.Context, id string) (state State, err error) {
	err = s.backend.View(ctx, func(tx Tx) error {
		if _, err := aboutOf(tx); err != nil {
			return err
		}
		row, err := snapshotOf(tx, id)
		if err != nil {
			return err
		}
		state, err = stateOf(tx, row)
		return err
	})
	return state, err
}

func stateOf(tx Tx, row Snapshot) (State, error) {
	state := State{PersonaID: row.PersonaID, InteractionCount: row.Interactions}
	err := tx.Records(row.Number, func(text []byte) error {
		r, err := readRecordDocument(text)
		if err != nil {
			return err
		}
		return state.add(r)
	})
	if err != nil {
		return State{}, err
	}
	return Load(state, DMPLv1)
}

// Import brings a memory into the store as a new snapshot: as it stands where the store holds nothing yet, else merged (M9).
// Where that changes nothing there is no new snapshot.
func (s *Store) Import(ctx context.Context, state State) (row Snapshot, err error) {
	err = s.backend.Update(ctx, func(tx Tx) error {
		if _, err := aboutOf(tx); err != nil {
			return err
		}
		head, err := newestOf(tx)
		if err != nil {
			return err
		}
		before, err := stateOf(tx, head)
		if err != nil {
			return err
		}
		after := state
		if head.Number > 0 || len(before.Records()) > 0 {
			if after, err = Merge(before, state); err != nil {
				return &BufferError{string(ValidationFailed), err.Error()}
			}
		}
		row, err = addImport(tx, head, after, before, s.clock())
		return err
	})
	return row, err
}

func addImport(tx Tx, head Snapshot, after, before State, now int64) (Snapshot, error) {
	there := map[int64]bool{}
	for _, r := range before.Records() {
		there[r.Sequence] = true
	}
	var changes []Change
	for _, r := range after.Records() {
		if !there[r.Sequence] {
			changes = append(changes, Change{New: &r})
		}
	}
	if len(changes) == 0 && after.PersonaID == head.PersonaID && after.InteractionCount == head.Interactions {
		return head, nil
	}
	made := Snapshot{Created: now, PersonaID: after.PersonaID, Interactions: after.InteractionCount}
	made, err := addSnapshot(tx, head, made, changes)
	if err != nil {
		return made, err
	}
	detail := counted(len(changes), "record")
	return made, newBook(tx).enter(LedgerRow{Time: now, Event: SnapshotImported, SnapshotID: made.ID(), Detail: detail})
}

// Ledger visits the rows of the ledger by number.
func (s *Store) Ledger(ctx context.Context, visit func(number int64, digest string, row []byte) error) error {
	return s.backend.View(ctx, func(tx Tx) error {
		if _, err := aboutOf(tx); err != nil {
			return err
		}
		return tx.EachRow(visit)
	})
}
