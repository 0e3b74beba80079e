package pipeline_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// Any document gives an answer that is JSON, twice the same, or an error: every stage is behind this one.
func FuzzTurnStage(f *testing.F) {
	for _, kind := range []string{"chain", "filters"} {
		for _, c := range pipelinetest.Read(f, filepath.Join(pipelinetest.Root(f), "fixtures", "pipeline", kind+".json")) {
			f.Add(c.Input.Raw(), true)
			f.Add(c.Input.Raw(), false)
		}
	}
	f.Add([]byte(`{"recordedOutputs":[{"text":"a"}],"candidates":{"belief":[{"record_id":"a","score":1}]}}`), true)
	f.Add([]byte(`{"recordedOutput":"Hi.","mode":"cache","kvCacheConfig":{"Boundary":3},"retrievalConfig":{"RecencyHalfLifeTicks":1}}`), false)
	f.Fuzz(func(t *testing.T, data []byte, upstream bool) {
		input, err := canon.ParseAs(canon.DBL, data)
		if err != nil {
			return
		}
		v := pipeline.DMPLv1
		if upstream {
			v = pipeline.LlamaBrainV1
		}
		first, err := pipeline.TurnStage(v)(input)
		second, again := pipeline.TurnStage(v)(input)
		if (err == nil) != (again == nil) || !bytes.Equal(first, second) {
			t.Fatalf("two answers: %s, %v\n%s, %v", first, err, second, again)
		}
		if err == nil && !json.Valid(first) {
			t.Fatalf("no JSON: %s", first)
		}
	})
}
