package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/sqlite"
)

// M4: while another process writes, readers go on, and who waits to write is heard when it gives up.
func TestWhoWaitsToWriteCanGiveUp(t *testing.T) {
	path := made(t)
	a, err1 := sqlite.Open(ctx, path, false)
	b, err2 := sqlite.Open(ctx, path, false)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	err := a.Update(ctx, func(memory.Tx) error {
		if err := b.View(ctx, func(tx memory.Tx) error { _, err := tx.About(); return err }); err != nil {
			t.Errorf("a reader: %v", err)
		}
		ending, stop := context.WithTimeout(ctx, 50*time.Millisecond)
		defer stop()
		if err := b.Update(ending, func(memory.Tx) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who waits: %v", err)
		}
		return nil
	})
	if err != nil || time.Since(begun) > 20*time.Second {
		t.Errorf("%v after %s", err, time.Since(begun))
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Error(err)
	}
}

// M4: a transaction whose work panics is undone, and the next one goes on.
func TestAPanicLeavesNoTransaction(t *testing.T) {
	b, err := sqlite.Open(ctx, made(t), false)
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("there was no panic")
			}
		}()
		_ = b.Update(ctx, func(tx memory.Tx) error {
			if err := tx.SetAbout([]byte(`{}`)); err != nil {
				t.Error(err)
			}
			panic("at work")
		})
	}()
	err = b.Update(ctx, func(tx memory.Tx) error {
		if about, err := tx.About(); err != nil || string(about) == "{}" {
			t.Errorf("%s, %v", about, err)
		}
		return nil
	})
	if err := errors.Join(err, b.Close()); err != nil {
		t.Error(err)
	}
}

// M4: one handle serves many goroutines.
func TestGoroutinesShareAHandle(t *testing.T) {
	s, err := openStore(made(t))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 5 {
				run := fmt.Sprint("g", i, "-", j)
				if _, err := commitRun(s, run, j%2 == 0, note(run, memory.Append)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if head, err := s.Snapshot(ctx, ""); err != nil || head.Number != 2+8*5 {
		t.Errorf("%+v, %v", head, err)
	}
	if _, err := s.VerifyLedger(ctx); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// copied gives a copy of a store's file in a folder of its own.
func copied(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// M1, M7: of two files with one store's id the copy is read and not written, since a lease on one fences nobody from the other. A
// file that was moved is no copy, nor is one under another name.
func TestACopyIsNotWritten(t *testing.T) {
	path := made(t)
	to := copied(t, path)
	s, err := openStore(to)
	if err != nil {
		t.Fatal(err)
	}
	if head, err := s.Snapshot(ctx, ""); err != nil || head.Number != 2 {
		t.Errorf("a copy is read: %+v, %v", head, err)
	}
	if _, err := s.VerifyLedger(ctx); err != nil {
		t.Errorf("a copy is verified: %v", err)
	}
	_, err = s.Open(ctx, "run", "")
	var problem *sqlite.Problem
	if !errors.As(err, &problem) || !strings.Contains(err.Error(), to+": is a copy of the store at "+path) {
		t.Errorf("a copy is written: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{link, path} { // the first is written down as the place, and is none of its own
		commitIn(t, name, "at "+filepath.Base(name))
	}
	if err := errors.Join(os.Remove(path), os.Remove(link)); err != nil {
		t.Fatal(err)
	}
	commitIn(t, to, "moved")
	again := copied(t, to)
	s, err = openStore(again)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(ctx, "run", ""); err == nil || !strings.Contains(err.Error(), "is a copy of the store at "+to) {
		t.Errorf("a copy of what was moved: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func commitIn(t *testing.T, path, run string) {
	t.Helper()
	s, err := openStore(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = commitRun(s, run, false, note(run, memory.Append))
	if err := errors.Join(err, s.Close()); err != nil {
		t.Errorf("%s: %v", run, err)
	}
}

// M4: a file that is removed or replaced while it is open is no longer written, since that would be lost.
func TestAFileThatIsReplacedIsNotWritten(t *testing.T) {
	path, other := made(t), made(t)
	s, err := openStore(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		do   func() error
		says string
	}{
		{func() error { return os.Rename(path, path+".away") }, path + ": is gone since it was opened"},
		{func() error { return os.Rename(other, path) }, path + ": was replaced by another file since it was opened"},
		{func() error { return os.Rename(path+".away", path) }, ""},
	} {
		if err := tt.do(); err != nil {
			t.Fatal(err)
		}
		_, read := s.Snapshot(ctx, "")
		_, wrote := commitRun(s, "run", false)
		for _, err := range []error{read, wrote} {
			if (tt.says == "") != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), tt.says) {
				t.Errorf("%v, want %s", err, tt.says)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// M4: a file whose journal was changed past the store has a write-ahead log again.
func TestTheLogIsSetAgain(t *testing.T) {
	path := made(t)
	raw(t, path, "PRAGMA journal_mode=DELETE")
	b, err := sqlite.Open(ctx, path, false)
	if err != nil {
		t.Fatal(err)
	}
	if mode, err := b.Pragma(ctx, "journal_mode", 1); err != nil || mode[0] != "wal" || mode[1] != "wal" {
		t.Errorf("%v, %v", mode, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// M4: processes that make one store at once make it once.
func TestAStoreIsMadeOnceByMany(t *testing.T) {
	path, _ := fresh(t)
	var all sync.WaitGroup
	var made atomic.Int64
	for range 12 {
		all.Go(func() {
			s, err := openStore(path)
			if err != nil {
				t.Error(err)
				return
			}
			created, err := s.Create(ctx, "once")
			if created {
				made.Add(1)
			}
			if err := errors.Join(err, s.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("made %d times", made.Load())
	}
}
