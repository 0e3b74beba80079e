package run_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/verify"
)

// FuzzRead puts any bytes in the place of any file of a run: reading and verifying never panic, an error is a problem that
// names a file, and what was not there before never passes.
func FuzzRead(f *testing.F) {
	base := runtest.Write(f, filepath.Join(f.TempDir(), "run"), everything)
	names := []string{
		run.ManifestFile, run.SnapshotFile, run.ConfigFile, run.PoliciesFile, run.ProfilesFile, run.TurnsFile, run.OutputsFile, run.ToolResultsFile,
		run.CandidatesFile, run.PromptsFile, run.TraceFile, run.CommitFile, "trace/0000.jsonl", "retrieval/0000.jsonl",
	}
	for i := range names {
		for _, text := range []string{"{}\n", "[]", "{\"turn\":0}\n{\"turn\":0}\n", "\n\n", "{\"stage\":{\"turn\":-1}}\n", "null"} {
			f.Add(i, []byte(text), true)
		}
	}
	f.Fuzz(func(t *testing.T, which int, text []byte, repaired bool) {
		name := names[uint(which)%uint(len(names))]
		dir := runtest.Copy(t, base, filepath.Join(t.TempDir(), "run"))
		runtest.Put(t, dir, name, text)
		if repaired && name != run.ManifestFile {
			runtest.Repair(t, dir)
		}
		r, err := run.Read(dir, nil, 0)
		if err != nil {
			var problem *dialect.Problem
			if !errors.As(err, &problem) || problem.Path == "" || problem.Code == "" {
				t.Fatalf("%s: %v", name, err)
			}
			return
		}
		result := verify.Trace(r.Trace, r.Shape, verify.Options{})
		if !repaired && result.Verdict == finding.Pass {
			t.Fatalf("%s was changed, and the run passes", name)
		}
	})
}
