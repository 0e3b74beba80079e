package pipeline_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// llamabrain.md §4: the working memory of every vector.
func TestWorkingMemoryVectors(t *testing.T) {
	pipelinetest.EachStage(t, "working_memory", 27, pipeline.BoundStage(pipeline.LlamaBrainV1))
}
