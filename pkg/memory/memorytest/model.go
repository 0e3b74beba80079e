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

// version is a snapshot in the model, with those before it.
type version struct {
	before     *version
	place      int
	run, start string // of the commit that made it
	values     [registers]int64
	changed    [registers]int // the places of the snapshots that changed them last
	notes      int
}

// StoreModel is what one process alone would see of a store, written without the store's code: the state is the newest of its
// snapshots. M1: a run opens on the newest, and a snapshot never changes. M4: a commit adds one snapshot to the newest, unless the
// register that it puts was changed after its start. M5: a commit is applied once.
func StoreModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return &version{} },
		Step: func(state, input, output any) (bool, any) {
			is, next := state.(*version).takes(input.(Step), output.(Step))
			return is, next
		},
		Equal: func(a, b any) bool { return a.(*version).equals(b.(*version)) },
	}
}

func (v *version) equals(w *version) bool {
	for v != w { // what they share is not looked at
		if v == nil || w == nil {
			return false
		}
		one, other := *v, *w
		one.before, other.before = nil, nil
		if one != other {
			return false
		}
		v, w = v.before, w.before
	}
	return true
}

func (v *version) id() string { return memory.SnapshotID(int64(v.place)) }

// at gives the snapshot at a place, nil where there is none yet.
func (v *version) at(place int) *version {
	for v != nil && v.place > place {
		v = v.before
	}
	if v == nil || v.place != place {
		return nil
	}
	return v
}

// takes tells whether a step may have had its answer, and gives the state after it.
func (v *version) takes(in, out Step) (bool, *version) {
	switch in.Do {
	case stepHead:
		return out.Made == v.id(), v
	case stepOpen:
		return out.Made == v.id() || in.Start != "" && out.Made == in.Start, v
	case stepRead:
		read := v.at(placeOf(in.Start))
		return read != nil && out.Values == read.values && out.Notes == read.notes, v
	}
	return v.commits(in, out)
}

func (v *version) commits(in, out Step) (bool, *version) {
	for w := v; w != nil; w = w.before {
		if w.run == in.Run && w.start == in.Start {
			return out.Repeated && out.Made == w.id(), v
		}
	}
	start := v.at(placeOf(in.Start))
	switch {
	case start == nil:
		return false, v
	case v.changed[in.Register] > start.place:
		return out.Code == string(memory.ValidationFailed), v
	}
	made := *v
	made.before, made.place, made.run, made.start = v, v.place+1, in.Run, in.Start
	made.values[in.Register], made.changed[in.Register] = in.Value, made.place
	made.notes++
	return out.Code == "" && !out.Repeated && out.Made == made.id(), &made
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
