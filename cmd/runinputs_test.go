package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// R7: what backends returned for a turn is recorded in the order of retrieval, however it was given.
func TestRunOrdersCandidatesByKind(t *testing.T) {
	in := runtest.Copy(t, nativeFixture("inputs", "candidates"), filepath.Join(t.TempDir(), "in"))
	text, err := os.ReadFile(filepath.Join(in, run.CandidatesFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[0], lines[1] = lines[1], lines[0]
	runtest.Put(t, in, run.CandidatesFile, bytes.Join(lines, nil))
	out := filepath.Join(t.TempDir(), "out")
	p := newProcess(t)
	if code := p.Run([]string{"run", "--from", in, "--out", out}); code != 0 {
		t.Fatalf("exit code %d, %s", code, p.errs)
	}
	got, err := os.ReadFile(filepath.Join(out, run.CandidatesFile))
	want, errWant := os.ReadFile(nativeFixture("runs", "candidates", run.CandidatesFile))
	if err != nil || errWant != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, %v\n%s\nwant\n%s", err, errWant, got, want)
	}
	if r, exit := runJSON(t, "verify", out); exit != 0 {
		t.Errorf("exit code %d:%s", exit, inShort(r.errors()))
	}
}
