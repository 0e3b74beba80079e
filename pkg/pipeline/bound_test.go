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

// llamabrain.md §4: one line an item, also where an item is empty.
func TestTheContextHasALineForEachItem(t *testing.T) {
	for want, s := range map[string]pipeline.Snapshot{
		"":       {},
		"\nsure": {Beliefs: []string{"", "sure"}},
		"[Fact] a\n[State] b\n[Memory] \n[Memory] c\nd": {Facts: []string{"a"}, World: []string{"b"}, Episodes: []string{"", "c"}, Beliefs: []string{"d"}},
	} {
		if got := s.FormattedContext(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
