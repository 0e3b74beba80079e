package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/memorytest"
	"github.com/dmpl/dmpl/pkg/memory/sqlite"
)

// raw opens a file past the store.
func raw(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// made gives a store's file with two commits and a run that is open.
func made(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	s, err := openStore(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(ctx, "made"); err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{"a", "b"} {
		if _, err := commitRun(s, run, false, note(run, memory.Append)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Open(ctx, "c", ""); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// M8: a row that is removed, moved or edited is found, wherever it stands, and so is a store that left its ledger.
func TestTheLedgerShowsWhatWasDoneToIt(t *testing.T) {
	tests := map[string]struct {
		statements []string
		want       string
	}{
		"nothing":                 {nil, ""},
		"edited":                  {[]string{`UPDATE ledger SET document = CAST(replace(document, '"run_id":"a"', '"run_id":"z"') AS BLOB) WHERE number = 3`}, "row 3 was edited"},
		"edited with its digest":  {[]string{`UPDATE ledger SET digest = 'x' WHERE number = 4`}, "row 4 was edited"},
		"removed in the middle":   {[]string{"DELETE FROM ledger WHERE number = 4"}, "row 5 stands where row 4 is due"},
		"removed and renumbered":  {[]string{"DELETE FROM ledger WHERE number = 4", "UPDATE ledger SET number = number - 1 WHERE number > 4"}, "row 4 says that it is row 5"},
		"removed at the start":    {[]string{"DELETE FROM ledger WHERE number = 1"}, "row 2 stands where row 1 is due"},
		"removed at the end":      {[]string{"DELETE FROM ledger WHERE number = (SELECT max(number) FROM ledger)"}, `the last row about the run "c" is 0, and 10 is known`},
		"all removed":             {[]string{"DELETE FROM ledger"}, "no row tells where the snapshot 00000000000000000000 came from"},
		"moved":                   {[]string{"UPDATE ledger SET number = 99 WHERE number = 3", "UPDATE ledger SET number = 3 WHERE number = 4", "UPDATE ledger SET number = 4 WHERE number = 99"}, "row 3 says that it is row 4"},
		"a snapshot of no commit": {[]string{`INSERT INTO snapshot SELECT 3, 'x', CAST(replace(document, '"number":2', '"number":3') AS BLOB) FROM snapshot WHERE number = 2`}, "no row tells where the snapshot 00000000000000000003 came from"},
		"a run put back":          {[]string{`UPDATE run SET state = 'buffer_open', document = CAST(replace(document, 'commit_applied', 'buffer_open') AS BLOB) WHERE id = 'a'`}, `says commit_applied of the run "a", which is in "buffer_open"`},
	}
	for name, tt := range tests {
		path := made(t)
		if strings.Contains(strings.Join(tt.statements, " "), "ledger") {
			raw(t, path, "DROP TRIGGER ledger_is_never_edited", "DROP TRIGGER ledger_is_never_cut")
		}
		raw(t, path, tt.statements...)
		s, err := openStore(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.VerifyLedger(ctx)
		var fault *memory.LedgerFault
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.want != "" && (!errors.As(err, &fault) || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// M8: the file itself refuses to change its ledger.
func TestTheLedgerOnlyGrows(t *testing.T) {
	db, err := sql.Open("sqlite", made(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"DELETE FROM ledger", "UPDATE ledger SET digest = ''"} {
		if _, err := db.Exec(statement); err == nil || !strings.Contains(err.Error(), "the ledger only grows") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// M4: what is no store of this version says so, and stays byte for byte as it was.
func TestWhatIsNoStoreIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	raw(t, at("foreign.db"), "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)")
	newer := made(t)
	raw(t, newer, "PRAGMA user_version=99")
	if err := errors.Join(
		os.WriteFile(at("text.db"), []byte(strings.Repeat("this is a text, and no database. ", 99)), 0o600),
		os.WriteFile(at("cut.db"), cut(t, made(t), 5000), 0o600),
		os.WriteFile(at("file"), nil, 0o600),
	); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path   string
		create bool
		want   string
	}{
		{at("foreign.db"), true, "is the database of another program"},
		{newer, true, "has tables of version 99, and 3 is the newest that is known"},
		{at("text.db"), true, "is no SQLite database"},
		{at("cut.db"), true, "is a damaged SQLite database"},
		{at("none.db"), false, "there is no store"},
		{at("file"), false, "there is no store in this file"},
		{dir, true, "is a folder"},
		{filepath.Join(at("file"), "below.db"), true, "cannot be looked at"},
	}
	for _, tt := range tests {
		before, _ := os.ReadFile(tt.path)
		b, err := sqlite.Open(ctx, tt.path, tt.create)
		var problem *sqlite.Problem
		if !errors.As(err, &problem) || !strings.HasPrefix(err.Error(), tt.path+": "+tt.want) || b != nil {
			t.Errorf("%s: %v, want %s", tt.path, err, tt.want)
		}
		if after, _ := os.ReadFile(tt.path); string(after) != string(before) {
			t.Errorf("%s was changed", tt.path)
		}
	}
}

func cut(t *testing.T, path string, length int) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data[:length]
}

// M4: a disk that is full, a store that cannot be written: the error says so, and the old state is there.
func TestAStorageThatFailsLeavesTheOldState(t *testing.T) {
	path := made(t)
	b, err := sqlite.OpenStepping(ctx, path, func(statement string) {})
	if err != nil {
		t.Fatal(err)
	}
	s := memory.NewStore(b, clock)
	full := note("big", memory.Append)
	full.Record.Content = []byte(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)
	if err := b.Limit(ctx, 30); err != nil {
		t.Fatal(err)
	}
	_, err = commitRun(s, "big", false, full)
	var problem *sqlite.Problem
	if !errors.As(err, &problem) || problem.Detail != "the disk is full" {
		t.Errorf("%v", err)
	}
	if head, err := s.Snapshot(ctx, ""); err != nil || head.Number != 2 {
		t.Errorf("%+v, %v", head, err)
	}
	if _, err := s.VerifyLedger(ctx); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// M4: each connection waits for the disk at a commit, and for other processes.
func TestEveryConnectionIsDurable(t *testing.T) {
	b, err := sqlite.Open(ctx, made(t), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"synchronous=2", "journal_mode=wal", "busy_timeout=200", "trusted_schema=0"} {
		pragma, want, _ := strings.Cut(name, "=")
		values, err := b.Pragma(ctx, pragma, 4)
		if err != nil || len(values) != 5 {
			t.Fatalf("%v, %v", values, err)
		}
		for _, got := range values {
			if got != want {
				t.Errorf("%s is %s, want %s", pragma, got, want)
			}
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// M4, M6: a write-ahead log whose end is torn or damaged gives whole commits, fewer of them.
func TestATornLogGivesWholeCommits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	if said, killed := memorytest.Killed(t, path, 95, "x"); !killed {
		t.Fatalf("the child was not killed: %s", said)
	}
	data, err1 := os.ReadFile(path)
	log, err2 := os.ReadFile(path + "-wal")
	if err := errors.Join(err1, err2, os.Remove(path)); err != nil || len(log) < 10_000 {
		t.Fatalf("a log of %d bytes, %v", len(log), err)
	}
	seen := map[int]bool{}
	for i := range 60 {
		at := len(log) * i / 60
		for _, torn := range [][]byte{log[:at], append(append([]byte{}, log[:at]...), make([]byte, len(log)-at)...)} {
			dir := t.TempDir()
			copied := filepath.Join(dir, "memory.db")
			if err := errors.Join(os.WriteFile(copied, data, 0o600), os.WriteFile(copied+"-wal", torn, 0o600)); err != nil {
				t.Fatal(err)
			}
			b, err := sqlite.Open(ctx, copied, true)
			if err != nil {
				t.Fatalf("torn at %d: %v", at, err)
			}
			s := memory.NewStore(b, clock)
			if _, err := s.Create(ctx, "torn"); err != nil {
				t.Fatal(err)
			}
			seen[len(memorytest.WholeCommits(t, s))] = true
			if _, err := s.VerifyLedger(ctx); err != nil {
				t.Errorf("torn at %d: %v", at, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if !seen[0] || !seen[1] {
		t.Errorf("the cuts have shown stores with %v commits", seen)
	}
}

// M1: what an earlier snapshot holds costs a commit nothing: the file grows by what is new.
func TestSnapshotsShareWhatDidNotChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	s, err := openStore(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(ctx, "share"); err != nil {
		t.Fatal(err)
	}
	var many []memory.Write
	for i := range 5_000 {
		many = append(many, note("r"+strconv.Itoa(i), memory.Append))
	}
	if _, err := commitRun(s, "many", false, many...); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		t.Helper()
		var total int64
		for _, name := range []string{path, path + "-wal"} {
			at, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			total += at.Size()
		}
		return total
	}
	before := size()
	for i := range 300 {
		if _, err := commitRun(s, fmt.Sprint("one", i), false, note("r7", memory.Put)); err != nil {
			t.Fatal(err)
		}
	}
	if after := size(); after > 3*before {
		t.Errorf("300 commits made %d bytes of %d", after, before)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// M5: writes that were changed between the request and the apply are no longer those of the fingerprint, and are not applied.
func TestWritesThatWereChangedAreNotApplied(t *testing.T) {
	path := made(t)
	s, err := openStore(path)
	if err != nil {
		t.Fatal(err)
	}
	writes := []memory.Write{note("asked", memory.Append)}
	sum, err := memory.PayloadFingerprint(writes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(ctx, "c", writes...); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Request(ctx, "c", "commit", sum.Hex()); err != nil {
		t.Fatal(err)
	}
	raw(t, path, `UPDATE buffered_write SET document = CAST(replace(document, 'asked', 'other') AS BLOB)`)
	out, err := s.Apply(ctx, "c", 0)
	var refused *memory.BufferError
	if !errors.As(err, &refused) || refused.Code != string(memory.PayloadMismatch) || out.Run.State != memory.CommitAborted {
		t.Errorf("%+v, %v", out, err)
	}
	if head, err := s.Snapshot(ctx, ""); err != nil || head.Number != 2 {
		t.Errorf("%+v, %v", head, err)
	}
	if _, err := s.VerifyLedger(ctx); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
