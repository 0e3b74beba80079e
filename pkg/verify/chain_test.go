package verify_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/verify"
)

// P6: the first run of a chain follows none.
func TestTheFirstLinkFollowsNone(t *testing.T) {
	for _, member := range []string{"previous_run_id", "previous_commit_id"} {
		dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), runtest.Features{Visibility: "buffered_write", Chain: &run.Chain{}})
		runtest.Replace(t, dir, run.ManifestFile, `"index": 0`, `"index": 0, "`+member+`": "c"`)
		var chains verify.Chains
		chains.Add(mustRead(t, dir).Trace)
		if fs := chains.Findings(); len(fs) != 1 || fs[0].Code != finding.RunChain || fs[0].Pointer != "/chain" {
			t.Errorf("%s: %+v", member, fs)
		}
	}
}

// P6, M1: each link of a chain follows the one before: its place, its run, its commit, which was applied, and a later snapshot.
func TestLinksOfAChain(t *testing.T) {
	features := func(index int) runtest.Features {
		f := runtest.Features{
			RunID: fmt.Sprint("run-", index), Visibility: "buffered_write", SnapshotID: fmt.Sprintf("%020d", 40+index), Chain: &run.Chain{Index: index},
		}
		if index > 0 {
			f.Chain.PreviousRunID = fmt.Sprint("run-", index-1)
			f.Chain.PreviousCommitID = runtest.CommitID(runtest.Features{RunID: f.Chain.PreviousRunID, SnapshotID: fmt.Sprintf("%020d", 39+index)})
		}
		return f
	}
	for _, c := range []struct {
		what   string
		change func(links []runtest.Features) []runtest.Features
		want   []string // run and pointer
	}{
		{"as it is", func(l []runtest.Features) []runtest.Features { return l }, nil},
		{"the first is gone", func(l []runtest.Features) []runtest.Features { return l[1:] }, []string{"run-1 /chain/index"}},
		{"the second is gone", func(l []runtest.Features) []runtest.Features { return []runtest.Features{l[0], l[2]} }, []string{"run-2 /chain/index"}},
		{"a place twice", func(l []runtest.Features) []runtest.Features { l[2].Chain.Index = 1; return l }, []string{"run-2 /chain/index"}},
		{"another run", func(l []runtest.Features) []runtest.Features { l[1].Chain.PreviousRunID = "run-9"; return l }, []string{"run-1 /chain/previous_run_id"}},
		{"another commit", func(l []runtest.Features) []runtest.Features { l[2].Chain.PreviousCommitID = "c"; return l }, []string{"run-2 /chain/previous_commit_id"}},
		{"nothing was applied", func(l []runtest.Features) []runtest.Features { l[0].Abort = "policy_rejected"; return l }, []string{"run-1 /chain"}},
		{"another start", func(l []runtest.Features) []runtest.Features { l[0].Turns = 2; return l }, []string{"run-1 "}},
		{"no later snapshot", func(l []runtest.Features) []runtest.Features { l[2].SnapshotID = l[1].SnapshotID; return l }, []string{"run-2 /chain"}},
		{"a run of no chain", func(l []runtest.Features) []runtest.Features { return append(l, runtest.Features{RunID: "run-9"}) }, nil},
	} {
		root := t.TempDir()
		var chains verify.Chains
		for _, f := range slices.Backward(c.change([]runtest.Features{features(0), features(1), features(2)})) {
			chains.Add(mustRead(t, runtest.Write(t, filepath.Join(root, f.RunID), f)).Trace)
		}
		var got []string
		for _, f := range chains.Findings() {
			got = append(got, filepath.Base(filepath.Dir(f.Artifact))+" "+f.Pointer)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	for made, want := range map[string]int{"00000000000000000041": 0, "00000000000000000042": 1} { // M4: what the commit made of a store
		root := t.TempDir()
		var chains verify.Chains
		for _, f := range []runtest.Features{features(0), features(1)} {
			dir := runtest.Write(t, filepath.Join(root, f.RunID), f)
			if f.Chain.Index == 0 {
				runtest.Replace(t, dir, run.CommitFile, `"writes":`, `"resulting_snapshot_id":"`+made+`","writes":`)
			}
			chains.Add(mustRead(t, dir).Trace)
		}
		if got := chains.Findings(); len(got) != want {
			t.Errorf("a commit that made %s: %+v", made, got)
		}
	}
	for _, c := range []struct { // M4: the second starts at another state than the first left, at the snapshot that its commit made
		made string
		want []string
	}{
		{"00000000000000000041", []string{"snapshot.json"}}, // the next one of the store: no other run committed
		{"00000000000000000043", nil},                       // others did, and the store alone can vouch for the state
	} {
		root := t.TempDir()
		var chains verify.Chains
		first, second := features(0), features(1)
		first.Turns, second.SnapshotID = 2, c.made
		for _, f := range []runtest.Features{first, second} {
			dir := runtest.Write(t, filepath.Join(root, f.RunID), f)
			if f.Chain.Index == 0 {
				runtest.Replace(t, dir, run.CommitFile, `"writes":`, `"resulting_snapshot_id":"`+c.made+`","writes":`)
			}
			chains.Add(mustRead(t, dir).Trace)
		}
		var got []string
		for _, f := range chains.Findings() {
			got = append(got, filepath.Base(f.Artifact))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("another start, at %s: %q, want %q", c.made, got, c.want)
		}
	}
	other := runtest.Write(t, filepath.Join(t.TempDir(), "elsewhere"), features(0))
	runtest.Replace(t, other, run.ManifestFile, `"complete"`, `"open"`)
	var chains verify.Chains
	chains.Add(mustRead(t, other).Trace)
	if got := chains.Findings(); len(got) > 0 {
		t.Errorf("a run that is cut short: %+v", got)
	}
}
