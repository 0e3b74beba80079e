package cmd_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// editedInput gives a comparison of a run with itself, where one input was edited afterwards.
func editedInput(t *testing.T) []string {
	t.Helper()
	return []string{"diff", nativeFixture("runs", "single"), editedRun(t, "single", run.TurnsFile, "You are the guard", "You are the cook")}
}

func editedRun(t *testing.T, name, file, before, after string) string {
	t.Helper()
	dir := runtest.Copy(t, nativeFixture("runs", name), filepath.Join(t.TempDir(), name))
	runtest.Replace(t, dir, file, before, after)
	runtest.Repair(t, dir)
	return dir
}

// E10: where two runs record the same and their inputs differ, both are made again: what nothing reads is a note, and a
// recording that is not what its inputs make proves nothing, whichever side it is.
func TestDiffOfRunsWhoseInputsDiffer(t *testing.T) {
	for _, c := range []struct {
		what, run, file, before, after string
		exit                           int
		code                           string
	}{
		{"an answer", "turns", run.OutputsFile, "Come in.", "Come on.", 1, "stage.output"},
		{"an answer that no stage understood", "stage-failed", run.OutputsFile, "I found it.", "I lost it.", 1, "stage.output"},
		{"a part of the prompt", "single", run.TurnsFile, "You are the guard", "You are the cook", 3, "equiv.inputs"},
		{"the memory", "cached", run.SnapshotFile, "The king is named Arthur", "The king is named Mark", 3, "equiv.inputs"},
		{"the configuration", "single", run.ConfigFile, `"snapshot"`, `"minimal"`, 3, "equiv.inputs"},
		{"a candidate", "candidates", run.CandidatesFile, `0.91`, `0.92`, 3, "run.disagrees"},
		{"a counter that nothing reads", "single", run.TurnsFile, `"interaction_count": 3`, `"interaction_count": 4`, 0, "equiv.inputs"},
		{"what a profile does not select", "tools", run.ToolResultsFile, `"took_ms": 12`, `"took_ms": 13`, 0, "equiv.inputs"},
	} {
		whole, edited := nativeFixture("runs", c.run), editedRun(t, c.run, c.file, c.before, c.after)
		for _, args := range [][]string{{"diff", whole, edited}, {"diff", edited, whole}} {
			r, exit := runJSON(t, args...)
			i := slices.IndexFunc(r.all(), func(f reportedEntry) bool { return f.Code == c.code })
			if exit != c.exit || i < 0 {
				t.Errorf("%s: %s, exit code %d, want %s:%s", c.what, r.Verdict, exit, c.code, inShort(r.all()))
				continue
			}
			if f := r.all()[i]; filepath.Base(f.Artifact) != c.file || f.Severity != map[bool]string{true: "note", false: "error"}[exit == 0] {
				t.Errorf("%s: %+v", c.what, f)
			}
		}
	}
	args := append(editedInput(t), "--ignore", "equiv.inputs")
	if r, exit := runJSON(t, args...); exit != 0 {
		t.Errorf("%s: exit code %d:%s", strings.Join(args, " "), exit, inShort(r.errors()))
	}
}
