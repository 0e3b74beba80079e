package memorytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/memory"
)

// LedgerRow is a row of an exported ledger: the text of the row, and its digest.
type LedgerRow struct {
	Digest string
	Row    []byte
}

// ExportLedger writes rows as memory.ledger.v1, a row on each line.
func ExportLedger(storeID string, rows []LedgerRow) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"schema_version\":%q,\"store_id\":%q,\"rows\":[", memory.LedgerSchema, storeID)
	for i, row := range rows {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n{\"digest\":%q,\"row\":%s}", row.Digest, row.Row)
	}
	b.WriteString("]}\n")
	return b.Bytes()
}

// Rechain gives rows their numbers, links and digests again, as somebody does who rewrites a ledger and knows how.
func Rechain(t testing.TB, rows []LedgerRow) []LedgerRow {
	t.Helper()
	made := make([]LedgerRow, len(rows))
	previous := ""
	for i, row := range rows {
		r, err := memory.ReadLedgerRow(row.Row)
		if err != nil {
			t.Fatal(err)
		}
		r.Number, r.Previous = int64(i+1), previous
		text := r.Document()
		sum, err := canon.Digest(canon.JSONv1, text)
		if err != nil {
			t.Fatal(err)
		}
		previous = sum.Hex()
		made[i] = LedgerRow{previous, text}
	}
	return made
}

// LedgerStoreID is the id of the store of Ledger.
const LedgerStoreID = "store-1"

// Ledger gives the ledger of a store that has seen every event, some of them for every reason.
func Ledger(t *testing.T) []LedgerRow {
	t.Helper()
	broken := &Backend{}
	b := &bench{t: t, open: func() memory.Backend { return broken }, now: 638_400_000_000_000_000}
	b.Store = b.handle()
	b.ok(b.Create(ctx, LedgerStoreID))
	b.ok(b.Import(ctx, memory.State{NextSequence: 2, Others: []memory.Record{record(memory.Append, "seed", 0).Record}}))
	run := func(id, start string, writes ...memory.Write) (commit, fingerprint string) {
		opened, err := b.Open(ctx, id, start)
		b.ok(opened, err)
		b.ok(b.Write(ctx, id, writes...))
		return identities(t, opened, writes)
	}
	aborts := func(_ memory.Outcome, err error) {
		t.Helper()
		var refused *memory.BufferError
		if !errors.As(err, &refused) {
			t.Fatalf("nothing was refused: %v", err)
		}
	}
	note := record(memory.Append, "note", 1)
	start := memory.SnapshotID(1)
	for range 2 { // M5: applied, then repeated
		commit, fingerprint := run("a", start, note)
		b.ok(b.Commit(ctx, "a", commit, fingerprint))
	}
	commit, fingerprint := run("b", start, record(memory.Put, "note", 2))
	aborts(b.Commit(ctx, "b", commit, fingerprint)) // M4
	commit, fingerprint = run("c", "", note)
	b.ok(b.Reject(ctx, "c", commit, fingerprint, memory.PolicyRejected, `rule "few": 1 write`))
	run("d", "", note)
	b.ok(b.Discard(ctx, "d"))
	commit, fingerprint = run("e", "", record(memory.Append, "late", 3))
	b.ok(b.Request(ctx, "e", commit, fingerprint))
	broken.Fail(errors.New("the disk is full"))
	if done, err := b.Recover(ctx, memory.Recovery{Worker: "w1"}); err == nil {
		t.Fatalf("a broken storage recovered: %+v", done)
	}
	broken.Fail(nil)
	b.now += 2 * memory.LeaseLength
	b.ok(b.Recover(ctx, memory.Recovery{Worker: "w2"}))
	commit, fingerprint = run("a", start, record(memory.Append, "other", 1))
	aborts(b.Commit(ctx, "a", commit, fingerprint))
	b.now += 30 * 24 * 3600 * 10_000_000
	commit, fingerprint = run("f", "", record(memory.Delete, "late", 3))
	b.ok(b.Commit(ctx, "f", commit, fingerprint))
	b.now += 30 * 24 * 3600 * 10_000_000
	if _, _, err := b.Collect(ctx, memory.LeastDays, false); err != nil {
		t.Fatal(err)
	}
	commit, fingerprint = run("g", "", note)
	b.ok(b.Request(ctx, "g", commit, fingerprint))
	return b.ledger()
}

