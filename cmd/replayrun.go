package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/native"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/trace"
	"github.com/dmpl/dmpl/pkg/verify"
)

// overrides are the documents of the working tree (R1).
type overrides struct {
	config, policies, snapshot, profiles string
	update                               bool
	maxAge                               int // days; 0 for any
	jobs                                 int
	store                                string
}

func (o *overrides) bind(c *cobra.Command) {
	c.Flags().StringVar(&o.config, "config", "", "pipeline configuration of the working tree, in place of the recorded one")
	c.Flags().StringVar(&o.policies, "policies", "", "policy set of the working tree, in place of the recorded one")
	c.Flags().StringVar(&o.snapshot, "snapshot", "", "start snapshot of the working tree, in place of the recorded one")
	c.Flags().StringVar(&o.profiles, "profiles", "", "tool profiles of the working tree, a profiles.json or a folder: both sides are digested under them")
	c.Flags().BoolVar(&o.update, "update", false, "record divergent runs again with the working tree's files; refused where CI is set")
	c.Flags().IntVar(&o.maxAge, "max-age", 0, "days since the recording after which a run proves nothing; 0 for any")
	c.Flags().IntVar(&o.jobs, "jobs", 1, "runs that are replayed at a time")
	c.Flags().StringVar(&o.store, "store", "", "take the start snapshot of each run from this store, and hold its commit to it: sqlite:PATH or postgres://USER@HOST/DATABASE")
}

// given says that a flag of native runs was given.
func (o *overrides) given() bool {
	return o.config+o.policies+o.snapshot+o.profiles != "" || o.update || o.maxAge != 0
}

// tooOld says that a run was recorded longer ago than is allowed: it may tell nothing of today's model any more (R4). A time that
// the manifest does not state is no recent one.
func (a *App) tooOld(t *trace.Trace, days int) []finding.Finding {
	created, _ := canon.Integer(t.Recording.Manifest.Field("/created_ticks").Raw)
	if days == 0 || t.Recording.CutShort != "" || (ticks(a.Now())-created)/run.TicksPerDay < int64(days) {
		return nil
	}
	f := about(finding.ReplayTooOld, t.Recording.Manifest.Path)
	f.Pointer, f.Detail = "/created_ticks", fmt.Sprintf("the run was recorded more than %s ago", finding.Counted(days, "day"))
	return []finding.Finding{f}
}

// isRuns says that every argument is a native run, by its folder or its manifest, or a folder to look for runs in.
func isRuns(args []string) bool {
	for _, path := range args {
		if folder := native.Folder(path); !isFolder(path) && !(folder != path && native.IsRun(folder)) {
			return false
		}
	}
	return len(args) > 0
}

// replayRuns replays every run below the arguments (R1–R7).
func (a *App) replayRuns(ctx context.Context, o *replayOptions, args []string) (err error) {
	if o.overrides.update && os.Getenv("CI") != "" {
		return usage("Run it where a person looks at the change, and commit the recordings.", "--update rewrites recordings, and CI is set") // R4
	}
	switch {
	case o.mode.value != modeStream || o.db != "" || o.state != "":
		return usage("Leave the flag out.", "--mode, --db and --state belong to streams and packages, and folders are native runs")
	case o.until < replay.All:
		return usage("Give the index of an event.", "--until %d is no index", o.until)
	case o.overrides.maxAge < 0:
		return usage("Give a number of days, or 0 for any age.", "--max-age %d is less than none", o.overrides.maxAge)
	case o.overrides.jobs < 1:
		return usage("Give a number from 1 on.", "--jobs %d is less than one", o.overrides.jobs)
	case o.overrides.store != "" && (o.overrides.snapshot != "" || o.overrides.update):
		return usage("Leave one of them out.", "--store holds recordings to their store, and --snapshot and --update change them")
	}
	var results []finding.Result
	given, err := a.workingTree(o)
	if err != nil {
		return executionProblem(err)
	}
	if o.overrides.store != "" {
		store, failed := a.openStore(ctx, storeOptions{store: o.overrides.store}, false)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		if given.store, err = asked(ctx, store); err != nil {
			return storeError(err)
		}
	}
	var paths []string
	there := map[string]bool{} // a run that is found below two arguments is one run
	for _, root := range args {
		tree, err := native.Reader{}.Find(native.Folder(root), dialect.Options{Limit: int64(o.limit)})
		if err != nil {
			result, err := troubled(root, true, err)
			if err != nil {
				return err
			}
			results = append(results, result)
			continue
		}
		if len(tree.Entries) == 0 { // R4
			results = append(results, empty(root, true))
		}
		for _, e := range tree.Entries {
			if dir := native.Folder(e.Path); !there[dir] {
				there[dir], paths = true, append(paths, dir)
			}
		}
	}
	named := func(dir string) bool {
		return slices.ContainsFunc(args, func(arg string) bool { return native.Folder(arg) == dir })
	}
	// P6, R1: with other documents each run of a chain starts at the state that the one before commits then.
	replayed, err := a.replayAll(paths, inGroups(paths, named, given.documents()), o, given)
	if err != nil {
		return executionProblem(err)
	}
	chains := replay.Chains{Stored: given.store != nil}
	var verified verify.Chains
	for i := range replayed {
		results = append(results, replayed[i].result)
		if !named(replayed[i].dir) { // a link that is named stands alone
			chains.Join(&replayed[i].chain)
			verified.Join(&replayed[i].verified)
		}
	}
	if o.until == replay.All && chains.Links() > 0 {
		whole := finding.Result{Name: "chains"}
		if !given.documents() { // else each run starts where the one before ends
			whole.Findings = chains.Findings()
		}
		for _, f := range verified.Findings() { // what the recordings say of one another, unless it is said of what was made
			if !slices.ContainsFunc(whole.Findings, func(made finding.Finding) bool { return made.Artifact == f.Artifact }) {
				whole.Findings = append(whole.Findings, f)
			}
		}
		whole.Checks = []finding.Check{{ID: "P6", Status: finding.Passed, Count: chains.Links()}}
		if len(whole.Findings) > 0 {
			whole.Checks[0].Status = finding.Failed
		}
		whole.Judge(true)
		results = append(results, whole)
	}
	if o.overrides.update {
		if err := a.update(replayed, inGroups(paths, named, true)); err != nil {
			return executionProblem(err)
		}
	}
	return a.emit(finding.Report{Command: "replay", Results: results}, o.reportOptions, append(args, given.paths...)...)
}

