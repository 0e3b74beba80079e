package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/memorytest"
	"github.com/dmpl/dmpl/pkg/memory/postgres"
)

var ctx = context.Background()

// serverPrograms gives the folder of the newest server's programs, empty where none is installed.
func serverPrograms() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1])
}

// unprivileged lets a command run as another user where this is root, as whom no server starts.
func unprivileged(t *testing.T, dir string, c *exec.Cmd) *exec.Cmd {
	t.Helper()
	c.Dir = dir
	if os.Getuid() != 0 {
		return c
	}
	name := "postgres"
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			t.Fatal(err)
		}
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2, os.Chown(dir, int(uid), int(gid))); err != nil {
		t.Fatal(err)
	}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return c
}

// server starts a throw-away cluster on a free loopback port and gives its address.
func server(t *testing.T) string {
	t.Helper()
	programs := serverPrograms()
	if programs == "" {
		t.Skip("!! NOT CHECKED: no PostgreSQL server is installed (apt-get install postgresql)")
	}
	dir, err := os.MkdirTemp("", "dmpl-postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	data := filepath.Join(dir, "data")
	if out, err := unprivileged(t, dir, exec.Command(filepath.Join(programs, "initdb"), "-D", data, "-U", "dmpl", "--auth=trust", "-E", "UTF8", "--no-locale", "-N")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	c := unprivileged(t, dir, exec.Command(filepath.Join(programs, "postgres"), "-D", data, "-p", strconv.Itoa(port), "-k", dir, "-c", "listen_addresses=127.0.0.1"))
	var log bytes.Buffer
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Process.Signal(syscall.SIGINT), c.Wait()); err != nil {
			t.Errorf("%v\n%s", err, log.String())
		}
	})
	address := fmt.Sprintf("postgres://dmpl@127.0.0.1:%d/postgres", port)
	ready, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	for {
		db, err := pgx.Connect(ready, address)
		if err == nil {
			if err := db.Close(ctx); err != nil {
				t.Fatal(err)
			}
			return address
		}
		if ready.Err() != nil {
			t.Fatalf("the server does not answer: %v", err)
		}
	}
}

// places gives schemas of one server, a new one for each test.
func places(t *testing.T) func(*testing.T) memorytest.Open {
	address, n := server(t), 0
	return func(t *testing.T) memorytest.Open {
		n++
		name := fmt.Sprint("place_", n)
		db, err := pgx.Connect(ctx, address)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(ctx, "CREATE SCHEMA "+name)
		if err := errors.Join(err, db.Close(ctx)); err != nil {
			t.Fatal(err)
		}
		return func() memory.Backend {
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
	}
}

// M1 to M9: PostgreSQL answers as every store does.
func TestPostgreSQLHoldsTheContract(t *testing.T) {
	file, err := os.ReadFile("../../../fixtures/store/commit_store.json")
	if err != nil {
		t.Fatal(err)
	}
	place := places(t)
	t.Run("contract", func(t *testing.T) { memorytest.Contract(t, place) })
	t.Run("scenarios", func(t *testing.T) { memorytest.Scenarios(t, file, place) })
}

// M4: what is no store says so.
func TestADatabaseWithoutAStoreIsRefused(t *testing.T) {
	address := server(t)
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
	if _, err := postgres.Open(ctx, address, true); err == nil || !strings.Contains(err.Error(), "the tables are of version 99, and 1 is the newest that is known") {
		t.Errorf("%v", err)
	}
	if err := db.Close(ctx); err != nil {
		t.Error(err)
	}
}
