package memorytest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
)

// Contract holds a store to what the scenarios do not say. A place is new for each test.
func Contract(t *testing.T, place func(*testing.T) Open) {
	tests := []struct {
		name string
		run  func(*testing.T, *bench)
	}{
		{"M1 a run opens on the snapshot that is asked for", opensOnASnapshot},
		{"M4 a put or delete of what another commit changed aborts", conflictsAbort},
		{"M4 the snapshots of a store are those of the rules", followsTheRules},
		{"M4 what is refused leaves no trace", refusalsLeaveNoTrace},
		{"M4 handles commit at once and lose nothing", commitsSideBySide},
		{"M5 request and apply are one transaction", commitsAtOnce},
		{"M6 recovery ends what crashes have left", recovers},
		{"M6 recovery aborts on demand", recoversByAborting},
		{"M7 a late owner can do no harm", fences},
		{"M8 the ledger is a chain", chains},
		{"M9 a memory is imported as it stands, then merged", imports},
		{"M1 a store is copied with all that was", copies},
		{"V4 a collection keeps what is young or in use", collects},
		{"V4 a collection keeps what is young where a clock ran back", collectsByTheLatestClock},
		{"a store is created once", createsOnce},
		{"bad names are refused", refusesNames},
		{"a place without a store is no store", needsAStore},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := &bench{t: t, open: place(t), now: 1_000}
			b.Store = b.handle()
			test.run(t, b)
		})
	}
}

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

func opensOnASnapshot(t *testing.T, b *bench) {
	b.create()
	first := b.commit("a", "", record(memory.Append, "x", 1))
	b.commit("b", "", record(memory.Append, "y", 2))
	opened, err := b.Open(ctx, "c", first)
	b.ok(opened, err)
	b.is(opened.Start, first)
	b.refused(memory.CodeUnknownSnapshot, nil, second(b.Open(ctx, "d", memory.SnapshotID(3))))
	b.refused(memory.CodeUnknownSnapshot, nil, second(b.Open(ctx, "d", "1")))
	// The same run on the same snapshot again: M5 decides.
	out, err := b.again("a", memory.SnapshotID(0), record(memory.Append, "x", 1))
	b.ok(out, err)
	b.is([]any{out.Repeated, out.Snapshot}, []any{true, first})
	left, err := b.Buffered(ctx, "a")
	b.ok(left, err)
	b.is(len(left), 0)
	_, err = b.again("a", memory.SnapshotID(0), record(memory.Append, "x", 5))
	b.refused("payload_mismatch", nil, err)
	b.is(b.state("a"), "commit_aborted payload_mismatch")
	b.refused(memory.CodeTransition, nil, second(b.Open(ctx, "a", "")))
	b.is(b.shows(""), []string{`x{"n":1}`, `y{"n":2}`})
	b.verified()
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

func conflictsAbort(t *testing.T, b *bench) {
	b.create()
	first := b.commit("a", "", record(memory.Append, "x", 1), record(memory.Append, "y", 1))
	b.commit("b", first, record(memory.Put, "x", 2))
	for _, op := range []memory.Op{memory.Put, memory.Delete} {
		run := "late-" + string(op)
		_, err := b.again(run, first, record(memory.Append, "z", 3), record(op, "x", 3))
		b.refused("validation_failed", nil, err)
		b.is(b.state(run), "commit_aborted validation_failed")
	}
	b.is(b.shows(""), []string{`x{"n":2}`, `y{"n":1}`})
	// Appends never conflict, nor does a put of what nobody changed.
	b.commit("c", first, record(memory.Append, "x", 4), record(memory.Delete, "y", 0))
	b.is(b.shows(""), []string{`x{"n":2}`, `x{"n":4}`})
	b.is(b.shows(first), []string{`x{"n":1}`, `y{"n":1}`})
}

// followsTheRules commits lists and holds every snapshot to what State.Apply makes.
func followsTheRules(t *testing.T, b *bench) {
	b.create()
	want := memory.State{NextSequence: 1}
	var digests, ids []string
	for i, writes := range [][]memory.Write{
		{record(memory.Append, "", 1), record(memory.Append, "x", 1), record(memory.Append, "y", 1)},
		{record(memory.Put, "x", 2), record(memory.Put, "x", 3), record(memory.Append, "x2", 1), record(memory.Put, "x2", 2)},
		{record(memory.Append, "gone", 1), record(memory.Delete, "gone", 0), record(memory.Delete, "x2", 0)},
		{record(memory.Delete, "y", 0), record(memory.Append, "y", 2), record(memory.Put, "new", 1)},
		{belief("k", 1), belief("k", 2)},
		{belief("k", 3)},
		{},
	} {
		var err error
		if want, err = want.Apply(writes, nil); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, b.commit(fmt.Sprint("run", i), "", writes...))
		digests = append(digests, stateDigest(t, want))
	}
	for i, id := range ids {
		got, err := b.State(ctx, id)
		b.ok(got, err)
		b.is(stateDigest(t, got), digests[i])
		row, err := b.Snapshot(ctx, id)
		b.ok(row, err)
		b.is(row.Next, got.NextSequence)
	}
	if !slices.IsSorted(ids) {
		t.Errorf("ids do not sort in commit order: %v", ids)
	}
}

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

