package memorytest

import (
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/dmpl/dmpl/pkg/memory"
)

// The steps that processes take on a store that they share.
const (
	stepOpen   = "open"   // a run, on a snapshot or the newest
	stepRead   = "read"   // a snapshot
	stepHead   = "head"   // what the newest is
	stepCommit = "commit" // a run that put a register and appended a record
)

// registers is how many records the runs contend for.
const registers = 3

// Step is one step of a process, before it is taken without its answer.
type Step struct {
	Do       string
	Run      string `json:",omitempty"`
	Start    string `json:",omitempty"` // the snapshot that it is about
	Register int    `json:",omitempty"`
	Value    int64  `json:",omitempty"`

	Made     string           `json:",omitempty"` // the snapshot that was answered
	Repeated bool             `json:",omitempty"`
	Code     string           `json:",omitempty"` // of a refusal
	Values   [registers]int64 `json:",omitzero"`
	Notes    int              `json:",omitempty"`
}

// version is a snapshot in the model.
type version struct {
	run, start string // of the commit that made it
	values     [registers]int64
	changed    [registers]int // the snapshots that changed them last
	notes      int
}

// StoreModel is what one process alone would see of a store, written without the store's code: the state is the list of its
// snapshots. M1: a run opens on the newest, and a snapshot never changes. M4: a commit adds one snapshot to the newest, unless the
// register that it puts was changed after its start. M5: a commit is applied once.
func StoreModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return []version{{}} },
		Step: func(state, input, output any) (bool, any) {
			list := state.([]version)
			is, next := takes(list, input.(Step), output.(Step))
			return is, next
		},
		Equal: func(a, b any) bool { return slices.Equal(a.([]version), b.([]version)) },
	}
}

func takes(list []version, in, out Step) (bool, []version) {
	newest := memory.SnapshotID(int64(len(list) - 1))
	switch in.Do {
	case stepHead:
		return out.Made == newest, list
	case stepOpen:
		return out.Made == newest || in.Start != "" && out.Made == in.Start, list
	case stepRead:
		at := placeOf(in.Start)
		return at < len(list) && out.Values == list[at].values && out.Notes == list[at].notes, list
	}
	return commits(list, in, out)
}

func commits(list []version, in, out Step) (bool, []version) {
	for i, v := range list {
		if v.run == in.Run && v.start == in.Start {
			return out.Repeated && out.Made == memory.SnapshotID(int64(i)), list
		}
	}
	head := list[len(list)-1]
	switch {
	case placeOf(in.Start) >= len(list):
		return false, list
	case head.changed[in.Register] > placeOf(in.Start):
		return out.Code == string(memory.ValidationFailed), list
	}
	made := len(list)
	head.run, head.start = in.Run, in.Start
	head.values[in.Register], head.changed[in.Register] = in.Value, made
	head.notes++
	is := out.Code == "" && !out.Repeated && out.Made == memory.SnapshotID(int64(made))
	return is, append(slices.Clone(list), head)
}

// placeOf gives the place of a snapshot in the list, one that no list has where it has none.
func placeOf(snapshot string) int {
	n, err := strconv.Atoi(snapshot)
	if err != nil || n < 0 {
		return math.MaxInt32
	}
	return n
}

// plant gives a history with one lie in it, nil where the history has no place for it.
type plant func(steps []porcupine.Operation) []porcupine.Operation

// plants are what a store that breaks M1, M4 or M5 would have answered.
var plants = map[string]plant{
	"a read of an older state": func(steps []porcupine.Operation) []porcupine.Operation {
		return lie(steps, func(op porcupine.Operation, s *Step) bool {
			stale := s.Do == stepRead && s.Notes > 0
			s.Notes--
			return stale
		})
	},
	"a newest snapshot that was overtaken": func(steps []porcupine.Operation) []porcupine.Operation {
		return lie(steps, func(op porcupine.Operation, s *Step) bool {
			older := overtaken(steps, op.Call)
			stale := s.Do == stepHead && older != ""
			s.Made = older
			return stale
		})
	},
	"a run that opens on a snapshot that was overtaken": func(steps []porcupine.Operation) []porcupine.Operation {
		return lie(steps, func(op porcupine.Operation, s *Step) bool {
			older := overtaken(steps, op.Call)
			stale := s.Do == stepOpen && s.Start == "" && older != ""
			s.Made = older
			return stale
		})
	},
	"a lost update": func(steps []porcupine.Operation) []porcupine.Operation {
		return lie(steps, func(_ porcupine.Operation, s *Step) bool {
			conflict := s.Code != ""
			s.Code, s.Made = "", memory.SnapshotID(int64(placeOf(s.Start)+1))
			return conflict
		})
	},
	"a commit that is refused for nothing": func(steps []porcupine.Operation) []porcupine.Operation {
		return lie(steps, func(_ porcupine.Operation, s *Step) bool {
			applied := s.Do == stepCommit && s.Code == ""
			s.Code, s.Made = string(memory.ValidationFailed), ""
			return applied
		})
	},
	"a commit that is applied twice": func(steps []porcupine.Operation) []porcupine.Operation {
		return lie(steps, func(_ porcupine.Operation, s *Step) bool {
			repeated := s.Repeated
			s.Repeated, s.Made = false, memory.SnapshotID(int64(placeOf(s.Made)+1))
			return repeated
		})
	},
	"a phantom snapshot": func(steps []porcupine.Operation) []porcupine.Operation {
		return lie(steps, func(_ porcupine.Operation, s *Step) bool {
			applied := s.Do == stepCommit && s.Code == "" && !s.Repeated
			s.Made = memory.SnapshotID(1 << 40)
			return applied
		})
	},
}

// lie changes the answer of the last step that can be changed.
func lie(steps []porcupine.Operation, change func(porcupine.Operation, *Step) bool) []porcupine.Operation {
	for i := len(steps) - 1; i >= 0; i-- {
		step := steps[i].Output.(Step)
		if change(steps[i], &step) {
			told := slices.Clone(steps)
			told[i].Output = step
			return told
		}
	}
	return nil
}

// overtaken gives a snapshot that was not the newest any more at a time, empty where there is none.
func overtaken(steps []porcupine.Operation, at int64) string {
	older := ""
	for _, op := range steps {
		step := op.Output.(Step)
		if step.Do == stepCommit && step.Code == "" && !step.Repeated && op.Return < at {
			older = max(older, memory.SnapshotID(int64(placeOf(step.Made)-1)))
		}
	}
	return older
}

// checkerSees holds the model itself to a history that is known to be right: with one lie in it, it is wrong.
func checkerSees(t *testing.T, steps []porcupine.Operation) {
	t.Helper()
	for name, plant := range plants {
		told := plant(steps)
		if told == nil {
			t.Errorf("the history has no place for %s", name)
			continue
		}
		if got := porcupine.CheckOperationsTimeout(StoreModel(), told, time.Minute); got != porcupine.Illegal {
			t.Errorf("%s: the history is %s", name, got)
		}
	}
}
