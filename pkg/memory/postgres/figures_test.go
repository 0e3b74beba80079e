package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/memorytest"
	"github.com/dmpl/dmpl/pkg/memory/postgres"
)

// rivalIn measures against a table of one row a commit, and against a scan of the store's own records, on one connection.
func rivalIn(t *testing.T, address string) memorytest.Rival {
	t.Helper()
	db, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.Exec(ctx, "CREATE TABLE bare (n bigserial PRIMARY KEY, document bytea)"); err != nil {
		t.Fatal(err)
	}
	return memorytest.Rival{
		Commit: func(document []byte) error {
			tx, err := db.Begin(ctx)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "INSERT INTO bare (document) VALUES ($1)", document); err != nil {
				return err
			}
			return tx.Commit(ctx)
		},
		Scan: func() (n int, err error) {
			rows, err := db.Query(ctx, "SELECT document FROM dmpl_record")
			if err != nil {
				return 0, err
			}
			defer rows.Close()
			for rows.Next() {
				var text []byte
				if err := rows.Scan(&text); err != nil {
					return n, err
				}
				n++
			}
			return n, rows.Err()
		},
		Size: func() (size int64, err error) {
			err = db.QueryRow(ctx, "SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_stat_user_tables WHERE relname LIKE 'dmpl_%' AND schemaname = current_schema()").Scan(&size)
			return size, err
		},
	}
}

// figuresPlace makes a schema of its own.
func figuresPlace(t *testing.T, address string, n int) memory.Backend {
	t.Helper()
	db, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprint("figures_", n)
	_, err = db.Exec(ctx, "CREATE SCHEMA "+name)
	if err := errors.Join(err, db.Close(ctx)); err != nil {
		t.Fatal(err)
	}
	b, err := postgres.Open(ctx, address+"?search_path="+name, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// Speed and size of a store in a database, measured where DMPL_FIGURES asks for it, as `make bench-store` does.
func TestFiguresOfADatabase(t *testing.T) {
	if os.Getenv("DMPL_FIGURES") == "" {
		t.Skip("measured by make bench-store")
	}
	address, n := need(t).URL(), 0
	memorytest.Print("PostgreSQL", memorytest.Figures(t, false, func(t *testing.T, clock *int64) (*memory.Store, memorytest.Rival) {
		n++
		return memory.NewStore(figuresPlace(t, address, n), func() int64 { return *clock }), rivalIn(t, fmt.Sprintf("%s?search_path=figures_%d", address, n))
	}))
}
