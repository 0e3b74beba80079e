package sqlite_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/memorytest"
	"github.com/dmpl/dmpl/pkg/memory/sqlite"
)

// bare opens a file with the driver and the settings of a store.
func bare(t *testing.T, path string) *sql.DB {
	t.Helper()
	settings := "_pragma=page_size(2048)&_pragma=journal_mode(WAL)&_pragma=busy_timeout(30000)&_pragma=synchronous(FULL)&_txlock=immediate"
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: settings}).String())
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// rivalOf measures against a table of one row a commit, and against a scan of the store's own records.
func rivalOf(t *testing.T, path string) memorytest.Rival {
	rows := bare(t, filepath.Join(filepath.Dir(path), "bare.db"))
	if _, err := rows.Exec("CREATE TABLE t (n INTEGER PRIMARY KEY, document BLOB)"); err != nil {
		t.Fatal(err)
	}
	insert, err := rows.Prepare("INSERT INTO t (document) VALUES (?)")
	if err != nil {
		t.Fatal(err)
	}
	records := bare(t, path)
	return memorytest.Rival{
		Commit: func(document []byte) error {
			tx, err := rows.Begin()
			if err != nil {
				return err
			}
			if _, err := tx.Stmt(insert).Exec(document); err != nil {
				return err
			}
			return tx.Commit()
		},
		Scan: func() (int, error) { return scan(records) },
		Size: func() (size int64, err error) {
			for _, name := range []string{path, path + "-wal"} {
				at, err := os.Stat(name)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					return 0, err
				}
				size += at.Size()
			}
			return size, nil
		},
	}
}

func scan(db *sql.DB) (n int, err error) {
	rows, err := db.Query("SELECT document FROM record")
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Close()
}

// Speed and size of a store in a file; DMPL_FIGURES measures all and prints it, as `make bench-store` does.
func TestFiguresOfAFile(t *testing.T) {
	full := os.Getenv("DMPL_FIGURES") != ""
	figures := memorytest.Figures(t, !full, func(t *testing.T, clock *int64) (*memory.Store, memorytest.Rival) {
		path := filepath.Join(t.TempDir(), "memory.db")
		b, err := sqlite.Open(ctx, path, true)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
		return memory.NewStore(b, func() int64 { return *clock }), rivalOf(t, path)
	})
	for _, f := range figures { // many commits on many records need less than three times the room of the records
		if strings.HasPrefix(f.Name, "size") && f.Value >= 3 {
			t.Errorf("%s: %.2f, and less than 3 is due", f.Name, f.Value)
		}
	}
	if full {
		memorytest.Print("SQLite", figures)
	}
}
