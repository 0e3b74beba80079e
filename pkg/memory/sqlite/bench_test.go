package sqlite_test

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
)

// bare opens a file with the driver and the pragmas of a store.
func bare(b *testing.B, path string) *sql.DB {
	b.Helper()
	name := url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return db
}

// BenchmarkBareCommit is one row, one durable commit: what a store cannot beat.
func BenchmarkBareCommit(b *testing.B) {
	db := bare(b, filepath.Join(b.TempDir(), "bare.db"))
	if _, err := db.Exec("CREATE TABLE t (n INTEGER PRIMARY KEY, document BLOB)"); err != nil {
		b.Fatal(err)
	}
	for n := 0; b.Loop(); n++ {
		tx, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := tx.Exec("INSERT INTO t VALUES (?, ?)", n, []byte(`{"a":1}`)); err != nil {
			b.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommit requests and applies a commit of one record in one transaction, with all rows of the ledger. Opening and
// writing are not in it.
func BenchmarkCommit(b *testing.B) {
	s, err := openStore(filepath.Join(b.TempDir(), "memory.db"))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Create(ctx, "bench"); err != nil {
		b.Fatal(err)
	}
	writes := []memory.Write{note("", memory.Append)}
	sum, err := memory.PayloadFingerprint(writes)
	if err != nil {
		b.Fatal(err)
	}
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		run := fmt.Sprint("run", n)
		if _, err := s.Open(ctx, run, ""); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Write(ctx, run, writes...); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := s.Commit(ctx, run, run, sum.Hex()); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// large gives a store of 100,000 records.
func large(b *testing.B) (*memory.Store, string) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "memory.db")
	s, err := openStore(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	if _, err := s.Create(ctx, "bench"); err != nil {
		b.Fatal(err)
	}
	var writes []memory.Write
	for i := range 100_000 {
		writes = append(writes, note(fmt.Sprint("record ", i), memory.Append))
	}
	if _, err := commitRun(s, "large", false, writes...); err != nil {
		b.Fatal(err)
	}
	return s, path
}

// BenchmarkRead reads the documents of 100,000 records of a snapshot.
func BenchmarkRead(b *testing.B) {
	s, _ := large(b)
	for b.Loop() {
		n := 0
		if err := s.Records(ctx, "", func([]byte) error { n++; return nil }); err != nil || n != 100_000 {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkBareScan reads the same documents with a statement of its own.
func BenchmarkBareScan(b *testing.B) {
	_, path := large(b)
	db := bare(b, path)
	for b.Loop() {
		rows, err := db.Query("SELECT document FROM record")
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for rows.Next() {
			var text []byte
			if err := rows.Scan(&text); err != nil {
				b.Fatal(err)
			}
			n++
		}
		if err := rows.Close(); err != nil || n != 100_000 {
			b.Fatal(n, err)
		}
	}
}
