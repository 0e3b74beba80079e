package memory_test

import (
	"context"
	"errors"
	"os"
	"reflect"
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

func TestTheReferenceStoreHoldsTheContract(t *testing.T) { memorytest.Contract(t, reference) }

// M6: a commit that the storage fails is tried again, and aborted after the third time.
func TestRecoveryGivesUpAfterThreeFailures(t *testing.T) {
	ctx, b := context.Background(), &memorytest.Backend{}
	s := memory.NewStore(b, memory.At(now))
	sum := must[fingerprint](t)(memory.PayloadFingerprint(nil))
	if _, err := s.Create(ctx, "store"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(second(s.Open(ctx, "a", "")), second(s.Request(ctx, "a", "c", sum.Hex()))); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is on fire")
	b.Fail(broken)
	for attempt := 1; attempt <= memory.MostFailures; attempt++ {
		done, err := s.Recover(ctx, memory.Recovery{Worker: "w"})
		want := []memory.Recovered{{RunID: "a", State: memory.CommitPending, Detail: broken.Error()}}
		if attempt == memory.MostFailures {
			want[0].State, want[0].Reason = memory.CommitAborted, memory.StorageApplyFailed
		}
		if errors.Is(err, broken) == (attempt == memory.MostFailures) || !reflect.DeepEqual(done, want) {
			t.Errorf("attempt %d: %+v, %v", attempt, done, err)
		}
	}
	b.Fail(nil)
	if head, err := s.Snapshot(ctx, ""); err != nil || head.Number != 0 {
		t.Errorf("%+v, %v", head, err)
	}
}
