package cmd

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect/native"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/record"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/trace"
)

// inGroups groups runs, by their places in the list: those of a chain in its order, others alone. A run that is named itself
// stands alone, and so does each where chains are not followed.
func inGroups(dirs []string, named func(dir string) bool, follow bool) [][]int {
	var groups [][]int
	chains := map[string]int{} // place of the group by folder
	index := make([]int64, len(dirs))
	for i, dir := range dirs {
		link, ok := native.Link(dir)
		if index[i] = link; !ok || !follow || named(dir) {
			groups = append(groups, []int{i})
			continue
		}
		folder := filepath.Dir(dir)
		at, there := chains[folder]
		if !there {
			at = len(groups)
			chains[folder], groups = at, append(groups, nil)
		}
		groups[at] = append(groups[at], i)
	}
	for _, group := range groups {
		slices.SortStableFunc(group, func(a, b int) int { return cmp.Compare(index[a], index[b]) })
	}
	return groups
}

// documents says that the working tree gives a document that stages read.
func (t *tree) documents() bool { return len(t.overrides) > 0 || t.context != nil }

// follows says that a run is the next of a chain after another, and that the one before has a state to hand on when it was
// executed to its end.
func (r *replayedRun) follows(before *replayedRun) bool {
	if before == nil || before.trace == nil || r.trace == nil {
		return false
	}
	n, okBefore := linkIndex(before.trace)
	m, ok := linkIndex(r.trace)
	return ok && okBefore && n+1 == m && before.trace.Recording.Commit.Field("/buffer_state").Is(string(memory.CommitApplied))
}

func linkIndex(t *trace.Trace) (int, bool) {
	chain, _ := t.Recording.Manifest.Value.Get("chain")
	return trace.Document{Value: chain}.Int("index")
}

// handedOn gives the start snapshot of a run of a chain in place of the recorded one: the state that the one before commits under
// the working tree's documents. The snapshot keeps its recorded id, which is an identity (R1).
func (r *replayedRun) handedOn(before *replayedRun, list []replay.Override) ([]replay.Override, error) {
	list = slices.DeleteFunc(slices.Clone(list), func(v replay.Override) bool { return v.Name == run.SnapshotFile })
	snapshot := r.trace.Recording.Snapshot
	value, err := canon.Parse(record.Snapshot(snapshot.Field("/memory_snapshot_id").Text(), before.made.End.State))
	if err != nil || canon.Equal(value.Raw(), snapshot.Value.Raw(), canon.Form{}) {
		return list, err
	}
	index, _ := linkIndex(before.trace)
	return append(list, replay.Override{
		Of: func(r *trace.Recording) *trace.Document { return &r.Snapshot }, Name: run.SnapshotFile,
		By:       fmt.Sprintf("the state that run %d of the chain commits", index),
		Document: trace.Document{Path: snapshot.Path, Value: value},
	}), nil
}

// notReached is the result of a run of a chain that does not happen any more: the one before commits nothing now.
func (r *replayedRun) notReached(before *replayedRun, found []finding.Finding) finding.Result {
	index, _ := linkIndex(before.trace)
	f := about(finding.ReplayChainBroken, r.trace.Recording.Manifest.Path)
	f.Pointer = "/chain/index"
	why := "commits nothing"
	if !before.reached {
		why = "does not happen"
	}
	f.Detail = fmt.Sprintf("run %d of the chain %s with the working tree's files, so that run %d does not happen", index, why, index+1)
	result := finding.Result{
		Findings: append(slices.Clone(found), f),
		Checks:   []finding.Check{{ID: "R1", Status: finding.NotChecked, Count: 1, Reason: "the run before hands nothing on"}},
	}
	result.Judge(true)
	return result
}
