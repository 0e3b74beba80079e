package native_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dialecttest"
	"github.com/dmpl/dmpl/pkg/dialect/native"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// C1, V1: the contract of every reader, with manifests as the artifacts.
func TestReaderContract(t *testing.T) {
	plain := runtest.Write(t, filepath.Join(t.TempDir(), "plain"), runtest.Features{})
	all := runtest.Write(t, filepath.Join(t.TempDir(), "all"), runtest.Features{
		Visibility: "buffered_write", Retry: true, Tools: true, Retrieval: true, Chain: &run.Chain{},
	})
	dialecttest.Run(t, native.Reader{}, filepath.Join(plain, run.ManifestFile), filepath.Join(all, run.ManifestFile))
}

// V4: a folder is a run by its manifest, or by what only a run has.
func TestAFolderIsARun(t *testing.T) {
	whole := runtest.Write(t, filepath.Join(t.TempDir(), "run"), runtest.Features{})
	broken := runtest.Copy(t, whole, filepath.Join(t.TempDir(), "broken"))
	runtest.Replace(t, broken, run.ManifestFile, "{", "")
	gone := runtest.Copy(t, whole, filepath.Join(t.TempDir(), "gone"))
	if err := os.Remove(filepath.Join(gone, run.ManifestFile)); err != nil {
		t.Fatal(err)
	}
	begun := t.TempDir()
	runtest.Put(t, begun, run.Unfinished, nil)
	other := t.TempDir()
	runtest.Put(t, other, run.ManifestFile, []byte(`{"name":"app"}`))
	runtest.Put(t, other, run.ConfigFile, []byte(`{}`))
	one := t.TempDir()
	runtest.Put(t, one, run.TraceFile, []byte(`{}`))
	later := runtest.Copy(t, whole, filepath.Join(t.TempDir(), "later"))
	runtest.Replace(t, later, run.ManifestFile, run.SchemaVersion, "dmpl.run.v9")
	nameless := runtest.Copy(t, whole, filepath.Join(t.TempDir(), "nameless"))
	runtest.Replace(t, nameless, run.ManifestFile, "schema_version", "schema")
	for dir, want := range map[string]bool{
		whole: true, broken: true, gone: true, begun: true, later: true, nameless: true, other: false, one: false, t.TempDir(): false,
	} {
		if got := native.IsRun(dir); got != want {
			t.Errorf("%s: %v", dir, got)
		}
	}
	if _, err := native.ReadFolder(broken, dialect.Options{}); err == nil {
		t.Error("a broken manifest was read")
	}
	a, err := native.ReadFolder(gone, dialect.Options{})
	if err != nil || a.Trace.Recording.CutShort == "" {
		t.Errorf("without a manifest: %+v, %v", a, err)
	}
	if _, err := (native.Reader{}).Read(&dialect.File{Path: "-", Data: []byte(`{}`)}, dialect.Options{}); err == nil {
		t.Error("standard input was read as a run")
	}
}

// C1: a run behind a link is not passed over in silence, and not read: the link may lead anywhere.
func TestALinkOutOfTheTreeIsAProblem(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	inside := runtest.Write(t, filepath.Join(root, "a"), runtest.Features{})
	if err := os.Symlink(inside, filepath.Join(root, "b")); err != nil {
		t.Fatal(err)
	}
	if tree, err := (native.Reader{}).Find(root, dialect.Options{}); err != nil || len(tree.Entries) != 1 {
		t.Errorf("a link within the tree: %+v, %v", tree, err)
	}
	link := filepath.Join(root, "c")
	if err := os.Symlink(runtest.Write(t, filepath.Join(outside, "run"), runtest.Features{}), link); err != nil {
		t.Fatal(err)
	}
	_, err := native.Reader{}.Find(root, dialect.Options{})
	var problem *dialect.Problem
	if !errors.As(err, &problem) || problem.Code != finding.InputNotAFile || problem.Path != link {
		t.Errorf("a link out of the tree: %v", err)
	}
}

// P6: runs are named by their folder, those of a chain by their place in it.
func TestFindNamesRuns(t *testing.T) {
	root := t.TempDir()
	runtest.Write(t, filepath.Join(root, "b", "single"), runtest.Features{})
	runtest.Write(t, filepath.Join(root, "a", "zz"), runtest.Features{Chain: &run.Chain{}})
	runtest.Write(t, filepath.Join(root, "a", "yy"), runtest.Features{Chain: &run.Chain{Index: 1, PreviousRunID: "r", PreviousCommitID: "c"}})
	runtest.Put(t, root, "c/"+run.Unfinished, nil)
	tree, err := native.Reader{}.Find(root, dialect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range tree.Entries {
		rel, err := filepath.Rel(root, e.Path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel)+" = "+e.Key)
	}
	want := []string{"a/yy/manifest.json = a/link 0001", "a/zz/manifest.json = a/link 0000", "b/single/manifest.json = b/single", "c = c"}
	if len(got) != len(want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	if _, err := (native.Reader{}).Find(filepath.Join(root, "none"), dialect.Options{}); err == nil {
		t.Error("a folder that is not there was looked through")
	}
}
