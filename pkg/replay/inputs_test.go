package replay_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/verify"
)

func sideOf(t *testing.T, dir string) equiv.Side {
	t.Helper()
	r, err := run.Read(dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return equiv.Side{Trace: r.Trace, Findings: verify.Trace(r.Trace, r.Shape, verify.Options{InFolder: true}).Findings}
}

// E10: inputs that differ are a note where both runs replay, and else a reason why nothing can be said, which names the run.
func TestInputsThatDifferAreReadByNothingOrNotWhatWasRun(t *testing.T) {
	for _, c := range []struct {
		what, run, file, before, after string
		severity                       finding.Severity // empty where the inputs are the same
		pointer, says                  string
	}{
		{"nothing", "candidates", run.TurnsFile, `"npc_id": "guard"`, `"npc_id":  "guard"`, "", "", ""},
		{"a counter", "single", run.TurnsFile, `"interaction_count": 3`, `"interaction_count": 4`, finding.Note, "/0/interaction_count", "nothing reads it"},
		{"the memory", "cached", run.SnapshotFile, "named Arthur", "named Mark", finding.Error, "/records/0/content/Fact", "right run is not what its own inputs make"},
		{"a document that no stage can read", "single", run.ConfigFile, `"mode": "snapshot"`, `"mode": "snapshot", "gate": {"CheckAll": true}`, finding.Error, "/gate", "undecided, with replay.not_executed"},
		{"a score that is recorded otherwise", "candidates", run.CandidatesFile, "0.91", "0.92", finding.Error, "/0/candidates/0/score", "run.disagrees"},
		{"a time that moves scores", "fallback", run.TurnsFile, "638400000000000000", "6384000000000000000", finding.Error, "/0/snapshot_time_utc_ticks", "replay.record_differs"},
		{"a line more", "candidates", run.CandidatesFile, "\n", "\n" + `{"turn": 1, "kind": "belief", "candidates": []}` + "\n", finding.Error, "", ""},
	} {
		from := filepath.Join(native, "runs", c.run)
		dir := runtest.Copy(t, from, filepath.Join(t.TempDir(), "run"))
		runtest.Replace(t, dir, c.file, c.before, c.after)
		runtest.Repair(t, dir)
		for _, swapped := range []bool{false, true} {
			left, right, says := sideOf(t, from), sideOf(t, dir), c.says
			if swapped {
				left, right, says = right, left, strings.Replace(says, "right run", "left run", 1)
			}
			fs := replay.Inputs(left, right)
			if c.severity == "" {
				if len(fs) > 0 {
					t.Errorf("%s: %+v", c.what, fs)
				}
				continue
			}
			if len(fs) != 1 || fs[0].Code != finding.EquivInputs || fs[0].Severity != c.severity || !strings.Contains(fs[0].Detail, says) {
				t.Errorf("%s: %+v", c.what, fs)
				continue
			}
			if c.pointer != "" && (fs[0].Pointer != c.pointer || filepath.Base(fs[0].Artifact) != c.file) {
				t.Errorf("%s: %s %s", c.what, fs[0].Artifact, fs[0].Pointer)
			}
		}
	}
	turns := sideOf(t, filepath.Join(native, "runs", "turns"))
	single := sideOf(t, filepath.Join(native, "runs", "single"))
	for _, fs := range [][]finding.Finding{replay.Inputs(turns, single), replay.Inputs(single, turns)} {
		if len(fs) == 0 {
			t.Error("other turns are the same inputs")
		}
	}
}