func refusalsLeaveNoTrace(t *testing.T, b *bench) {
	b.create()
	b.ok(b.Open(ctx, "a", ""))
	before := b.events()
	b.refused(memory.CodeTransition, nil, second(b.Open(ctx, "a", "")))
	b.refused(memory.CodeNotPending, nil, second(b.Apply(ctx, "a", 0)))
	b.refused(memory.CodeNotPending, nil, second(b.Acquire(ctx, "a", "w", memory.LeaseLength)))
	b.refused(memory.CodeNotPending, nil, second(b.Abort(ctx, "a", 0, memory.PolicyRejected, "")))
	b.refused(memory.CodeMissingCommitID, nil, second(b.Request(ctx, "a", "", "")))
	b.refused(memory.CodeFingerprintMismatch, nil, second(b.Commit(ctx, "a", "c", "")))
	b.refused(memory.CodeNotOpen, nil, second(b.Write(ctx, "nobody", record(memory.Append, "x", 1))))
	b.refused(memory.CodeTransition, nil, second(b.Discard(ctx, "nobody")))
	b.is(b.state("a"), "buffer_open ")
	b.is(b.state("nobody"), " ")
	b.is(b.events(), before)
}

// commitsSideBySide lets handles append at once: every commit is applied, each on the snapshot that the one before made.
func commitsSideBySide(t *testing.T, b *bench) {
	const handles, runs = 4, 6
	b.create()
	failed := make(chan error, handles)
	for h := range handles {
		s := b.handle()
		go func() {
			var err error
			for i := 0; i < runs && err == nil; i++ {
				err = appendOne(s, fmt.Sprintf("run%d-%d", h, i))
			}
			failed <- err
		}()
	}
	for range handles {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	list, err := b.Snapshots(ctx)
	b.ok(list, err)
	b.is(len(list), handles*runs+1)
	for i, row := range list {
		b.is(row.Number, int64(i))
		b.is(len(b.shows(row.ID())), i)
	}
	b.verified()
}

func appendOne(s *memory.Store, run string) error {
	writes := []memory.Write{record(memory.Append, run, 1)}
	if _, err := s.Open(ctx, run, ""); err != nil {
		return err
	}
	if _, err := s.Write(ctx, run, writes...); err != nil {
		return err
	}
	sum, err := memory.PayloadFingerprint(writes)
	if err != nil {
		return err
	}
	_, err = s.Commit(ctx, run, run, sum.Hex())
	return err
}

func commitsAtOnce(t *testing.T, b *bench) {
	b.create()
	for i, reject := range []bool{false, true} {
		run := fmt.Sprint("run", i)
		opened, err := b.Open(ctx, run, "")
		b.ok(opened, err)
		writes := []memory.Write{record(memory.Append, run, i)}
		b.ok(b.Write(ctx, run, writes...))
		commit, fingerprint := identities(t, opened, writes)
		if reject {
			b.ok(b.Reject(ctx, run, commit, fingerprint, memory.PolicyRejected, "rule few"))
			b.is(b.state(run), "commit_aborted policy_rejected")
			b.is(b.committed(commit), "nothing")
			continue
		}
		out, err := b.Commit(ctx, run, commit, fingerprint)
		b.ok(out, err)
		b.is(out.Snapshot, memory.SnapshotID(1))
		b.is(b.committed(commit), "run0 "+memory.SnapshotID(1)+" "+fingerprint)
	}
	b.is(b.shows(""), []string{`run0{"n":0}`})
	b.is(b.events(), []string{
		"store_created", "run_opened", "writes_buffered", "commit_requested", "commit_applied",
		"run_opened", "writes_buffered", "commit_requested", "commit_aborted",
	})
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

func recovers(t *testing.T, b *bench) {
	b.create()
	b.ok(b.Open(ctx, "open", ""))
	b.ok(b.Write(ctx, "open", record(memory.Append, "lost", 1)))
	b.pending("first", "", record(memory.Append, "x", 1))
	b.pending("second", "", record(memory.Put, "x", 2))
	b.pending("theirs", "", record(memory.Append, "y", 1))
	b.ok(b.Acquire(ctx, "theirs", "other", memory.LeaseLength))
	b.now += 100
	done, err := b.handle().Recover(ctx, memory.Recovery{Worker: "w", Idle: 100})
	b.ok(done, err)
	var states []string
	for _, d := range done {
		states = append(states, d.RunID+" "+string(d.State)+" "+string(d.Reason))
	}
	b.is(states, []string{"open  ", "first commit_applied ", "second commit_aborted validation_failed", "theirs commit_pending "})
	b.is(b.shows(""), []string{`x{"n":1}`})
	b.now += memory.LeaseLength
	b.ok(b.Recover(ctx, memory.Recovery{Worker: "w", Idle: 100}))
	b.is(b.shows(""), []string{`x{"n":1}`, `y{"n":1}`})
	b.ok(b.Open(ctx, "busy", ""))
	again, err := b.Recover(ctx, memory.Recovery{Worker: "w", Idle: 100})
	b.ok(again, err)
	b.is(len(again), 0)
	b.verified()
}

func recoversByAborting(t *testing.T, b *bench) {
	b.create()
	b.pending("a", "", record(memory.Append, "x", 1))
	b.ok(b.Recover(ctx, memory.Recovery{Worker: "w", Abort: true}))
	b.is(b.state("a"), "commit_aborted storage_apply_failed")
	b.is(len(b.shows("")), 0)
}

func fences(t *testing.T, b *bench) {
	b.create()
	b.pending("a", "", record(memory.Append, "x", 1))
	late, err := b.Acquire(ctx, "a", "w1", memory.LeaseLength)
	b.ok(late, err)
	b.refused(memory.CodeLeaseHeld, nil, second(b.Apply(ctx, "a", 0)))
	b.now += memory.LeaseLength
	b.refused(memory.CodeLeaseHeld, nil, second(b.Apply(ctx, "a", late.Token)))
	taken, err := b.Acquire(ctx, "a", "w2", memory.LeaseLength)
	b.ok(taken, err)
	b.refused(memory.CodeLeaseHeld, nil, second(b.Apply(ctx, "a", late.Token)))
	b.refused(memory.CodeLeaseHeld, nil, second(b.Abort(ctx, "a", late.Token, memory.StorageApplyFailed, "")))
	b.refused(memory.CodeLeaseHeld, nil, second(b.Renew(ctx, "a", late, memory.LeaseLength)))
	out, err := b.Apply(ctx, "a", taken.Token)
	b.ok(out, err)
	// The token of an earlier life of a run is never in force again.
	b.ok(b.Open(ctx, "a", ""))
	b.ok(b.Discard(ctx, "a"))
	b.pending("a", "")
	next, err := b.Acquire(ctx, "a", "w3", memory.LeaseLength)
	b.ok(next, err)
	b.is(next.Token, taken.Token+1)
	b.verified()
}

func chains(t *testing.T, b *bench) {
	b.create()
	b.commit("a", "", record(memory.Append, "x", 1))
	type row struct {
		digest string
		text   string
	}
	var rows []row
	b.ok(nil, b.Ledger(ctx, func(_ int64, digest string, text []byte) error {
		rows = append(rows, row{digest, string(text)})
		return nil
	}))
	follow := func(numbers []int64, rows []row) error {
		var chain memory.LedgerChain
		for i, r := range rows {
			if err := chain.Follow(numbers[i], r.digest, []byte(r.text)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := follow([]int64{1, 2, 3, 4, 5}, rows); err != nil {
		t.Fatal(err)
	}
	edited := slices.Clone(rows)
	edited[2].text = edited[2].text[:len(edited[2].text)-1] + `,"more":1}`
	for name, broken := range map[string]error{
		"edited":  follow([]int64{1, 2, 3, 4, 5}, edited),
		"removed": follow([]int64{1, 2, 4, 5}, slices.Delete(slices.Clone(rows), 2, 3)),
		"hidden":  follow([]int64{1, 2, 3, 4}, slices.Delete(slices.Clone(rows), 2, 3)),
		"moved":   follow([]int64{1, 3, 2, 4, 5}, []row{rows[0], rows[2], rows[1], rows[3], rows[4]}),
		"cut off": follow([]int64{2, 3, 4, 5}, rows[1:]),
	} {
		if broken == nil {
			t.Errorf("a row that was %s is not found", name)
		}
	}
}

func imports(t *testing.T, b *bench) {
	b.create()
	state, err := memory.State{PersonaID: "p", NextSequence: 1, InteractionCount: 4}.Apply([]memory.Write{
		record(memory.Append, "a", 1), record(memory.Append, "b", 1), record(memory.Delete, "a", 0),
	}, nil)
	b.ok(state, err)
	row, err := b.Import(ctx, state)
	b.ok(row, err)
	got, err := b.State(ctx, row.ID())
	b.ok(got, err)
	b.is(stateDigest(t, got), stateDigest(t, state))
	again, err := b.Import(ctx, state)
	b.ok(again, err)
	b.is(again.ID(), row.ID())
	other, err := memory.State{PersonaID: "p", NextSequence: 1}.Apply([]memory.Write{record(memory.Append, "c", 2)}, nil)
	b.ok(other, err)
	b.ok(b.Import(ctx, other))
	b.is(b.shows(""), []string{`b{"n":1}`, `c{"n":2}`})
	b.commit("a", "", record(memory.Append, "d", 1))
	b.is(b.shows(""), []string{`b{"n":1}`, `c{"n":2}`, `d{"n":1}`})
}

func collects(t *testing.T, b *bench) {
	const day = 24 * 3600 * 10_000_000
	b.create()
	b.commit("a", "", record(memory.Append, "x", 1))
	b.now += day
	used := b.commit("b", "", record(memory.Put, "x", 2))
	b.ok(b.Open(ctx, "slow", used))
	b.now += 20 * day
	b.commit("c", "", record(memory.Put, "x", 3))
	b.now += day
	b.commit("d", "", record(memory.Put, "x", 4))
	for _, dry := range []bool{true, false} {
		kept, forgotten, err := b.Collect(ctx, 1, dry)
		b.ok(kept, err)
		var why []string
		for _, k := range kept {
			why = append(why, k.Snapshot.ID()[19:]+" "+k.Why)
		}
		b.is(why, []string{`2 is the start of the run "slow" in buffer_open`, "3 was the newest within 14 days", "4 is the newest"})
		b.is(forgotten, int64(1))
	}
	b.refused(memory.CodeUnknownSnapshot, nil, second(b.State(ctx, memory.SnapshotID(1))))
	b.is(b.shows(used), []string{`x{"n":2}`})
	kept, err := b.Snapshots(ctx)
	b.ok(kept, err)
	b.is(len(kept), 3)
	out, err := b.again("a", used, record(memory.Append, "y", 1)) // still known, so that M5 holds
	b.ok(out, err)
	b.is(out.Snapshot, memory.SnapshotID(5))
	b.verified()
}

// collectsByTheLatestClock makes snapshots while the clock is a year behind: they are younger than those before them.
func collectsByTheLatestClock(t *testing.T, b *bench) {
	const day = 24 * 3600 * 10_000_000
	b.now = 400 * day
	b.create()
	b.now -= 365 * day
	young := b.commit("a", "", record(memory.Append, "x", 1))
	b.commit("b", "", record(memory.Put, "x", 2))
	b.now += 366 * day
	kept, forgotten, err := b.Collect(ctx, 14, false)
	b.ok(kept, err)
	b.is([]any{len(kept), forgotten}, []any{3, int64(0)})
	b.is(b.shows(young), []string{`x{"n":1}`})
	b.verified()
}

func createsOnce(t *testing.T, b *bench) {
	b.create()
	created, err := b.Create(ctx, "other")
	b.ok(created, err)
	about, err := b.About(ctx)
	b.ok(about, err)
	b.is([]any{created, about.StoreID, b.events()}, []any{false, "store", []string{"store_created"}})
}

func refusesNames(t *testing.T, b *bench) {
	b.create()
	for _, name := range []string{"", "  ", "a\x00", "\xff", string(make([]byte, 300))} {
		b.refused(memory.CodeRunID, nil, second(b.Open(ctx, name, "")))
	}
	b.pending("a", "")
	for _, worker := range []string{"", " \t", string(make([]byte, 300))} {
		b.refused(memory.CodeLease, nil, second(b.Acquire(ctx, "a", worker, memory.LeaseLength)))
	}
	for _, length := range []int64{-1, 0, math.MaxInt64} {
		b.refused(memory.CodeLease, nil, second(b.Acquire(ctx, "a", "w", length)))
	}
	b.refused(memory.CodeLeaseHeld, nil, second(b.Renew(ctx, "a", memory.Lease{}, memory.LeaseLength)))
}

func needsAStore(t *testing.T, b *bench) {
	b.refused(memory.CodeNoStore, nil, second(b.Open(ctx, "a", "")))
	b.refused(memory.CodeNoStore, nil, second(b.Run(ctx, "a")))
	b.refused(memory.CodeNoStore, nil, second(b.State(ctx, "")))
	b.refused(memory.CodeNoStore, nil, second(b.Snapshots(ctx)))
	b.refused(memory.CodeNoStore, nil, b.Ledger(ctx, nil))
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := b.Create(stopped, "store"); !errors.Is(err, context.Canceled) {
		t.Errorf("a stopped context: %v", err)
	}
	b.create()
}
