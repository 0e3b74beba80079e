package pipeline_test

import (
	"encoding/json"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// Any input gives an error or an answer that is JSON, the same each time, and whose measures are those of its text.
func FuzzAssemble(f *testing.F) {
	for _, c := range pipelinetest.Read(f, pipelinetest.Root(f)+"/fixtures/pipeline/prompt_assembly.json") {
		f.Add([]byte(c.Input.Raw()))
	}
	f.Add([]byte(`{"mode":"cache","npcName":"\ud83d","snapshot":{"systemPrompt":"\ude00","beliefs":["\ud83d"],"references":["",""]}}`))
	f.Add([]byte(`{"assemblerConfig":{"CharsPerToken":0.001,"MaxPromptTokens":2147483647,"ReserveResponseTokens":-2147483648}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		input, err := canon.ParseAs(canon.DBL, data)
		if err != nil {
			return
		}
		for _, v := range []pipeline.Version{pipeline.DMPLv1, pipeline.LlamaBrainV1} {
			for _, stage := range []func(canon.Value) ([]byte, error){pipeline.AssembleStage(v), pipeline.BoundStage(v)} {
				first, err := stage(input)
				again, errAgain := stage(input)
				if string(first) != string(again) || (err == nil) != (errAgain == nil) {
					t.Fatalf("two answers: %s (%v), %s (%v)", first, err, again, errAgain)
				}
				if err == nil {
					holdMeasures(t, first)
				}
			}
		}
	})
}

func holdMeasures(t *testing.T, answer []byte) {
	t.Helper()
	if !json.Valid(answer) {
		t.Fatalf("no JSON: %s", answer)
	}
	v, err := canon.ParseAs(canon.DBL, answer)
	if err != nil {
		t.Fatal(err)
	}
	member, ok := v.Get("text")
	if !ok {
		return
	}
	text, _ := member.Text()
	count, _ := v.Get("characterCount")
	if n, _ := canon.Integer(count.Raw()); n != int64(dotnet.Len(text)) {
		t.Fatalf("%s characters, the text has %d", count.Raw(), dotnet.Len(text))
	}
	stated, _ := v.Get("sha256Base64")
	if sum, _ := stated.Text(); sum != base64SHA256(text) {
		t.Fatalf("digest %s is not that of the text", sum)
	}
}
