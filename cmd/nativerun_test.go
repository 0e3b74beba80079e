package cmd_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/golden"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// everything is a run with each thing that a run can have.
var everything = runtest.Features{
	Visibility: "buffered_write", Turns: 2, Retry: true, Tools: true, Retrieval: true, Candidates: true, References: true, Topics: true,
}

func with(f runtest.Features, change func(*runtest.Features)) runtest.Features {
	change(&f)
	return f
}

var firstLink = runtest.Features{RunID: "run-a", Visibility: "buffered_write", Chain: &run.Chain{}}

// nativeRuns are the runs of fixtures/runs-native by their folder.
var nativeRuns = map[string]runtest.Features{
	"base":         everything,
	"again":        with(everything, func(f *runtest.Features) { f.RunID, f.Created = "run-2", 7 }),
	"answer":       with(everything, func(f *runtest.Features) { f.RunID, f.Say = "run-3", "Nobody guards it." }),
	"aborted":      with(everything, func(f *runtest.Features) { f.Abort = "policy_rejected" }),
	"fallback":     {Retry: true, Fallback: true},
	"failure":      {Visibility: "off", Turns: 2, Failure: "output_missing"},
	"prompts":      {Prompts: true},
	"cut-short":    {},
	"tampered":     {},
	"chain/first":  firstLink,
	"chain/second": {RunID: "run-b", Visibility: "buffered_write", SnapshotID: "00000000000000000042", Chain: &run.Chain{Index: 1, PreviousRunID: "run-a", PreviousCommitID: runtest.CommitID(firstLink)}},
	"broken/first": firstLink,
	"broken/third": {RunID: "run-c", Visibility: "buffered_write", SnapshotID: "00000000000000000043", Chain: &run.Chain{Index: 2, PreviousRunID: "run-b", PreviousCommitID: "c"}},
}

// spoilt are the runs of the fixtures that are not left as they were written.
var spoilt = map[string][3]string{
	"cut-short": {run.ManifestFile, `"complete"`, `"open"`},
	"tampered":  {run.ConfigFile, `"snapshot"`, `"minimal"`},
}

// The native runs among the fixtures are what the writer writes: none is made by hand, and none goes stale.
func TestNativeFixturesAreFresh(t *testing.T) {
	for name, features := range nativeRuns {
		dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), features)
		if change, ok := spoilt[name]; ok {
			runtest.Replace(t, dir, change[0], change[1], change[2])
		}
		files := 0
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files++
			text, err := os.ReadFile(path)
			golden.Assert(t, filepath.Join(fixtures, "runs-native", name, strings.TrimPrefix(path, dir)), text)
			return err
		})
		if err != nil || files < 8 {
			t.Fatalf("%d files, error %v", files, err)
		}
	}
}

// runEdit is a change of a copy of a run, with the manifest made to fit, and the code that it must give.
type runEdit struct{ what, of, file, before, after, code string }

const someDigest = `"0123456789012345678901234567890123456789012345678901234567890123"`

// runEdits are changes that verify finds in the run alone, and that diff finds between the run and what it was.
var (
	verifiedEdits = []runEdit{
		{"another run id", "base", run.ManifestFile, `"run-1"`, `"run-9"`, "run.disagrees"},
		{"a turn out of order", "base", run.TurnsFile, `"turn":0`, `"turn":3`, "run.line_order"},
		{"a lost output", "fallback", "trace/0000.jsonl", `{"attempt":0,"parse_digest"`, `{"attempt":4,"parse_digest"`, "run.unlinked"},
		{"a number twice", "base", run.SnapshotFile, `"sequence_number":2`, `"sequence_number":1`, "run.snapshot"},
		{"an event that nobody knows", "base", "trace/0000.jsonl", `"prompt_ready"`, `"prompt_made"`, "run.event_unknown"},
		{"an event out of order", "base", "trace/0000.jsonl", `"decision_type":"retry"`, `"decision_type":"passed"`, "run.event_order"},
		{"a stage without its digest", "base", "trace/0000.jsonl", `"gate_digest"`, `"gate"`, "run.stage_missing"},
	}
	comparedEdits = []runEdit{
		{"another turn", "base", "trace/0000.jsonl", `"turn":0`, `"turn":1`, "stage.place"},
		{"another context", "base", "trace/0000.jsonl", `"context_digest":`, `"context_digest":` + someDigest + `,"was":`, "stage.context"},
		{"other constraints", "base", "trace/0000.jsonl", `"constraints_digest":`, `"constraints_digest":` + someDigest + `,"was":`, "stage.constraints"},
		{"another prompt", "base", "trace/0000.jsonl", `"prompt_digest":`, `"prompt_digest":` + someDigest + `,"was":`, "stage.prompt"},
		{"an answer that was edited", "base", run.OutputsFile, "I guard the gate.", "I guard the king.", "stage.output"},
		{"another parse", "base", "trace/0000.jsonl", `"parse_digest":`, `"parse_digest":` + someDigest + `,"was":`, "stage.parse"},
		{"another judgement", "base", "trace/0000.jsonl", `"gate_digest":`, `"gate_digest":` + someDigest + `,"was":`, "stage.gate"},
		{"another batch", "base", "trace/0000.jsonl", `"mutation_batch_digest":`, `"mutation_batch_digest":` + someDigest + `,"was":`, "stage.mutations"},
		{"another intent", "base", "trace/0000.jsonl", `"open_gate"`, `"close_gate"`, "stage.intents"},
		{"another state", "base", "trace/0000.jsonl", `"state_digest":`, `"state_digest":` + someDigest + `,"was":`, "stage.state"},
	}
)

