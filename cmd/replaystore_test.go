package cmd_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// storeBench is a store with what is recorded on it and beside it.
type storeBench struct {
	t        *testing.T
	dir      string
	store    string // of the --store flag
	snapshot string // file of the first snapshot that holds something
	now      func() time.Time
}

func newStoreBench(t *testing.T, store string) *storeBench {
	t.Helper()
	b := &storeBench{t: t, dir: t.TempDir(), store: store, now: fixedNow}
	if store == "" {
		b.store = "sqlite:" + filepath.Join(b.dir, "memory.db")
	}
	for _, name := range []string{"chain", "turns", "storage-failed"} {
		in := b.path(name)
		runtest.Copy(t, nativeFixture("inputs", name), in)
		for _, file := range []string{run.SnapshotFile, run.CommitFile} {
			if err := os.RemoveAll(filepath.Join(in, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.exits(0, "store", "init", "--store", b.store)
	b.exits(0, "store", "snapshot", "import", nativeFixture("inputs", "chain", run.SnapshotFile), "--store", b.store)
	text := b.exits(0, "store", "snapshot", "export", "--store", b.store)
	b.snapshot = b.path("snapshot.json")
	runtest.Put(t, b.dir, "snapshot.json", []byte(text))
	return b
}

func (b *storeBench) path(name string) string { return filepath.Join(b.dir, name) }

// exits runs a command and gives what it prints.
func (b *storeBench) exits(want int, args ...string) string {
	b.t.Helper()
	p := newProcess(b.t)
	p.Now = b.now
	if code := p.Run(args); code != want {
		b.t.Fatalf("dmpl %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, p.out, p.errs)
	}
	return p.out.String()
}

// on records a run on the store.
func (b *storeBench) on(exit int, inputs, id string, more ...string) string {
	b.t.Helper()
	dir := b.path("on-" + id)
	b.exits(exit, slices.Concat([]string{
		"run", "--store", b.store, "--from", b.path(inputs), "--out", dir, "--run-id", id, "--visibility", "buffered_write", "--env", "ci", "--buffered-write", "ci",
	}, more)...)
	return dir
}

// beside records a run of the same id from the same snapshot, without the store.
func (b *storeBench) beside(inputs, id string) string {
	b.t.Helper()
	dir := b.path("beside-" + id)
	b.exits(0, "run", "--snapshot", b.snapshot, "--from", b.path(inputs), "--out", dir, "--run-id", id, "--visibility", "buffered_write")
	return dir
}

// edited gives a copy of a run with a change and a manifest that fits.
func (b *storeBench) edited(of, file, before, after string) string {
	b.t.Helper()
	dir := runtest.Copy(b.t, of, filepath.Join(b.t.TempDir(), "run"))
	runtest.Replace(b.t, dir, file, before, after)
	runtest.Repair(b.t, dir)
	return dir
}

// heldToStore is a replay with a store, and what it says.
type heldToStore struct {
	what, verdict string
	exit          int
	code          string   // that some finding has
	alone         bool     // no other finding is an error
	args          []string // of the command
}

func heldToStores(t *testing.T) []heldToStore {
	t.Helper()
	return newStoreBench(t, "").replays()
}

func (b *storeBench) replays() []heldToStore {
	const first, second = "00000000000000000001", "00000000000000000002"
	own := b.on(0, "turns", "own")
	reads := b.on(0, "turns", "reads", "--visibility", "read_only")
	blind := b.on(0, "turns", "blind", "--visibility", "off")
	clashes := b.on(1, "turns", "clashes", "--snapshot", first) // M4: with what own has committed
	chain := b.on(0, "chain", "chain", "--snapshot", second, "--chain")
	b.on(0, "storage-failed", "between")
	late := b.on(0, "chain", "late", "--snapshot", second, "--chain")
	b.on(0, "storage-failed", "other", "--snapshot", first)
	b.exits(0, "store", "run", "open", "open", "--store", b.store, "--env", "ci", "--buffered-write", "ci")
	elsewhere := "sqlite:" + b.path("elsewhere.db")
	b.exits(0, "store", "init", "--store", elsewhere)
	to := func(what, verdict string, exit int, code string, alone bool, run string, more ...string) heldToStore {
		return heldToStore{what, verdict, exit, code, alone, slices.Concat([]string{"replay", run, "--store", b.store}, more)}
	}
	return []heldToStore{
		to("a run on the store", "equivalent", 0, "replay.store_commit", true, own),
		to("under another configuration", "equivalent", 0, "replay.overridden", true, own, "--config", b.path("turns/config.json")),
		to("a run that only reads", "equivalent", 0, "", true, reads),
		to("a run that reads nothing", "equivalent", 0, "", true, blind),
		to("a commit that was aborted", "equivalent", 0, "", true, clashes),
		to("a chain on its own", "equivalent", 0, "replay.store_commit", true, chain),
		to("a chain among others", "equivalent", 0, "replay.store_commit", true, late),
		{"a chain among others, without the store", "undecided", 3, "replay.chain_apart", true, []string{"replay", late}},
		to("a run of another store", "undecided", 3, "replay.store_other", true, own, "--store", elsewhere),
		to("a run of no store, which reads", "undecided", 3, "replay.store_snapshot_missing", true, nativeFixture("runs", "single")),
		to("a run of no store, which commits", "divergent", 1, "replay.store_commit_missing", false, nativeFixture("runs", "turns")),
		to("a commit that nobody made", "divergent", 1, "replay.store_commit_missing", true, b.beside("turns", "nobody")),
		to("a commit with other writes", "divergent", 1, "replay.store_commit_differs", true, b.beside("chain", "other")),
		to("a commit that the store refused", "divergent", 1, "replay.store_commit_ended", true, b.beside("turns", "clashes")),
		to("a refusal that the store did not make", "divergent", 1, "replay.store_commit_ended", false, b.edited(own, run.CommitFile, `"commit_applied","reason_code":null`, `"commit_aborted","reason_code":"validation_failed"`)),
		to("another reason", "divergent", 1, "replay.store_commit_ended", false, b.edited(clashes, run.CommitFile, `"validation_failed"`, `"payload_mismatch"`)),
		to("a commit that is open", "undecided", 3, "replay.store_commit_pending", true, b.beside("turns", "open")),
		to("another result", "divergent", 1, "replay.store_commit_differs", true, b.edited(own, run.CommitFile, `"resulting_snapshot_id":"`+second+`"`, `"resulting_snapshot_id":"00000000000000000003"`)),
		to("another start", "divergent", 1, "replay.store_snapshot_differs", false, b.edited(own, run.SnapshotFile, "storm broke", "flood broke")),
		to("a part", "equivalent", 0, "replay.prefix", true, own, "--until", "3"),
	}
}

func (c heldToStore) hold(t *testing.T) {
	t.Helper()
	r, exit := runJSON(t, c.args...)
	if r.Verdict != c.verdict || exit != c.exit {
		t.Errorf("%s: %s, exit %d; want %s, exit %d:%s", c.what, r.Verdict, exit, c.verdict, c.exit, inShort(r.errors()))
	}
	found := c.code == ""
	for _, f := range r.all() {
		found = found || f.Code == c.code
		if f.EventIndex == nil && strings.HasPrefix(f.Code, "replay.store_commit_") && f.Code != "replay.store_commit_pending" {
			t.Errorf("%s: %s is at no event", c.what, f.Code)
		}
		if c.alone && f.Severity == "error" && f.Code != c.code {
			t.Errorf("%s: %s: %s", c.what, f.Code, f.Detail)
		}
	}
	if !found {
		t.Errorf("%s: no %s:%s", c.what, c.code, inShort(r.all()))
	}
}

// M1, M4, M5: a replay takes the start snapshot from the store and holds the commit to it; what others commit does not matter.
func TestReplayHoldsARunToItsStore(t *testing.T) {
	for _, c := range heldToStores(t) {
		c.hold(t)
	}
}

// V5, M2: a run on a store has its trace in every mode, with every claim checked; a live one claims nothing.
func TestRunsOnAStoreAreWhole(t *testing.T) {
	b := newStoreBench(t, "")
	for mode, exit := range map[string]int{"off": 0, "read_only": 0, "buffered_write": 0, "live_read_write": 3} {
		more := []string{"--visibility", mode}
		if exit != 0 {
			more = append(more, "--non-deterministic")
		}
		r, got := runJSON(t, "verify", b.on(0, "turns", mode, more...), "--require-coverage", "100")
		var codes []string
		for _, f := range r.errors() {
			codes = append(codes, f.Code)
		}
		if want := exit != 0; got != exit || want != slices.Equal(codes, []string{"claim.live_visibility"}) || !want && len(codes) > 0 {
			t.Errorf("%s: exit code %d:%s", mode, got, inShort(r.errors()))
		}
	}
}

// Z2: a store cannot be asked about what is replaced.
func TestReplayWithAStoreChangesNothing(t *testing.T) {
	for _, more := range [][]string{{"--snapshot", "s.json"}, {"--update"}} {
		t.Setenv("CI", "")
		p := newProcess(t)
		if code := p.Run(slices.Concat([]string{"replay", nativeFixture("runs", "single"), "--store", "sqlite:none"}, more)); code != 2 || !strings.Contains(p.errs.String(), "--store holds recordings to their store") {
			t.Errorf("%v: exit code %d, %s", more, code, p.errs)
		}
	}
}
