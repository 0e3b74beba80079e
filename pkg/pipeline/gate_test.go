package pipeline_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// llamabrain.md §6.3: every answer is judged as LlamaBrain judged it. Where it stopped with an exception, dmpl has an error.
func TestGateVectors(t *testing.T) {
	stage := pipeline.GateStage(memory.LlamaBrainV1)
	pipelinetest.Each(t, "validation_gate", 60, func(t *testing.T, c pipelinetest.Case) {
		got, err := stage(c.Input)
		if _, throws := c.Expected.Get("throws"); throws {
			if err == nil || !strings.HasPrefix(err.Error(), "pipeline.invalid_input at /context/constraints: constraint 'p' has the pattern") {
				t.Errorf("%s, %v", got, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		pipelinetest.Compare(t, got, c.Expected)
	})
}

// llamabrain.md §6.2.
func TestConstraintCheckVectors(t *testing.T) {
	pipelinetest.Each(t, "response_validator", 8, func(t *testing.T, c pipelinetest.Case) {
		in := document.Open(c.Input)
		response, set := in.Text("response", ""), pipeline.ReadConstraints(in, "constraints")
		if err := in.Err(); err != nil {
			t.Fatal(err)
		}
		outcome, violations, err := pipeline.CheckConstraints(response, set)
		if err != nil {
			t.Fatal(err)
		}
		w := document.NewWriter(document.Style{})
		w.Object("", func() {
			w.Text("outcome", outcome)
			if outcome == pipeline.ReasonInvalidFormat {
				w.Text("errorMessage", "Response is empty or whitespace")
			} else {
				w.Null("errorMessage")
			}
			w.List("violations", func() {
				for _, v := range violations {
					w.Object("", func() {
						w.OptionalText("constraintId", v.Constraint.ID)
						w.Text("description", v.Description)
						w.OptionalText("violatingText", v.Text)
					})
				}
			})
		})
		pipelinetest.Compare(t, w.Bytes(), c.Expected)
	})
}

// llamabrain.md §6.3, the optional filter.
func TestSchemaFilterVectors(t *testing.T) {
	pipelinetest.Each(t, "schema_filter", 1, func(t *testing.T, c pipelinetest.Case) {
		in := document.Open(c.Input)
		out := pipeline.ParsedOutput{
			Mutations: pipeline.ReadMutations(in, "mutations", memory.LlamaBrainV1), Intents: pipeline.ReadIntents(in, "intents"),
		}
		if err := in.Err(); err != nil {
			t.Fatal(err)
		}
		kept := pipeline.SchemaFilter(out)
		w := document.NewWriter(memory.LlamaBrainV1.Style())
		w.Object("", func() {
			pipeline.WriteMutations(w, "mutations", kept.Mutations)
			pipeline.WriteIntents(w, "intents", kept.Intents)
			w.List("mutationErrors", func() {
				for _, m := range out.Mutations {
					writeFault(w, m.SchemaFault())
				}
			})
			w.List("intentErrors", func() {
				for _, i := range out.Intents {
					writeFault(w, i.SchemaFault())
				}
			})
		})
		pipelinetest.Compare(t, w.Bytes(), c.Expected)
	})
}

func writeFault(w *document.Writer, fault string) {
	if fault == "" {
		w.Null("")
		return
	}
	w.Text("", fault)
}

// P5: each check alone, all five at once, and what a soft and a critical failure mean, in both versions. The answers are
// worked out by hand.
func TestGateStages(t *testing.T) {
	for _, v := range []pipeline.Version{pipeline.DMPLv1, pipeline.LlamaBrainV1} {
		for _, c := range pipelinetest.Read(t, filepath.Join(pipelinetest.Root(t), "fixtures", "pipeline", "gate_stages.json")) {
			t.Run(v.String()+"/"+c.Name, func(t *testing.T) {
				got, err := pipeline.GateStage(v)(c.Input)
				if err != nil {
					t.Fatal(err)
				}
				pipelinetest.Compare(t, got, c.Expected)
			})
		}
	}
}
