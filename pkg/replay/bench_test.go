package replay_test

import (
	"cmp"
	"errors"
	"io"
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

// BenchmarkReplayOfTurns measures what a replay consists of, each phase alone: execution holds the pipeline, and same holds all.
// Whole is the replay of a run that is read whole, as one is that differs. DMPL_BENCH_RUN names the run; a fixture where it does not.
// The least time of one pass is what a busy machine shows too.
func BenchmarkReplayOfTurns(b *testing.B) {
	dir := cmp.Or(os.Getenv("DMPL_BENCH_RUN"), filepath.Join(native, "runs", "turns"))
	recorded, err := run.Read(dir, nil, 0)
	if err != nil {
		b.Fatal(err)
	}
	all := replay.RunOptions{Until: replay.All}
	held := func(made *replay.Replayed, err error) {
		if err != nil || made.Result.Verdict != finding.Equivalent {
			b.Fatalf("%+v: %v", made, err)
		}
	}
	for _, phase := range []struct {
		name string
		run  func()
	}{
		{"reading", func() { readTurns(b, dir, recorded.Trace) }},
		{"pipeline", func() { runPipeline(b, recorded.Trace.Recording) }},
		{"execution", func() { runExecution(b, recorded.Trace) }},
		{"same", func() { held(replaySame(dir, all)) }},
		{"whole", func() {
			r, err := run.Read(dir, nil, 0)
			if err != nil {
				b.Fatal(err)
			}
			whole := all
			whole.Findings = verify.Trace(r.Trace, r.Shape, verify.Options{InFolder: true}).Findings
			held(replay.Run(r.Trace, whole))
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

// readTurns walks through a run and makes nothing.
func readTurns(b *testing.B, dir string, recorded *trace.Trace) {
	w, err := run.StartWalk(dir, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for err == nil {
		err = w.Turn()
	}
	if !errors.Is(err, io.EOF) {
		b.Fatal(err)
	}
	for i := range recorded.Events {
		if err := w.Event(recorded.Events[i].Raw); err != nil {
			b.Fatal(err)
		}
	}
	for i := range recorded.Retrieval.Rows {
		if err := w.Row(recorded.Retrieval.Rows[i].Raw); err != nil {
			b.Fatal(err)
		}
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
