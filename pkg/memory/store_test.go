package memory_test

import (
	"os"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/memorytest"
)

// reference is a place in memory.
func reference(*testing.T) memorytest.Open {
	b := &memorytest.Backend{}
	return func() memory.Backend { return b }
}

// M1, M3 to M7: the scenarios of shared/specs/orket.md §8, with the seed's answers where upstream breaks it.
func TestTheReferenceStoreAnswersTheScenarios(t *testing.T) {
	file, err := os.ReadFile("../../fixtures/store/commit_store.json")
	if err != nil {
		t.Fatal(err)
	}
	memorytest.Scenarios(t, file, reference)
}