// madeRuns gives a command line for each edit of a run.
func madeRuns(t *testing.T) map[string]invocation {
	t.Helper()
	all := map[string]invocation{}
	edited := func(e runEdit) string {
		dir := runtest.Copy(t, filepath.Join(fixtures, "runs-native", e.of), filepath.Join(t.TempDir(), "run"))
		runtest.Replace(t, dir, e.file, e.before, e.after)
		runtest.Repair(t, dir)
		return dir
	}
	for _, e := range verifiedEdits {
		all[e.code] = invocation{e.what, []string{"verify", edited(e)}}
	}
	for _, e := range comparedEdits {
		all[e.code] = invocation{e.what, []string{"diff", filepath.Join(fixtures, "runs-native", e.of), edited(e)}}
	}
	missing := runtest.Copy(t, filepath.Join(fixtures, "runs-native", "base"), filepath.Join(t.TempDir(), "run"))
	if err := os.Remove(filepath.Join(missing, run.TurnsFile)); err != nil {
		t.Fatal(err)
	}
	all["run.file_missing"] = invocation{"a file that is gone", []string{"verify", missing}}
	extra := runtest.Copy(t, filepath.Join(fixtures, "runs-native", "base"), filepath.Join(t.TempDir(), "run"))
	runtest.Put(t, extra, "notes.txt", []byte("?"))
	all["equiv.inputs"] = invocation{"an input that was edited", editedInput(t)}
	all["replay.chain_broken"] = invocation{"a chain with another start", []string{"replay", brokenChain(t)}}
	all["run.file_extra"] = invocation{"a file that nobody listed", []string{"verify", extra}}
	return all
}

// V1–V5, E10: each change of a native run has its code, and makes verify fail or diff divergent.
func TestEditedNativeRunsAreFound(t *testing.T) {
	for code, in := range madeRuns(t) {
		r, exit := runJSON(t, in.args...)
		if want := map[bool]int{true: 3, false: 1}[code == "equiv.inputs"]; exit != want {
			t.Errorf("%s: exit code %d; %s", in.name, exit, describe(r.errors()))
		}
		found := false
		for _, f := range r.errors() {
			found = found || f.Code == code
		}
		if !found {
			t.Errorf("%s: no %s; %s", in.name, code, describe(r.errors()))
		}
	}
}

// E10, E11: of two answers the parsed answer is the root, and what was compared is the trace of each run.
func TestDiffOfNativeRunsNamesTheFirstStage(t *testing.T) {
	dir := filepath.Join(fixtures, "runs-native")
	r, _ := runJSON(t, "diff", filepath.Join(dir, "base"), filepath.Join(dir, "answer"))
	errs := r.errors()
	if len(errs) == 0 {
		t.Fatal("no differences")
	}
	for _, f := range errs {
		if f.Class != "root" {
			continue
		}
		if f.Code != "stage.parse" || f.Pointer != "/events/1/stage/parse_digest" || !strings.HasSuffix(f.Artifact, "/base/trace.json") || *f.EventIndex != 1 {
			t.Errorf("root %+v", f)
		}
	}
}

// A path to the manifest is the run too, and a run lies among other artifacts of a folder.
func TestNativeRunsAreFoundByFolderAndManifest(t *testing.T) {
	base := filepath.Join(fixtures, "runs-native", "base")
	if r, exit := runJSON(t, "verify", filepath.Join(base, run.ManifestFile)); exit != 0 {
		t.Errorf("by its manifest: %s", describe(r.errors()))
	}
	root := t.TempDir()
	runtest.Copy(t, base, filepath.Join(root, "native"))
	runtest.Copy(t, filepath.Join(fixtures, "demo", "left"), filepath.Join(root, "orket"))
	for dialect, want := range map[string]int{"auto": 2, "native": 1} {
		r, exit := runJSON(t, "verify", root, "--dialect", dialect)
		verified := 0
		for _, result := range r.Results {
			if result.Verdict == "pass" && result.Name != root {
				verified++
			}
		}
		if exit != 0 || verified < want || dialect == "native" && verified != want {
			t.Errorf("%s: exit %d, %d results: %s", dialect, exit, verified, describe(r.all()))
		}
	}
}
