package cmd_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/memorytest"
	"github.com/dmpl/dmpl/pkg/memory/postgres"
)

// worker starts dmpl store recover --watch in a process of its own.
func worker(t *testing.T, store string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "store", "recover", "--watch", "--worker", "watching", "--store", store)
	c.Args[0] = "dmpl" // by this name the test is dmpl
	c.Stderr = &bytes.Buffer{}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// stops asks a worker to stop and holds it to a clean end.
func stops(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := errors.Join(c.Process.Signal(syscall.SIGTERM), c.Wait()); err != nil {
		t.Errorf("%v\n%s", err, c.Stderr)
	}
}

// slow skips what waits for the times of M7 where no long tests are asked for.
func slow(t *testing.T) {
	t.Helper()
	if memorytest.Rounds(t) == 0 {
		t.Skip("takes half a minute: make crash")
	}
}

// M6, M7: a worker whose storage fails renews its lease every 10 s, keeps others out, and applies when the storage works again.
func TestAWorkerRenewsItsLeaseEveryTenSeconds(t *testing.T) {
	slow(t)
	server, ctx := postgresServer(t), context.Background()
	address, err := server.Address("watched")
	if err != nil {
		t.Fatal(err)
	}
	b, err := postgres.Open(ctx, address, true)
	if err != nil {
		t.Fatal(err)
	}
	s := memory.NewStore(b, func() int64 { return time.Now().UnixNano() / 100 })
	sum, err := memory.PayloadFingerprint(nil)
	if err != nil {
		t.Fatal(err)
	}
	const fails = `CREATE FUNCTION watched.fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
		CREATE TRIGGER fails BEFORE INSERT ON watched.dmpl_snapshot FOR EACH ROW EXECUTE FUNCTION watched.fails()`
	for _, do := range []func() error{
		func() error { _, err := s.Create(ctx, "store"); return err },
		func() error { _, err := s.Open(ctx, "a", ""); return err },
		func() error { _, err := s.Request(ctx, "a", "commit", sum.Hex()); return err },
		func() error { return server.Exec(fails) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	until := func(is func(memory.Run) bool) memory.Run {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; <-time.After(50 * time.Millisecond) {
			run, err := s.Run(ctx, "a")
			if err != nil || time.Now().After(end) {
				t.Fatalf("%+v, %v", run, err)
			}
			if is(run) {
				return run
			}
		}
	}
	c := worker(t, address)
	first := until(func(r memory.Run) bool { return r.Failed == 1 }).Lease
	var held *memory.BufferError
	if _, err := s.Acquire(ctx, "a", "other", memory.LeaseLength); !errors.As(err, &held) || held.Code != memory.CodeLeaseHeld {
		t.Errorf("another worker: %v", err)
	}
	second := until(func(r memory.Run) bool { return r.Failed == 2 }).Lease
	renewed := time.Duration(second.Expires-first.Expires) * 100
	if first.Worker != "watching" || second.Token != first.Token || renewed < 9*time.Second || renewed > 20*time.Second {
		t.Errorf("%+v, then %+v: renewed by %s", first, second, renewed)
	}
	if err := server.Exec("DROP TRIGGER fails ON watched.dmpl_snapshot"); err != nil {
		t.Fatal(err)
	}
	until(func(r memory.Run) bool { return r.State == memory.CommitApplied })
	stops(t, c)
	if _, err := s.VerifyLedger(ctx); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// M7: a worker that is asked to stop while its server never answers stops within the time of a renewal.
func TestAWorkerStopsThoughItsServerHangs(t *testing.T) {
	slow(t)
	server := postgresServer(t)
	address, err := server.Address("hanging")
	if err != nil {
		t.Fatal(err)
	}
	shell := newStoreShell(t, address)
	shell.ok("init")
	asked := make(chan struct{}, 9)
	c := worker(t, relayed(t, address, func(message []byte) (send, end bool) {
		hangs := bytes.Contains(message, []byte("FROM dmpl_run WHERE state"))
		if hangs {
			asked <- struct{}{}
		}
		return !hangs, false
	}))
	<-asked
	begun := time.Now()
	stops(t, c)
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	if said := c.Stderr.(*bytes.Buffer).String(); strings.Count(said, "\n") > 2 {
		t.Errorf("it said %q", said)
	}
}
