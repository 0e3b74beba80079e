// Package native reads native runs, dmpl.run.v1 (docs/formats/native-run.md). The format itself is package run's.
package native

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/run"
)

// Name is the dialect's name.
const Name = run.Dialect

// Reader is the dialect.
type Reader struct{}

// Name implements [dialect.Reader].
func (Reader) Name() string { return Name }

// Detect says whether a file is the manifest of a run, by its content.
func (Reader) Detect(f *dialect.File) (bool, error) {
	r := canon.NewReader(f.Data)
	if r.Kind() != canon.Object {
		_, err := r.Skip()
		if err == nil {
			err = r.End() // what is no JSON at all is told so
		}
		return false, syntax(f, err)
	}
	is := false
	err := r.Members(func(name []byte) error {
		span, err := r.Skip()
		if string(name) == "schema_version" && string(f.Data[span.Start:span.End]) == `"`+run.SchemaVersion+`"` {
			is = true
		}
		return err
	})
	return is && err == nil, syntax(f, err)
}

// Read reads the run that a manifest belongs to. Standard input has no folder, so that a run cannot be read from there.
// Errors are [dialect.Problem].
func (Reader) Read(f *dialect.File, o dialect.Options) (*dialect.Artifact, error) {
	if f.Path == "-" {
		return nil, &dialect.Problem{Code: finding.InputNotAFile, Path: f.Path, Offset: -1, Detail: "a native run is a folder: name it"}
	}
	return read(filepath.Dir(f.Path), f, o)
}

// ReadFolder reads the run in a folder, also one without a manifest.
func ReadFolder(dir string, o dialect.Options) (*dialect.Artifact, error) { return read(dir, nil, o) }

func read(dir string, manifest *dialect.File, o dialect.Options) (*dialect.Artifact, error) {
	r, err := run.Read(dir, manifest, o.Limit)
	if err != nil {
		return nil, err
	}
	return &dialect.Artifact{Dialect: Name, Trace: r.Trace, Shape: r.Shape, Inputs: r.Inputs}, nil
}

// IsRun says that a folder holds a run: a manifest of one, or files that only a run has together. A recording that was cut off is
// then seen too, and one whose manifest is damaged or states a version that nobody knows is not passed over.
func IsRun(dir string) bool {
	if f, err := dialect.ReadFile(filepath.Join(dir, run.ManifestFile), nil, 0); err == nil {
		if is, err := (Reader{}).Detect(f); is && err == nil {
			return true
		}
	}
	return someOf(dir, run.SnapshotFile, run.TurnsFile, run.OutputsFile, run.PoliciesFile, run.ProfilesFile, run.TraceFile) ||
		exists(dir, run.Unfinished)
}

// someOf says that a folder has two of the files at least.
func someOf(dir string, names ...string) bool {
	found := 0
	for _, name := range names {
		if exists(dir, name) {
			found++
		}
	}
	return found >= 2
}

func exists(dir, name string) bool {
	info, err := os.Lstat(filepath.Join(dir, name))
	return err == nil && !info.IsDir()
}

func syntax(f *dialect.File, err error) error {
	var bad *canon.Error
	if !errors.As(err, &bad) {
		return err
	}
	return &dialect.Problem{Code: finding.Code(bad.Code), Path: f.Path, Offset: bad.Offset, Pointer: bad.Pointer, Detail: bad.Detail}
}
