package replay

import (
	"fmt"

	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Stored is what a store says of a recorded run: its start snapshot and its commit, each looked up by id (M1, M5).
type Stored struct {
	StoreID  string
	Snapshot *trace.Document  // nil where the store has none of this id
	Lacks    string           // why it has none
	Run      memory.Run       // NoBuffer where the store knows none of this id
	Made     *memory.Snapshot // that the commit made; nil where none of this id was applied
}

// startsFromStore says that the store's start snapshot is the recorded one, so that the replay takes the store's.
func (r *replayed) startsFromStore() bool {
	s := r.o.Stored
	if s == nil || s.Snapshot == nil {
		return false
	}
	recorded, errRecorded := execute.StartDigest(r.recorded.Recording)
	kept, errKept := execute.StartDigest(&trace.Recording{Snapshot: *s.Snapshot})
	return errRecorded == nil && errKept == nil && recorded == kept
}

// stored holds the recording to its store: the start snapshot, and what became of the commit. Other runs' commits do not matter.
func (r *replayed) stored() (fs []finding.Finding, checks []finding.Check) {
	s := r.o.Stored
	if s == nil {
		return nil, nil
	}
	t := r.recorded
	check := func(id string, found []finding.Finding) {
		c := finding.Check{ID: id, Status: finding.Passed, Count: 1}
		for _, f := range found {
			switch {
			case finding.Lookup(f.Code).Effect == finding.Differs:
				c.Status = finding.Failed
			case f.Severity == finding.Error && c.Status == finding.Passed:
				c.Status, c.Reason = finding.NotChecked, f.Detail
			}
		}
		fs, checks = append(fs, found...), append(checks, c)
	}
	id := t.Recording.Manifest.Field("/store_id")
	if id.Ok() && !id.Is(s.StoreID) {
		f := r.aboutStore(finding.ReplayStoreOther, t.Recording.Manifest, "/store_id", "the run was recorded on another store")
		f.Expected, f.Actual = finding.Value(id.Raw), quotedText(s.StoreID)
		check("M1.store", []finding.Finding{f})
		return fs, checks
	}
	check("M1.store_snapshot", r.storedSnapshot(s))
	commit := t.Recording.Commit
	switch {
	case !commit.Ok():
		checks = append(checks, finding.Check{ID: "M5.store_commit", Status: finding.NotApplicable, Count: 1, Reason: "the run has no commit"})
	case r.o.Until != All:
		checks = append(checks, finding.Check{ID: "M5.store_commit", Status: finding.NotChecked, Count: 1, Reason: "a part of the run was replayed"})
	default:
		check("M5.store_commit", r.storedCommit(s, commit))
	}
	return fs, checks
}

func (r *replayed) aboutStore(code finding.Code, d trace.Document, pointer, format string, args ...any) finding.Finding {
	f := finding.New(code)
	f.Artifact, f.Pointer, f.Hint = d.Path, d.At+pointer, finding.Lookup(code).Action
	f.Detail = fmt.Sprintf(format, args...)
	return f
}

func (r *replayed) storedSnapshot(s *Stored) []finding.Finding {
	snapshot := r.recorded.Recording.Snapshot
	switch {
	case s.Snapshot == nil:
		return []finding.Finding{r.aboutStore(finding.ReplayStoreSnapshotMissing, snapshot, "/memory_snapshot_id", "%s", s.Lacks)}
	case r.startsFromStore():
		return nil
	}
	f := r.aboutStore(finding.ReplayStoreSnapshotDiffers, snapshot, "/records", "the start snapshot is not what the store has under its id")
	for _, side := range []struct {
		from *trace.Recording
		to   *finding.Value
	}{{r.recorded.Recording, &f.Expected}, {&trace.Recording{Snapshot: *s.Snapshot}, &f.Actual}} {
		if sum, err := execute.StartDigest(side.from); err == nil {
			*side.to = quotedText(sum.Hex())
		}
	}
	return []finding.Finding{f}
}

// storedCommit compares what the run says of its commit with what the store says of it.
func (r *replayed) storedCommit(s *Stored, commit trace.Document) []finding.Finding {
	about := func(code finding.Code, pointer, actual, format string, args ...any) []finding.Finding {
		f := r.aboutStore(code, commit, pointer, format, args...)
		f.EventIndex = r.commitEvent()
		f.Expected, f.Actual = finding.Value(commit.Field(pointer).Raw), quotedText(actual)
		return []finding.Finding{f}
	}
	id := commit.Field("/commit_id")
	ours := s.Run.CommitID != "" && id.Is(s.Run.CommitID)
	applied := commit.Field("/buffer_state").Is(string(memory.CommitApplied))
	switch {
	case applied && s.Made != nil:
		return r.storedPayload(s, commit, about)
	case ours && s.Run.State == memory.CommitAborted && !applied:
		if !commit.Field("/reason_code").Is(string(s.Run.Reason)) {
			return about(finding.ReplayStoreCommitEnded, "/reason_code", string(s.Run.Reason), "the store aborted the commit for another reason")
		}
		if !commit.Field("/commit_payload_fingerprint").Is(s.Run.Fingerprint) {
			return about(finding.ReplayStoreCommitDiffers, "/commit_payload_fingerprint", s.Run.Fingerprint, "the store aborted another payload under this commit id")
		}
		return nil
	case ours && s.Run.State == memory.CommitAborted, s.Made != nil:
		ended := string(memory.CommitApplied)
		if s.Made == nil {
			ended = string(s.Run.State)
		}
		return about(finding.ReplayStoreCommitEnded, "/buffer_state", ended, "the commit ended otherwise in the store")
	case s.Run.State == memory.BufferOpen, s.Run.State == memory.CommitPending:
		return about(finding.ReplayStoreCommitPending, "/buffer_state", string(s.Run.State), "the run has not ended in the store")
	}
	f := r.aboutStore(finding.ReplayStoreCommitMissing, commit, "/commit_id", "the store knows no commit of this id")
	f.EventIndex, f.Actual = r.commitEvent(), finding.Value(id.Raw)
	return []finding.Finding{f}
}

// storedPayload compares a commit that both say was applied.
func (r *replayed) storedPayload(s *Stored, commit trace.Document, about func(finding.Code, string, string, string, ...any) []finding.Finding) []finding.Finding {
	made := commit.Field("/resulting_snapshot_id")
	switch {
	case !commit.Field("/commit_payload_fingerprint").Is(s.Made.Fingerprint):
		return about(finding.ReplayStoreCommitDiffers, "/commit_payload_fingerprint", s.Made.Fingerprint, "the store applied another payload under this commit id")
	case !commit.Field("/run_id").Is(s.Made.RunID):
		return about(finding.ReplayStoreCommitDiffers, "/run_id", s.Made.RunID, "the store applied the commit for another run")
	case made.Ok() && !made.Is(s.Made.ID()):
		return about(finding.ReplayStoreCommitDiffers, "/resulting_snapshot_id", s.Made.ID(), "the store made another snapshot of the commit")
	}
	f := note(finding.ReplayStoreCommit, "the commit made the snapshot "+s.Made.ID())
	f.Artifact, f.Pointer = commit.Path, "/commit_id"
	return []finding.Finding{f}
}

// commitEvent gives the index of the event that tells of the commit.
func (r *replayed) commitEvent() int {
	for i := range r.recorded.Events {
		e := &r.recorded.Events[i]
		if kind, ok := e.KindOf(); ok && kind.OfRun {
			return e.Index
		}
	}
	return finding.NoEvent
}
