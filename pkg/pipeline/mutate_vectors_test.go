package pipeline_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// llamabrain.md §7: results, statistics, dispatched intents, and the memory afterwards are those of the vectors.
func TestMutationVectors(t *testing.T) {
	stage := pipeline.MutateStage(memory.LlamaBrainV1)
	pipelinetest.Each(t, "mutations", 30, func(t *testing.T, c pipelinetest.Case) {
		got, err := stage(c.Input)
		if err != nil {
			t.Fatal(err)
		}
		pipelinetest.Compare(t, got, c.Expected)
	})
}
