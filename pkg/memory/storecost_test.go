package memory_test

import (
	"context"
	"errors"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/memorytest"
)

// blind is a backend whose updates cannot read a snapshot.
type blind struct{ memory.Backend }

func (b blind) Update(ctx context.Context, do func(memory.Tx) error) error {
	return b.Backend.Update(ctx, func(tx memory.Tx) error { return do(blindTx{tx}) })
}

type blindTx struct{ memory.Tx }

func (blindTx) Records(int64, func([]byte) error) error {
	return errors.New("an update read a whole snapshot")
}

func (blindTx) EachSnapshot(func([]byte) error) error {
	return errors.New("an update read all snapshots")
}

// M4: a commit reads no snapshot, so that it cannot compute a digest of one, nor cost more the more there are.
func TestACommitReadsNoSnapshot(t *testing.T) {
	ctx := context.Background()
	s := memory.NewStore(blind{&memorytest.Backend{}}, memory.At(1))
	if _, err := s.Create(ctx, "blind"); err != nil {
		t.Fatal(err)
	}
	for _, op := range []memory.Op{memory.Append, memory.Put, memory.Delete} {
		writes := []memory.Write{{Op: op, Record: memory.Record{Entry: memory.Entry{ID: "a", Source: 50}, Type: "note", Content: []byte(`{}`)}}}
		sum, err := memory.PayloadFingerprint(writes)
		if err != nil {
			t.Fatal(err)
		}
		run := string(op)
		if _, err := s.Open(ctx, run, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write(ctx, run, writes...); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Commit(ctx, run, run, sum.Hex()); err != nil {
			t.Errorf("%s: %v", op, err)
		}
	}
	if err := blind.Update(blind{&memorytest.Backend{}}, ctx, func(tx memory.Tx) error { return tx.Records(0, nil) }); err == nil {
		t.Error("the backend is not blind")
	}
}
