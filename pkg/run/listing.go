package run

import (
	"os"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// files reads every file that a run may have.
func (r *reader) files() error {
	list, err := r.list()
	if err != nil {
		return err
	}
	r.content = map[string][]byte{}
	for _, f := range list {
		if f.Found && known(f.Name) {
			if err := r.load(f); err != nil {
				return err
			}
		}
		r.recording.Files = append(r.recording.Files, *f)
	}
	return nil
}

// list joins what the manifest lists and what lies there, in the order of the names. A file that a run cannot have is not opened.
func (r *reader) list() ([]*trace.RunFile, error) {
	byName := map[string]*trace.RunFile{}
	file := func(name string) *trace.RunFile {
		if byName[name] == nil {
			byName[name] = &trace.RunFile{Name: name, Path: r.path(name), Part: partName().MatchString(name)}
		}
		return byName[name]
	}
	for _, k := range kinds {
		if k.required {
			file(k.name).Required = true
		}
	}
	r.listed(file)
	if err := r.present(file); err != nil {
		return nil, err
	}
	list := make([]*trace.RunFile, 0, len(byName))
	for _, name := range canon.SortedKeys(byName) {
		list = append(list, byName[name])
	}
	return list, nil
}

// listed notes the files of the manifest. One that the manifest could only name to make a reader look elsewhere is malformed.
func (r *reader) listed(file func(string) *trace.RunFile) {
	files, _ := r.recording.Manifest.Value.Get("files")
	for i := range files.Elements() {
		at := "/files" + trace.LinePointer(i)
		name := r.recording.Manifest.Field(at + "/path").Text()
		if !known(name) {
			r.reject(finding.ShapeValue, at+"/path", "a run has no such file")
			continue
		}
		f := file(name)
		if f.Entry != "" {
			r.reject(finding.ShapeValue, at+"/path", "the file is listed twice")
			continue
		}
		f.Entry = at
		f.Stated, f.StatedBytes = r.recording.Manifest.Field(at+"/sha256"), r.recording.Manifest.Field(at+"/bytes")
	}
}

func (r *reader) reject(code finding.Code, pointer, detail string) {
	f := finding.New(code)
	f.Artifact, f.Pointer, f.Detail = r.recording.Manifest.Path, pointer, detail
	f.Actual = finding.Value(r.recording.Manifest.Field(pointer).Raw)
	r.run.Shape = append(r.run.Shape, f)
}

// mostFiles bounds what a run's folder is looked through for.
const mostFiles = 100_000

// present notes what lies in the folder, and in the folders of the parts. A link in the place of such a folder is not followed.
func (r *reader) present(file func(string) *trace.RunFile) error {
	folders := []string{""}
	seen := 0
	for len(folders) > 0 {
		folder := folders[0]
		folders = folders[1:]
		entries, err := os.ReadDir(r.path(folder))
		if err != nil {
			return dialect.Unreadable(r.path(folder), err)
		}
		if seen += len(entries); seen > mostFiles {
			return &dialect.Problem{Code: finding.InputTooLarge, Path: r.recording.Dir, Offset: -1, Detail: "holds more files than any run"}
		}
		for _, e := range entries {
			switch name := strings.TrimPrefix(folder+"/"+e.Name(), "/"); {
			case name == ManifestFile:
			case e.IsDir() && (name == traceParts || name == retrievalParts):
				folders = append(folders, name)
			default:
				file(name).Found = true
			}
		}
	}
	return nil
}

func (r *reader) load(f *trace.RunFile) error {
	in, err := r.open(f.Path)
	if err != nil {
		return err
	}
	described := in.Input(Dialect, kindName(f.Name), true)
	f.SHA256, f.Bytes = described.SHA256, described.Bytes
	r.run.Inputs = append(r.run.Inputs, described)
	r.content[f.Name] = in.Data
	return nil
}

// kindName is what reports call a file.
func kindName(name string) string {
	switch folder, _, _ := strings.Cut(name, "/"); folder {
	case traceParts, TraceFile:
		return "determinism_trace"
	case retrievalParts:
		return "retrieval_trace"
	}
	return strings.TrimSuffix(strings.TrimSuffix(name, "l"), ".json")
}
