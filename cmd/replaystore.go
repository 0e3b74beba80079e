package cmd

import (
	"context"
	"errors"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/record"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/trace"
)

// askedStore is the store that recordings are held to; nil for none.
type askedStore struct {
	ctx   context.Context
	store *memory.Store
	id    string
}

func asked(ctx context.Context, s *memory.Store) (*askedStore, error) {
	about, err := s.About(ctx)
	return &askedStore{ctx, s, about.StoreID}, err
}

// of gives what the store says of a recorded run; nil without a store, and for a run that is cut short, which says nothing itself.
func (a *askedStore) of(r *trace.Recording) (*replay.Stored, error) {
	if a == nil || r.CutShort != "" {
		return nil, nil
	}
	said := &replay.Stored{StoreID: a.id}
	if other := r.Manifest.Field("/store_id"); other.Ok() && !other.Is(a.id) {
		return said, nil
	}
	if err := a.snapshot(said, r.Snapshot); err != nil || !r.Commit.Ok() {
		return said, storeError(err)
	}
	var err error
	if said.Run, err = a.store.Run(a.ctx, r.Commit.Field("/run_id").Text()); err != nil {
		return nil, storeError(err)
	}
	row, applied, err := a.store.Committed(a.ctx, r.Commit.Field("/commit_id").Text())
	if applied {
		said.Made = &row
	}
	return said, storeError(err)
}

// snapshot looks up the start snapshot by its id.
func (a *askedStore) snapshot(said *replay.Stored, recorded trace.Document) error {
	id := recorded.Field("/memory_snapshot_id").Text()
	if id == "" { // which would mean the newest
		said.Lacks = "the run names no start snapshot"
		return nil
	}
	state, err := a.store.State(a.ctx, id)
	var refused *memory.BufferError
	if errors.As(err, &refused) && refused.Code == memory.CodeUnknownSnapshot {
		said.Lacks = refused.Detail
		return nil
	}
	if err != nil {
		return err
	}
	kept, err := record.Read("memory.snapshot.v1", record.Text{Path: recorded.Path, JSON: record.Snapshot(id, state)})
	said.Snapshot = &kept
	return err
}
