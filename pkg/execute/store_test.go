package execute_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/memory"
)

// told is a store that notes what it is told, and says what it is made to say.
type told struct {
	says   execute.Committed
	broken error
	writes []int // of each turn
	asked  string
	head   memory.State
}

func (s *told) Write(writes []memory.Write) error {
	s.writes = append(s.writes, len(writes))
	return s.broken
}

func (s *told) Commit(_, _ string, reason memory.AbortReason, detail string) (execute.Committed, error) {
	s.asked = strings.TrimSpace(string(reason) + " " + detail)
	if reason != "" {
		return execute.Committed{Reason: reason}, s.broken
	}
	return s.says, s.broken
}

// live is a memory that every turn adds to.
type live struct{ *told }

func (l live) Head() (memory.State, error) { return l.head, l.broken }

func (l live) Write(_ int, writes []memory.Write) (memory.State, error) {
	l.writes = append(l.writes, len(writes))
	after, err := l.head.Apply(writes, nil)
	l.head = after
	return after, err
}

// D9, M3, M4: the store is told what each turn wrote, decides last, and is told what needs no decision of its own.
func TestAStoreDecidesLast(t *testing.T) {
	const next = "00000000000000000042"
	for _, c := range []struct {
		what  string
		rule  string // of the commit policy
		says  execute.Committed
		asked string
		state memory.BufferState
		made  string
	}{
		{"applied", "", execute.Committed{Snapshot: next}, "", memory.CommitApplied, next},
		{"another commit was first", "", execute.Committed{Reason: memory.ValidationFailed}, "", memory.CommitAborted, ""},
		{"the policy says no", `{"id":"none","rule":"most_writes","limit":0}`, execute.Committed{Snapshot: next}, `policy_rejected rule "none": 4 writes, and at most 0 are allowed`, memory.CommitAborted, ""},
	} {
		recorded := read(t, filepath.Join(runs, "turns"))
		if c.rule != "" {
			recorded.Recording.Policies = with(t, recorded.Recording.Policies, `"rules": []`, `"rules": [`+c.rule+`]`)
		}
		store := &told{says: c.says}
		o := options(recorded)
		o.Store = store
		sink, end, err := executed(t, recorded.Recording, o)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if !slices.Equal(store.writes, []int{1, 1, 2}) || store.asked != c.asked {
			t.Errorf("%s: %v, asked %q", c.what, store.writes, store.asked)
		}
		if end.Buffer.State != c.state || end.Snapshot != c.made || bytes.Contains(end.Commit, []byte(`"resulting_snapshot_id":"`+next+`"`)) != (c.made != "") {
			t.Errorf("%s: %s, snapshot %q, %s", c.what, end.Buffer.State, end.Snapshot, end.Commit)
		}
		start, err := execute.StartDigest(recorded.Recording)
		if err != nil {
			t.Fatal(err)
		}
		if after, err := end.State.Digest(); err != nil || (after == start) != (c.made == "") {
			t.Errorf("%s: the state after is %s, %v", c.what, after.Hex(), err)
		}
		if last := decisions(sink)[len(sink.events)-1]; (last == "commit_applied") != (c.made != "") {
			t.Errorf("%s: the last event is %s", c.what, last)
		}
	}
}

