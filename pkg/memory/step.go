package memory

import (
	"fmt"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
)

// Step gives the stage that runs `ops` on `state`, one after the other (llamabrain.md §1), and answers what each gave and
// what the memory is then. dmpl-v1 answers the state digest as `stateHash` (P2 g), and the write list as `writes` (P2 h).
func Step(v Version) func(canon.Value) ([]byte, error) {
	return func(input canon.Value) ([]byte, error) {
		o := document.Open(input)
		y := openStep(o, v)
		if err := o.Err(); err != nil {
			return nil, err
		}
		before := y.State()
		w := document.NewWriter(v.Style())
		w.Object("", func() {
			w.List("results", func() {
				o.Each("ops", func(op *document.Object) {
					if o.Err() == nil {
						runOperation(y, op, w)
					}
				})
			})
			if err := writeStep(y, before, w); err != nil {
				o.Fail("state", err.Error())
			}
		})
		if err := o.Err(); err != nil {
			return nil, err
		}
		return w.Bytes(), nil
	}
}

// openStep makes the system that the input describes.
func openStep(o *document.Object, v Version) *System {
	state := State{PersonaID: "npc", NextSequence: 1}
	if o.Has("state") {
		state = ReadState(o.Object("state"), v)
		loaded, err := Load(state, v)
		if err != nil {
			o.Object("state").Fail("", err.Error())
		}
		state = loaded
	}
	now, step := o.Integer("clockStart", 0), o.Integer("clockStep", 0)
	clock := At(now) // P2(e)
	if v == LlamaBrainV1 {
		clock = func() int64 {
			now += step
			return now - step
		}
	}
	id := o.Integer("idStart", 0)
	y := NewSystem(v, state, clock, func() string {
		id++
		return fmt.Sprintf("id_%04d", id-1)
	})
	y.MaxEpisodes = o.Integer("maxEpisodicMemories", y.MaxEpisodes)
	y.DecayRate = ReadReal(o, "episodicDecayRate", y.DecayRate, v)
	return y
}

func writeStep(y *System, before State, w *document.Writer) error {
	s := y.State()
	WriteState(w, "stateAfter", s, y.version)
	hash, err := s.hash(y.version)
	w.Text("stateHash", hash)
	w.List("promptMemories", func() { writeTexts(w, y.AllMemoriesForPrompt(10, false)) })
	w.List("promptMemoriesWithContradicted", func() { writeTexts(w, y.AllMemoriesForPrompt(10, true)) })
	w.Integer("nextSequenceNumber", s.NextSequence)
	if y.version == LlamaBrainV1 || err != nil {
		return err
	}
	writes, err := Writes(before, s, ValidatedOutput)
	WriteWrites(w, "writes", writes)
	return err
}

// hash gives the hash of the state that a version has (P2 g).
func (s State) hash(v Version) (string, error) {
	if v == LlamaBrainV1 {
		return s.Hash(), nil
	}
	sum, err := s.Digest()
	return sum.Hex(), err
}

func writeTexts(w *document.Writer, texts []string) {
	for _, text := range texts {
		w.Text("", text)
	}
}

// runOperation runs one operation and writes its result.
func runOperation(y *System, op *document.Object, w *document.Writer) {
	name := op.Text("op", "")
	run, ok := operations[name]
	if !ok {
		op.Fail("op", fmt.Sprintf("%q is no operation", name))
		return
	}
	w.Object("", func() { run(y, op, w) })
	closed(op)
}
