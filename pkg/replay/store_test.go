package replay_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/trace"
)

// saidOf gives what a store that agrees with a recording says of it.
func saidOf(t *testing.T, dir string) *replay.Stored {
	t.Helper()
	r, err := run.Read(dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	recording := r.Trace.Recording
	text := func(pointer string) string { return recording.Commit.Field(pointer).Text() }
	s := &replay.Stored{StoreID: "store-1", Snapshot: &trace.Document{Path: "the store", Value: recording.Snapshot.Value}}
	s.Run.RunID, s.Run.CommitID, s.Run.Fingerprint = text("/run_id"), text("/commit_id"), text("/commit_payload_fingerprint")
	s.Run.State, s.Run.Reason = memory.BufferState(text("/buffer_state")), memory.AbortReason(text("/reason_code"))
	if s.Run.State == memory.CommitApplied {
		s.Made = &memory.Snapshot{Number: 77, RunID: s.Run.RunID, CommitID: s.Run.CommitID, Fingerprint: s.Run.Fingerprint}
	}
	return s
}

// M1, M3 to M6: what a store says of a run has its verdict, and its code alone.
func TestAStoreVouchesForARun(t *testing.T) {
	applied, refused, reads := filepath.Join(native, "runs", "turns"), filepath.Join(native, "runs", "validation-failed"), filepath.Join(native, "runs", "single")
	for _, c := range []struct {
		what, dir string
		says      func(s *replay.Stored)
		until     int
		verdict   finding.Verdict
		code      finding.Code // of the one finding that is no note but where the verdict is equivalent; empty for none
		checks    [2]finding.Status
	}{
		{"the same", applied, func(*replay.Stored) {}, replay.All, finding.Equivalent, finding.ReplayStoreCommit, [2]finding.Status{finding.Passed, finding.Passed}},
		{"the same refusal", refused, func(*replay.Stored) {}, replay.All, finding.Equivalent, "", [2]finding.Status{finding.Passed, finding.Passed}},
		{"no commit", reads, func(*replay.Stored) {}, replay.All, finding.Equivalent, "", [2]finding.Status{finding.Passed, finding.NotApplicable}},
		{"a part", applied, func(*replay.Stored) {}, 2, finding.Equivalent, "", [2]finding.Status{finding.Passed, finding.NotChecked}},
		{"opened again since", applied, func(s *replay.Stored) { s.Run.State = memory.BufferOpen }, replay.All, finding.Equivalent, finding.ReplayStoreCommit, [2]finding.Status{finding.Passed, finding.Passed}},
		{"refused as another payload since", applied, func(s *replay.Stored) {
			s.Run.State, s.Run.Reason, s.Run.Fingerprint = memory.CommitAborted, memory.PayloadMismatch, "x"
		}, replay.All, finding.Equivalent, finding.ReplayStoreCommit, [2]finding.Status{finding.Passed, finding.Passed}},
		{"no snapshot", applied, func(s *replay.Stored) { s.Snapshot, s.Lacks = nil, "none" }, replay.All, finding.Undecided, finding.ReplayStoreSnapshotMissing, [2]finding.Status{finding.NotChecked, finding.Passed}},
		{"no commit there", applied, func(s *replay.Stored) { s.Run, s.Made = memory.Run{}, nil }, replay.All, finding.Divergent, finding.ReplayStoreCommitMissing, [2]finding.Status{finding.Passed, finding.Failed}},
		{"another commit of the run", applied, func(s *replay.Stored) { s.Run.CommitID, s.Made = "x", nil }, replay.All, finding.Divergent, finding.ReplayStoreCommitMissing, [2]finding.Status{finding.Passed, finding.Failed}},
		{"another payload", applied, func(s *replay.Stored) { s.Made.Fingerprint = "x" }, replay.All, finding.Divergent, finding.ReplayStoreCommitDiffers, [2]finding.Status{finding.Passed, finding.Failed}},
		{"another run", applied, func(s *replay.Stored) { s.Made.RunID = "x" }, replay.All, finding.Divergent, finding.ReplayStoreCommitDiffers, [2]finding.Status{finding.Passed, finding.Failed}},
		{"aborted", applied, func(s *replay.Stored) { s.Run.State, s.Made = memory.CommitAborted, nil }, replay.All, finding.Divergent, finding.ReplayStoreCommitEnded, [2]finding.Status{finding.Passed, finding.Failed}},
		{"pending", applied, func(s *replay.Stored) { s.Run.State, s.Made = memory.CommitPending, nil }, replay.All, finding.Undecided, finding.ReplayStoreCommitPending, [2]finding.Status{finding.Passed, finding.NotChecked}},
		{"applied after all", refused, func(s *replay.Stored) {
			s.Run.State, s.Made = memory.CommitApplied, &memory.Snapshot{Number: 77}
		}, replay.All, finding.Divergent, finding.ReplayStoreCommitEnded, [2]finding.Status{finding.Passed, finding.Failed}},
		{"another reason", refused, func(s *replay.Stored) { s.Run.Reason = memory.PolicyRejected }, replay.All, finding.Divergent, finding.ReplayStoreCommitEnded, [2]finding.Status{finding.Passed, finding.Failed}},
		{"another payload refused", refused, func(s *replay.Stored) { s.Run.Fingerprint = "x" }, replay.All, finding.Divergent, finding.ReplayStoreCommitDiffers, [2]finding.Status{finding.Passed, finding.Failed}},
	} {
		said := saidOf(t, c.dir)
		c.says(said)
		o := replay.RunOptions{Until: c.until, Stored: said}
		r, _ := replayRun(t, c.dir, o)
		if same := sameResult(t, c.dir, o, r); same != (c.verdict == finding.Equivalent && c.until == replay.All) {
			t.Errorf("%s: walked through: %t", c.what, same)
		}
		found := c.code == ""
		for _, f := range r.Findings {
			found = found || f.Code == c.code
			if f.Severity == finding.Error && f.Code != c.code {
				t.Errorf("%s: %s: %s", c.what, f.Code, f.Detail)
			}
		}
		if r.Verdict != c.verdict || !found {
			t.Errorf("%s: %s, want %s and %q:%s", c.what, r.Verdict, c.verdict, c.code, told(r))
		}
		for i, id := range []string{"M1.store_snapshot", "M5.store_commit"} {
			at := slices.IndexFunc(r.Checks, func(check finding.Check) bool { return check.ID == id })
			if at < 0 || r.Checks[at].Status != c.checks[i] {
				t.Errorf("%s: %s is not %s: %+v", c.what, id, c.checks[i], r.Checks)
			}
		}
	}
}

// M1: a snapshot that is another memory is said with both digests, and the run is replayed from its own.
func TestAnotherStartSnapshotIsNamed(t *testing.T) {
	dir := filepath.Join(native, "runs", "turns")
	other := runtest.Copy(t, dir, filepath.Join(t.TempDir(), "run"))
	runtest.Replace(t, other, run.SnapshotFile, "storm broke", "flood broke")
	said := saidOf(t, dir)
	said.Snapshot = saidOf(t, other).Snapshot
	r, _ := replayRun(t, dir, replay.RunOptions{Until: replay.All, Stored: said})
	if r.Verdict != finding.Divergent || len(r.Findings) != 2 || r.Findings[0].Code != finding.ReplayStoreSnapshotDiffers || string(r.Findings[0].Expected) == string(r.Findings[0].Actual) || len(r.Findings[0].Actual) != 66 {
		t.Errorf("%s:%s", r.Verdict, told(r))
	}
	marked := runtest.Copy(t, dir, filepath.Join(t.TempDir(), "run"))
	runtest.Replace(t, marked, run.ManifestFile, `"created_ticks"`, `"store_id": "store-2", "created_ticks"`)
	r, _ = replayRun(t, marked, replay.RunOptions{Until: replay.All, Stored: said})
	if r.Verdict != finding.Undecided || len(r.Findings) != 1 || r.Findings[0].Code != finding.ReplayStoreOther {
		t.Errorf("%s:%s", r.Verdict, told(r))
	}
}

// P6, M4: a link that starts where other runs had committed is undecided without the store, and held to it with one.
func TestOtherRunsCommitBetweenTwoLinks(t *testing.T) {
	for _, c := range []struct {
		made   string
		stored bool
		code   finding.Code
	}{
		{"00000000000000000044", false, finding.ReplayChainApart},
		{"00000000000000000044", true, ""},
		{"00000000000000000042", false, finding.ReplayChainBroken}, // nothing was between
		{"", false, finding.ReplayChainBroken},
		{"00000000000000000099", true, finding.ReplayChainBroken}, // the next link starts elsewhere
	} {
		root := runtest.Copy(t, filepath.Join(native, "runs", "chain"), filepath.Join(t.TempDir(), "chain"))
		if c.made != "" {
			runtest.Replace(t, filepath.Join(root, "0000"), run.CommitFile, `"writes":`, `"resulting_snapshot_id":"`+c.made+`","writes":`)
		}
		next := filepath.Join(root, "0001")
		runtest.Replace(t, next, run.SnapshotFile, "storm broke", "flood broke")
		id := "00000000000000000044"
		if c.made == "00000000000000000042" {
			id = c.made
		}
		runtest.Replace(t, next, run.SnapshotFile, `"memory_snapshot_id":"00000000000000000042"`, `"memory_snapshot_id":"`+id+`"`)
		chains := replay.Chains{Stored: c.stored}
		for _, dir := range []string{filepath.Join(root, "0000"), next} {
			r, err := run.Read(dir, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, made := replayRun(t, dir, replay.RunOptions{Until: replay.All})
			chains.Add(r.Trace, made)
		}
		fs := chains.Findings()
		if c.code == "" && len(fs) != 0 || c.code != "" && (len(fs) != 1 || fs[0].Code != c.code) {
			t.Errorf("%+v: %+v", c, fs)
		}
	}
}

// V4: of a run that is cut short the store is not asked.
func TestAStoreSaysNothingOfARunThatIsCutShort(t *testing.T) {
	dir := runtest.Copy(t, filepath.Join(native, "runs", "turns"), filepath.Join(t.TempDir(), "run"))
	said := saidOf(t, dir)
	runtest.Replace(t, dir, run.ManifestFile, `"complete"`, `"open"`)
	r, _ := replayRun(t, dir, replay.RunOptions{Until: replay.All, Stored: said})
	if r.Verdict != finding.Undecided || len(r.Checks) != 1 {
		t.Errorf("%s, %+v", r.Verdict, r.Checks)
	}
}
