package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/record"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/trace"
)

// update records the divergent runs again with the working tree's documents, and lists the files that changed (R4). Of a chain
// the runs after the first of them follow: each names the commit of the one before.
func (a *App) update(runs []replayedRun, groups [][]int) error {
	for _, places := range groups {
		var divergent []*replayedRun
		for _, i := range places {
			if r := &runs[i]; r.trace != nil && (r.result.Verdict == finding.Divergent || len(divergent) > 0) {
				divergent = append(divergent, r)
			}
		}
		if err := a.updateRuns(divergent); err != nil {
			return err
		}
	}
	return nil
}

// updateRuns records all of the runs before it puts one in its place: a chain is not left half old.
func (a *App) updateRuns(runs []*replayedRun) error {
	var rewrites []*rewrite
	var end *execute.End
	var before *replayedRun
	for _, r := range runs {
		w, err := beginRewrite(r)
		if err == nil {
			defer w.clear()
			rewrites = append(rewrites, w)
			end, err = a.recordAgain(w, before, end)
		}
		if err != nil {
			return leftAsItWas(r.dir, err)
		}
		before = r
	}
	for _, w := range rewrites {
		if err := a.replaceRun(w); err != nil {
			return err
		}
	}
	return nil
}

// leftAsItWas says why a recording was not rewritten.
func leftAsItWas(dir string, err error) error {
	hint := "Record the run anew with its model: its answers are not those that these files ask for."
	var wrong *usageError
	switch {
	case ofPath(err):
		return fmt.Errorf("%s is left as it was: %w", dir, err)
	case errors.As(err, &wrong):
		hint = wrong.hint
	}
	return usage(hint, "%s is left as it was: %v", dir, err)
}

// rewrite is a recording that is made again beside the old one.
type rewrite struct {
	*replayedRun
	place  string // of the run, behind any link
	beside string // a folder of our own next to it
}

func (w *rewrite) fresh() string { return filepath.Join(w.beside, "new") }

// clear removes what the rewrite made, or what is left of the old recording once the new one is in its place.
func (w *rewrite) clear() { _ = os.RemoveAll(w.beside) }

// beginRewrite refuses what a rewrite would lose: files of others, a commit that a store knows, and the ground under a shell.
func beginRewrite(r *replayedRun) (*rewrite, error) {
	place, err := filepath.EvalSymlinks(r.dir)
	if err != nil {
		return nil, err
	}
	if place, err = filepath.Abs(place); err != nil {
		return nil, err
	}
	here, err := filepath.EvalSymlinks(".")
	if err == nil {
		here, err = filepath.Abs(here)
	}
	if err != nil {
		return nil, err
	}
	strange := run.Stranger(place)
	recording := r.trace.Recording
	switch within, err := filepath.Rel(place, here); {
	case err == nil && filepath.IsLocal(within):
		return nil, usage("Run the command from outside of the folder.", "it is the working directory, or holds it")
	case strange != "":
		return nil, usage("Move the file away: dmpl verify says which no run has.", "it holds %s, which no run has", strange)
	case recording.Manifest.Field("/store_id").Ok() && recording.Commit.Ok():
		return nil, usage("Record it again with dmpl run --store.", "its commit is one of a store, which a replay does not write")
	}
	beside, err := os.MkdirTemp(filepath.Dir(place), filepath.Base(place)+".update-")
	return &rewrite{r, place, beside}, err
}

// recordAgain records a run beside the old one.
func (a *App) recordAgain(w *rewrite, before *replayedRun, end *execute.End) (*execute.End, error) {
	if !w.reached {
		return nil, usage("Leave --update out, or change the policies that refuse the commit.", "the run of the chain before it commits nothing now")
	}
	in, settings := rerecorded(w.replayedRun)
	if end != nil && w.follows(before) {
		settings.Chain.PreviousCommitID = end.Buffer.CommitID
	}
	quiet := *a
	quiet.Out = new(bytes.Buffer)
	return quiet.recordRun(w.fresh(), settings, in, in.turns)
}

func (a *App) replaceRun(w *rewrite) error {
	changed, err := changedFiles(w.place, w.fresh())
	if err != nil {
		return err
	}
	old := filepath.Join(w.beside, "old")
	if err := os.Rename(w.place, old); err != nil {
		return leftAsItWas(w.dir, err)
	}
	if err := os.Rename(w.fresh(), w.place); err != nil {
		if failed := os.Rename(old, w.place); failed != nil {
			w.beside = "" // which holds the only copy
			return fmt.Errorf("%s lies in %s now: %w", w.dir, old, errors.Join(err, failed))
		}
		return leftAsItWas(w.dir, err)
	}
	for _, name := range changed {
		fmt.Fprintf(a.Err, "updated %s\n", visible(filepath.Join(w.dir, filepath.FromSlash(name))))
	}
	return nil
}

// rerecorded gives the inputs of a recorded run with the working tree's documents in their places.
func rerecorded(r *replayedRun) (*inputs, record.Settings) {
	documents := *r.trace.Recording
	for _, v := range r.overrides {
		*v.Of(&documents) = v.Document
	}
	text := func(d trace.Document) record.Text { return record.Text{Path: d.Path, At: d.At, JSON: d.Value.Raw()} }
	in := &inputs{
		documents: record.Documents{
			Snapshot: text(documents.Snapshot), Config: text(documents.Config), Policies: text(documents.Policies), Profiles: text(documents.ProfileSet),
		},
		recording: &documents, model: r.trace.ModelConfig.Raw, relabel: true,
	}
	for _, d := range documents.Turns {
		in.turns = append(in.turns, text(d))
	}
	manifest := documents.Manifest
	created, _ := canon.Integer(manifest.Field("/created_ticks").Raw)
	s := record.Settings{
		RunID: r.trace.RunID.Text(), WorkflowID: r.trace.WorkflowID.Text(), Visibility: r.trace.Visibility.Text(), Created: created,
		Lane:        run.Lane{Name: manifest.Field("/lane/name").Text(), Deterministic: string(manifest.Field("/lane/deterministic").Raw) == "true"},
		ModelConfig: in.model, KeepPrompts: len(documents.Prompts) > 0, Refusal: execute.Refusal(documents.Commit),
		StoreID: manifest.Field("/store_id").Text(),
	}
	if chain, ok := manifest.Value.Get("chain"); ok {
		c := trace.Document{Value: chain}
		s.Chain = &run.Chain{PreviousRunID: c.Field("/previous_run_id").Text(), PreviousCommitID: c.Field("/previous_commit_id").Text()}
		s.Chain.Index, _ = c.Int("index")
	}
	return in, s
}

// changedFiles names the files that differ between two run folders.
func changedFiles(before, after string) ([]string, error) {
	names := map[string]bool{}
	for _, root := range []string{before, after} {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(root, path)
			names[filepath.ToSlash(rel)] = true
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(canon.SortedKeys(names), func(name string) bool {
		a, errA := os.ReadFile(filepath.Join(before, filepath.FromSlash(name)))
		b, errB := os.ReadFile(filepath.Join(after, filepath.FromSlash(name)))
		return errA == nil && errB == nil && bytes.Equal(a, b)
	}), nil
}
