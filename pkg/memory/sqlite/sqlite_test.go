package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/memorytest"
	"github.com/dmpl/dmpl/pkg/memory/sqlite"
)

var ctx = context.Background()

// place is a file of its own.
func place(t *testing.T) memorytest.Open {
	path := filepath.Join(t.TempDir(), "sub", "memory.db")
	return func() memory.Backend {
		b, err := sqlite.Open(ctx, path, true)
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

func TestTheScenariosHoldInAFile(t *testing.T) {
	file, err := os.ReadFile("../../../fixtures/store/commit_store.json")
	if err != nil {
		t.Fatal(err)
	}
	memorytest.Scenarios(t, file, place)
}

func TestAFileHoldsTheContract(t *testing.T) { memorytest.Contract(t, place) }
