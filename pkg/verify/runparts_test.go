package verify_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// V4: parts are numbered from 0000 on, without a gap: one that is gone from the folder and from the manifest is missed all the same.
func TestAPartThatIsMissingIsFound(t *testing.T) {
	base := runtest.Write(t, filepath.Join(t.TempDir(), "run"), everything)
	for _, to := range []string{"0001.jsonl", "0007.jsonl"} {
		for _, folder := range []string{"trace", "retrieval"} {
			dir := runtest.Copy(t, base, filepath.Join(t.TempDir(), "run"))
			if err := os.Rename(filepath.Join(dir, folder, "0000.jsonl"), filepath.Join(dir, folder, to)); err != nil {
				t.Fatal(err)
			}
			runtest.Repair(t, dir)
			r := verifyRun(t, dir)
			if r.Verdict != finding.Fail || len(r.Findings) != 1 || r.Findings[0].Code != finding.RunFileMissing || r.Findings[0].Artifact != filepath.Join(dir, folder, to) {
				t.Errorf("%s/%s: %s %s", folder, to, r.Verdict, said(r))
			}
		}
	}
}
