package cmd

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/native"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/trace"
	"github.com/dmpl/dmpl/pkg/verify"
)

// overrides are the documents of the working tree (R1).
type overrides struct {
	config, policies, snapshot, profiles string
	update                               bool
	jobs                                 int
	store                                string
}

func (o *overrides) bind(c *cobra.Command) {
	c.Flags().StringVar(&o.config, "config", "", "pipeline configuration of the working tree, in place of the recorded one")
	c.Flags().StringVar(&o.policies, "policies", "", "policy set of the working tree, in place of the recorded one")
	c.Flags().StringVar(&o.snapshot, "snapshot", "", "start snapshot of the working tree, in place of the recorded one")
	c.Flags().StringVar(&o.profiles, "profiles", "", "tool profiles of the working tree, a profiles.json or a folder: both sides are digested under them")
	c.Flags().BoolVar(&o.update, "update", false, "record divergent runs again with the working tree's files; refused where CI is set")
	c.Flags().IntVar(&o.jobs, "jobs", 1, "runs that are replayed at a time")
	c.Flags().StringVar(&o.store, "store", "", "take the start snapshot of each run from this store, and hold its commit to it: sqlite:PATH or postgres://USER@HOST/DATABASE")
}

// given says that a flag of native runs was given.
func (o *overrides) given() bool {
	return o.config+o.policies+o.snapshot+o.profiles != "" || o.update
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
			paths = append(paths, native.Folder(e.Path))
		}
	}
	replayed, err := a.replayAll(paths, o, given)
	if err != nil {
		return executionProblem(err)
	}
	chains := replay.Chains{Stored: given.store != nil}
	var verified verify.Chains
	for i := range replayed {
		results = append(results, replayed[i].result)
		if replayed[i].trace != nil && !slices.ContainsFunc(args, func(arg string) bool { return native.Folder(arg) == replayed[i].dir }) { // a link that is named stands alone
			chains.Add(replayed[i].trace, replayed[i].made)
			verified.Add(replayed[i].trace)
		}
	}
	if fs := verified.Findings(); len(given.overrides) == 0 && o.until == replay.All && chains.Links() > 0 {
		whole := finding.Result{
			Name: "chains", Findings: slices.Concat(fs, chains.Findings()), Checks: []finding.Check{{ID: "P6", Status: finding.Passed, Count: chains.Links()}},
		}
		if len(whole.Findings) > 0 {
			whole.Checks[0].Status = finding.Failed
		}
		whole.Judge(true)
		results = append(results, whole)
	}
	if o.overrides.update {
		if err := a.update(replayed, o, given); err != nil {
			return executionProblem(err)
		}
	}
	return a.emit(finding.Report{Command: "replay", Results: results}, o.reportOptions, append(args, given.paths...)...)
}

// replayedRun is a run with what its replay gave.
type replayedRun struct {
	dir    string
	trace  *trace.Trace
	made   *replay.Replayed
	result finding.Result
}

// replayAll replays runs, some at a time, and gives them in their order.
func (a *App) replayAll(dirs []string, o *replayOptions, given *tree) ([]replayedRun, error) {
	runs, errs := make([]replayedRun, len(dirs)), make([]error, len(dirs))
	step, done := a.progress(len(dirs), "replay")
	defer done()
	var group sync.WaitGroup
	var one sync.Mutex // of the progress
	next := make(chan int)
	for range min(max(o.overrides.jobs, 1), max(len(dirs), 1)) {
		group.Go(func() {
			for i := range next {
				runs[i], errs[i] = a.replayOne(dirs[i], o, given)
				one.Lock()
				step()
				one.Unlock()
			}
		})
	}
	for i := range dirs {
		next <- i
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

func (a *App) replayOne(dir string, o *replayOptions, given *tree) (replayedRun, error) {
	settings := dialect.Options{Limit: int64(o.limit), Digests: o.format.value == formatJSON}
	artifact, err := native.ReadFolder(dir, settings)
	if err != nil {
		result, err := troubled(dir, true, err)
		return replayedRun{dir: dir, result: result}, err
	}
	list, err := given.of(artifact.Trace.Recording)
	if err != nil {
		return replayedRun{}, err
	}
	said, err := given.store.of(artifact.Trace.Recording)
	if err != nil {
		return replayedRun{}, err
	}
	found := verify.Trace(artifact.Trace, artifact.Shape, verify.Options{InFolder: true}).Findings
	made, err := replay.Run(artifact.Trace, replay.RunOptions{
		Findings: found, Overrides: list, Profiles: given.profiles, Until: o.until, Timeline: o.format.value == formatJSON, Stored: said,
	})
	if err != nil {
		return replayedRun{}, err
	}
	r := replayedRun{dir: dir, trace: artifact.Trace, made: made, result: made.Result}
	r.result.Name, r.result.Inputs = dir, slices.Concat(artifact.Inputs, given.inputs)
	if len(list) > 0 || given.profiles != nil {
		r.result.Name = dir + " with the working tree's files"
	}
	detach(&r.result)
	return r, nil
}
