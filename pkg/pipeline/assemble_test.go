package pipeline_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// llamabrain.md §5: the prompt of every vector, in every mode.
func TestPromptAssemblyVectors(t *testing.T) {
	pipelinetest.EachStage(t, "prompt_assembly", 20, pipeline.AssembleStage(pipeline.LlamaBrainV1))
}
