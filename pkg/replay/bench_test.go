package replay_test

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/trace"
	"github.com/dmpl/dmpl/pkg/verify"
)

// BenchmarkReplayOfTurns measures what a replay consists of, each phase alone: execution holds the pipeline, and replay holds
// execution and comparison. DMPL_BENCH_RUN names the run; a fixture where it does not. The least time of one pass is what a busy
// machine shows too.
func BenchmarkReplayOfTurns(b *testing.B) {
	dir := cmp.Or(os.Getenv("DMPL_BENCH_RUN"), filepath.Join(native, "runs", "turns"))
	read := func() *run.Run {
		r, err := run.Read(dir, nil, 0)
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	recorded := read()
	for _, phase := range []struct {
		name string
		run  func()
	}{
		{"reading", func() { read() }},
		{"verification", func() { verify.Trace(recorded.Trace, recorded.Shape, verify.Options{InFolder: true}) }},
		{"pipeline", func() { runPipeline(b, recorded.Trace.Recording) }},
		{"execution", func() { runExecution(b, recorded.Trace) }},
		{"same", func() {
			made, err := replaySame(dir, replay.RunOptions{Until: replay.All})
			if err != nil || made.Result.Verdict != finding.Equivalent {
				b.Fatalf("%v: %s", err, made.Result.Verdict)
			}
		}},
		{"replay", func() {
			made, err := replay.Run(recorded.Trace, replay.RunOptions{Until: replay.All})
			if err != nil || made.Result.Verdict != finding.Equivalent {
				b.Fatalf("%v: %s", err, made.Result.Verdict)
			}
		}},
	} {
		b.Run(phase.name, func(b *testing.B) {
			b.ReportAllocs()
			least := time.Duration(math.MaxInt64)
			for b.Loop() {
				began := time.Now()
				phase.run()
				least = min(least, time.Since(began))
			}
			b.ReportMetric(float64(least.Nanoseconds()), "least-ns/op")
		})
	}
}

// runPipeline runs the turns of a read-only run, and records nothing.
func runPipeline(b *testing.B, r *trace.Recording) {
	config := pipeline.ReadRunConfig(document.Open(r.Config.Value), memory.DMPLv1)
	config.Policies = pipeline.ReadRetrievalPolicies(document.Open(r.Policies.Value), "retrieval", memory.DMPLv1)
	start := memory.ReadSnapshot(document.Open(r.Snapshot.Value))
	var scene pipeline.Scene
	for n, doc := range r.Turns {
		in, c := pipeline.ReadRunTurn(document.Open(doc.Value), config)
		out, _ := r.Output(n, 0)
		answer := pipeline.Answer{Text: out.Field("/text").Text()}
		d, err := scene.Open(func(pipeline.Dispatched) {})
		if err != nil {
			b.Fatal(err)
		}
		system := memory.NewSystem(memory.DMPLv1, start, memory.At(in.Query.SnapshotTime), nil)
		if _, err := pipeline.RunTurn(system, &in, &c, pipeline.Recorded([]pipeline.Answer{answer}), d, memory.DMPLv1); err != nil {
			b.Fatal(err)
		}
		d.Close()
	}
}

// nowhere is a sink that keeps nothing.
type nowhere struct{}

func (nowhere) Event([]byte, ...[]byte) error    { return nil }
func (nowhere) Line(string, func() []byte) error { return nil }

func runExecution(b *testing.B, t *trace.Trace) {
	source := execute.NewRecorded(t.Recording)
	x, err := execute.Begin(t.Recording, execute.Options{
		RunID: t.RunID.Text(), WorkflowID: t.WorkflowID.Text(), Visibility: t.Visibility.Text(), ModelConfig: t.ModelConfig.Raw,
	}, nowhere{})
	if err != nil {
		b.Fatal(err)
	}
	for _, doc := range t.Recording.Turns {
		if _, err := x.Turn(doc, pipeline.Candidates{}, source); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := x.End(); err != nil {
		b.Fatal(err)
	}
}
