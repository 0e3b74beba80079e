package memorytest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
)

// bench is a store under test.
type bench struct {
	*memory.Store
	t    *testing.T
	open Open
	now  int64
}

func (b *bench) handle() *memory.Store {
	return memory.NewStore(b.open(), func() int64 { return b.now })
}

func (b *bench) ok(_ any, err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// refused holds an error to a code.
func (b *bench) refused(code string, _ any, err error) {
	b.t.Helper()
	var refused *memory.BufferError
	if !errors.As(err, &refused) || refused.Code != code {
		b.t.Fatalf("got %v, want %s", err, code)
	}
}

func (b *bench) create() { b.t.Helper(); b.ok(b.Create(ctx, "store")) }

// record gives the write of a record whose content is a number.
func record(op memory.Op, id string, n int) memory.Write {
	r := memory.Record{Type: "note", Content: fmt.Appendf(nil, `{"n":%d}`, n)}
	r.ID, r.Source, r.CreatedAt = id, memory.ValidatedOutput, 7
	return memory.Write{Op: op, Record: r}
}

// pending brings a run to commit_pending.
func (b *bench) pending(run, start string, writes ...memory.Write) (commit string) {
	b.t.Helper()
	opened, err := b.Open(ctx, run, start)
	b.ok(opened, err)
	b.ok(b.Write(ctx, run, writes...))
	commit, fingerprint := identities(b.t, opened, writes)
	b.ok(b.Request(ctx, run, commit, fingerprint))
	return commit
}

func identities(t *testing.T, run memory.Run, writes []memory.Write) (commit, fingerprint string) {
	t.Helper()
	id, err := memory.CommitID(run.RunID, run.Start, "policies")
	sum, other := memory.PayloadFingerprint(writes)
	if err := errors.Join(err, other); err != nil {
		t.Fatal(err)
	}
	return id.Hex(), sum.Hex()
}

// commit brings a run to commit_applied and gives the snapshot.
func (b *bench) commit(run, start string, writes ...memory.Write) string {
	b.t.Helper()
	b.pending(run, start, writes...)
	out, err := b.Apply(ctx, run, 0)
	b.ok(out, err)
	return out.Snapshot
}

// state gives a run's state and reason.
func (b *bench) state(run string) string {
	b.t.Helper()
	known, err := b.Run(ctx, run)
	b.ok(known, err)
	return string(known.State) + " " + string(known.Reason)
}

func (b *bench) is(got, want any) {
	b.t.Helper()
	if !reflect.DeepEqual(got, want) {
		b.t.Fatalf("got %v, want %v", got, want)
	}
}

// shows gives id and content of the records of a snapshot.
func (b *bench) shows(snapshot string) (list []string) {
	b.t.Helper()
	state, err := b.State(ctx, snapshot)
	b.ok(state, err)
	for _, r := range state.Records() {
		list = append(list, r.ID+string(r.Content))
	}
	return list
}

func (b *bench) events() (list []string) {
	b.t.Helper()
	var chain memory.LedgerChain
	b.ok(nil, b.Ledger(ctx, func(number int64, digest string, row []byte) error {
		r, err := memory.ReadLedgerRow(row)
		list = append(list, string(r.Event))
		return errors.Join(err, chain.Follow(number, digest, row))
	}))
	return list
}

// verified holds the store to its ledger.
func (b *bench) verified() {
	b.t.Helper()
	b.ok(b.VerifyLedger(ctx))
}

func (b *bench) again(run, start string, writes ...memory.Write) (memory.Outcome, error) {
	b.t.Helper()
	b.pending(run, start, writes...)
	return b.Apply(ctx, run, 0)
}

func second(_ any, err error) error { return err }

func belief(key string, n int) memory.Write {
	held := memory.NewBelief("s", fmt.Sprint("content ", n))
	held.Key, held.Source = key, memory.ValidatedOutput
	return memory.Write{Op: memory.Put, Record: held.Record()}
}

func stateDigest(t *testing.T, s memory.State) string {
	t.Helper()
	sum, err := s.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return sum.Hex()
}

// committed tells what a commit made.
func (b *bench) committed(commitID string) string {
	row, applied, err := b.Committed(ctx, commitID)
	b.ok(row, err)
	if !applied {
		return "nothing"
	}
	return row.RunID + " " + row.ID() + " " + row.Fingerprint
}
