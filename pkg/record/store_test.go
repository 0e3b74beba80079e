package record_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/sqlite"
	"github.com/dmpl/dmpl/pkg/record"
	"github.com/dmpl/dmpl/pkg/run"
)

const (
	now      = 638_400_000_000_000_000
	remember = "Noted. [MEMORY: The visitor likes tea]"
	other    = "Noted. [MEMORY: The visitor hates tea]"
)

// shared gives a store in a file, with the snapshot of the run of one turn as its first that holds something.
func shared(t *testing.T) record.Shared {
	t.Helper()
	ctx := context.Background()
	backend, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "memory.db"), true)
	if err != nil {
		t.Fatal(err)
	}
	s := memory.NewStore(backend, memory.At(now))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.Create(ctx, "store-1"); err != nil {
		t.Fatal(err)
	}
	return record.Shared{Store: s, Access: memory.Access{Environment: "ci", BufferedWrite: []string{"ci"}}}
}

// oneTurn gives settings and documents of a run that starts from a store.
func oneTurn(t *testing.T, id, visibility string) (record.Settings, record.Documents) {
	t.Helper()
	s, d := tools(t)
	s.RunID, s.Visibility = id, visibility
	d.Snapshot, d.Policies.JSON = record.Text{}, bytes.Replace(d.Policies.JSON, []byte(`"rules": []`), []byte(`"rules": [{"id":"few","rule":"most_writes","limit":2}]`), 1)
	return s, d
}

// play records a run of one turn with an answer, up to its end.
func play(t *testing.T, shared record.Shared, dir, id, visibility, answer string) (*record.Recorder, *execute.End, error) {
	t.Helper()
	s, d := oneTurn(t, id, visibility)
	r, err := record.CreateOn(context.Background(), shared, dir, s, d)
	if err != nil {
		return nil, nil, err
	}
	defer r.Abandon()
	if _, err := r.Turn(lines(t, "single", run.TurnsFile)[0], nil, record.Live(context.Background(), said(answer), nil)); err != nil {
		return r, nil, err
	}
	end, err := r.Close()
	return r, end, err
}

func folder(t *testing.T) string { return filepath.Join(t.TempDir(), "run") }

