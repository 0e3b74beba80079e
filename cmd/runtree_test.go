package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// V1, R4: a run of a tree whose manifest states another version, or none, is one of the tree's runs: a gate that passed it over would
// hold for fewer runs than are there.
func TestARunOfAnUnknownVersionIsNotPassedOver(t *testing.T) {
	for code, version := range map[string]string{"shape.version": `"schema_version": "dmpl.run.v9"`, "shape.missing": `"schema": "dmpl.run.v1"`} {
		root := t.TempDir()
		runtest.Copy(t, nativeFixture("runs", "single"), filepath.Join(root, "a"))
		other := runtest.Copy(t, nativeFixture("runs", "minimal"), filepath.Join(root, "b"))
		runtest.Replace(t, other, run.ManifestFile, `"schema_version": "dmpl.run.v1"`, version)
		for command, want := range map[string]int{"replay": 3, "verify": 1} {
			for _, path := range []string{root, other, filepath.Join(other, run.ManifestFile)} {
				r, exit := runJSON(t, command, path)
				if fs := r.errors(); exit != want || len(fs) != 1 || fs[0].Code != code || filepath.Base(fs[0].Artifact) != run.ManifestFile {
					t.Errorf("%s %s: exit code %d:%s", command, path, exit, inShort(fs))
				}
			}
		}
	}
}

// C1: what lies behind a link out of the tree is not read, and every command says so.
func TestARunBehindALinkIsNotPassedOver(t *testing.T) {
	root := t.TempDir()
	runtest.Copy(t, nativeFixture("runs", "single"), filepath.Join(root, "a"))
	if err := os.Symlink(runtest.Copy(t, nativeFixture("runs", "minimal"), filepath.Join(t.TempDir(), "run")), filepath.Join(root, "b")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"replay", root}, {"verify", root}, {"diff", root, root}} {
		if r, exit := runJSON(t, args...); exit != 2 || r.errors()[0].Code != "input.not_a_file" {
			t.Errorf("%v: exit code %d:%s", args, exit, inShort(r.errors()))
		}
	}
	if code := newProcess(t).Run([]string{"runs", "prune", root, "--dry-run"}); code != 2 {
		t.Errorf("prune: exit code %d", code)
	}
}

// A single file of a run proves nothing, and is not taken for a trace of another runtime.
func TestAFileOfARunNamesTheFolder(t *testing.T) {
	single := nativeFixture("runs", "single")
	for _, args := range [][]string{
		{"verify", filepath.Join(single, run.TraceFile)}, {"verify", filepath.Join(single, run.OutputsFile)}, {"diff", filepath.Join(single, run.TraceFile), single},
	} {
		if r, exit := runJSON(t, args...); exit != 2 || !strings.HasSuffix(r.errors()[0].Detail, "name the run's folder") {
			t.Errorf("%v: exit code %d:%s", args, exit, inShort(r.errors()))
		}
	}
	p := newProcess(t)
	if code := p.Run([]string{"replay", filepath.Join(single, run.TurnsFile)}); code != 2 || !strings.Contains(p.errs.String(), "name the run's folder") {
		t.Errorf("replay: exit code %d, %s", code, p.errs)
	}
}

// E3: a tree of runs that lacks one is told so.
func TestDiffOfTreesNamesTheRunThatIsMissing(t *testing.T) {
	left := t.TempDir()
	runtest.Copy(t, nativeFixture("runs", "single"), filepath.Join(left, "a"))
	right := t.TempDir()
	runtest.Copy(t, nativeFixture("runs", "single"), filepath.Join(right, "b"))
	r, exit := runJSON(t, "diff", left, right)
	fs := r.errors()
	if exit != 1 || len(fs) != 2 || fs[0].Detail != "the right folder has no such run" || fs[1].Detail != "the left folder has no such run" {
		t.Errorf("exit code %d:%s", exit, inShort(fs))
	}
}
