package pipeline_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// llamabrain.md §6.1: every output is parsed as LlamaBrain parsed it.
func TestParserVectors(t *testing.T) {
	stage := pipeline.ParseStage(memory.LlamaBrainV1)
	pipelinetest.Each(t, "output_parser", 60, func(t *testing.T, c pipelinetest.Case) {
		got, err := stage(c.Input)
		if err != nil {
			t.Fatal(err)
		}
		pipelinetest.Compare(t, got, c.Expected)
	})
}
