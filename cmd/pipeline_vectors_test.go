package cmd_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/cmd"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// pipelineVectors says which stage answers which file of vectors.
var pipelineVectors = []struct{ file, stage string }{
	{"retrieval", "retrieve"},
	{"working_memory", "bound"},
	{"mutations", "mutate"},
	{"memory_ops", "memory"},
}

// P1: every stage alone, a document a line, gives what LlamaBrain gave.
func TestStepAnswersTheVectorsOfLlamaBrain(t *testing.T) {
	for _, v := range pipelineVectors {
		t.Run(v.file, func(t *testing.T) {
			t.Run("fixtures", func(t *testing.T) { stepVectors(t, v.stage, filepath.Join(fixtures, "pipeline", v.file+".json")) })
			t.Run("shared", func(t *testing.T) { stepVectors(t, v.stage, needVectors(t, "llamabrain", v.file+".json")) })
		})
	}
}

func stepVectors(t *testing.T, stage, path string) {
	cases := pipelinetest.Read(t, path)
	if len(cases) == 0 {
		t.Fatalf("%s: no vectors", path)
	}
	var in, out, errs bytes.Buffer
	for _, c := range cases {
		if err := json.Compact(&in, c.Input.Raw()); err != nil {
			t.Fatal(err)
		}
		in.WriteByte('\n')
	}
	a := &cmd.App{In: &in, Out: &out, Err: &errs, Dir: t.TempDir()}
	if code := a.Run([]string{"step", stage, "--jsonl", "--pipeline-version", "llamabrain-v1"}); code != 0 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	answers := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(answers) != len(cases) {
		t.Fatalf("%d answers to %d documents", len(answers), len(cases))
	}
	for i, c := range cases {
		got, err := canon.ParseAs(canon.DBL, []byte(answers[i]))
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if d := pipelinetest.Difference(got, c.Expected); d != "" {
			t.Errorf("%s: %s", c.Name, d)
		}
	}
}
