package verify_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// D8: where prompts are kept, all are: each line that is taken out is told of, with the event that it belonged to.
func TestAKeptPromptThatIsGoneIsFound(t *testing.T) {
	base := runtest.Write(t, filepath.Join(t.TempDir(), "run"), everything)
	text, err := os.ReadFile(filepath.Join(base, run.PromptsFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	for gone := range len(lines) + 1 {
		dir := runtest.Copy(t, base, filepath.Join(t.TempDir(), "run"))
		want := 1
		if gone < len(lines) {
			runtest.Put(t, dir, run.PromptsFile, bytes.Join(slices.Delete(slices.Clone(lines), gone, gone+1), nil))
		} else {
			runtest.Put(t, dir, run.PromptsFile, nil)
			want = len(lines)
		}
		runtest.Repair(t, dir)
		result := verifyRun(t, dir)
		found := 0
		for _, f := range result.Findings {
			if f.Code == finding.RunUnlinked && filepath.Base(f.Artifact) == run.TraceFile {
				found++
			}
		}
		if result.Verdict != finding.Fail || found != want || len(lines) != 4 {
			t.Errorf("line %d of %d: %s, %d findings, want %d: %s", gone, len(lines), result.Verdict, found, want, said(result))
		}
	}
	none := runtest.Copy(t, base, filepath.Join(t.TempDir(), "run"))
	if err := os.Remove(filepath.Join(none, run.PromptsFile)); err != nil {
		t.Fatal(err)
	}
	runtest.Repair(t, none)
	if result := verifyRun(t, none); result.Verdict != finding.Pass {
		t.Errorf("a run whose prompts are not kept: %s", said(result))
	}
}
