package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/native"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/record"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/trace"
)

// update records the divergent runs again with the working tree's documents, and lists the files that changed (R4).
func (a *App) update(runs []replayedRun, o *replayOptions, given *tree) error {
	for _, r := range runs {
		if r.result.Verdict != finding.Divergent {
			continue
		}
		if err := a.updateRun(r.dir, o, given); err != nil {
			return fmt.Errorf("%s is left as it was: %w", r.dir, err)
		}
	}
	return nil
}

func (a *App) updateRun(dir string, o *replayOptions, given *tree) error {
	fresh, old := filepath.Clean(dir)+".new", filepath.Clean(dir)+".old"
	artifact, err := native.ReadFolder(dir, dialect.Options{Limit: int64(o.limit)})
	if err != nil {
		return err
	}
	in, settings, err := rerecorded(artifact.Trace, given)
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh) // what a failure leaves behind
	quiet := *a
	quiet.Out = new(bytes.Buffer)
	if _, err := quiet.recordRun(fresh, settings, in, in.turns); err != nil {
		return err
	}
	changed, err := changedFiles(dir, fresh)
	if err != nil {
		return err
	}
	if err := os.Rename(dir, old); err != nil {
		return err
	}
	if err := os.Rename(fresh, dir); err != nil {
		return err
	}
	for _, name := range changed {
		fmt.Fprintf(a.Err, "updated %s\n", visible(filepath.Join(dir, filepath.FromSlash(name))))
	}
	return os.RemoveAll(old)
}

// rerecorded gives the inputs of a recorded run with the working tree's documents in their places.
func rerecorded(t *trace.Trace, given *tree) (*inputs, record.Settings, error) {
	documents := *t.Recording
	list, err := given.of(&documents)
	if err != nil {
		return nil, record.Settings{}, err
	}
	for _, v := range list {
		*v.Of(&documents) = v.Document
	}
	text := func(d trace.Document) record.Text { return record.Text{Path: d.Path, At: d.At, JSON: d.Value.Raw()} }
	in := &inputs{
		documents: record.Documents{
			Snapshot: text(documents.Snapshot), Config: text(documents.Config), Policies: text(documents.Policies), Profiles: text(documents.ProfileSet),
		},
		recording: &documents, model: t.ModelConfig.Raw, relabel: true,
	}
	for _, d := range documents.Turns {
		in.turns = append(in.turns, text(d))
	}
	manifest := documents.Manifest
	created, _ := canon.Integer(manifest.Field("/created_ticks").Raw)
	s := record.Settings{
		RunID: t.RunID.Text(), WorkflowID: t.WorkflowID.Text(), Visibility: t.Visibility.Text(), Created: created,
		Lane:        run.Lane{Name: manifest.Field("/lane/name").Text(), Deterministic: string(manifest.Field("/lane/deterministic").Raw) == "true"},
		ModelConfig: in.model, KeepPrompts: len(documents.Prompts) > 0, Refusal: execute.Refusal(documents.Commit),
	}
	if chain, ok := manifest.Value.Get("chain"); ok {
		c := trace.Document{Value: chain}
		s.Chain = &run.Chain{PreviousRunID: c.Field("/previous_run_id").Text(), PreviousCommitID: c.Field("/previous_commit_id").Text()}
		s.Chain.Index, _ = c.Int("index")
	}
	return in, s, nil
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