// replayedRun is what the replay of a run gave.
type replayedRun struct {
	dir      string
	result   finding.Result
	reached  bool          // false for a run of a chain that does not happen any more
	chain    replay.Chains // of this run alone
	verified verify.Chains

	// What the next run of a chain needs, and --update.
	trace     *trace.Trace
	overrides []replay.Override
	made      *replay.Replayed // nil where the run was not executed
}

// letGo keeps nothing of the run itself: a tree may have very many.
func (r *replayedRun) letGo() { r.trace, r.overrides, r.made = nil, nil, nil }

// replayAll replays runs, some groups of them at a time, and gives them in their order.
func (a *App) replayAll(dirs []string, groups [][]int, o *replayOptions, given *tree) ([]replayedRun, error) {
	runs, errs := make([]replayedRun, len(dirs)), make([]error, len(dirs))
	step, done := a.progress(len(dirs), "replay")
	defer done()
	var group sync.WaitGroup
	var one sync.Mutex // of the progress and the collector
	next := make(chan []int)
	a.inputs = min(o.overrides.jobs, max(len(groups), 1))
	for range a.inputs {
		group.Go(func() {
			for places := range next {
				var before *replayedRun
				for _, i := range places {
					runs[i], errs[i] = a.replayOne(dirs[i], before, o, given, func(lines bool) {
						one.Lock()
						defer one.Unlock()
						a.collectRun(dirs[i], lines)
					})
					if before != nil && !o.overrides.update {
						before.letGo()
					}
					before = &runs[i]
					one.Lock()
					step()
					one.Unlock()
				}
				if before != nil && !o.overrides.update {
					before.letGo()
				}
			}
		})
	}
	for _, places := range groups {
		next <- places
	}
	close(next)
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// replayOne replays a run. It calls collect before it reads it, without or with its lines.
func (a *App) replayOne(dir string, before *replayedRun, o *replayOptions, given *tree, collect func(lines bool)) (replayedRun, error) {
	collect(false)
	if before == nil && !o.overrides.update {
		if r, ok := a.replaySame(dir, o, given); ok {
			return r, nil
		}
	}
	collect(true)
	settings := dialect.Options{Limit: int64(o.limit), Digests: o.format.value == formatJSON}
	r := replayedRun{dir: dir, reached: true}
	artifact, err := native.ReadFolder(dir, settings)
	if err != nil {
		r.result, err = troubled(dir, true, err)
		return r, err
	}
	r.trace = artifact.Trace
	if r.overrides, err = given.of(artifact.Trace.Recording); err != nil {
		return r, err
	}
	said, err := given.store.of(artifact.Trace.Recording)
	if err != nil {
		return r, err
	}
	found := verify.Trace(artifact.Trace, artifact.Shape, verify.Options{InFolder: true}).Findings
	found = append(found, a.tooOld(artifact.Trace, o.overrides.maxAge)...)
	switch {
	case !r.follows(before):
	case !before.reached || before.made != nil && before.made.End != nil && before.made.End.Buffer.State != memory.CommitApplied:
		r.reached, r.result = false, r.notReached(before, found)
	case before.made != nil && before.made.End != nil:
		if r.overrides, err = r.handedOn(before, r.overrides); err != nil {
			return r, err
		}
	}
	if r.reached {
		r.made, err = replay.Run(artifact.Trace, replay.RunOptions{
			Findings: found, Overrides: r.overrides, Profiles: given.profiles, Until: o.until, Timeline: o.format.value == formatJSON, Stored: said,
		})
		if err != nil {
			return r, err
		}
		r.result = r.made.Result
	}
	r.describe(given, artifact.Inputs)
	return r, nil
}

// describe names the result, and notes the place of the run in a chain.
func (r *replayedRun) describe(given *tree, inputs []finding.Input) {
	r.chain.Add(r.trace, r.made)
	r.verified.Add(r.trace)
	r.result.Name, r.result.Inputs = r.dir, slices.Concat(inputs, given.inputs)
	if len(r.overrides) > 0 || given.profiles != nil {
		r.result.Name = r.dir + " with the working tree's files"
	}
	detach(&r.result)
}
