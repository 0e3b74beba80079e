package pipeline_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/golden"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
	"github.com/dmpl/dmpl/pkg/thread"
)

// digested are the stages whose answers to the vectors are pinned, by kind of vector.
var digested = []struct {
	kind  string
	stage func(pipeline.Version) thread.Stage
}{
	{"retrieval", pipeline.RetrieveStage},
	{"filters", pipeline.RetrieveStage},
	{"working_memory", pipeline.BoundStage},
	{"prompt_assembly", pipeline.AssembleStage},
	{"output_parser", pipeline.ParseStage},
	{"validation_gate", pipeline.GateStage},
	{"mutations", pipeline.MutateStage},
	{"chain", pipeline.TurnStage},
	{"memory_ops", func(v pipeline.Version) thread.Stage { return memory.Step(v) }},
}

// Bit-identical on every platform and in every environment: `make cross` runs this test on four of the one and in several
// of the other. A line is a kind of vector, a version or profile, and the SHA-256 of all answers.
func TestAnswersHaveTheirDigestsEverywhere(t *testing.T) {
	var list strings.Builder
	line := func(kind, by string, cases int, sum [32]byte) {
		fmt.Fprintf(&list, "%s %s %d %x\n", kind, by, cases, sum)
	}
	for _, d := range digested {
		cases := pipelinetest.Read(t, filepath.Join(pipelinetest.Root(t), "fixtures", "pipeline", d.kind+".json"))
		for _, v := range []pipeline.Version{pipeline.DMPLv1, pipeline.LlamaBrainV1} {
			line(d.kind, v.String(), len(cases), digestOfAnswers(d.stage(v), cases))
		}
		for _, p := range []canon.Profile{canon.JSONv1, canon.JCS, canon.PySorted, canon.DBL} {
			line(d.kind, p.String(), len(cases), digestOfInputs(p, cases))
		}
	}
	sum, files := sideBySideDigest(t)
	line("side_by_side", "both", files, sum)
	line("half", "binary64", halves, digestOfHalves())
	golden.Assert(t, "testdata/digests.txt", []byte(list.String()))
}

// digestOfAnswers covers what a stage answers, and the reasons why it does not.
func digestOfAnswers(stage thread.Stage, cases []pipelinetest.Case) (sum [32]byte) {
	all := sha256.New()
	for _, c := range cases {
		answer, err := stage(c.Input)
		fmt.Fprintf(all, "%s\n%s\n%v\n", c.Name, answer, err)
	}
	return [32]byte(all.Sum(nil))
}

func digestOfInputs(p canon.Profile, cases []pipelinetest.Case) (sum [32]byte) {
	all := sha256.New()
	for _, c := range cases {
		digest, err := canon.Digest(p, c.Input.Raw())
		fmt.Fprintf(all, "%s %s %v\n", c.Name, digest.Hex(), err)
	}
	return [32]byte(all.Sum(nil))
}

func sideBySideDigest(t *testing.T) (sum [32]byte, files int) {
	t.Helper()
	dir := filepath.Join(pipelinetest.Root(t), "fixtures", "pipeline", "dmpl-v1")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := sha256.New()
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		c := parseDBL(t, data)
		name, _ := c.Get("stage")
		text, _ := name.Text()
		input, _ := c.Get("input")
		for _, v := range []pipeline.Version{pipeline.DMPLv1, pipeline.LlamaBrainV1} {
			answer, err := sideBySideStages[text](v)(input)
			fmt.Fprintf(all, "%s\n%s\n%v\n", e.Name(), answer, err)
		}
	}
	return [32]byte(all.Sum(nil)), len(entries)
}

const halves = 100_000

func digestOfHalves() [32]byte {
	all := sha256.New()
	for i := range halves {
		x := pipeline.Half(float64(int64(i)*int64(i)) / 1234567)
		all.Write(binary.BigEndian.AppendUint64(nil, math.Float64bits(x)))
	}
	return [32]byte(all.Sum(nil))
}
