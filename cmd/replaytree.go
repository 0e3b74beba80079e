package cmd

import (
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/native"
	"github.com/dmpl/dmpl/pkg/dialect/orket"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/record"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/thread"
	"github.com/dmpl/dmpl/pkg/trace"
)

// tree is what is taken from the working tree.
type tree struct {
	overrides []replay.Override
	profiles  trace.Profiles
	context   []byte      // a context configuration, which takes the place of the configuration's own
	store     *askedStore // nil where none is given
	paths     []string
	inputs    []finding.Input
}

// workingTree reads the documents that take the place of recorded ones.
func (a *App) workingTree(o *replayOptions) (*tree, error) {
	if o.overrides.update && o.overrides.profiles != "" {
		return nil, usage("Leave --profiles out: a run keeps the profiles that it was recorded under.", "--update records runs, and --profiles only says how both sides are compared")
	}
	t := &tree{}
	for _, d := range []struct {
		path, name, schema string
		of                 func(*trace.Recording) *trace.Document
	}{
		{o.overrides.config, run.ConfigFile, "pipeline.config.v1", func(r *trace.Recording) *trace.Document { return &r.Config }},
		{o.overrides.policies, run.PoliciesFile, "", func(r *trace.Recording) *trace.Document { return &r.Policies }},
		{o.overrides.snapshot, run.SnapshotFile, "memory.snapshot.v1", func(r *trace.Recording) *trace.Document { return &r.Snapshot }},
	} {
		if d.path == "" {
			continue
		}
		text, err := a.given(d.path, o, t, d.name)
		if err != nil {
			return nil, err
		}
		var doc trace.Document
		if d.schema == "" { // the execution holds it to its schema
			doc, err = parsed(text)
		} else {
			doc, err = record.Read(d.schema, text)
		}
		if err != nil {
			return nil, err
		}
		t.overrides = append(t.overrides, replay.Override{Of: d.of, Name: d.name, Document: doc})
	}
	if o.config != "" {
		text, err := a.given(o.config, o, t, "context_config")
		if err != nil {
			return nil, err
		}
		doc, err := parsed(text)
		if err != nil {
			return nil, err
		}
		if _, err := thread.ParseConfig(doc.Value); err != nil {
			return nil, configProblem(o.config, doc.Value, err)
		}
		t.context = doc.Value.Raw()
	}
	return t, a.givenProfiles(o, t)
}

func (a *App) given(path string, o *replayOptions, t *tree, kind string) (record.Text, error) {
	f, err := dialect.ReadFile(path, a.In, int64(o.limit))
	if err != nil {
		return record.Text{}, err
	}
	t.paths = append(t.paths, path)
	t.inputs = append(t.inputs, f.Input(native.Name, kind, o.format.value == formatJSON))
	return record.Text{Path: path, JSON: f.Data}, nil
}

func parsed(t record.Text) (trace.Document, error) {
	value, err := canon.Parse(t.JSON)
	if err != nil {
		return trace.Document{}, located(t.Path, err)
	}
	return trace.Document{Path: t.Path, Value: value}, nil
}

// givenProfiles reads the tool profiles: a profiles.json, or a folder of single ones.
func (a *App) givenProfiles(o *replayOptions, t *tree) error {
	path := o.overrides.profiles
	if path == "" {
		return nil
	}
	if isFolder(path) {
		profiles, inputs, err := orket.ReadProfiles(path, int64(o.limit))
		t.profiles, t.inputs, t.paths = profiles, append(t.inputs, inputs...), append(t.paths, path)
		return err
	}
	text, err := a.given(path, o, t, "tool_profiles")
	if err != nil {
		return err
	}
	set, err := record.Read("run.profiles.v1", text)
	if err != nil {
		return err
	}
	if t.profiles, err = record.Profiles(set); t.profiles == nil {
		t.profiles = trace.Profiles{} // none is not the recorded ones
	}
	return err
}

// of gives the overrides for one run. A context configuration becomes a member of the run's configuration.
func (t *tree) of(r *trace.Recording) ([]replay.Override, error) {
	if t.context == nil {
		return t.overrides, nil
	}
	config := r.Config
	list := slices.Clone(t.overrides)
	list = slices.DeleteFunc(list, func(v replay.Override) bool {
		if v.Name == run.ConfigFile {
			config = v.Document
			return true
		}
		return false
	})
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		for _, m := range config.Value.Members() {
			if m.Name != "context" {
				w.Raw(m.Name, m.Value.Raw())
			}
		}
		w.Raw("context", t.context)
	})
	value, err := canon.Parse(w.Bytes())
	config.Value = value
	return append(list, replay.Override{
		Of: func(r *trace.Recording) *trace.Document { return &r.Config }, Name: run.ConfigFile, Document: config,
		By: "one with the given context configuration",
	}), err
}
