package pipeline_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

func fixture(f *testing.F, kind string) []pipelinetest.Case {
	f.Helper()
	return pipelinetest.Read(f, pipelinetest.Root(f)+"/fixtures/pipeline/"+kind+".json")
}

// Any output is parsed twice alike in every mode, and an answer that is dialogue has some.
func FuzzParse(f *testing.F) {
	for _, c := range fixture(f, "output_parser") {
		raw, _ := c.Input.Get("raw")
		text, _ := raw.Text()
		f.Add(text, true, true, uint8(len(text)))
	}
	f.Add("[MEMORY: \xed\xa0\xbd] ```json```", false, false, uint8(255))
	f.Fuzz(func(t *testing.T, raw string, truncated, structured bool, flags uint8) {
		c := pipeline.DefaultParserConfig()
		c.EnforceSingleLine, c.RemoveStageDirections, c.RemoveScriptDirections = flags&1 > 0, flags&2 > 0, flags&4 > 0
		c.RemoveSpeakerLabels, c.ExtractStructuredData, c.TrimToCompleteSentence = flags&8 > 0, flags&16 > 0, flags&32 > 0
		for _, v := range []pipeline.Version{pipeline.DMPLv1, pipeline.LlamaBrainV1} {
			for _, parse := range []func() (pipeline.ParsedOutput, error){
				func() (pipeline.ParsedOutput, error) { return pipeline.Parse(raw, truncated, c, v) },
				func() (pipeline.ParsedOutput, error) { return pipeline.ParseStructured(raw, c, v) },
				func() (pipeline.ParsedOutput, error) { return pipeline.ParseAuto(raw, structured, c, v) },
			} {
				first, err := parse()
				again, errAgain := parse()
				if !reflect.DeepEqual(first, again) || (err == nil) != (errAgain == nil) {
					t.Fatalf("%q: %+v (%v), then %+v (%v)", raw, first, err, again, errAgain)
				}
				if err == nil && (first.Success == (first.Error != nil) || !first.Success && (first.Dialogue != "" || first.Mutations != nil || first.Intents != nil)) {
					t.Fatalf("%q: %+v", raw, first)
				}
				if v == pipeline.LlamaBrainV1 && err == nil && first.Success && dotnet.Blank(first.Dialogue) {
					t.Fatalf("%q: no dialogue", raw)
				}
			}
		}
	})
}

// Any input of the gate gives an error or an answer, the same each time: passed without failures and with all intents, or
// failed with none.
func FuzzGate(f *testing.F) {
	for _, kind := range []string{"validation_gate", "gate_stages"} {
		for _, c := range fixture(f, kind) {
			f.Add([]byte(c.Input.Raw()))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		input, err := canon.ParseAs(canon.DBL, data)
		if err != nil {
			return
		}
		for _, v := range []pipeline.Version{pipeline.DMPLv1, pipeline.LlamaBrainV1} {
			stage := pipeline.GateStage(v)
			first, err := stage(input)
			var e *pipeline.Error
			if errors.As(err, &e) && e.Code == pipeline.CodeRegexTimeout {
				return
			}
			again, errAgain := stage(input)
			if string(first) != string(again) || (err == nil) != (errAgain == nil) {
				t.Fatalf("%s (%v), then %s (%v)", first, err, again, errAgain)
			}
			if err != nil {
				continue
			}
			var got struct {
				Passed, HasCriticalFailure, ShouldRetry bool
				Failures, ApprovedIntents               []json.RawMessage
			}
			if err := json.Unmarshal(first, &got); err != nil {
				t.Fatalf("%v in %s", err, first)
			}
			if got.Passed != (len(got.Failures) == 0) || !got.Passed && len(got.ApprovedIntents) > 0 || got.Passed && (got.HasCriticalFailure || got.ShouldRetry) {
				t.Fatalf("%s", first)
			}
		}
	})
}
