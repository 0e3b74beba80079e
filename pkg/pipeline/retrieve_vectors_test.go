package pipeline_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// llamabrain.md §2: the lists, and the bits of every score, are those of the vectors.
func TestRetrievalVectors(t *testing.T) {
	stage := pipeline.RetrieveStage(memory.LlamaBrainV1)
	pipelinetest.Each(t, "retrieval", 40, func(t *testing.T, c pipelinetest.Case) {
		got, err := stage(c.Input)
		if err != nil {
			t.Fatal(err)
		}
		pipelinetest.Compare(t, got, c.Expected)
	})
}
