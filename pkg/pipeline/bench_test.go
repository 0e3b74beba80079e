package pipeline_test

import (
	"fmt"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
)

// manyMemories makes a state with n memories of each of the kinds that are asked for.
func manyMemories(episodes, beliefs, facts int) *memory.State {
	subjects := []string{"the dragon near the castle", "an iron sword", "the silver ring", "wolves at the river", "the old mine, closed"}
	var s memory.State
	sequence := int64(0)
	entry := func(i int) memory.Entry {
		sequence++
		return memory.Entry{ID: fmt.Sprintf("record-%07d", i*7919%1000003), CreatedAt: 638400000000000000 + int64(i)*1000003, Sequence: sequence, Source: memory.ValidatedOutput}
	}
	for i := range episodes {
		s.Episodes = append(s.Episodes, memory.Episode{
			Entry: entry(i), Description: fmt.Sprintf("Player number %d spoke of %s that evening", i, subjects[i%5]),
			Significance: float64(i%1000) / 1000, Strength: 1,
		})
	}
	for i := range beliefs {
		s.Beliefs = append(s.Beliefs, memory.Belief{Entry: entry(i), Content: "somebody took " + subjects[i%5], Confidence: float64(i%1000) / 1000})
	}
	for i := range facts {
		s.Facts = append(s.Facts, memory.Fact{Entry: entry(i), Text: "There is " + subjects[i%5]})
	}
	return &s
}

func BenchmarkRetrieve(b *testing.B) {
	c := pipeline.DefaultRetrievalConfig()
	q := pipeline.Query{PlayerInput: "Where is the silver ring of the dragon, Player?", SnapshotTime: 638400200000000000}
	for _, n := range []int{100_000, 200_000} {
		for name, s := range map[string]*memory.State{
			"episodes": manyMemories(n, 0, 0), "beliefs": manyMemories(0, n, 0), "facts": manyMemories(0, 0, n), "mixed": manyMemories(n/2, n/4, n/4),
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := pipeline.Retrieve(s, &q, &c, nil, memory.DMPLv1); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
