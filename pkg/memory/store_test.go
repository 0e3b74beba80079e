package memory_test

import (
	"context"
	"encoding/json"
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

// lossy is a backend whose next answers to updates are lost: they are done, and reported as failed.
type lossy struct {
	memory.Backend
	lose int
}

var errLost = errors.New("the answer was lost")

// Update loses its answer.
func (b *lossy) Update(ctx context.Context, do func(memory.Tx) error) error {
	err := b.Backend.Update(ctx, do)
	if b.lose--; b.lose == 0 && err == nil {
		return errLost
	}
	return err
}

// M5, M6: recovery whose answer is lost, of whichever transaction, ends the commit once and leaves a ledger that holds.
func TestRecoveryWhoseAnswerIsLostEndsOnce(t *testing.T) {
	ctx := context.Background()
	for lose := 1; lose <= 3; lose++ {
		b := &lossy{Backend: &memorytest.Backend{}}
		s := memory.NewStore(b, memory.At(now))
		sum := must[fingerprint](t)(memory.PayloadFingerprint(nil))
		for _, do := range []func() error{
			func() error { return second(s.Create(ctx, "store")) },
			func() error { return second(s.Open(ctx, "a", "")) },
			func() error { return second(s.Request(ctx, "a", "c", sum.Hex())) },
		} {
			if err := do(); err != nil {
				t.Fatal(err)
			}
		}
		b.lose = lose // 1: the lease, 2: the commit
		done, err := s.Recover(ctx, memory.Recovery{Worker: "w"})
		want := []memory.Recovered{{RunID: "a", State: memory.CommitApplied, Detail: errLost.Error()}}
		switch lose {
		case 1:
			want[0].State = memory.CommitPending
		case 3: // there is no third
			want[0].Detail = memory.SnapshotID(1)
		}
		if !reflect.DeepEqual(done, want) || errors.Is(err, errLost) != (lose == 1) {
			t.Errorf("%d: %+v, %v", lose, done, err)
		}
		if _, err := s.Recover(ctx, memory.Recovery{Worker: "w"}); err != nil {
			t.Error(err)
		}
		if head, err := s.Snapshot(ctx, ""); err != nil || head.Number != 1 {
			t.Errorf("%d: %+v, %v", lose, head, err)
		}
		if _, err := s.VerifyLedger(ctx); err != nil {
			t.Errorf("%d: %v", lose, err)
		}
	}
}

// The fixture has every scenario of the given vectors with its operations. Where it wants another answer than upstream gave, it
// says what the seed requires.
func TestTheScenariosAreThoseOfTheVectors(t *testing.T) {
	const vectors = "../../../shared/vectors/orket/commit_store/scenarios.json"
	given, err := os.ReadFile(vectors)
	if err != nil {
		t.Skipf("!! NOT CHECKED: %s is not there", vectors)
	}
	ours, err := os.ReadFile("../../fixtures/store/commit_store.json")
	if err != nil {
		t.Fatal(err)
	}
	type steps = []map[string]any
	var fixture []struct {
		ID, Seed string
		Steps    steps
	}
	var source struct {
		Scenarios []struct {
			ID       string
			Ops      steps
			Upstream map[string]struct{ Steps steps }
		}
	}
	if err := errors.Join(json.Unmarshal(ours, &fixture), json.Unmarshal(given, &source)); err != nil {
		t.Fatal(err)
	}
	at := map[string]int{"empty-file": -1} // a file of another format: TestWhatIsNoStoreIsLeftAlone has an empty one
	for i, s := range fixture {
		at[s.ID] = i
	}
	for _, s := range source.Scenarios {
		i, there := at[s.ID]
		if !there {
			t.Errorf("%s is missing", s.ID)
		}
		if !there || i < 0 {
			continue
		}
		f, upstream := fixture[i], s.Upstream["json"].Steps
		if upstream == nil {
			upstream = s.Upstream["memory"].Steps
		}
		if len(f.Steps) != len(s.Ops) {
			t.Fatalf("%s: %d steps, want %d", s.ID, len(f.Steps), len(s.Ops))
		}
		for n, op := range s.Ops {
			want := upstream[n]["result"]
			if upstream[n]["error"] != nil {
				want = map[string]any{"error": upstream[n]["code"]}
			}
			if !reflect.DeepEqual(f.Steps[n]["want"], want) && f.Seed == "" {
				t.Errorf("%s: step %d wants %v, upstream gave %v, and no reason is given", s.ID, n, f.Steps[n]["want"], want)
			}
			delete(f.Steps[n], "want")
			delete(op, "alias_first") // what is read is handed to a reader that changes it, always
			if !reflect.DeepEqual(f.Steps[n], op) {
				t.Errorf("%s: step %d is %v, want %v", s.ID, n, f.Steps[n], op)
			}
		}
	}
}
