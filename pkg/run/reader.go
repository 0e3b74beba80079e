package run

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/shape"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Dialect is the name of the format's dialect.
const Dialect = "native"

// Run is a run as it was read.
type Run struct {
	Trace  *trace.Trace
	Shape  []finding.Finding // what breaks a schema (CONTRACT V1)
	Inputs []finding.Input
}

// Read reads the run in a folder. Manifest is its manifest.json, or nil to read it there; limit bounds each file, 0 is
// [dialect.DefaultLimit]. A run that is cut short is a Run that says so. Every error is a [dialect.Problem].
func Read(dir string, manifest *dialect.File, limit int64) (*Run, error) {
	r := &reader{limit: limit, run: &Run{}, recording: &trace.Recording{Dir: dir}}
	r.run.Trace = &trace.Trace{Path: filepath.Join(dir, TraceFile), Recording: r.recording}
	cut, err := r.manifest(manifest)
	if err != nil {
		return nil, err
	}
	if cut != "" {
		r.recording.CutShort = cut
		return r.run, nil
	}
	if err := r.files(); err != nil {
		return nil, err
	}
	if err := r.documents(); err != nil {
		return nil, err
	}
	if err := r.trace(); err != nil {
		return nil, err
	}
	return r.run, nil
}

// reader reads one run.
type reader struct {
	limit     int64
	run       *Run
	recording *trace.Recording
	content   map[string][]byte // by name, of the files that are there and that a run may have
}

func (r *reader) path(name string) string {
	return filepath.Join(r.recording.Dir, filepath.FromSlash(name))
}

// manifest reads the manifest and says why the run is cut short, "" where it is complete.
func (r *reader) manifest(f *dialect.File) (string, error) {
	if f == nil {
		path := r.path(ManifestFile)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return "there is no " + ManifestFile, nil
		}
		var err error
		if f, err = r.open(path); err != nil {
			return "", err
		}
	}
	r.run.Inputs = append(r.run.Inputs, f.Input(Dialect, "manifest", true))
	doc, findings, err := shape.Document(SchemaVersion, f.Path, "", f.Data)
	if err != nil {
		return "", problem(f.Path, 0, "", err)
	}
	r.recording.Manifest = doc
	r.run.Shape = append(r.run.Shape, findings...)
	if doc.Field("/state").Is("open") {
		return ManifestFile + " says that the run is open", nil
	}
	return "", nil
}

// open reads a regular file: what a link points to is no part of the run.
func (r *reader) open(path string) (*dialect.File, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, &dialect.Problem{Code: finding.InputNotAFile, Path: path, Offset: -1, Detail: "is a link, and a run holds its files itself"}
	}
	return dialect.ReadFile(path, nil, r.limit)
}

// documents reads every file but the trace.
func (r *reader) documents() error {
	for _, k := range kinds {
		data, ok := r.content[k.name]
		if !ok || k.document == nil && k.lines == nil {
			continue
		}
		var err error
		switch {
		case k.name == PoliciesFile:
			err = r.policies(data)
		case k.document != nil:
			*k.document(r.recording), err = r.document(k.schema, r.path(k.name), "", 0, data)
		default:
			err = r.lines(k, data)
		}
		if err != nil {
			return err
		}
	}
	r.profiles()
	return nil
}

func (r *reader) document(schema, path, at string, offset int, data []byte) (trace.Document, error) {
	doc, findings, err := shape.Document(schema, path, at, data)
	if err != nil {
		return doc, problem(path, offset, at, err)
	}
	r.note(findings)
	return doc, nil
}

// mostFindings bounds what is kept of the faults of all lines: a few megabytes can hold millions.
const mostFindings = 10_000

func (r *reader) note(findings []finding.Finding) {
	before := len(r.run.Shape)
	switch {
	case before+len(findings) <= mostFindings:
		r.run.Shape = append(r.run.Shape, findings...)
	case before <= mostFindings:
		more := finding.New(finding.ShapeMore)
		more.Artifact, more.Detail = r.recording.Dir, fmt.Sprintf("more than %d fields break their schema: the rest is not listed", mostFindings)
		r.run.Shape = append(append(r.run.Shape, findings[:mostFindings-before]...), more)
	}
}

func (r *reader) lines(k kind, data []byte) error {
	list := k.lines(r.recording)
	for i, s := range split(data) {
		if s.End-s.Start > canon.MaxLine {
			return &dialect.Problem{
				Code: finding.InputTooLarge, Path: r.path(k.name), Offset: s.Start, Pointer: trace.LinePointer(i),
				Detail: fmt.Sprintf("the line is longer than %d bytes", canon.MaxLine),
			}
		}
		doc, err := r.document(k.schema, r.path(k.name), trace.LinePointer(i), s.Start, data[s.Start:s.End:s.End])
		if err != nil {
			return err
		}
		*list = append(*list, doc)
	}
	return nil
}

// policies holds the policy set to its own reader: an unknown rule is a finding (CONTRACT D9).
func (r *reader) policies(data []byte) error {
	path := r.path(PoliciesFile)
	value, err := canon.Parse(data)
	if err != nil {
		return problem(path, 0, "", err)
	}
	r.recording.Policies = trace.Document{Path: path, Value: value}
	_, err = memory.ReadPolicySet(data, memory.AnyHook)
	var wrong *document.Error
	if errors.As(err, &wrong) {
		f := finding.New(finding.ShapeValue)
		f.Artifact, f.Pointer, f.Detail = path, wrong.Pointer, wrong.Detail
		r.run.Shape = append(r.run.Shape, f)
	}
	return nil
}

// profiles takes the tool profiles apart, where all are in order.
func (r *reader) profiles() {
	list, _ := r.recording.ProfileSet.Value.Get("tool_profiles")
	for _, e := range list.Elements() {
		profile, findings, err := shape.ReadProfile(r.recording.ProfileSet.Path, e.Raw())
		if err == nil && len(findings) == 0 {
			r.recording.Profiles = append(r.recording.Profiles, *profile)
		}
	}
}

// split gives the lines of a file. A line feed at the end opens no further line.
func split(data []byte) []canon.Span {
	var spans []canon.Span
	for start := 0; start < len(data); {
		end := bytes.IndexByte(data[start:], '\n')
		if end < 0 {
			end = len(data) - start
		}
		spans = append(spans, canon.Span{Start: start, End: start + end})
		start += end + 1
	}
	return spans
}

// problem gives an error of reading its path, and its place in the file that the document is a line of.
func problem(path string, offset int, at string, err error) error {
	var bad *canon.Error
	if !errors.As(err, &bad) {
		return err
	}
	return &dialect.Problem{Code: finding.Code(bad.Code), Path: path, Offset: offset + bad.Offset, Pointer: at + bad.Pointer, Detail: bad.Detail}
}
