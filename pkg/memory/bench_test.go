package memory_test

import (
	"fmt"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/memory"
)

// work is what is done with a whole memory, each step once.
var work = []struct {
	name string
	run  func(t testing.TB, s memory.State, persona []byte)
}{
	{"read", func(t testing.TB, _ memory.State, persona []byte) {
		if _, ok := readPersona(persona, memory.LlamaBrainV1); !ok {
			t.Error("not read")
		}
	}},
	{"hash", func(_ testing.TB, s memory.State, _ []byte) { s.Hash() }},
	{"digest", func(t testing.TB, s memory.State, _ []byte) { digest(t, s) }},
	{"merge", func(t testing.TB, s memory.State, _ []byte) { must[memory.State](t)(memory.Merge(s, s)) }},
	{"apply", func(t testing.TB, s memory.State, _ []byte) {
		list := must[[]memory.Write](t)(memory.Writes(memory.State{NextSequence: 1}, s, memory.Designer))
		must[memory.State](t)(memory.State{NextSequence: 1}.Apply(list, nil))
	}},
	{"written", func(t testing.TB, s memory.State, _ []byte) {
		start := s
		start.Facts = nil
		list := must[[]memory.Write](t)(memory.Writes(start, memory.State{}, memory.Designer))
		w := memory.NewWritten(start)
		for _, n := range []int{0, len(list) / 2, len(list)} {
			got := must[canon.Sum](t)(w.Digest(list[:n]))
			if want := digest(t, must[memory.State](t)(start.Apply(list[:n], nil))); got.Hex() != want {
				t.Errorf("%d writes: %s, want %s", n, got.Hex(), want)
			}
		}
	}},
	{"prune", func(t testing.TB, s memory.State, _ []byte) {
		y := system(t, s)
		y.Prune()
		y.Decay()
		if len(y.State().Episodes) != 100 {
			t.Error("not pruned")
		}
	}},
}

// A memory of 100,000 is worked on in time that grows with its size: anything quadratic would not end.
func TestALargeMemory(t *testing.T) {
	s := many(100_000)
	persona := []byte(writePersona(s, memory.LlamaBrainV1))
	for _, w := range work {
		t.Run(w.name, func(t *testing.T) { w.run(t, s, persona) })
	}
}

func BenchmarkMemory(b *testing.B) {
	for _, n := range []int{100_000, 200_000} {
		s := many(n)
		persona := []byte(writePersona(s, memory.LlamaBrainV1))
		for _, w := range work {
			b.Run(fmt.Sprint(w.name, "/", n), func(b *testing.B) {
				for b.Loop() {
					w.run(b, s, persona)
				}
			})
		}
	}
}
