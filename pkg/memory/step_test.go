package memory_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// llamabrain.md §1: every operation gives what LlamaBrain gives, and leaves the same state and hash.
func TestOperationVectors(t *testing.T) {
	pipelinetest.Each(t, "memory_ops", 10, func(t *testing.T, c pipelinetest.Case) {
		got, err := memory.Step(memory.LlamaBrainV1)(c.Input)
		if err != nil {
			t.Fatal(err)
		}
		pipelinetest.Compare(t, got, c.Expected)
	})
}
