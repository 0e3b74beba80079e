package pipeline_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
	"github.com/dmpl/dmpl/pkg/thread"
)

// llamabrain.md §8: feedback, escalation, and the prompt of the next attempt are those of the vectors.
func TestRetryVectors(t *testing.T) {
	pipelinetest.Each(t, "retry", 9, func(t *testing.T, c pipelinetest.Case) {
		o := document.Open(c.Input)
		p := pipeline.ReadRetryPolicy(o, "policy")
		s := pipeline.ReadSnapshot(o, "snapshot", pipeline.LlamaBrainV1)
		answer := o.Text("response", "")
		npc := o.OptionalText("npcName")
		if err := o.Err(); err != nil {
			t.Fatal(err)
		}
		r := p.Next(s, broken(t, s.Constraints, answer), answer)
		prompt := pipeline.AssembleSnapshot(r.Snapshot, nil, pipeline.Turn{NPC: npc, Feedback: r.Feedback},
			pipeline.DefaultAssembleConfig(), pipeline.LlamaBrainV1)
		w := document.NewWriter(document.Style{})
		w.Object("", func() {
			w.Integer("maxAttempts", int64(p.MaxAttempts()))
			w.Text("feedback", r.Feedback)
			w.Bool("canRetry", p.CanRetry(s.Attempt))
			w.List("addedConstraints", func() { writeAdded(w, r.Added) })
			w.Integer("nextAttemptNumber", int64(r.Snapshot.Attempt))
			w.Bool("nextCanRetry", p.CanRetry(r.Snapshot.Attempt))
			w.Text("nextPrompt", prompt.Text)
		})
		pipelinetest.Compare(t, w.Bytes(), c.Expected)
	})
}

// broken gives the failures of the constraint check alone.
func broken(t *testing.T, set []pipeline.Constraint, answer string) []pipeline.Failure {
	t.Helper()
	_, violations, err := pipeline.CheckConstraints(answer, set)
	if err != nil {
		t.Fatal(err)
	}
	var failures []pipeline.Failure
	for _, v := range violations {
		failures = append(failures, pipeline.Failure{
			Reason: v.Reason, Description: v.Description, ViolatingText: v.Text, ViolatedRule: v.Constraint.ID, Severity: v.Constraint.Severity,
		})
	}
	return failures
}

func writeAdded(w *document.Writer, added []pipeline.Constraint) {
	types := []string{"Prohibition", "Requirement"}
	severities := []string{"Soft", "Hard", "Critical"}
	for _, c := range added {
		w.Object("", func() {
			w.OptionalText("Id", c.ID)
			w.Text("Type", types[c.Type])
			w.Text("Severity", severities[c.Severity])
			w.OptionalText("Description", c.Description)
			w.OptionalText("PromptInjection", c.PromptInjection)
			w.List("ValidationPatterns", func() {
				for _, p := range c.Patterns {
					w.Text("", p)
				}
			})
		})
	}
}

// decide is the Stage of what follows a gate result, for the cases side by side: `failures` (severities), `attempt` and
// `policy` in, the decision out.
func decide(v pipeline.Version) thread.Stage {
	return func(input canon.Value) ([]byte, error) {
		o := document.Open(input)
		var g pipeline.GateResult
		o.Each("failures", func(f *document.Object) {
			severity := f.Int("Severity", int(pipeline.Hard))
			g.Failures = append(g.Failures, pipeline.Failure{Severity: pipeline.Severity(severity)})
		})
		g.Passed = len(g.Failures) == 0
		p, attempt := pipeline.ReadRetryPolicy(o, "policy"), o.Int("attempt", 0)
		w := document.NewWriter(document.Style{})
		w.Object("", func() { w.Text("decision", p.After(g, attempt, v).String()) })
		return w.Bytes(), o.Err()
	}
}

func TestGateDecisions(t *testing.T) {
	soft, hard, critical := pipeline.Failure{Severity: pipeline.Soft}, pipeline.Failure{Severity: pipeline.Hard},
		pipeline.Failure{Severity: pipeline.Critical}
	tests := []struct {
		name     string
		failures []pipeline.Failure
		attempt  int
		want     [2]string // of dmpl-v1 and llamabrain-v1
	}{
		{"no failure", nil, 0, [2]string{"passed", "passed"}},
		{"soft", []pipeline.Failure{soft}, 0, [2]string{"retry", "retry"}},
		{"last retry", []pipeline.Failure{hard}, 1, [2]string{"retry", "retry"}},
		{"no attempt left", []pipeline.Failure{hard}, 2, [2]string{"fallback", "fallback"}},
		{"critical beside soft", []pipeline.Failure{soft, critical}, 0, [2]string{"fallback", "retry"}},
		{"critical, no attempt left", []pipeline.Failure{critical}, 2, [2]string{"fallback", "fallback"}},
	}
	for _, test := range tests {
		g := pipeline.GateResult{Passed: test.failures == nil, Failures: test.failures}
		p := pipeline.DefaultRetryPolicy()
		got := [2]string{p.After(g, test.attempt, pipeline.DMPLv1).String(), p.After(g, test.attempt, pipeline.LlamaBrainV1).String()}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// A failure that is no constraint's is told to the model and adds no constraint.
func TestFailureWithoutConstraintIsFeedbackOnly(t *testing.T) {
	id := "gold"
	s := pipeline.Snapshot{Constraints: []pipeline.Constraint{{ID: &id, Type: pipeline.Prohibition}}}
	failures := []pipeline.Failure{
		{Reason: "KnowledgeBoundaryViolation", Description: "NPC revealed forbidden knowledge: 'x'", Severity: pipeline.Hard},
		{Reason: "RequirementNotMet", Description: "custom rule", ViolatedRule: &id},
	}
	r := pipeline.DefaultRetryPolicy().Next(s, failures, "")
	const want = "[RETRY ATTEMPT 2]\nYour previous response violated the following constraints:\n" +
		"- NPC revealed forbidden knowledge: 'x'\n- custom rule\nPlease provide a new response that satisfies ALL constraints."
	if r.Feedback != want || len(r.Added) != 0 || len(r.Snapshot.Constraints) != 1 || r.Snapshot.Attempt != 1 {
		t.Errorf("%+v, want feedback\n%s", r, want)
	}
}

func TestProhibitionWithoutTextIsStrict(t *testing.T) {
	id, description := "p", "No gold"
	s := pipeline.Snapshot{Constraints: []pipeline.Constraint{{ID: &id, Type: pipeline.Prohibition, Description: &description}}}
	r := pipeline.DefaultRetryPolicy().Next(s, []pipeline.Failure{{Reason: "ProhibitionViolated", ViolatedRule: &id}}, "")
	if len(r.Added) != 1 || *r.Added[0].PromptInjection != "STRICTLY No gold" || *r.Added[0].ID != "RetryEscalation_p_0" {
		t.Errorf("%+v", r.Added)
	}
}
