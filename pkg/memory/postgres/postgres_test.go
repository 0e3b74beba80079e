package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/memorytest"
	"github.com/dmpl/dmpl/pkg/memory/postgres"
)

var ctx = context.Background()

func TestMain(m *testing.M) {
	code := memorytest.Main(m, reach)
	if server != nil {
		if err := server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func clock() int64 { return time.Now().UnixNano() / 100 }

func reach(ctx context.Context, address string, step func(string)) (memory.Backend, error) {
	return postgres.OpenStepping(ctx, address, step)
}

// server is the cluster that the tests share, nil before one needs it.
var (
	server  *memorytest.Server
	schemas int
)

// need starts the server where it does not run yet.
func need(t *testing.T) *memorytest.Server {
	t.Helper()
	if server != nil {
		return server
	}
	var err error
	server, err = memorytest.NewServer()
	if errors.Is(err, memorytest.ErrNoServer) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// fresh gives the address of a schema without a store.
func fresh(t *testing.T) (address string, drop func()) {
	t.Helper()
	s := need(t)
	schemas++
	schema := fmt.Sprint("place_", schemas)
	address, err := s.Address(schema)
	if err != nil {
		t.Fatal(err)
	}
	return address, func() {
		if err := s.Drop(schema); err != nil {
			t.Error(err)
		}
	}
}

// place is a schema of its own.
func place(t *testing.T) memorytest.Open {
	address, drop := fresh(t)
	t.Cleanup(drop)
	return func() memory.Backend {
		b, err := postgres.Open(ctx, address, true)
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
}

// M1 to M9: PostgreSQL answers as every store does.
func TestPostgreSQLHoldsTheContract(t *testing.T) {
	file, err := os.ReadFile("../../../fixtures/store/commit_store.json")
	if err != nil {
		t.Fatal(err)
	}
	need(t)
	t.Run("contract", func(t *testing.T) { memorytest.Contract(t, place) })
	t.Run("scenarios", func(t *testing.T) { memorytest.Scenarios(t, file, place) })
}

// M4: what is no store says so.
func TestADatabaseWithoutAStoreIsRefused(t *testing.T) {
	address, _ := fresh(t)
	for url, want := range map[string]string{
		address: "there is no store in this database",
		"postgres://dmpl:secret@127.0.0.1:1/none": "the database is out of reach",
		"postgres://dmpl:secret@:x/none":          "the address of the database is wrong",
	} {
		_, err := postgres.Open(ctx, url, false)
		var problem *postgres.Problem
		if !errors.As(err, &problem) || problem.Detail != want || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
	db, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	b, err := postgres.Open(ctx, address, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	for _, statement := range []string{"DELETE FROM dmpl_ledger", "UPDATE dmpl_ledger SET digest = ''", "TRUNCATE dmpl_ledger"} {
		if _, err := db.Exec(ctx, statement); err == nil || !strings.Contains(err.Error(), "the ledger only grows") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if _, err := db.Exec(ctx, "INSERT INTO dmpl_version VALUES (99)"); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(ctx, address, true); err == nil || !strings.Contains(err.Error(), "the tables are of version 99, and 2 is the newest that is known") {
		t.Errorf("%v", err)
	}
	if err := db.Close(ctx); err != nil {
		t.Error(err)
	}
}

// M1, M7: of two schemas with one store's id the copy is read and not written. A schema that was renamed is no copy.
func TestACopyIsNotWritten(t *testing.T) {
	address, _ := fresh(t)
	commitIn(t, address, "a")
	schema := strings.TrimPrefix(address[strings.Index(address, "="):], "=")
	to, err := need(t).Address(schema + "_copy")
	if err != nil {
		t.Fatal(err)
	}
	b, err := postgres.Open(ctx, to, true) // the tables, which the rows of the original are copied into
	if err := errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"about", "snapshot", "record", "run", "buffered_write", "ledger", "home"} {
		if err := need(t).Exec(fmt.Sprintf("INSERT INTO %s_copy.dmpl_%s SELECT * FROM %s.dmpl_%s", schema, table, schema, table)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := storeAt(to)
	if err != nil {
		t.Fatal(err)
	}
	if head, err := s.Snapshot(ctx, ""); err != nil || head.Number != 1 {
		t.Errorf("a copy is read: %+v, %v", head, err)
	}
	_, err = s.Open(ctx, "run", "")
	var problem *postgres.Problem
	if !errors.As(err, &problem) || !strings.Contains(err.Error(), fmt.Sprintf("this is a copy of the store in the schema %q", schema)) {
		t.Errorf("a copy is written: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := need(t).Exec("ALTER SCHEMA " + schema + " RENAME TO " + schema + "_renamed"); err != nil {
		t.Fatal(err)
	}
	commitIn(t, strings.Replace(address, schema, schema+"_renamed", 1), "renamed")
}

// commitIn makes a store where there is none, and commits a run.
func commitIn(t *testing.T, address, run string) {
	t.Helper()
	s, err := storeAt(address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(ctx, "store"); err != nil {
		t.Fatal(err)
	}
	_, err = memorytest.CommitRun(s, run, "", false)
	if err := errors.Join(err, s.Close()); err != nil {
		t.Errorf("%s: %v", run, err)
	}
}
