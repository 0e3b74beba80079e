package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
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

// killBackends ends the server's processes for clients with SIGKILL. The server then ends all others and recovers as from a crash.
func killBackends(s *memorytest.Server, address string) error {
	watch, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	var pids string
	err = watch.QueryRow(ctx, "SELECT coalesce(string_agg(pid::text, ' '), '') FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()").Scan(&pids)
	for _, text := range strings.Fields(pids) {
		pid, bad := strconv.Atoi(text)
		err = errors.Join(err, bad, syscall.Kill(pid, syscall.SIGKILL))
	}
	if err == nil {
		err = s.Wait()
	}
	_ = watch.Close(ctx) // it is gone with the others
	return err
}

// stopImmediately is pg_ctl stop -m immediate and a new start.
func stopImmediately(s *memorytest.Server, _ string) error {
	if err := s.Stop(syscall.SIGQUIT); err != nil {
		return err
	}
	return s.Start()
}

// M4, M5, M8: a server that dies before it is asked to commit, or before it has answered, has all that it reported and no half of a
// commit; and who does its run again ends as if the answer had come.
func TestAServerThatDiesAtACommitLosesNothing(t *testing.T) {
	server := need(t)
	first, _ := fresh(t)
	var places []int // of the messages before and after each commit
	n := 0
	count := func(message string) {
		if n++; strings.Contains(message, "Q\x00\x00\x00\x0bcommit\x00") {
			places = append(places, n)
		}
	}
	if err := script(t, first, "count", count, func(string, string) {}); err != nil || len(places) < 20 {
		t.Fatalf("%d places, %v", len(places), err)
	}
	stride := 1
	if memorytest.Rounds(t) == 0 {
		stride = 13
	}
	kills := 0
	for name, end := range map[string]func(*memorytest.Server, string) error{"backend": killBackends, "immediate": stopImmediately} {
		for i := kills % stride; i < len(places); i += stride {
			address, drop := fresh(t)
			tag, said, n := fmt.Sprint(name, i), "", 0
			err := script(t, address, tag, func(string) {
				if n++; n == places[i] {
					if err := end(server, address); err != nil {
						t.Error(err)
					}
				}
			}, func(run, snapshot string) { said += run + " " + snapshot + "\n" })
			var problem *postgres.Problem
			answered := err == nil && strings.Contains(said, "pending") // before it died
			if !answered && !errors.As(err, &problem) || err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%s at message %d: %v", name, places[i], err)
			}
			kills++
			memorytest.Survived(t, reach, address, tag, said)
			drop()
		}
	}
	t.Logf("%d deaths of a server", kills)
	memorytest.Tally(t, "deaths of a server", kills)
}

// script plays the script of crashes on a store.
func script(t *testing.T, address, tag string, step func(string), said func(run, snapshot string)) error {
	t.Helper()
	b, err := postgres.OpenStepping(ctx, address, step)
	if err != nil {
		return err
	}
	return errors.Join(memorytest.Script(memory.NewStore(b, clock), tag, said), b.Close())
}

