package record

import (
	"context"
	"errors"
	"fmt"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Shared places a run on a store: a memory that other runs read and commit to at the same time (M1 to M5).
type Shared struct {
	Store *memory.Store
	// Start is the id of the start snapshot. Where it is empty that is the one of Documents.Snapshot; without such a document the
	// one that this run had before, so that its second commit is known to be one (M5); else the newest.
	Start string
	// Access says what the surroundings allow (M2). The mode is that of the Settings.
	Access memory.Access
}

// CreateOn is Create for a run that starts from a store and commits to it. Documents.Snapshot may be empty; where it is not, it
// must be what the store has. Nothing is written to the store before Turn but that the run is open. A refusal of the store is a
// *memory.BufferError.
func CreateOn(ctx context.Context, shared Shared, dir string, s Settings, d Documents) (*Recorder, error) {
	shared.Access.Mode = s.Visibility
	mode, err := shared.Access.Visibility()
	if err != nil {
		return nil, err
	}
	s.Visibility = string(mode)
	on := &session{ctx: ctx, store: shared.Store, runID: s.RunID, mode: mode}
	if err := on.begin(shared.Start, &d.Snapshot); err != nil {
		return nil, err
	}
	r, err := create(dir, s, d, on)
	if err != nil {
		return nil, errors.Join(err, on.leave())
	}
	return r, nil
}

// session is a run on its store.
type session struct {
	ctx      context.Context
	store    *memory.Store
	storeID  string
	runID    string
	mode     memory.Visibility
	start    string
	policies *memory.PolicySet // of a live run
	open     bool
	repeated bool
	refusal  string
}

// begin captures the start snapshot, and opens the buffer of a run that has one (M1, M3). Given is what the caller takes for
// the snapshot; it becomes what the store has.
func (n *session) begin(start string, given *Text) error {
	about, err := n.store.About(n.ctx)
	if err != nil {
		return err
	}
	n.storeID = about.StoreID
	stated, err := statedSnapshot(*given)
	if err != nil {
		return err
	}
	if start == "" {
		start = stated.id
	}
	var refused *memory.BufferError
	if n.start, err = n.choose(start); errors.As(err, &refused) && stated.id != "" && refused.Code == memory.CodeUnknownSnapshot {
		return notTheStores(*given, refused.Detail)
	}
	if err != nil {
		return err
	}
	if n.mode == memory.BufferedWrite {
		run, err := n.store.Open(n.ctx, n.runID, n.start)
		if err != nil {
			return err
		}
		n.start, n.open = run.Start, true
	}
	return n.read(stated, given)
}

// choose gives the id of the start snapshot. A run that was committed before is repeated from where it started: from elsewhere it
// would have another commit id, and what it writes would be there twice (D7, M5).
func (n *session) choose(start string) (string, error) {
	known, err := n.store.Run(n.ctx, n.runID)
	switch {
	case err != nil:
		return "", err
	case n.mode == memory.BufferedWrite && known.State == memory.CommitApplied:
		if start != "" && start != known.Start {
			return "", &memory.BufferError{
				Code:   memory.CodeTransition,
				Detail: fmt.Sprintf("the run %q was committed from the snapshot %s: from %s it is another run, and needs another id", n.runID, known.Start, start),
			}
		}
		return known.Start, nil
	}
	row, err := n.store.Snapshot(n.ctx, start)
	return row.ID(), err
}

// stated is a snapshot that the caller has.
type stated struct {
	id  string
	sum canon.Sum
}

func statedSnapshot(given Text) (stated, error) {
	if len(given.JSON) == 0 {
		return stated{}, nil
	}
	doc, err := Read("memory.snapshot.v1", given)
	if err != nil {
		return stated{}, err
	}
	o := document.Open(doc.Value)
	state := memory.ReadSnapshot(o)
	var wrong *document.Error
	if errors.As(o.Err(), &wrong) {
		return stated{}, &execute.Error{Path: given.Path, Pointer: wrong.Pointer, Detail: wrong.Detail}
	}
	sum, err := state.Digest()
	return stated{doc.Field("/memory_snapshot_id").Text(), sum}, err
}

// notTheStores says that a snapshot that the caller has is not one of the store.
func notTheStores(given Text, why string) error {
	return &memory.BufferError{
		Code: memory.CodeUnknownSnapshot, Detail: fmt.Sprintf("%s: %s: leave the file out to start from the newest that the store has", given.Path, why),
	}
}

// read takes the start snapshot out of the store, and holds the one that the caller has to it.
func (n *session) read(caller stated, given *Text) error {
	state, err := n.store.State(n.ctx, n.start)
	if err != nil {
		return errors.Join(err, n.leave())
	}
	if caller.id != "" {
		sum, err := state.Digest()
		if err == nil && (caller.id != n.start || sum != caller.sum) {
			err = notTheStores(*given, "the store's snapshot "+n.start+" is another memory")
		}
		if err != nil {
			return errors.Join(err, n.leave())
		}
	}
	*given = Text{Path: "snapshot.json", JSON: Snapshot(n.start, state)}
	return nil
}

// Snapshot writes a state as a snapshot, memory.snapshot.v1.
func Snapshot(id string, s memory.State) []byte {
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		w.Text("schema_version", "memory.snapshot.v1")
		w.Text("memory_snapshot_id", id)
		memory.WriteSnapshot(w, s)
	})
	return w.Bytes()
}

// leave discards the buffer of a run that was not committed. What is left open by a crash is discarded by recovery (M6).
func (n *session) leave() error {
	if n == nil || !n.open {
		return nil
	}
	n.open = false
	_, err := n.store.Discard(context.WithoutCancel(n.ctx), n.runID)
	return err
}

// serve lets an execution write to the store.
func (n *session) serve(o *execute.Options, policies trace.Document) (err error) {
	o.Refusal = ""
	switch n.mode {
	case memory.BufferedWrite:
		o.Store = n
	case memory.LiveReadWrite:
		o.Live = liveSession{n}
		if n.policies, err = memory.ReadPolicySet(policies.Value.Raw(), memory.NoHook); err != nil {
			err = unreadable(Text{Path: policies.Path}, err)
		}
	}
	return err
}

// Write implements execute.Store.
func (n *session) Write(writes []memory.Write) error {
	_, err := n.store.Write(n.ctx, n.runID, writes...)
	return err
}

// Commit implements execute.Store.
func (n *session) Commit(commitID, fingerprint string, reason memory.AbortReason, detail string) (execute.Committed, error) {
	if n.refusal = ""; reason != "" {
		n.refusal = detail
		_, err := n.store.Reject(n.ctx, n.runID, commitID, fingerprint, reason, detail)
		n.open = err != nil
		return execute.Committed{Reason: reason}, err
	}
	out, err := n.store.Commit(n.ctx, n.runID, commitID, fingerprint)
	var refused *memory.BufferError
	if errors.As(err, &refused) && out.Run.State == memory.CommitAborted {
		n.open, n.refusal = false, refused.Detail
		return execute.Committed{Reason: out.Run.Reason}, nil
	}
	n.open, n.repeated = err != nil, out.Repeated
	return execute.Committed{Snapshot: out.Snapshot}, err
}