// M4: what cannot be applied to the start snapshot is aborted in the store too.
func TestAStoreIsToldWhatCannotBeApplied(t *testing.T) {
	recorded := read(t, filepath.Join(runs, "turns"))
	snapshot := &recorded.Recording.Snapshot
	*snapshot = with(t, *snapshot, `"sequence_number": 7`, `"sequence_number": 9223372036854775804`)
	store := &told{}
	o := options(recorded)
	o.Store = store
	_, end, err := executed(t, recorded.Recording, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := "validation_failed write 2: the sequence numbers are used up"; end.Buffer.Reason != memory.ValidationFailed || store.asked != want {
		t.Errorf("%s %s, asked %q, want %q", end.Buffer.State, end.Buffer.Reason, store.asked, want)
	}
}

// An error of the store ends the execution.
func TestABrokenStoreEndsTheExecution(t *testing.T) {
	recorded := read(t, filepath.Join(runs, "turns"))
	o := options(recorded)
	o.Store = &told{broken: errBroken}
	if _, _, err := executed(t, recorded.Recording, o); !errors.Is(err, errBroken) {
		t.Errorf("writing: %v", err)
	}
	store := &told{}
	o.Store = store
	x, err := execute.Begin(recorded.Recording, o, &kept{lines: map[string][][]byte{}})
	if err != nil {
		t.Fatal(err)
	}
	store.broken = errBroken
	if _, err := x.End(); !errors.Is(err, errBroken) {
		t.Errorf("the commit: %v", err)
	}
	o.Visibility, o.Live = execute.LiveReadWrite, live{&told{broken: errBroken}}
	if _, _, err := executed(t, recorded.Recording, o); !errors.Is(err, errBroken) {
		t.Errorf("the head: %v", err)
	}
}

// M2: a live run reads the head at each turn, writes at once, and commits nothing at its end.
func TestALiveRunReadsAndWritesAsItGoes(t *testing.T) {
	recorded := read(t, filepath.Join(runs, "turns"))
	memoryOf := live{&told{head: memory.State{NextSequence: 1}}}
	o := options(recorded)
	o.Visibility = execute.LiveReadWrite
	if _, _, err := executed(t, recorded.Recording, o); err == nil {
		t.Error("a live run without a memory was executed")
	}
	o.Live = memoryOf
	_, end, err := executed(t, recorded.Recording, o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(memoryOf.writes, []int{1, 1, 2}) || end.Commit != nil || end.Buffer.State != memory.NoBuffer {
		t.Errorf("%v, %s, %s", memoryOf.writes, end.Commit, end.Buffer.State)
	}
	if !reflect.DeepEqual(end.State, memoryOf.head) || len(end.State.Episodes) != 2 {
		t.Errorf("the run ends at %+v", end.State)
	}
	if !bytes.Contains(end.Envelope, []byte(`"visibility_mode":"live_read_write"`)) {
		t.Errorf("%s", end.Envelope)
	}
}

// others is a memory that somebody else changes: at each turn another episode has the one id.
type others struct{ *told }

func (o others) Head() (memory.State, error) {
	n := int64(len(o.writes) + 1)
	e := memory.NewEpisode("seen at turn " + strconv.FormatInt(n, 10))
	e.ID, e.Sequence, e.CreatedAt, e.Source = "e", 1, n, memory.ValidatedOutput
	return memory.State{NextSequence: 2, Episodes: []memory.Episode{e}}, nil
}

func (o others) Write(_ int, writes []memory.Write) (memory.State, error) {
	o.writes = append(o.writes, len(writes))
	return o.Head()
}

// M2: what a run keeps of its memory for the next turn is no more than what the memory still holds.
func TestALiveRunReadsWhatOthersHaveChanged(t *testing.T) {
	recorded := read(t, filepath.Join(runs, "turns"))
	o := options(recorded)
	o.Visibility, o.Live, o.KeepPrompts = execute.LiveReadWrite, others{&told{}}, true
	sink, _, err := executed(t, recorded.Recording, o)
	if err != nil {
		t.Fatal(err)
	}
	seen := regexp.MustCompile(`seen at turn \d+|"created_at_ticks":\d+`)
	var got []string
	for _, lines := range [][][]byte{sink.lines[execute.PromptsFile], sink.rows} {
		for _, line := range lines {
			got = append(got, seen.FindAllString(string(line), -1)...)
		}
	}
	want := []string{"seen at turn 1", "seen at turn 2", "seen at turn 3", `"created_at_ticks":1`, `"created_at_ticks":2`, `"created_at_ticks":3`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
