package memorytest

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
)

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
