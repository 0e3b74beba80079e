// Package execute runs the turns of a native run from its documents and the model's answers, and gives what the run records of
// itself: events with the digests of their stages, retrieval rows, the commit, the output (CONTRACT P1, P7, E10). It calls no
// model, writes no file and reads no clock, so that equal documents and answers give equal records.
package execute

import (
	"errors"
	"fmt"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/thread"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Options say what a run is, besides its documents.
type Options struct {
	RunID       string
	WorkflowID  string
	Visibility  string // off, read_only or buffered_write; live_read_write with Live alone
	ModelConfig []byte // of the envelope and of each output (D4)
	KeepPrompts bool
	Refusal     memory.AbortReason // why the store refused the recorded commit; empty where it did not: outside of what can be computed
	Store       Store              // where a run commits to now; nil: its commit stands in its record alone
	Live        Live               // what a live_read_write run reads and writes; nil for every other
}

// The visibility modes (M2). live_read_write is executed on a live memory only: nothing about it can be repeated.
const (
	Off           = string(memory.VisibilityOff)
	ReadOnly      = string(memory.ReadOnly)
	BufferedWrite = string(memory.BufferedWrite)
	LiveReadWrite = string(memory.LiveReadWrite)
)

// Store is a memory that other runs commit to as well. Its errors end the execution.
type Store interface {
	// Write buffers what a turn wrote (M3), nothing too: the run is at work.
	Write(writes []memory.Write) error
	// Commit applies what is buffered, or aborts it for a reason that is known before the store is asked.
	Commit(commitID, fingerprint string, reason memory.AbortReason, detail string) (Committed, error)
}

// Committed is what a store made of a commit (M4, M5).
type Committed struct {
	Reason   memory.AbortReason // why it was aborted; empty where it was applied
	Snapshot string             // that the commit made, or made before
}

// Live is a memory that changes while a run reads it. Its errors end the execution.
type Live interface {
	// Head gives the memory as it stands. Nobody changes what it gave.
	Head() (memory.State, error)
	// Write applies what a turn wrote, at once, and gives the memory after it.
	Write(turn int, writes []memory.Write) (memory.State, error)
}

// ErrNone says that a source has no answer.
var ErrNone = errors.New("there is no answer")

// Output is what the model answered.
type Output struct {
	Text      string
	Truncated bool // the provider cut it
}

// Call is a tool call that an answer asks for.
type Call struct {
	Turn, Attempt, Number int
	Tool                  string
	Args                  []byte // a JSON object
}

// CallResult is what a tool answered, both as JSON. SideEffects is nil where it had none.
type CallResult struct {
	Result, SideEffects []byte
}

// Source is what lies outside of a run: the model and the tools, live or recorded. Both methods give ErrNone where there is no
// answer, so that the turn cannot go on; any other error ends the execution.
type Source interface {
	Output(turn, attempt int, prompt string) (Output, error)
	Call(c Call) (CallResult, error)
}

// Sink takes what a run records. Events and rows are valid during the call. Lines are those of the files that an execution makes: outputs, tool results, prompts. A sink
// that has no use for a line does not ask for its text.
type Sink interface {
	Event(event []byte, rows ...[]byte) error
	Line(file string, text func() []byte) error
}

// The files whose lines an execution makes.
const (
	OutputsFile     = "outputs.jsonl"
	ToolResultsFile = "tool_results.jsonl"
	PromptsFile     = "prompts.jsonl"
)

// Error says which document cannot be executed.
type Error struct {
	Path, Pointer, Detail string
}

// Error gives one line.
func (e *Error) Error() string {
	return fmt.Sprintf("%s%s: %s", e.Path, map[bool]string{true: " at " + e.Pointer}[e.Pointer != ""], e.Detail)
}

// Run is a run while its turns are executed, one after the other. It is for one goroutine.
type Run struct {
	o          Options
	sink       Sink
	documents  *trace.Recording
	snapshotID string
	start      memory.State // P6: what every turn reads
	startSum   canon.Sum
	config     pipeline.TurnConfig
	context    *thread.Config // nil where turns declare no references
	policies   *memory.PolicySet
	buffer     memory.Buffer
	written    *memory.Written // the start with what is buffered; nil before the first write
	scene      pipeline.Scene
	digests    pipeline.Digester
	events     int
	rows       int
	event      *document.Writer // of every event
	ranked     []rowWriter      // of the rows of a turn, by kind
	turn       turn             // the one that is executed
	refused    bool             // a turn did not pass the gate
	last       ending           // of the last turn
}

// ending is what a turn came to.
type ending struct {
	dialogue string
	failure  string // of on_turn_failure; empty for none
}

// Begin starts a run from its snapshot, configuration, policies and profiles. The turns, outputs and tool results of the
// recording are not read: they are given turn by turn. The error is an *Error.
func Begin(documents *trace.Recording, o Options, sink Sink) (*Run, error) {
	r := &Run{o: o, sink: sink, documents: documents, event: document.NewWriter(document.Style{})}
	switch live := o.Visibility == LiveReadWrite; {
	case !live && o.Visibility != Off && o.Visibility != ReadOnly && o.Visibility != BufferedWrite:
		return nil, fmt.Errorf("visibility %q is none of off, read_only, buffered_write", o.Visibility)
	case live && o.Live == nil:
		return nil, errors.New("live_read_write needs a memory that is there: what such a run read is nowhere recorded, and it cannot be made again")
	}
	snapshot := document.Open(documents.Snapshot.Value)
	r.snapshotID = snapshot.Text("memory_snapshot_id", "")
	r.start = memory.ReadSnapshot(snapshot)
	if err := fault(documents.Snapshot, snapshot.Err()); err != nil {
		return nil, err
	}
	var err error
	if r.startSum, err = r.start.Digest(); err != nil {
		return nil, fault(documents.Snapshot, err)
	}
	if err := r.configure(); err != nil {
		return nil, err
	}
	return r, fault(documents.Snapshot, r.buffer.Open(o.RunID, r.snapshotID))
}

// configure reads configuration and policies. P2: native runs have dmpl-v1.
func (r *Run) configure() error {
	at := r.documents.Config
	o := document.Open(at.Value)
	if o.Text("pipeline_version", "") != memory.DMPLv1.String() {
		o.Fail("pipeline_version", "expected "+memory.DMPLv1.String()+", the version that native runs have")
	}
	r.config = pipeline.ReadRunConfig(o, memory.DMPLv1)
	if err := fault(at, o.Err()); err != nil {
		return err
	}
	if context, ok := at.Value.Get("context"); ok {
		c, err := thread.ParseConfig(context)
		if err != nil {
			return fault(trace.Document{Path: at.Path, At: "/context"}, err)
		}
		r.context = &c
	}
	var err error
	if r.policies, err = memory.ReadPolicySet(r.documents.Policies.Value.Raw(), memory.NoHook); err != nil {
		return fault(r.documents.Policies, err)
	}
	p := document.Open(r.documents.Policies.Value)
	r.config.Policies = pipeline.ReadRetrievalPolicies(p, "retrieval", memory.DMPLv1)
	return fault(r.documents.Policies, p.Err())
}

// fault gives an error its document: nil for none.
func fault(d trace.Document, err error) error {
	if err == nil {
		return nil
	}
	var inDocument *document.Error
	var inThread *thread.Error
	var inPipeline *pipeline.Error
	switch {
	case errors.As(err, &inDocument):
		return &Error{d.Path, d.At + inDocument.Pointer, inDocument.Detail}
	case errors.As(err, &inThread):
		return &Error{d.Path, d.At + inThread.Pointer, inThread.Code + ": " + inThread.Detail}
	case errors.As(err, &inPipeline):
		return &Error{d.Path, d.At + inPipeline.Pointer, inPipeline.Code + ": " + inPipeline.Detail}
	}
	return &Error{d.Path, d.At, err.Error()}
}

// StartDigest gives the digest of the state that a run starts from (P2 g). The error is an *Error.
func StartDigest(r *trace.Recording) (canon.Sum, error) {
	o := document.Open(r.Snapshot.Value)
	state := memory.ReadSnapshot(o)
	if err := o.Err(); err != nil {
		return canon.Sum{}, fault(r.Snapshot, err)
	}
	sum, err := state.Digest()
	return sum, fault(r.Snapshot, err)
}
