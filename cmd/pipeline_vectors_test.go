package cmd_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// stageVectors are the lists of vectors that a stage answers, with the fewest that a list may have.
var stageVectors = []struct {
	kind, stage string
	atLeast     int
}{
	{"retrieval", "retrieve", 49},
	{"working_memory", "bound", 27},
	{"prompt_assembly", "assemble", 45},
	{"output_parser", "parse", 60},
	{"validation_gate", "gate", 60},
	{"mutations", "mutate", 34},
	{"chain", "turn", 9},
	{"memory_ops", "memory", 10},
}

// P1, P2: each stage alone answers every vector on the command line, a line each and in order.
func TestStagesAnswerEveryVector(t *testing.T) {
	for _, tt := range stageVectors {
		t.Run(tt.kind, func(t *testing.T) {
			var cases []pipelinetest.Case
			pipelinetest.Each(t, tt.kind, tt.atLeast, func(_ *testing.T, c pipelinetest.Case) { cases = append(cases, c) })
			var in bytes.Buffer
			for _, c := range cases {
				in.Write(slices.Concat(c.Input.Raw(), []byte("\n")))
			}
			p := newProcess(t)
			p.In = &in
			want := 0
			if slices.ContainsFunc(cases, throws) {
				want = 2
			}
			if code := p.Run([]string{"step", tt.stage, "--jsonl", "--pipeline-version", "llamabrain-v1"}); code != want {
				t.Fatalf("exit code %d, want %d: %s", code, want, p.errs.String())
			}
			answers := bytes.Split(bytes.TrimSuffix(p.out.Bytes(), []byte("\n")), []byte("\n"))
			if len(answers) != len(cases) {
				t.Fatalf("%d answers to %d vectors", len(answers), len(cases))
			}
			for i, c := range cases {
				t.Run(c.Name, func(t *testing.T) {
					if !throws(c) {
						pipelinetest.Compare(t, answers[i], c.Expected)
					} else if !bytes.HasPrefix(answers[i], []byte(`{"error":{"code":"pipeline.invalid_input",`)) {
						t.Errorf("%s, want an error", answers[i])
					}
				})
			}
		})
	}
}

// throws tells whether LlamaBrain has no answer to a vector: it stopped with an exception.
func throws(c pipelinetest.Case) bool {
	_, ok := c.Expected.Get("throws")
	return ok
}
