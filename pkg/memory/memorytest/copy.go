package memorytest

import (
	"reflect"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
)

// copies brings a store with a past, an open run and a pending one to the place, and from there to another.
func copies(t *testing.T, b *bench) {
	clock := func() int64 { return b.now }
	from := &bench{t: t, now: b.now, Store: memory.NewStore(&Backend{}, clock)}
	from.create()
	from.commit("first", "", record(memory.Append, "a", 1), record(memory.Append, "b", 1))
	from.commit("second", "", record(memory.Put, "a", 2), record(memory.Delete, "b", 0))
	b.ok(from.Open(ctx, "open", ""))
	b.ok(from.Write(ctx, "open", record(memory.Append, "c", 3)))
	from.pending("pending", "", record(memory.Append, "d", 4))
	b.ok(from.Acquire(ctx, "pending", "worker", memory.LeaseLength))

	last := memory.NewStore(&Backend{}, clock)
	for _, step := range []struct{ from, to *memory.Store }{{from.Store, b.Store}, {b.Store, last}} {
		done, err := step.from.CopyTo(ctx, step.to)
		if want := (memory.Copied{Snapshots: 3, Records: 3, Runs: 4, Rows: done.Rows}); err != nil || done != want {
			t.Fatalf("%+v, %v, want %+v", done, err, want)
		}
		same(t, from.Store, step.to)
	}
	done, err := from.CopyTo(ctx, last)
	b.refused(memory.CodeTransition, done, err)
	b.now += memory.LeaseLength + 1
	if ended, err := last.Recover(ctx, memory.Recovery{Worker: "other", Idle: 1 << 40}); err != nil || len(ended) != 1 || ended[0].State != memory.CommitApplied {
		t.Errorf("%+v, %v: the pending commit is applied from the copy", ended, err)
	}
}

// same holds a copy to the store that it was made of.
func same(t *testing.T, from, to *memory.Store) {
	t.Helper()
	for number := range int64(3) {
		snapshot := memory.SnapshotID(number)
		if got, want := documents(t, to, snapshot), documents(t, from, snapshot); got != want {
			t.Errorf("snapshot %s: %s, want %s", snapshot, got, want)
		}
	}
	for _, id := range []string{"first", "second", "open", "pending"} {
		got, err := to.Run(ctx, id)
		must(t, err)
		want, err := from.Run(ctx, id)
		must(t, err)
		writes, err := to.Buffered(ctx, id)
		must(t, err)
		due, err := from.Buffered(ctx, id)
		must(t, err)
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(writes, due) {
			t.Errorf("%+v %+v, want %+v %+v", got, writes, want, due)
		}
	}
	if got, want := ledger(t, to), ledger(t, from); got != want {
		t.Errorf("the ledger is\n%s\nwant\n%s", got, want)
	}
}

func documents(t *testing.T, s *memory.Store, snapshot string) (text string) {
	t.Helper()
	must(t, s.Records(ctx, snapshot, func(record []byte) error { text += string(record) + "\n"; return nil }))
	return text
}

func ledger(t *testing.T, s *memory.Store) (text string) {
	t.Helper()
	must(t, s.Ledger(ctx, func(_ int64, digest string, row []byte) error { text += digest + " " + string(row) + "\n"; return nil }))
	return text
}
