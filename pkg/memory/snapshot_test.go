package memory_test

import (
	"math"
	"math/rand"
	"reflect"
	"testing"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
)

// snapshotOf gives a snapshot of one record.
func snapshotOf(record string) string {
	return `{"persona_id":"p","next_sequence_number":2,"interaction_count":0,"records":[` + record + `]}`
}

func recordOf(kind, content string) string {
	return `{"record_id":"r","record_type":"` + kind + `","created_at_ticks":1,"sequence_number":1,"source":50,"content":` + content + `}`
}

// A record counts as its entry writes it: a snapshot of what is written is the same state.
func TestASnapshotIsReadAsItsEntriesWriteIt(t *testing.T) {
	for _, record := range []string{
		recordOf("fact", `{"Fact":"a","Category":"c","Domain":"d","ContradictionKeywords":[]}`), recordOf("fact", `{}`),
		recordOf("fact", `{"Fact":"\ud83d \uD83D\uDE00 \udc00","ContradictionKeywords":["\udfff","\\ud83d"]}`),
		recordOf("world", `{"Id":"w","Value":"v","ModifiedAtTicks":638400000000000000,"ModificationCount":3}`), recordOf("world", `{"Id":""}`),
		recordOf("episodic", `{"Description":"\u00e9","Significance":0.1234565,"Strength":0.1234564999,"GameTime":1e9,"LocationId":"\ud800"}`),
		recordOf("episodic", `{"GameTime":123456789012345678,"Strength":-0.0000001}`),
		recordOf("belief", `{"Key":"k","Subject":"s","BeliefContent":"b","BeliefType":9,"Confidence":1e-9,"Sentiment":-0.5,"Evidence":"\udbff"}`),
		recordOf("note", `{"any":["\u00e9",1e999]}`),
	} {
		once := memory.ReadSnapshot(open(t, snapshotOf(record)))
		w := document.NewWriter(document.Style{})
		memory.WriteRecord(w, "", memory.ReadRecord(open(t, record)))
		o := open(t, snapshotOf(string(w.Bytes())))
		if again := memory.ReadSnapshot(o); o.Err() != nil || !reflect.DeepEqual(once, again) {
			t.Errorf("%s: read as\n%+v\nwhat its entry writes is read as\n%+v, error %v", record, once, again, o.Err())
		}
	}
}

// A snapshot is read once on the strength of this: 2^32 to 2^33 is where neighbours in binary64 are nearly a millionth apart.
func TestRoundingOnceMoreChangesNothing(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for exponent := -30; exponent < 64; exponent++ {
		for range 20_000 {
			x := math.Ldexp(1+random.Float64(), exponent)
			for _, numbers := range []memory.Numbers{memory.Micros, memory.Binary32} {
				if once := numbers.Round(x); numbers.Round(once) != once {
					t.Fatalf("%v is rounded to %v, and that to %v", x, once, numbers.Round(once))
				}
			}
		}
	}
}
