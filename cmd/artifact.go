package cmd

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/native"
	"github.com/dmpl/dmpl/pkg/dialect/orket"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// readers lists the dialects, in the order in which they look at a file.
var readers = [...]dialect.Reader{orket.Reader{}, native.Reader{}}

const dialectAuto = "auto"

// artifactOptions are the flags of the commands that read artifacts.
type artifactOptions struct {
	dialect  choice
	profiles string
	limit    byteCount
	digests  bool // the report states the digest of every input

	profileFiles []finding.Input // what toolProfiles has read
}

// bind declares the flags. More are dialects of the command besides those that readers has.
func (o *artifactOptions) bind(c *cobra.Command, more ...string) {
	names := []string{dialectAuto}
	for _, r := range readers {
		names = append(names, r.Name())
	}
	addChoice(c, &o.dialect, "dialect", "what the artifacts are, where their content does not tell", append(names, more...)...)
	c.Flags().StringVar(&o.profiles, "profiles", "", "folder of tool profiles (memory.tool_profile.v1)")
	addDocumentLimit(c, &o.limit)
}

// toolProfiles reads the folder of --profiles; nil without the flag.
func (o *artifactOptions) toolProfiles() (trace.Profiles, error) {
	if o.profiles == "" {
		return nil, nil
	}
	profiles, files, err := orket.ReadProfiles(o.profiles, int64(o.limit))
	o.profileFiles = files
	return profiles, err
}

// read reads the artifact at path. Every error is a [dialect.Problem].
func (a *App) read(path string, o *artifactOptions, more dialect.Options) (*dialect.Artifact, error) {
	more.Limit, more.Stdin, more.Digests = int64(o.limit), a.In, o.digests
	if o.isRun(path) {
		a.collectRun(native.Folder(path), true)
		return native.ReadFolder(native.Folder(path), more)
	}
	if err := fileOfRun(path); err != nil && o.dialect.value == dialectAuto {
		return nil, err
	}
	f, err := a.readFile(path, more.Limit)
	if err != nil {
		return nil, err
	}
	reader, err := o.readerOf(f)
	if err != nil {
		return nil, err
	}
	return reader.Read(f, more)
}

// fileOfRun refuses a single file of a native run: the run as a whole is what can be judged.
func fileOfRun(path string) error {
	if path == stdin || !native.IsRun(filepath.Dir(path)) {
		return nil
	}
	return &dialect.Problem{Code: finding.InputUnrecognised, Path: path, Offset: -1, Detail: "is one file of a native run: name the run's folder"}
}

// readerOf finds the dialect by content, unless a flag says it.
func (o *artifactOptions) readerOf(f *dialect.File) (dialect.Reader, error) {
	for _, r := range readers {
		if o.dialect.value != dialectAuto {
			if o.dialect.value == r.Name() {
				return r, nil
			}
			continue
		}
		ok, err := r.Detect(f)
		if err != nil {
			return nil, err
		}
		if ok {
			return r, nil
		}
	}
	return nil, &dialect.Problem{
		Code: finding.InputUnrecognised, Path: f.Path, Offset: -1, Detail: "the content is no artifact that dmpl knows",
	}
}

// isRun says that a path is the folder of a native run, or its manifest.
func (o *artifactOptions) isRun(path string) bool {
	folder := native.Folder(path)
	return o.dialect.value != orket.Name && isFolder(folder) && native.IsRun(folder)
}

// find lists the artifacts of a folder. What lies in the folder of a native run belongs to the run.
func (a *App) find(root string, o *artifactOptions) (*dialect.Tree, error) {
	settings := dialect.Options{Limit: int64(o.limit), Stdin: a.In}
	runs, err := native.Reader{}.Find(root, settings)
	if err != nil || o.dialect.value == native.Name {
		return runs, err
	}
	if o.dialect.value == dialectAuto {
		for _, e := range runs.Entries {
			settings.Skip = append(settings.Skip, native.Folder(e.Path))
		}
	}
	tree, err := orket.Reader{}.Find(root, settings)
	if err != nil || o.dialect.value != dialectAuto {
		return tree, err
	}
	tree.Entries = append(tree.Entries, runs.Entries...)
	slices.SortStableFunc(tree.Entries, func(a, b dialect.Entry) int {
		return slices.Compare(strings.Split(a.Path, string(filepath.Separator)), strings.Split(b.Path, string(filepath.Separator)))
	})
	return tree, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// exists says whether there is something at a path, or it is standard input.
func exists(path string) bool {
	_, err := os.Stat(path)
	return path == stdin || err == nil
}

// expand resolves a pattern that the shell did not: a name that exists is never a pattern.
func expand(argument string) []string {
	if argument == stdin {
		return []string{argument}
	}
	if _, err := os.Lstat(argument); !errors.Is(err, fs.ErrNotExist) {
		return []string{argument}
	}
	if matches, err := filepath.Glob(argument); err == nil && filepath.Clean(argument) != literal(argument) {
		return matches
	}
	return []string{argument}
}

// literal gives "" for a name with pattern characters.
func literal(argument string) string {
	if bytes.ContainsAny([]byte(argument), "*?[") {
		return ""
	}
	return filepath.Clean(argument)
}

// troubled is the result of an input that could not be read or is malformed: nothing is decided, exit code 2 (CONTRACT
// Z2, Z4). An error that is no problem of the input is given back.
func troubled(name string, comparison bool, errs ...error) (finding.Result, error) {
	r := finding.Result{Name: name}
	for _, err := range errs {
		var problem *dialect.Problem
		switch {
		case err == nil:
		case errors.As(err, &problem):
			r.Findings = append(r.Findings, problem.Finding())
			r.Inputs = append(r.Inputs, finding.Input{Path: problem.Path})
		default:
			return r, err
		}
	}
	r.Judge(comparison)
	r.Trouble, r.Verdict = true, finding.Undecided
	return r, nil
}

// empty is the result of a folder or pattern that holds no artifact, whatever else: nothing was proved (CONTRACT Z1).
func empty(name string, comparison bool, others ...string) finding.Result {
	f := about(finding.InputEmptyCorpus, name)
	f.Detail = "no artifact was found"
	r := finding.Result{Name: name, Findings: append(skipped(others), f)}
	r.Judge(comparison)
	return r
}

// skipped notes the files of a folder that were not read as evidence.
func skipped(paths []string) []finding.Finding {
	var fs []finding.Finding
	for _, path := range paths {
		fs = append(fs, about(finding.InputSkipped, path))
	}
	return fs
}

// orphans says which retrieval traces no trace lies beside: nobody read them, and they may say anything.
func orphans(paths []string) []finding.Finding {
	var fs []finding.Finding
	for _, path := range paths {
		fs = append(fs, about(finding.InputOrphanRetrieval, path))
	}
	return fs
}

// about is a finding of a file as a whole.
func about(code finding.Code, path string) finding.Finding {
	f := finding.New(code)
	f.Artifact, f.Hint = path, finding.Lookup(code).Action
	return f
}

// mostPinned is the size up to which a value is copied, so that a result does not keep a whole file in memory.
const mostPinned = 4 << 10

// detach copies the small values of a result out of the files they are spans of.
func detach(r *finding.Result) {
	for i := range r.Findings {
		f := &r.Findings[i]
		for _, v := range []*finding.Value{&f.Expected, &f.Actual} {
			if len(*v) <= mostPinned {
				*v = bytes.Clone(*v)
			}
		}
	}
}
