package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/native"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/golden"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/memorytest"
	"github.com/dmpl/dmpl/pkg/schema"
	"github.com/dmpl/dmpl/pkg/verify"
)

const ledgerFixture = "../../fixtures/store/ledger.json"

// verifyLedger gives what verify says of rows.
func verifyLedger(t *testing.T, rows []memorytest.LedgerRow) finding.Result {
	t.Helper()
	return verifyLedgerText(t, string(memorytest.ExportLedger(memorytest.LedgerStoreID, rows)))
}

func verifyLedgerText(t *testing.T, text string) finding.Result {
	t.Helper()
	l, err := native.ReadLedger("-", dialect.Options{Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	return verify.Ledger(l.Document, l.Shape, verify.AuditOptions{Path: "ledger.json", Coverage: 100})
}

func codesOf(r finding.Result) []finding.Code {
	var codes []finding.Code
	for _, f := range r.Findings {
		if !slices.Contains(codes, f.Code) {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

// The ledger among the fixtures is what a store writes; it has every event, and follows its schema.
func TestTheLedgerFixtureIsFresh(t *testing.T) {
	rows := memorytest.Ledger(t)
	text := memorytest.ExportLedger(memorytest.LedgerStoreID, rows)
	golden.Assert(t, ledgerFixture, text)
	if problems, err := schema.Validate(memory.LedgerSchema, text); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	for _, event := range memory.LedgerEvents() {
		if !strings.Contains(string(text), `"event":"`+event+`"`) {
			t.Errorf("no row says %s", event)
		}
	}
}

// M8: a ledger as a store writes it passes, with every digest checked; only its end is not known.
func TestALedgerPasses(t *testing.T) {
	rows := memorytest.Ledger(t)
	r := verifyLedger(t, rows)
	if r.Verdict != finding.Pass || len(r.Findings) > 0 || r.Coverage.Checked != len(rows) {
		t.Errorf("%s, %+v, %+v", r.Verdict, r.Findings, r.Coverage)
	}
	for _, c := range r.Checks {
		if c.Status != finding.Passed && (c.ID != "M8.end" || c.Status != finding.NotChecked) {
			t.Errorf("%+v", c)
		}
	}
	for n := range rows { // what is not there yet is no fault
		if r := verifyLedger(t, rows[:n+1]); r.Verdict != finding.Pass {
			t.Errorf("the first %d rows: %s, %+v", n+1, r.Verdict, r.Findings)
		}
	}
}

// M8: rows that are removed, repeated, moved, put in or edited are found, each one of them, while the digests are as they were.
func TestEveryChangeOfALedgerIsFound(t *testing.T) {
	rows := memorytest.Ledger(t)
	broken := func(what string, n int, changed []memorytest.LedgerRow) {
		t.Helper()
		if r := verifyLedger(t, changed); r.Verdict != finding.Fail || len(r.Findings) == 0 {
			t.Errorf("row %d %s: %s", n+1, what, r.Verdict)
		}
	}
	for n := range rows {
		if n+1 < len(rows) {
			broken("removed", n, slices.Delete(slices.Clone(rows), n, n+1))
			moved := slices.Clone(rows)
			moved[n], moved[n+1] = moved[n+1], moved[n]
			broken("moved", n, moved)
		}
		broken("repeated", n, slices.Insert(slices.Clone(rows), n, rows[n]))
		edited := slices.Clone(rows)
		edited[n].Row = []byte(strings.Replace(string(rows[n].Row), `"time_ticks":6`, `"time_ticks":5`, 1))
		broken("edited", n, edited)
		alone := slices.Clone(edited)
		alone[n] = memorytest.Rechain(t, edited[:n+1])[n]
		if n+1 < len(rows) { // a digest that is made again breaks the link of the row after it
			broken("edited, with its digest", n, alone)
		}
	}
}

// M3 to M8: whatever a store does, verify takes its ledger.
func TestNoLedgerOfAStoreIsRefused(t *testing.T) {
	events := map[memory.LedgerEvent]int{}
	for seed := range uint64(40) {
		rows := memorytest.Wander(t, seed, 150)
		if r := verifyLedger(t, rows); r.Verdict != finding.Pass {
			t.Errorf("seed %d: %s, %+v", seed, r.Verdict, r.Findings)
		}
		for _, row := range rows {
			r, err := memory.ReadLedgerRow(row.Row)
			if err != nil {
				t.Fatal(err)
			}
			events[r.Event]++
		}
	}
	for _, event := range memory.LedgerEvents() {
		if events[memory.LedgerEvent(event)] == 0 {
			t.Errorf("no store came to %s", event)
		}
	}
}

// rewritten gives the rows with a change of one, and every number, link and digest made again.
func rewritten(t *testing.T, rows []memorytest.LedgerRow, row int, before, after string) []memorytest.LedgerRow {
	t.Helper()
	changed := slices.Clone(rows)
	text := string(rows[row-1].Row)
	if !strings.Contains(text, before) {
		t.Fatalf("row %d has no %s: %s", row, before, text)
	}
	changed[row-1].Row = []byte(strings.Replace(text, before, after, 1))
	return memorytest.Rechain(t, changed)
}

// rowOf gives the number of the nth row of an event.
func rowOf(t *testing.T, rows []memorytest.LedgerRow, event memory.LedgerEvent, nth int) int {
	t.Helper()
	for i, row := range rows {
		if strings.Contains(string(row.Row), fmt.Sprintf(`"event":%q`, event)) {
			if nth--; nth == 0 {
				return i + 1
			}
		}
	}
	t.Fatalf("no row %s", event)
	return 0
}

// M1, M3, M5, M7: a ledger that was rewritten as a whole must still tell a history that a store can have had.
func TestARewrittenLedgerTellsAPossibleHistory(t *testing.T) {
	rows := memorytest.Ledger(t)
	at := func(event memory.LedgerEvent, nth int) int { return rowOf(t, rows, event, nth) }
	for _, c := range []struct {
		what          string
		row           int
		before, after string
		code          finding.Code
	}{
		{"another store", 1, `"detail":"store-1"`, `"detail":"store-2"`, finding.LedgerStore},
		{"another first snapshot", 1, memory.SnapshotID(0), memory.SnapshotID(1), finding.LedgerStore},
		{"a store that is not made first", 1, "store_created", "snapshot_imported", finding.LedgerStore},
		{"a store that is made twice", at(memory.SnapshotImported, 1), "snapshot_imported", "store_created", finding.LedgerStore},
		{"a snapshot that is not next", at(memory.SnapshotImported, 1), memory.SnapshotID(1), memory.SnapshotID(2), finding.LedgerSnapshot},
		{"a commit that made another snapshot", at(memory.CommitWasApplied, 1), memory.SnapshotID(2), memory.SnapshotID(7), finding.LedgerSnapshot},
		{"a start that is to come", at(memory.RunOpened, 1), memory.SnapshotID(1), memory.SnapshotID(2), finding.LedgerSnapshot},
		{"a start that is no snapshot", at(memory.RunOpened, 1), memory.SnapshotID(1), "1", finding.LedgerSnapshot},
		{"writes from another start", at(memory.WritesBuffered, 1), memory.SnapshotID(1), memory.SnapshotID(0), finding.LedgerSnapshot},
		{"a start that was forgotten", at(memory.RunOpened, 9), memory.SnapshotID(4), memory.SnapshotID(0), finding.LedgerSnapshot},
		{"what was forgotten is to come", at(memory.RecordsForgotten, 1), memory.SnapshotID(4), memory.SnapshotID(9), finding.LedgerSnapshot},
		{"writes after the commit", at(memory.CommitWasApplied, 1), "commit_applied", "writes_buffered", finding.LedgerState},
		{"a run that is opened twice", at(memory.WritesBuffered, 1), "writes_buffered", "run_opened", finding.LedgerState},
		{"a commit that nobody asked for", at(memory.CommitRequested, 1), "commit_requested", "writes_buffered", finding.LedgerState},
		{"a run without a name", at(memory.RunOpened, 1), `"run_id":"a",`, ``, finding.LedgerState},
		{"a lease of nothing", at(memory.WritesBuffered, 1), "writes_buffered", "lease_taken", finding.LedgerState},
		{"a lease of another token", at(memory.LeaseTaken, 2), `"detail":"2 by`, `"detail":"1 by`, finding.LedgerLease},
		{"an abort without a reason", at(memory.CommitWasAborted, 1), `"reason_code":"validation_failed",`, ``, finding.LedgerCommit},
		{"a reason of no abort", at(memory.CommitWasApplied, 1), `"detail":`, `"reason_code":"policy_rejected","detail":`, finding.LedgerCommit},
		{"a request without a fingerprint", at(memory.CommitRequested, 1), `"commit_payload_fingerprint":`, `"was":`, finding.LedgerCommit},
		{"another payload is applied", at(memory.CommitWasApplied, 1), `"commit_payload_fingerprint":"`, `"commit_payload_fingerprint":"0`, finding.LedgerCommit},
		{"another commit is aborted", at(memory.CommitWasAborted, 1), `"commit_id":"`, `"commit_id":"0`, finding.LedgerCommit},
		{"a commit is applied twice", at(memory.CommitRepeated, 1), `commit_repeated","run_id":"a","memory_snapshot_id":"` + memory.SnapshotID(1), `commit_applied","run_id":"a","memory_snapshot_id":"` + memory.SnapshotID(3), finding.LedgerCommit},
		{"a commit repeats another snapshot", at(memory.CommitRepeated, 1), "made snapshot " + memory.SnapshotID(2), "made snapshot " + memory.SnapshotID(1), finding.LedgerCommit},
		{"a first commit repeats", at(memory.CommitWasApplied, 3), `commit_applied`, `commit_repeated`, finding.LedgerSnapshot},
	} {
		r := verifyLedger(t, rewritten(t, rows, c.row, c.before, c.after))
		if r.Verdict != finding.Fail || !slices.Contains(codesOf(r), c.code) || slices.Contains(codesOf(r), finding.LedgerRowChanged) {
			t.Errorf("%s: %s %+v, want %s", c.what, r.Verdict, r.Findings, c.code)
		}
	}
}

// M8: what a rewritten file can hide, which the store and nobody else can tell: rows that no later row rests on.
func TestWhatARewrittenLedgerCanHide(t *testing.T) {
	rows := memorytest.Ledger(t)
	hidden := map[string]bool{}
	for n := range rows[:len(rows)-1] {
		r := verifyLedger(t, memorytest.Rechain(t, slices.Delete(slices.Clone(rows), n, n+1)))
		row, err := memory.ReadLedgerRow(rows[n].Row)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict == finding.Pass {
			hidden[string(row.Event)+" "+row.RunID] = true
		} else if r.Verdict != finding.Fail {
			t.Errorf("without row %d: %s", n+1, r.Verdict)
		}
	}
	want := map[string]bool{
		"writes_buffered a": true, "writes_buffered b": true, "writes_buffered c": true, "writes_buffered d": true, "writes_buffered e": true,
		"writes_buffered f": true, "writes_buffered g": true, "commit_aborted a": true, "commit_aborted b": true, "commit_aborted c": true,
		"buffer_discarded d": true, "apply_failed e": true, "lease_taken e": true, "records_forgotten ": true,
	}
	if fmt.Sprint(hidden) != fmt.Sprint(want) {
		t.Errorf("hidden %v\nwant   %v", hidden, want)
	}
}

// V1: what is malformed fails, and nothing else is said of it.
func TestAMalformedLedgerFails(t *testing.T) {
	whole := string(memorytest.ExportLedger(memorytest.LedgerStoreID, memorytest.Ledger(t)))
	for _, c := range []struct{ before, after string }{
		{"memory.ledger.v1", "memory.ledger.v2"},
		{`"event":"run_opened"`, `"event":"run_closed"`},
		{`"row":1,`, `"row":"1",`},
		{`"store_id":"store-1"`, `"store_id":""`},
	} {
		r := verifyLedgerText(t, strings.Replace(whole, c.before, c.after, 1))
		if r.Verdict != finding.Fail || len(r.Findings) != 2 || !strings.HasPrefix(string(r.Findings[0].Code), "shape.") || r.Findings[1].Code != finding.DigestCoverage {
			t.Errorf("%s: %s %+v", c.after, r.Verdict, r.Findings)
		}
	}
}

// An exported ledger is known by how it begins.
func TestALedgerIsKnownByItsContent(t *testing.T) {
	for text, want := range map[string]bool{
		`{"schema_version":"memory.ledger.v1","store_id":"s","rows":[`:          true,
		"{\n  \"store_id\": \"s\",\n  \"schema_version\": \"memory.ledger.v9\"": true,
		`{"rows":[{"digest":"`:                  true,
		`{"rows":[{"row":{`:                     true,
		`{"schema_version":"memory.commit.v1"`:  false,
		`{"rows":[{"id":1`:                      false,
		`[{"schema_version":"memory.ledger.v1"`: false,
		``:                                      false,
	} {
		if native.IsLedger([]byte(text)) != want {
			t.Errorf("%s: %t", text, !want)
		}
	}
}
