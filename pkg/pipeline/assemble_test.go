package pipeline_test

import (
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
	"github.com/dmpl/dmpl/pkg/thread"
)

// llamabrain.md §5: the prompt of every vector, in every mode.
func TestPromptAssemblyVectors(t *testing.T) {
	pipelinetest.EachStage(t, "prompt_assembly", 20, pipeline.AssembleStage(pipeline.LlamaBrainV1))
}

// P2(j): the block that a thread's references give is a section of the prompt, to the byte, in every mode that has memory.
func TestReferenceBlockOfAThreadIsASection(t *testing.T) {
	block := thread.ReferenceBlock([]thread.ResolvedRef{
		{Type: "event", ID: "t1", EventKind: thread.Intent, Content: "Hello\n\nthere"},
		{Type: "event", ID: "t2", EventKind: thread.Execution},
	})
	const want = "DBL_CONTEXT_REFS_BEGIN\nThe following is referenced context from previous events in this conversation.\n\n" +
		"[ref_id=t1 kind=INTENT]\nHello\n\nthere\n---\nDBL_CONTEXT_REFS_END"
	if block != want {
		t.Fatalf("%q, want %q", block, want)
	}
	s := pipeline.Snapshot{SystemPrompt: "S", PlayerInput: "I", Facts: []string{"f"}, References: strings.Split(block, "\n")}
	m, c := pipeline.Bound(s, pipeline.DefaultBoundConfig(), pipeline.DMPLv1), pipeline.DefaultAssembleConfig()
	structured := pipeline.DefaultStructuredConfig()
	for name, p := range map[string]pipeline.Prompt{
		"plain": pipeline.Assemble(m, pipeline.Turn{}, c), "cached": pipeline.AssembleCached(m, pipeline.Turn{}, c, pipeline.AfterConstraints),
	} {
		if p.Text != "System: S\n[Context]\n[Fact] f\n"+want+"\nPlayer: I\nNPC:" {
			t.Errorf("%s: %q", name, p.Text)
		}
	}
	if p := pipeline.AssembleStructured(s, nil, c, structured); !strings.HasSuffix(p.Text, "</context_json>\n"+want+"\nNPC:") {
		t.Errorf("structured: %q", p.Text)
	}
	if m.Characters != 1+1+(1+10)+measured(s.References, 2) {
		t.Errorf("%d characters", m.Characters)
	}
}

// llamabrain.md §5: nothing is cut for the prompt's own limit, and the prompt says that it is over.
func TestPromptOverItsLimitSaysSo(t *testing.T) {
	c := pipeline.DefaultAssembleConfig()
	c.MaxTokens = c.ReserveTokens + 2
	const text = "System: S\nPlayer: I\nNPC:"
	p := pipeline.Assemble(pipeline.Bound(pipeline.Snapshot{SystemPrompt: "S", PlayerInput: "I"}, pipeline.DefaultBoundConfig(), pipeline.DMPLv1),
		pipeline.Turn{}, c)
	if p.Text != text || !p.ExceedsLimit || !p.Truncated || p.Memory.Truncated {
		t.Errorf("%+v", p)
	}
	if p := pipeline.AssembleMinimal("S", "I", nil, c); p.Text != text || !p.ExceedsLimit || p.Truncated {
		t.Errorf("%+v", p)
	}
}
