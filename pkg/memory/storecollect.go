package memory

import (
	"context"
	"errors"
	"fmt"
)

// Kept is a snapshot that a collection keeps, and why.
type Kept struct {
	Snapshot Snapshot
	Why      string
}

// Collect forgets records that only snapshots have which are older than some days, LeastDays at least (V4), counted from when
// a snapshot was the newest for the last time. The newest snapshot and what it shares stay, as does all from the start
// snapshot of an unfinished run on. What is kept for a reason is named; a dry run forgets nothing.
func (s *Store) Collect(ctx context.Context, days int64, dry bool) (kept []Kept, forgotten int64, err error) {
	days = min(max(days, LeastDays), 100*366)
	err = s.backend.Update(ctx, func(tx Tx) error {
		about, err := aboutOf(tx)
		if err != nil {
			return err
		}
		now := s.clock()
		if kept, err = keptSnapshots(tx, about.Oldest, now-days*24*3600*second, days); err != nil {
			return err
		}
		oldest := kept[0].Snapshot.Number
		if forgotten, err = tx.Forget(oldest); err != nil {
			return err
		}
		if dry {
			return errNothing
		}
		if oldest == about.Oldest {
			return nil
		}
		about.Oldest = oldest
		if err := tx.SetAbout(about.document()); err != nil {
			return err
		}
		return newBook(tx).enter(LedgerRow{
			Time: now, Event: RecordsForgotten, SnapshotID: SnapshotID(oldest), Detail: counted(int(forgotten), "record") + " of older snapshots",
		})
	})
	if errors.Is(err, errNothing) {
		err = nil
	}
	return kept, forgotten, err
}

// keptSnapshots gives the snapshots from the oldest one that must be kept.
func keptSnapshots(tx Tx, oldest, since, days int64) ([]Kept, error) {
	var all []Kept
	latest := int64(0) // no snapshot came before it, also where the clock ran back meanwhile
	err := tx.EachSnapshot(func(text []byte) error {
		row, err := readSnapshotRow(text)
		if err != nil || row.Number < oldest {
			return err
		}
		latest = max(latest, row.Created)
		if last := len(all) - 1; last >= 0 && latest > since { // it was the newest until this one came
			all[last].Why = fmt.Sprintf("was the newest within %d days", days)
		}
		all = append(all, Kept{Snapshot: row})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &Unreadable{"the store is damaged: it has no snapshot from " + SnapshotID(oldest) + " on"}
	}
	all[len(all)-1].Why = "is the newest"
	for _, state := range []BufferState{BufferOpen, CommitPending} {
		runs, err := runsIn(tx, state)
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			for i := range all {
				if all[i].Snapshot.ID() == run.Start {
					all[i].Why = fmt.Sprintf("is the start of the run %q in %s", run.RunID, state)
				}
			}
		}
	}
	first := 0
	for all[first].Why == "" {
		first++
	}
	kept := all[first:]
	for i := range kept {
		if kept[i].Why == "" {
			kept[i].Why = "is newer than one that is kept"
		}
	}
	return kept, nil
}