// episodes gives what the newest snapshot remembers.
func episodes(t *testing.T, shared record.Shared) []string {
	t.Helper()
	state, err := shared.Store.State(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range state.Episodes {
		list = append(list, e.Description)
	}
	return list
}

// events gives what the ledger says of a run.
func events(t *testing.T, shared record.Shared, id string) []memory.LedgerEvent {
	t.Helper()
	var list []memory.LedgerEvent
	err := shared.Store.Ledger(context.Background(), func(_ int64, _ string, text []byte) error {
		row, err := memory.ReadLedgerRow(text)
		if row.RunID == id {
			list = append(list, row.Event)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func refusedWith(err error, code string) bool {
	var refused *memory.BufferError
	return errors.As(err, &refused) && refused.Code == code
}

// M1, M3, M4, D9: a run starts from the newest snapshot, buffers, commits, and its folder says what came of it.
func TestARunOnAStoreCommits(t *testing.T) {
	on, dir := shared(t), folder(t)
	r, end, err := play(t, on, dir, "a", execute.BufferedWrite, remember)
	if err != nil || r.Repeated() || end.Snapshot != memory.SnapshotID(1) || end.Buffer.State != memory.CommitApplied {
		t.Fatalf("%+v, %v", end, err)
	}
	if got := episodes(t, on); !reflect.DeepEqual(got, []string{"The visitor likes tea"}) {
		t.Errorf("remembered %q", got)
	}
	read, err := run.Read(dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	record := read.Trace.Recording
	row, applied, err := on.Store.Committed(context.Background(), record.Commit.Field("/commit_id").Text())
	if err != nil || !applied || row.ID() != record.Commit.Field("/resulting_snapshot_id").Text() || row.Fingerprint != record.Commit.Field("/commit_payload_fingerprint").Text() {
		t.Errorf("%+v, %t, %v", row, applied, err)
	}
	if !record.Manifest.Field("/store_id").Is("store-1") || !record.Snapshot.Field("/memory_snapshot_id").Is(memory.SnapshotID(0)) {
		t.Errorf("manifest %s", record.Manifest.Value.Raw())
	}
	want := []memory.LedgerEvent{memory.RunOpened, memory.WritesBuffered, memory.CommitRequested, memory.CommitWasApplied}
	if got := events(t, on, "a"); !reflect.DeepEqual(got, want) {
		t.Errorf("the ledger has %v", got)
	}
}

// M5: the same run again is applied once, whatever was committed since, and with another payload it is refused.
func TestARunIsAppliedOnce(t *testing.T) {
	on := shared(t)
	for i, c := range []struct {
		id, answer, snapshot string
		repeated             bool
		reason               memory.AbortReason
	}{
		{"a", remember, memory.SnapshotID(1), false, ""},
		{"b", other, memory.SnapshotID(2), false, ""},
		{"a", remember, memory.SnapshotID(1), true, ""},
		{"a", other, "", false, memory.PayloadMismatch},
	} {
		dir := folder(t)
		r, end, err := play(t, on, dir, c.id, execute.BufferedWrite, c.answer)
		if err != nil || r.Repeated() != c.repeated || end.Snapshot != c.snapshot || end.Buffer.Reason != c.reason {
			t.Errorf("%d: %+v, %v", i, end, err)
		}
	}
	if got := episodes(t, on); !reflect.DeepEqual(got, []string{"The visitor likes tea", "The visitor hates tea"}) {
		t.Errorf("remembered %q", got)
	}
	for range 2 { // M6: a repetition that is given up, or that a crash leaves open, does not make the run a new one
		if _, _, err := play(t, on, folder(t), "b", execute.BufferedWrite, ""); !errors.Is(err, errOffline) {
			t.Fatal(err)
		}
		if _, err := on.Store.OpenOnce(context.Background(), "b", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := on.Store.Recover(context.Background(), memory.Recovery{Worker: "w"}); err != nil {
			t.Fatal(err)
		}
		if r, end, err := play(t, on, folder(t), "b", execute.BufferedWrite, other); err != nil || !r.Repeated() || end.Snapshot != memory.SnapshotID(2) {
			t.Errorf("%+v, %v", end, err)
		}
	}
	elsewhere := on
	elsewhere.Start = memory.SnapshotID(2)
	if _, _, err := play(t, elsewhere, folder(t), "b", execute.BufferedWrite, other); !refusedWith(err, memory.CodeTransition) {
		t.Errorf("a committed run from another start: %v", err)
	}
}

// M1, M4: two runs at once read what was there when each began, and neither loses what the other wrote.
func TestRunsAtOnceReadTheirOwnStart(t *testing.T) {
	on := shared(t)
	var runs []*record.Recorder
	for _, id := range []string{"a", "b"} {
		s, d := oneTurn(t, id, execute.BufferedWrite)
		r, err := record.CreateOn(context.Background(), on, folder(t), s, d)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Abandon()
		runs = append(runs, r)
	}
	for i, r := range runs {
		if _, err := r.Turn(lines(t, "single", run.TurnsFile)[0], nil, record.Live(context.Background(), said([]string{remember, other}[i]), nil)); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range runs {
		end, err := r.Close()
		if err != nil || end.Snapshot != memory.SnapshotID(int64(i+1)) || len(end.State.Episodes) != 1 {
			t.Errorf("%d: %+v, %v", i, end, err)
		}
	}
	if got := episodes(t, on); !reflect.DeepEqual(got, []string{"The visitor likes tea", "The visitor hates tea"}) {
		t.Errorf("remembered %q", got)
	}
}

// D9: what the commit policy refuses is aborted in the store too, with the rule.
func TestThePolicyDecidesOverTheStore(t *testing.T) {
	on, dir := shared(t), folder(t)
	s, d := oneTurn(t, "a", execute.BufferedWrite)
	d.Policies.JSON = bytes.Replace(d.Policies.JSON, []byte(`"limit":2`), []byte(`"limit":0`), 1)
	r, err := record.CreateOn(context.Background(), on, dir, s, d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Turn(lines(t, "single", run.TurnsFile)[0], nil, record.Live(context.Background(), said(remember), nil)); err != nil {
		t.Fatal(err)
	}
	end, err := r.Close()
	if err != nil || end.Buffer.Reason != memory.PolicyRejected || end.Rule != "few" || end.Snapshot != "" || r.Refusal() != `rule "few": 1 write, and at most 0 are allowed` {
		t.Errorf("%+v, %v, %q", end, err, r.Refusal())
	}
	known, err := on.Store.Run(context.Background(), "a")
	if err != nil || known.State != memory.CommitAborted || known.Reason != memory.PolicyRejected || len(episodes(t, on)) != 0 {
		t.Errorf("%+v, %v", known, err)
	}
}

// M6: a process that dies before the commit leaves an open buffer, which recovery discards; one that dies after it leaves a folder
// that is cut short, and the store is right: the same run again makes the recording whole and changes nothing.
func TestARecordingIsMadeWholeAfterACrash(t *testing.T) {
	ctx, on := context.Background(), shared(t)
	s, d := oneTurn(t, "a", execute.BufferedWrite)
	r, err := record.CreateOn(ctx, on, folder(t), s, d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Turn(lines(t, "single", run.TurnsFile)[0], nil, record.Live(ctx, said(remember), nil)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := play(t, on, folder(t), "a", execute.BufferedWrite, remember); !refusedWith(err, memory.CodeTransition) {
		t.Errorf("a run that is open was opened: %v", err)
	}
	if _, err := on.Store.Recover(ctx, memory.Recovery{Worker: "w"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Close(); !refusedWith(err, memory.CodeTransition) || len(episodes(t, on)) != 0 {
		t.Errorf("a buffer that was discarded was committed: %v, %q", err, episodes(t, on))
	}
	r.Abandon()

	dir := folder(t)
	if r, err = record.CreateOn(ctx, on, dir, s, d); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Turn(lines(t, "single", run.TurnsFile)[0], nil, record.Live(ctx, said(remember), nil)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, run.CommitFile), 0o700); err != nil { // what cannot be written any more
		t.Fatal(err)
	}
	if _, err := r.Close(); err == nil {
		t.Fatal("a folder that cannot be written was completed")
	}
	r.Abandon()
	if got := episodes(t, on); len(got) != 1 {
		t.Errorf("remembered %q", got)
	}
	again := folder(t)
	r, end, err := play(t, on, again, "a", execute.BufferedWrite, remember)
	if err != nil || !r.Repeated() || end.Snapshot != memory.SnapshotID(1) || len(episodes(t, on)) != 1 {
		t.Errorf("%+v, %v", end, err)
	}
	for dir, cut := range map[string]bool{dir: true, again: false} {
		read, err := run.Read(dir, nil, 0)
		if err != nil || (read.Trace.Recording.CutShort != "") != cut {
			t.Errorf("%+v, %v", read, err)
		}
	}
}

// V4, M6: a run that is given up leaves nothing in the store.
func TestARunThatIsGivenUpLeavesNothingOpen(t *testing.T) {
	on := shared(t)
	_, _, err := play(t, on, folder(t), "a", execute.BufferedWrite, "")
	if !errors.Is(err, errOffline) {
		t.Fatal(err)
	}
	taken := t.TempDir()
	if err := os.WriteFile(filepath.Join(taken, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := play(t, on, taken, "b", execute.BufferedWrite, remember); err == nil {
		t.Fatal("a folder that is not empty was written")
	}
	ctx, interrupt := context.WithCancel(context.Background())
	s, d := oneTurn(t, "c", execute.BufferedWrite)
	r, err := record.CreateOn(ctx, on, folder(t), s, d)
	if err != nil {
		t.Fatal(err)
	}
	interrupt()
	if _, err := r.Turn(lines(t, "single", run.TurnsFile)[0], nil, record.Live(ctx, said(remember), nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted run goes on: %v", err)
	}
	r.Abandon()
	for _, id := range []string{"a", "b", "c"} {
		if known, err := on.Store.Run(context.Background(), id); err != nil || known.State != memory.NoBuffer {
			t.Errorf("%s: %+v, %v", id, known, err)
		}
	}
}

// M2: nothing is read or written but what the mode and the surroundings allow.
func TestModesOfARunOnAStore(t *testing.T) {
	ci, none := memory.Access{Environment: "ci", BufferedWrite: []string{"ci"}}, memory.Access{}
	marked := ci
	marked.NonDeterministic = true
	for _, c := range []struct {
		mode   string
		access memory.Access
		code   string // of the refusal; empty for none
		rows   int    // of the ledger about the run and its turns
	}{
		{"", none, "", 0},
		{"", ci, "", 0},
		{"off", none, "", 0},
		{"read_only", ci, "", 0},
		{"buffered_write", none, memory.CodeNotAllowed, 0},
		{"buffered_write", memory.Access{Environment: "ci"}, memory.CodeNotAllowed, 0},
		{"buffered_write", memory.Access{Environment: "CI", BufferedWrite: []string{"ci"}}, memory.CodeNotAllowed, 0},
		{"buffered_write", ci, "", 4},
		{"bufferd_write", ci, memory.CodeNotAllowed, 0},
		{"live_read_write", ci, memory.CodeNotAllowed, 0},
		{"live_read_write", memory.Access{NonDeterministic: true}, memory.CodeNotAllowed, 0},
		{"live_read_write", marked, "", 4},
	} {
		on, dir := shared(t), folder(t)
		on.Access = c.access
		_, _, err := play(t, on, dir, "a", c.mode, remember)
		if c.code != "" && !refusedWith(err, c.code) || c.code == "" && err != nil {
			t.Errorf("%q %+v: %v", c.mode, c.access, err)
		}
		if got := len(events(t, on, "a")) + len(events(t, on, "a/0")); got != c.rows {
			t.Errorf("%q %+v: %d rows", c.mode, c.access, got)
		}
		if _, err := os.Stat(dir); (err == nil) != (c.code == "") {
			t.Errorf("%q %+v: a folder is there: %v", c.mode, c.access, err)
		}
	}
}

// M2: a live run reads what is newest at each turn, writes at once, and says that it did.
func TestALiveRunReadsTheHead(t *testing.T) {
	ctx, on, dir := context.Background(), shared(t), folder(t)
	on.Access.NonDeterministic = true
	s, d := oneTurn(t, "live", execute.LiveReadWrite)
	r, err := record.CreateOn(ctx, on, dir, s, d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Abandon()
	seen := 0
	for n, line := range lines(t, "turns", run.TurnsFile)[:2] {
		if _, err := r.Turn(line, nil, record.Live(ctx, said(remember), nil)); err != nil {
			t.Fatal(err)
		}
		if seen = len(episodes(t, on)); n == 0 && seen != 1 {
			t.Errorf("%d memories after the first turn", seen)
		}
	}
	end, err := r.Close()
	if err != nil || end.Commit != nil || end.Buffer.State != memory.NoBuffer {
		t.Errorf("%+v, %v", end, err)
	}
	read, err := run.Read(dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := read.Trace.Retrieval.Rows
	read2 := 0
	for i := range rows[len(rows)/2:] {
		for _, selected := range rows[len(rows)/2+i].Records {
			if selected.Type.Is(memory.TypeEpisode) {
				read2++
			}
		}
	}
	manifest := read.Trace.Recording.Manifest
	if read2 != 1 || !read.Trace.Visibility.Is(execute.LiveReadWrite) || string(manifest.Field("/non_deterministic").Raw) != "true" || string(manifest.Field("/lane/deterministic").Raw) != "false" {
		t.Errorf("%d read, %s", read2, manifest.Value.Raw())
	}
	s.RunID = "strict"
	d.Policies.JSON = bytes.Replace(d.Policies.JSON, []byte(`"limit":2`), []byte(`"limit":0`), 1)
	if r, err = record.CreateOn(ctx, on, folder(t), s, d); err != nil {
		t.Fatal(err)
	}
	defer r.Abandon()
	if _, err := r.Turn(lines(t, "single", run.TurnsFile)[0], nil, record.Live(ctx, said(other), nil)); !refusedWith(err, string(memory.PolicyRejected)) || len(episodes(t, on)) != seen {
		t.Errorf("a live write that the policy refuses: %v, %q", err, episodes(t, on))
	}
}

// M1: a snapshot that is given must be what the store has.
func TestAGivenSnapshotIsTheStores(t *testing.T) {
	on := shared(t)
	state, err := on.Store.State(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	right := string(record.Snapshot(memory.SnapshotID(0), state))
	for _, c := range []struct{ text, start, says string }{
		{right, "", ""},
		{right, memory.SnapshotID(0), ""},
		{strings.Replace(right, `"persona_id":""`, `"persona_id":"x"`, 1), "", "is another memory"},
		{strings.Replace(right, memory.SnapshotID(0), memory.SnapshotID(7), 1), "", "the store has no snapshot"},
		{strings.Replace(right, memory.SnapshotID(0), memory.SnapshotID(7), 1), memory.SnapshotID(0), "is another memory"},
		{`{}`, "", "schema_version is missing"},
		{`{`, "", "snapshot"},
	} {
		on.Start = c.start
		s, d := oneTurn(t, "a", execute.BufferedWrite)
		d.Snapshot = record.Text{Path: "snapshot.json", JSON: []byte(c.text)}
		r, err := record.CreateOn(context.Background(), on, folder(t), s, d)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", c.text, err)
		}
		if r != nil {
			r.Abandon()
		}
		if known, err := on.Store.Run(context.Background(), "a"); err != nil || known.State != memory.NoBuffer {
			t.Errorf("%s: %+v, %v", c.text, known, err)
		}
	}
}
