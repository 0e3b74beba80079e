package execute_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/memory"
)

var stated = regexp.MustCompile(`"decision_type":"applied".*"state_digest":"([0-9a-f]{64})"`)

// states gives the digest of the state that each turn stated.
func states(k *kept) []string {
	var list []string
	for _, event := range k.events {
		if found := stated.FindSubmatch(event); found != nil {
			list = append(list, string(found[1]))
		}
	}
	return list
}

func hexOf(t *testing.T, s memory.State) string {
	t.Helper()
	sum, err := s.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return sum.Hex()
}

// E10, M4: a turn states the start snapshot with all writes so far, also where it wrote nothing itself. Where they cannot all be
// applied it states the start snapshot, and so does every turn after it.
func TestATurnStatesTheMemoryWithTheWritesSoFar(t *testing.T) {
	const silent = `"Come in."`
	for _, c := range []struct {
		what   string
		next   string // of the start snapshot
		silent int    // the turn that writes nothing; -1 for none
		writes []int  // of each turn
		want   []int  // writes that are in the state of each turn
	}{
		{"all are applied", "7", -1, []int{1, 1, 2}, []int{1, 2, 4}},
		{"nothing is written at first", "7", 0, []int{0, 1, 2}, []int{0, 1, 3}},
		{"nothing is written in between", "7", 1, []int{1, 0, 2}, []int{1, 1, 3}},
		{"nothing is written at last", "7", 2, []int{1, 1, 0}, []int{1, 2, 2}},
		{"the last turn is too much", "9223372036854775804", -1, []int{1, 1, 2}, []int{1, 2, 0}},
		{"nothing is written after what was too much", "9223372036854775805", 2, []int{1, 1, 0}, []int{1, 0, 0}},
	} {
		recorded := read(t, filepath.Join(runs, "turns")).Recording
		recorded.Snapshot = with(t, recorded.Snapshot, `"sequence_number": 7`, `"sequence_number": `+c.next)
		if c.silent >= 0 {
			at := &recorded.Outputs[c.silent]
			*at = with(t, *at, `"text":`+string(at.Field("/text").Raw), `"text":`+silent)
		}
		o := options(read(t, filepath.Join(runs, "turns")))
		store := &told{}
		o.Store = store
		sink, end, err := executed(t, recorded, o)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		start := memory.ReadSnapshot(document.Open(recorded.Snapshot.Value))
		var want []string
		for _, n := range c.want {
			after, err := start.Apply(end.Buffer.Writes[:n], nil)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, hexOf(t, after))
		}
		if got := states(sink); !slices.Equal(got, want) || !slices.Equal(store.writes, c.writes) {
			t.Errorf("%s: writes %v\n got %q\nwant %q", c.what, store.writes, got, want)
		}
	}
}

// noting is a live memory that notes what it was after each write.
type noting struct {
	execute.Live
	after []string
}

func (n *noting) Write(turn int, writes []memory.Write) (memory.State, error) {
	state, err := n.Live.Write(turn, writes)
	if err == nil {
		var sum canon.Sum
		sum, err = state.Digest()
		n.after = append(n.after, sum.Hex())
	}
	return state, err
}

// M2: a turn of a live run states the memory as its write left it, whatever others did since the turn before.
func TestALiveTurnStatesTheMemoryAfterItsWrite(t *testing.T) {
	recorded := read(t, filepath.Join(runs, "turns"))
	for _, memoryOf := range []execute.Live{live{&told{head: memory.State{NextSequence: 1}}}, others{&told{}}} {
		note := &noting{Live: memoryOf}
		o := options(recorded)
		o.Visibility, o.Live = execute.LiveReadWrite, note
		sink, _, err := executed(t, recorded.Recording, o)
		if err != nil {
			t.Fatal(err)
		}
		distinct := len(slices.Compact(slices.Sorted(slices.Values(note.after))))
		if got := states(sink); !slices.Equal(got, note.after) || distinct != 3 {
			t.Errorf("%d states\n got %q\nwant %q", distinct, got, note.after)
		}
	}
}
