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
	var end *execute.End
	var before *replayedRun
	for _, r := range runs {
		defer os.RemoveAll(fresh(r)) // what a failure leaves behind
		var err error
		if end, err = a.recordAgain(r, before, end); err != nil {
			return fmt.Errorf("%s is left as it was: %w", r.dir, err)
		}
		before = r
	}
	for _, r := range runs {
		if err := a.replaceRun(r); err != nil {
			return err
		}
	}
	return nil
}

func fresh(r *replayedRun) string { return filepath.Clean(r.dir) + ".new" }

// recordAgain records a run beside the old one.
func (a *App) recordAgain(r, before *replayedRun, end *execute.End) (*execute.End, error) {
	if !r.reached {
		return nil, errors.New("the run of the chain before it commits nothing now")
	}
	in, settings := rerecorded(r)
	if end != nil && r.follows(before) {
		settings.Chain.PreviousCommitID = end.Buffer.CommitID
	}
	quiet := *a
	quiet.Out = new(bytes.Buffer)
	return quiet.recordRun(fresh(r), settings, in, in.turns)
}

func (a *App) replaceRun(r *replayedRun) error {
	old := filepath.Clean(r.dir) + ".old"
	changed, err := changedFiles(r.dir, fresh(r))
	if err != nil {
		return err
	}
	if err := os.Rename(r.dir, old); err != nil {
		return err
	}
	if err := os.Rename(fresh(r), r.dir); err != nil {
		return err
	}
	for _, name := range changed {
		fmt.Fprintf(a.Err, "updated %s\n", visible(filepath.Join(r.dir, filepath.FromSlash(name))))
	}
	return os.RemoveAll(old)
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
