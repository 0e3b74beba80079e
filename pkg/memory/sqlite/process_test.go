package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/memorytest"
	"github.com/dmpl/dmpl/pkg/memory/sqlite"
)

func TestMain(m *testing.M) { os.Exit(memorytest.Main(m, reach)) }

func reach(ctx context.Context, path string, step func(string)) (memory.Backend, error) {
	return sqlite.OpenStepping(ctx, path, step)
}

// fresh gives the path of a store that is not there yet.
func fresh(t *testing.T) (path string, drop func()) {
	dir := t.TempDir()
	return filepath.Join(dir, "memory.db"), func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
}

func clock() int64 { return time.Now().UnixNano() / 100 }

func openStore(path string) (*memory.Store, error) {
	b, err := sqlite.Open(ctx, path, true)
	if err != nil {
		return nil, err
	}
	return memory.NewStore(b, clock), nil
}

func note(id string, op memory.Op) memory.Write {
	r := memory.Record{Type: "note", Content: []byte(`{}`)}
	r.ID, r.Source = id, memory.ValidatedOutput
	return memory.Write{Op: op, Record: r}
}

// commitRun opens, writes and commits a run, in two transactions or in one.
func commitRun(s *memory.Store, run string, split bool, writes ...memory.Write) (memory.Outcome, error) {
	return memorytest.CommitRun(s, run, "", split, writes...)
}

// M4, M6, M8: a process is killed between every two statements: in a store of its own, and in one that has had all crashes before.
func TestACrashBetweenAnyTwoStatementsLosesNothing(t *testing.T) {
	memorytest.Crash(t, reach, fresh, 5, 300)
}

// M1, M4: eight processes share a store.
func TestProcessesShareAFile(t *testing.T) {
	runs := 10
	if memorytest.Rounds(t) > 0 {
		runs = 200
	}
	memorytest.Share(t, reach, fresh, runs)
}

// M7: an owner that was stopped past the end of its lease is fenced.
func TestAStoppedOwnerIsFenced(t *testing.T) { memorytest.StoppedOwner(t, reach, fresh) }
