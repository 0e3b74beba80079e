package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/record"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/trace"
)

type runOptions struct {
	from        string
	files       [4]string // of runInputs that have a flag
	out         string
	chain       bool
	keepPrompts bool
	visibility  choice
	lane        string
	workflow    string
	runID       string
	limit       byteCount
	maxTrace    byteCount

	onStore
}

// runFlags are the files that a flag can name, in the order of runOptions.files.
var runFlags = [4]struct{ flag, file, what string }{
	{"snapshot", run.SnapshotFile, "start snapshot (memory.snapshot.v1); with --store also the id of one"},
	{"turns", run.TurnsFile, "turns, one a line (run.turn.v1)"},
	{"config", run.ConfigFile, "pipeline configuration (pipeline.config.v1)"},
	{"outputs", run.OutputsFile, "what the model answered, one answer a line (run.output.v1; prompt_digest may be missing)"},
}

func (a *App) runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run --from DIR --out DIR [FLAGS]",
		Short: "Execute turns with recorded model outputs, and record the run",
		Long: `run executes the deterministic stages of an agent turn by turn: references, admission, retrieval, bounds, prompt, parsing, gate,
retries, mutation, dispatch and commit. No model is called: the answers are read from a file. Inputs are the files of a native
run, under their names, in the folder --from: snapshot.json, config.json, turns.jsonl, outputs.jsonl, and where they are there
policies.json, profiles.json, tool_results.jsonl, candidates.jsonl. A recorded run is such a folder too. The recorded run
is left in --out. With --chain each turn is a run of its own that starts at the snapshot that the one before committed.

With --store the run starts from a snapshot of a memory that other runs share, the newest unless --snapshot names one, and no
snapshot.json is needed; one that is given must be what the store has. With --visibility buffered_write, in an environment
that is opted in, what it writes is buffered, judged by the commit policy, and committed there: commit.json has the snapshot
that came of it. A run that is repeated under its --run-id starts where it started before, and is applied once. Where a commit
is refused the recording stands, and the exit code is 1. A process that dies leaves a run that is cut short; the store alone
says whether its commit was applied, and the same command into another folder makes the recording whole.
--visibility live_read_write reads the newest memory at each turn and writes at once: no claim about such a run holds.`,
		Example: `  dmpl run --from inputs/ --out runs/monday
  dmpl run --snapshot s.json --turns t.jsonl --config c.json --outputs o.jsonl --out runs/monday
  dmpl run --from inputs/ --out runs/chain --chain --visibility buffered_write
  dmpl run --store sqlite:memory.db --from inputs/ --out runs/tuesday --run-id tuesday --visibility buffered_write --env ci --buffered-write ci`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return a.record(c.Context(), &o) },
	}
	c.Flags().StringVar(&o.from, "from", "", "folder of the inputs, under the names that a run has them")
	for i, f := range runFlags {
		c.Flags().StringVar(&o.files[i], f.flag, "", f.what)
	}
	c.Flags().StringVar(&o.out, "out", "", "folder of the run: empty or not there yet; required")
	c.Flags().BoolVar(&o.chain, "chain", false, "record each turn as a run of a chain")
	c.Flags().BoolVar(&o.keepPrompts, "keep-prompts", false, "keep the prompts, and not only their digests")
	addChoice(c, &o.visibility, "visibility", "what of the memory the run sees, and whether it writes", execute.ReadOnly, execute.BufferedWrite, execute.Off, execute.LiveReadWrite)
	c.Flags().StringVar(&o.lane, "lane", "default", "lane of the run: how long it is kept")
	c.Flags().StringVar(&o.workflow, "workflow", "dmpl-run", "name of the workflow: only runs of one workflow are compared")
	c.Flags().StringVar(&o.runID, "run-id", "", "id of the run; a random one where none is given")
	addDocumentLimit(c, &o.limit)
	o.maxTrace = trace.MaxRun
	c.Flags().Var(&o.maxTrace, "max-trace-bytes", "drop the events over this size of the trace, 100 MiB at most: the run is truncated then, and proves nothing")
	o.onStore.bind(c)
	return c
}

// inputs are what a run is executed from.
type inputs struct {
	documents record.Documents
	turns     []record.Text
	recording *trace.Recording // outputs, tool results and candidates
	byTurn    map[int]*trace.Recording
	model     []byte
	refusal   memory.AbortReason
	lane      run.Lane
	relabel   bool         // outputs are recorded as answers to the prompts of now, whatever they answered
	store     *sharedStore // nil for a run without one
}

func (a *App) record(ctx context.Context, o *runOptions) (err error) {
	switch {
	case o.out == "":
		return usage("Name the folder that the run is written to.", "--out is required")
	case o.maxTrace > trace.MaxRun:
		return usage("Give a smaller number.", "--max-trace-bytes %d is over the cap of a run, %d", o.maxTrace, int64(trace.MaxRun))
	case o.chain && o.visibility.value != execute.BufferedWrite:
		return usage("Add --visibility buffered_write.", "--chain hands on what a run commits, and this one would commit nothing")
	}
	if err := o.onStore.check(o.visibility.value); err != nil {
		return err
	}
	in, err := a.runInputs(o)
	if err != nil {
		return executionProblem(err)
	}
	if o.visibility.value == execute.Off && len(in.recording.Candidates) > 0 {
		return usage("Leave the file out, or let the run read.", "--visibility off reads nothing, and %s holds what a search returned", run.CandidatesFile)
	}
	id := o.runID
	if id == "" {
		id = randomID()
	}
	settings := record.Settings{
		RunID: id, WorkflowID: o.workflow, Visibility: o.visibility.value, Lane: in.lane, Created: ticks(a.Now()),
		ModelConfig: in.model, KeepPrompts: o.keepPrompts, Refusal: in.refusal, MaxTrace: int64(o.maxTrace),
	}
	if o.store != "" {
		if in.store, err = a.share(ctx, o); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, in.store.Store.Close()) }()
	}
	if o.chain {
		return executionProblem(a.recordChain(o.out, settings, in))
	}
	_, err = a.recordRun(o.out, settings, in, in.turns)
	return executionProblem(err)
}