// ledger gives the rows of the store.
func (b *bench) ledger() (rows []LedgerRow) {
	err := b.Store.Ledger(context.Background(), func(_ int64, digest string, row []byte) error {
		rows = append(rows, LedgerRow{digest, bytes.Clone(row)})
		return nil
	})
	b.ok(rows, err)
	return rows
}

// Wander gives the ledger of a store after many operations in an order that a seed decides. What is refused is no fault.
func Wander(t *testing.T, seed uint64, steps int) []LedgerRow {
	t.Helper()
	disk := &Backend{}
	b := &bench{t: t, open: func() memory.Backend { return disk }, now: 638_400_000_000_000_000}
	b.Store = b.handle()
	b.ok(b.Create(ctx, LedgerStoreID))
	random := rand.New(rand.NewPCG(seed, 1))
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	for range steps {
		id := one("a", "b", "c", "d")
		if random.IntN(12) == 0 {
			id = fmt.Sprint("run", random.IntN(50))
		}
		b.now += random.Int64N(memory.LeaseLength)
		err := b.wander(disk, random, one, id)
		var refused *memory.BufferError
		if err != nil && !errors.As(err, &refused) && !errors.Is(err, errFull) {
			t.Fatal(err)
		}
	}
	return b.ledger()
}

var errFull = errors.New("the disk is full")

// wander does one operation.
func (b *bench) wander(disk *Backend, random *rand.Rand, one func(...string) string, id string) error {
	var err error
	switch n := random.IntN(17); n {
	case 0, 1, 2:
		_, err = b.Open(ctx, id, one("", "", memory.SnapshotID(random.Int64N(4))))
	case 3, 4, 5:
		op := memory.Op(one(string(memory.Append), string(memory.Put), string(memory.Delete)))
		_, err = b.Write(ctx, id, record(op, one("x", "y", fmt.Sprint("n", random.IntN(1000))), n))
	case 6, 7, 8, 9:
		err = b.finish(id, n)
	case 10:
		_, err = b.Apply(ctx, id, 0)
	case 11:
		_, err = b.Abort(ctx, id, 0, memory.StorageApplyFailed, "asked for")
	case 12:
		_, err = b.Acquire(ctx, id, one("w1", "w2"), memory.LeaseLength)
	case 13:
		if random.IntN(2) == 0 {
			disk.Fail(errFull)
		}
		_, err = b.Recover(ctx, memory.Recovery{Worker: "w3", Idle: 10 * memory.LeaseLength})
		disk.Fail(nil)
	case 14:
		r := record(memory.Append, fmt.Sprint("import", random.IntN(1000)), n).Record
		r.Sequence = 1
		_, err = b.Import(ctx, memory.State{NextSequence: 2, Others: []memory.Record{r}})
	case 15:
		b.now += 15 * 24 * 3600 * 10_000_000
		_, _, err = b.Collect(ctx, memory.LeastDays, false)
	case 16: // from where it was, which repeats a commit of nothing
		run, _ := b.Run(ctx, id)
		if _, err = b.Open(ctx, id, run.Start); err == nil {
			err = b.finish(id, 9)
		}
	}
	return err
}

// finish asks for the commit of a run, and ends it too but for every other time.
func (b *bench) finish(id string, n int) error {
	run, err := b.Run(ctx, id)
	if err != nil {
		return err
	}
	writes, err := b.Buffered(ctx, id)
	if err != nil {
		return err
	}
	run.RunID = id
	commit, fingerprint := identities(b.t, run, writes)
	switch n {
	case 6:
		_, err = b.Request(ctx, id, commit, fingerprint)
	case 7:
		_, err = b.Reject(ctx, id, commit, fingerprint, memory.PolicyRejected, "rule")
	case 8:
		_, err = b.Discard(ctx, id)
	default:
		_, err = b.Commit(ctx, id, commit, fingerprint)
	}
	return err
}
