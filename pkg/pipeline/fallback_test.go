package pipeline_test

import (
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
	"github.com/dmpl/dmpl/pkg/thread"
)

// pickFallback is the Stage of the fallback: `config`, `context`, `failureReason`, `triggerFallbacks` and `recorded` in,
// the response and what is counted out.
func pickFallback(v pipeline.Version) thread.Stage {
	return func(input canon.Value) ([]byte, error) {
		o := document.Open(input)
		q := pipeline.FallbackQuery{
			Trigger:  o.Texts("triggerFallbacks"),
			Reason:   pipeline.ReadTriggerReason(o.Object("context"), "TriggerReason"),
			Recorded: o.OptionalText("recorded"),
		}
		c := pipeline.ReadFallbackConfig(o, "config")
		key := pipeline.FailureKey(o.OptionalText("failureReason"))
		if err := o.Err(); err != nil {
			return nil, err
		}
		f, err := c.Pick(q, v)
		if err != nil {
			return nil, err
		}
		emergencies := int64(0)
		if f.Emergency {
			emergencies = 1
		}
		w := document.NewWriter(document.Style{})
		w.Object("", func() {
			w.Text("response", f.Text)
			w.Integer("totalFallbacks", 1)
			w.Integer("emergencyFallbacks", emergencies)
			w.Object("byFailureReason", func() { w.Integer(key, 1) })
		})
		return w.Bytes(), nil
	}
}

// llamabrain.md §8: the response of every vector, under both versions: each list of the vectors has one text.
func TestFallbackVectors(t *testing.T) {
	for _, v := range []pipeline.Version{pipeline.LlamaBrainV1, pipeline.DMPLv1} {
		t.Run(v.String(), func(t *testing.T) { pipelinetest.EachStage(t, "fallback", 16, pickFallback(v)) })
	}
}

func TestRecordedFallbackMustBeOfItsList(t *testing.T) {
	second, other := "Could you repeat that?", "Hello there."
	c := pipeline.DefaultFallbackConfig()
	for _, v := range []pipeline.Version{pipeline.LlamaBrainV1, pipeline.DMPLv1} {
		if f, err := c.Pick(pipeline.FallbackQuery{Recorded: &second}, v); err != nil || f.Text != second {
			t.Errorf("%s: %+v (%v)", v, f, err)
		}
		if f, err := c.Pick(pipeline.FallbackQuery{Recorded: &other}, v); err == nil || !strings.Contains(err.Error(), "none of its list") {
			t.Errorf("%s: %+v (%v)", v, f, err)
		}
	}
}

func TestFailureKeyIsCutInUTF16Units(t *testing.T) {
	long := strings.Repeat("x", 99) + "\U0001F600"
	for reason, want := range map[string]string{"": "", "short": "short", long: strings.Repeat("x", 99) + "\xed\xa0\xbd"} {
		if got := pipeline.FailureKey(&reason); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := pipeline.FailureKey(nil); got != "Unknown" {
		t.Errorf("%q, want Unknown", got)
	}
}