// recordRun executes turns as one run.
func (a *App) recordRun(dir string, s record.Settings, in *inputs, turns []record.Text) (*execute.End, error) {
	r, err := in.store.create(dir, s, in.documents)
	if err != nil {
		return nil, err
	}
	defer r.Abandon()
	source := execute.NewRecorded(in.recording)
	for i, turn := range turns {
		t, err := r.Turn(turn, in.candidatesOf(i), source)
		if err == nil {
			err = in.answered(i, t)
		}
		if err != nil {
			return nil, err
		}
		if t.Failure != "" {
			fmt.Fprintf(a.Err, "dmpl: turn %d cannot go on (%s): %s\n", i, t.Failure, visible(t.Reason))
		}
	}
	if err := in.unused(source); err != nil {
		return nil, err
	}
	end, err := r.Close()
	if err != nil {
		return nil, err
	}
	c := r.Counts()
	line := fmt.Sprintf("%s: %s, %s", dir, finding.Counted(len(turns), "turn"), finding.Counted(c.Total, "event"))
	if c.Kept < c.Total {
		line += fmt.Sprintf(", %d dropped over the cap", c.Total-c.Kept)
	}
	if end.Commit != nil {
		line += ", " + string(end.Buffer.State)
		if end.Buffer.Reason != "" {
			line += " (" + string(end.Buffer.Reason) + ")"
		}
	}
	if s.Visibility == execute.LiveReadWrite {
		line += ", live: no claim about the run holds"
	}
	if end.Snapshot != "" {
		line += ", snapshot " + end.Snapshot
	}
	if r.Repeated() {
		line += ", committed before"
	}
	if _, err := fmt.Fprintln(a.Out, visible(line)); err != nil {
		return nil, outputError{err}
	}
	if why := r.Refusal(); why != "" { // the recording stands, and whoever rests on the commit must hear of it
		return nil, &memory.BufferError{Code: string(end.Buffer.Reason), Detail: fmt.Sprintf("%s is recorded, and its commit was aborted: %s", dir, why)}
	}
	return end, nil
}

// recordChain executes each turn as a run of its own, each starting at the snapshot that the one before committed (P6).
func (a *App) recordChain(dir string, s record.Settings, in *inputs) error {
	id := s.RunID
	next, err := strconv.ParseInt(in.snapshotID(), 10, 64)
	if in.store == nil && (err != nil || memory.SnapshotID(next) != in.snapshotID()) {
		return &execute.Error{
			Path: in.documents.Snapshot.Path, Pointer: "/memory_snapshot_id",
			Detail: "a chain counts its snapshots on: the id must be 20 decimal digits",
		}
	}
	s.Chain = &run.Chain{}
	for i := range in.turns {
		link, err := in.link(i)
		if err != nil {
			return err
		}
		s.RunID = fmt.Sprintf("%s-%04d", id, i)
		end, err := a.recordRun(filepath.Join(dir, fmt.Sprintf("%04d", i)), s, link, link.turns)
		switch {
		case err != nil:
			return err
		case i+1 == len(in.turns):
			return nil
		case end.Buffer.State != memory.CommitApplied:
			return fmt.Errorf("turn %d committed nothing (%s): the chain ends, with %s left", i, end.Buffer.Reason, finding.Counted(len(in.turns)-i-1, "turn"))
		}
		next++
		in.documents.Snapshot = record.Text{Path: in.documents.Snapshot.Path, JSON: record.Snapshot(memory.SnapshotID(next), end.State)}
		if in.store != nil { // where others commit as well
			in.documents.Snapshot, in.store.Start = record.Text{}, end.Snapshot
		}
		s.Chain = &run.Chain{Index: i + 1, PreviousRunID: s.RunID, PreviousCommitID: end.Buffer.CommitID}
	}
	return nil
}

// executionProblem gives an error of the execution as a problem of its file.
func executionProblem(err error) error {
	var wrong *execute.Error
	if errors.As(err, &wrong) {
		return &dialect.Problem{Code: finding.InputNotExecutable, Path: wrong.Path, Pointer: wrong.Pointer, Offset: -1, Detail: wrong.Detail}
	}
	var bad *canon.Error
	switch {
	case errors.As(err, &bad):
		return fmt.Errorf("the run cannot be written: %w", err)
	case errors.Is(err, run.ErrNotEmpty):
		return usage("Name another folder, or remove this one. A run that was stopped is no recording.", "%s", err.Error())
	}
	return storeError(err)
}

// randomID makes a run id: a UUID of version 4, lower case (P2 h).
func randomID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
