package memorytest

import (
	"fmt"
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
		{"M5 a run is opened once", opensOnce},
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

func opensOnce(t *testing.T, b *bench) {
	b.create()
	write := record(memory.Append, "x", 1)
	ends := func(run, start, snapshot string, repeated bool) {
		t.Helper()
		opened, err := b.OpenOnce(ctx, run, "")
		b.ok(opened, err)
		b.is(opened.Start, start)
		b.ok(b.Write(ctx, run, write))
		commit, fingerprint := identities(t, opened, []memory.Write{write})
		out, err := b.Commit(ctx, run, commit, fingerprint)
		b.ok(out, err)
		b.is(out.Snapshot, snapshot)
		b.is(out.Repeated, repeated)
	}
	first, second, third := memory.SnapshotID(0), memory.SnapshotID(1), memory.SnapshotID(2)
	ends("run", first, second, false)
	ends("other", second, third, false)
	ends("run", first, second, true)
	b.ok(b.OpenOnce(ctx, "run", first)) // whatever became of a later buffer
	b.ok(b.Discard(ctx, "run"))
	_, err := b.OpenOnce(ctx, "run", third)
	b.refused(memory.CodeTransition, nil, err)
	b.is(b.state("run"), " ")
	ends("run", first, second, true)
	b.ok(b.OpenOnce(ctx, "run", ""))
	b.ok(b.Recover(ctx, memory.Recovery{Worker: "w"}))
	ends("run", first, second, true)
	b.is(len(b.shows("")), 2)
	if _, err := b.VerifyLedger(ctx); err != nil {
		t.Error(err)
	}
}
