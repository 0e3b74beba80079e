package pipeline_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
	"github.com/dmpl/dmpl/pkg/thread"
)

// sideBySideStages are the stages that the cases of fixtures/pipeline/dmpl-v1 may name.
var sideBySideStages = map[string]func(pipeline.Version) thread.Stage{
	"memory":   func(v pipeline.Version) thread.Stage { return memory.Step(v) },
	"retrieve": pipeline.RetrieveStage,
	"bound":    pipeline.BoundStage,
	"assemble": pipeline.AssembleStage,
	"parse":    pipeline.ParseStage,
	"gate":     pipeline.GateStage,
	"mutate":   pipeline.MutateStage,
	"retry":    decide,
	"fallback": pickFallback,
}

var ruleOfP2 = regexp.MustCompile(`^P2 \([a-j]\)$`)

// P2: where dmpl-v1 leaves llamabrain-v1, one input with the answers of both. An answer {"error":…} is the error's text.
func TestVersionsSideBySide(t *testing.T) {
	dir := filepath.Join(pipelinetest.Root(t), "fixtures", "pipeline", "dmpl-v1")
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, f := range files {
		t.Run(f.Name(), func(t *testing.T) { sideBySide(t, filepath.Join(dir, f.Name())) })
	}
}

func sideBySide(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := canon.ParseAs(canon.DBL, data)
	if err != nil {
		t.Fatal(err)
	}
	text := func(name string) string {
		v, _ := c.Get(name)
		text, _ := v.Text()
		return text
	}
	if !ruleOfP2.MatchString(text("rule")) || text("name") == "" || text("why") == "" {
		t.Errorf("a case says its rule (P2 (a) to (j)), its name and why: %q, %q, %q", text("rule"), text("name"), text("why"))
	}
	stage, ok := sideBySideStages[text("stage")]
	if !ok {
		t.Fatalf("no stage %q", text("stage"))
	}
	input, _ := c.Get("input")
	var wanted []canon.Value
	for _, v := range []pipeline.Version{pipeline.LlamaBrainV1, pipeline.DMPLv1} {
		want, ok := c.Get(v.String())
		if !ok {
			t.Fatalf("no answer of %s", v)
		}
		wanted = append(wanted, want)
		if d := answerDifference(t, stage(v), input, want); d != "" {
			t.Errorf("%s: %s", v, d)
		}
	}
	if pipelinetest.Difference(wanted[0], wanted[1]) == "" {
		t.Error("both versions give the same answer: the case shows nothing")
	}
}

func answerDifference(t *testing.T, stage thread.Stage, input, want canon.Value) string {
	t.Helper()
	got, err := stage(input)
	if message, ok := want.Get("error"); ok && err != nil {
		if text, _ := message.Text(); text != err.Error() {
			return "error " + err.Error() + ", want " + text
		}
		return ""
	}
	if err != nil {
		return "error " + err.Error()
	}
	v, err := canon.ParseAs(canon.DBL, got)
	if err != nil {
		t.Fatal(err)
	}
	return pipelinetest.Difference(v, want)
}