// M4: a handle outlives its server: what fails while the server is away says so, and what comes after goes on.
func TestAHandleOutlivesItsServer(t *testing.T) {
	server := need(t)
	address, _ := fresh(t)
	s, err := storeAt(address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(ctx, "away"); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	_, err = s.Open(ctx, "run", "")
	var problem *postgres.Problem
	if !errors.As(err, &problem) {
		t.Errorf("while the server is away: %v", err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(ctx, "run", ""); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func storeAt(address string) (*memory.Store, error) {
	b, err := postgres.Open(ctx, address, true)
	if err != nil {
		return nil, err
	}
	return memory.NewStore(b, clock), nil
}

// M4, M7: a process that is stopped while it has the store's lock keeps nobody out for good: the server ends its transaction.
func TestAProcessThatIsStoppedInATransactionLosesIt(t *testing.T) {
	address, _ := fresh(t)
	s, err := storeAt(address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(ctx, "stopped"); err != nil {
		t.Fatal(err)
	}
	b, err := postgres.OpenWith(ctx, address, map[string]string{"idle_in_transaction_session_timeout": "100ms", "lock_timeout": "10s"})
	if err != nil {
		t.Fatal(err)
	}
	late := b.Update(ctx, func(tx memory.Tx) error {
		if _, err := s.Open(ctx, "run", ""); err != nil { // another process waits for the lock, until the server gives it
			return err
		}
		_, err := tx.About()
		return err
	})
	var problem *postgres.Problem
	if !errors.As(late, &problem) || problem.Detail != "the process was stopped for too long in the middle of a transaction" {
		t.Errorf("%v", late)
	}
	if run, err := s.Run(ctx, "run"); err != nil || run.State != memory.BufferOpen {
		t.Errorf("%+v, %v", run, err)
	}
	if err := errors.Join(b.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

// M4: who waits for the lock for too long is told so.
func TestWhoWaitsForTooLongIsToldSo(t *testing.T) {
	address, _ := fresh(t)
	s, err := storeAt(address)
	if err != nil {
		t.Fatal(err)
	}
	b, err := postgres.OpenWith(ctx, address, map[string]string{"lock_timeout": "50ms"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(ctx, "busy"); err != nil {
		t.Fatal(err)
	}
	holder, err := postgres.Open(ctx, address, false)
	if err != nil {
		t.Fatal(err)
	}
	var late, given error
	err = holder.Update(ctx, func(memory.Tx) error {
		late = b.Update(ctx, func(memory.Tx) error { return nil })
		ending, stop := context.WithTimeout(ctx, 50*time.Millisecond)
		defer stop()
		_, given = s.Open(ending, "run", "")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	var problem *postgres.Problem
	if !errors.As(late, &problem) || problem.Detail != "another process has been writing for too long" {
		t.Errorf("%v", late)
	}
	if !errors.Is(given, context.DeadlineExceeded) {
		t.Errorf("who gives up: %v", given)
	}
	if err := errors.Join(b.Close(), holder.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

// M4: a server whose disk is full: the error says so, and the old state is there and goes on when there is room.
func TestAServerWhoseDiskIsFullKeepsTheOldState(t *testing.T) {
	disk := memorytest.NewDisk(t, "96m")
	server, err := memorytest.NewServerIn(filepath.Join(disk.Dir, "cluster"))
	if errors.Is(err, memorytest.ErrNoServer) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	address, err := server.Address("crowded")
	if err != nil {
		t.Fatal(err)
	}
	commitIn(t, address, "before")
	s, err := storeAt(address)
	if err != nil {
		t.Fatal(err)
	}
	large := memory.Write{Op: memory.Append, Record: memory.Record{Type: "note", Content: fmt.Appendf(nil, `{"text":%q}`, noise(4<<20))}}
	large.Record.Source = memory.ValidatedOutput
	sum, err := memory.PayloadFingerprint([]memory.Write{large})
	if err != nil {
		t.Fatal(err)
	}
	steps := []func() error{
		func() error { _, err := s.Open(ctx, "run", ""); return err },
		func() error { _, err := s.Write(ctx, "run", large); return err },
		func() error { _, err := s.Commit(ctx, "run", "large", sum.Hex()); return err },
	}
	if err := steps[0](); err != nil {
		t.Fatal(err)
	}
	for i, step := range steps[1:] {
		disk.Fill(1 << 20)
		var problem *postgres.Problem
		if err := step(); !errors.As(err, &problem) || strings.Contains(err.Error(), "\n") {
			t.Errorf("step %d: %v", i, err)
		} else {
			t.Log(err)
		}
		disk.Free()
		for end := time.Now().Add(30 * time.Second); ; { // the server may have to recover first
			head, err := s.Snapshot(ctx, "")
			if err == nil && head.Number != 1 {
				t.Errorf("step %d: %+v", i, head)
			}
			if err == nil || time.Now().After(end) {
				break
			}
		}
		if _, err := s.VerifyLedger(ctx); err != nil {
			t.Error(err)
		}
		if err := step(); err != nil {
			t.Errorf("step %d with room: %v", i, err)
		}
	}
	if head, err := s.Snapshot(ctx, ""); err != nil || head.Number != 2 {
		t.Errorf("%+v, %v", head, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// noise is text that does not shrink.
func noise(length int) string {
	text, x := make([]byte, length), uint64(1)
	for i := range text {
		x = x*6364136223846793005 + 1442695040888963407
		text[i] = 'a' + byte(x>>33)%26
	}
	return string(text)
}
