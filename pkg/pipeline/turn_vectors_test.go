package pipeline_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// P1: every stage of a whole turn, the memory after it and the audit record are those of the vectors.
func TestTurnVectors(t *testing.T) {
	stage := pipeline.TurnStage(pipeline.LlamaBrainV1)
	pipelinetest.Each(t, "chain", 7, func(t *testing.T, c pipelinetest.Case) {
		got, err := stage(c.Input)
		if err != nil {
			t.Fatal(err)
		}
		pipelinetest.Compare(t, got, c.Expected)
	})
}
