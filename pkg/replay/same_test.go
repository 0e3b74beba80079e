package replay_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/record"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/trace"
	"github.com/dmpl/dmpl/pkg/verify"
)

// replaySame replays a run while it is read, as the command does; nil where it is not made again in the same bytes.
func replaySame(dir string, o replay.RunOptions) (*replay.Replayed, error) {
	walk, err := run.StartWalk(dir, 0)
	if err != nil {
		return nil, err
	}
	defer walk.Close()
	same, err := replay.RunSame(walk, o)
	if err != nil {
		return nil, err
	}
	walked, err := walk.End(same.End.Envelope, same.Events)
	if err != nil {
		return nil, err
	}
	found := verify.Trace(walked.Trace, walked.Shape, verify.Options{InFolder: true}).Findings
	return same.Replayed(found), nil
}

// R1: a run that is made again in the same bytes is walked through, and the result is that of a run that was read whole.
func TestASameRunHasTheSameResult(t *testing.T) {
	runs, err := filepath.Glob(filepath.Join(native, "runs", "*", run.ManifestFile))
	links, errLinks := filepath.Glob(filepath.Join(native, "runs", "*", "*", run.ManifestFile))
	if err != nil || errLinks != nil || len(runs) < 20 || len(links) < 3 {
		t.Fatal(runs, links, err, errLinks)
	}
	for _, manifest := range append(runs, links...) {
		dir := filepath.Dir(manifest)
		for _, timeline := range []bool{false, true} {
			o := replay.RunOptions{Until: replay.All, Timeline: timeline}
			whole, _ := replayRun(t, dir, o)
			if whole.Verdict != finding.Equivalent || len(rowsOf(whole)) == 0 == timeline || !sameResult(t, dir, o, whole) {
				t.Errorf("%s is %s, and was not walked through", dir, whole.Verdict)
			}
		}
	}
}

// sameResult holds the result of a run that was walked through to that of the run read whole.
func sameResult(t *testing.T, dir string, o replay.RunOptions, whole finding.Result) bool {
	t.Helper()
	o.Findings = nil
	made, err := replaySame(dir, o)
	if err != nil || made.Result.Verdict != finding.Equivalent {
		return false
	}
	if !slices.EqualFunc(rowsOf(made.Result), rowsOf(whole), func(a, b finding.Row) bool { return reflect.DeepEqual(a, b) }) {
		t.Errorf("%s: the timelines differ", dir)
	}
	made.Result.Timeline, whole.Timeline = nil, nil
	if !reflect.DeepEqual(made.Result, whole) {
		t.Errorf("%s: walked through it is\n%+v\nread whole it is\n%+v", dir, made.Result, whole)
	}
	return true
}

func rowsOf(r finding.Result) []finding.Row {
	if r.Timeline == nil {
		return nil
	}
	return slices.Collect(r.Timeline)
}

// R1, V2: lines that were taken out, doubled, exchanged or added, and files of another run, with the manifest made to fit: what is
// walked through says what is said of a run that was read whole.
func TestARunWithOtherLinesIsNoSameRun(t *testing.T) {
	walked, whole := 0, 0
	for _, name := range []string{"turns", "tools", "references", "candidates", "prompts", "fallback", "off", "stage-failed", "output-missing", "policy-rejected"} {
		from := filepath.Join(native, "runs", name)
		dir := runtest.Copy(t, from, filepath.Join(t.TempDir(), name))
		check := func(file string, text []byte) {
			before := readFile(t, from, file)
			runtest.Put(t, dir, file, text)
			runtest.Repair(t, dir)
			r, _ := replayRun(t, dir, replay.RunOptions{Until: replay.All})
			switch _, err := replaySame(dir, replay.RunOptions{Until: replay.All}); {
			case err != nil:
				whole++
			case r.Verdict == finding.Equivalent:
				walked++
			}
			if before == nil {
				if err := os.Remove(filepath.Join(dir, filepath.FromSlash(file))); err != nil {
					t.Fatal(err)
				}
			} else {
				runtest.Put(t, dir, file, before)
			}
		}
		for _, file := range files(t, from) {
			if !strings.HasSuffix(file, ".jsonl") {
				continue
			}
			lines := bytes.SplitAfter(readFile(t, from, file), []byte("\n"))
			lines = lines[:len(lines)-1]
			put := func(lines ...[]byte) { check(file, bytes.Join(lines, nil)) }
			for i, line := range lines {
				put(slices.Concat(lines[:i:i], lines[i+1:])...)
				put(slices.Insert(slices.Clone(lines), i, line)...)
				put(slices.Concat(lines[:i:i], lines[i+1:], [][]byte{line})...)
			}
			put(append(slices.Clone(lines), []byte("\n"))...)
			put(append(slices.Clone(lines[:len(lines)-1]), bytes.TrimSpace(lines[len(lines)-1]))...)
			for _, member := range []string{"turn", "attempt", "call", "index"} {
				more := regexp.MustCompile(`("`+member+`":\s*)(\d+)`).ReplaceAll(lines[len(lines)-1], []byte("${1}9"))
				put(append(slices.Clone(lines), more)...)
			}
		}
		check(run.CandidatesFile, []byte(`{"turn":0,"kind":"episodic","candidates":[]}`+"\n")) // also where nothing is read
		workflow := regexp.MustCompile(`"workflow_id":"[^"]*"`)
		check(run.TraceFile, workflow.ReplaceAll(readFile(t, from, run.TraceFile), []byte(`"workflow_id":""`)))
		for _, other := range []string{"candidates/candidates.jsonl", "prompts/prompts.jsonl", "tools/tool_results.jsonl", "policy-rejected/commit.json"} {
			check(filepath.Base(other), readFile(t, filepath.Join(native, "runs"), other))
		}
	}
	if whole < 100 || walked < 5 {
		t.Errorf("%d were walked through, and %d were not", walked, whole)
	}
}

// readFile gives a file of a run, nil where there is none.
func readFile(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return text
}

// R7: a candidate that the start snapshot does not have is in the row that is made again, and is said all the same.
func TestAnUnknownCandidateIsNoSameRun(t *testing.T) {
	dir := runtest.Copy(t, filepath.Join(native, "runs", "candidates"), filepath.Join(t.TempDir(), "run"))
	runtest.Replace(t, dir, run.CandidatesFile, `"candidates": [{"record_id": "e2"`, `"candidates": [{"record_id":"nobody","score":0.01},{"record_id": "e2"`)
	runtest.Replace(t, dir, "retrieval/0000.jsonl", `"candidates":[{"record_id":"e2"`, `"candidates":[{"record_id":"nobody","score":0.01},{"record_id":"e2"`)
	runtest.Repair(t, dir)
	o := replay.RunOptions{Until: replay.All}
	r, _ := replayRun(t, dir, o)
	if _, err := replaySame(dir, o); err == nil || len(r.Findings) != 1 || r.Findings[0].Code != finding.ReplayCandidateUnknown {
		t.Errorf("%v%s", err, told(r))
	}
}

// V3, D2: what verify has against a call is said, although the call is made again as it was recorded.
func TestACallThatIsNoClaimIsNoSameRun(t *testing.T) {
	inputs := filepath.Join(native, "inputs", "tools")
	text := func(name string) record.Text { return record.Text{Path: name, JSON: readFile(t, inputs, name)} }
	for _, c := range []struct {
		version string
		effects []byte
		verdict finding.Verdict
		code    finding.Code
	}{
		{"search-v1", []byte(`{"calendar":{}}`), finding.Equivalent, ""},
		{"search-v1", nil, finding.Undecided, finding.DigestSideEffect},
		{"unknown", []byte(`null`), finding.Undecided, finding.ClaimUnknown},
	} {
		profiles := text(run.ProfilesFile)
		profiles.JSON = bytes.Replace(profiles.JSON, []byte(`"search-v1"`), []byte(`"`+c.version+`"`), 1)
		dir := filepath.Join(t.TempDir(), "run")
		r, err := record.Create(dir, record.Settings{
			RunID: "r", WorkflowID: "w", Visibility: execute.ReadOnly, Lane: run.Lane{Name: "ci", Deterministic: true},
			ModelConfig: []byte(`{"provider_name":"p","model_name":"m","decoding":{},"seed":1}`),
		}, record.Documents{Snapshot: text(run.SnapshotFile), Config: text(run.ConfigFile), Policies: text(run.PoliciesFile), Profiles: profiles})
		if err != nil {
			t.Fatal(err)
		}
		answer, _, _ := bytes.Cut(readFile(t, inputs, run.OutputsFile), []byte("\n"))
		if _, err = r.Turn(text(run.TurnsFile), nil, answers{t, answer, c.effects}); err == nil {
			_, err = r.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		o := replay.RunOptions{Until: replay.All}
		whole, _ := replayRun(t, dir, o)
		said := slices.ContainsFunc(whole.Findings, func(f finding.Finding) bool { return f.Code == c.code })
		if whole.Verdict != c.verdict || said != (c.code != "") || sameResult(t, dir, o, whole) != (c.code == "") {
			t.Errorf("%s, %s: %s%s", c.version, c.effects, whole.Verdict, told(whole))
		}
	}
}

// answers is a source that gives the text of an output, and side effects to every call.
type answers struct {
	t       *testing.T
	output  []byte
	effects []byte
}

func (a answers) Output(int, int, string) (execute.Output, error) {
	v, err := canon.Parse(a.output)
	if err != nil {
		a.t.Fatal(err)
	}
	field, _ := v.Get("text")
	text, _ := field.Text()
	return execute.Output{Text: text}, nil
}

func (a answers) Call(execute.Call) (execute.CallResult, error) {
	return execute.CallResult{Result: []byte(`{"status":"ok"}`), SideEffects: a.effects}, nil
}

// R1, R5: what asks for a part of a run, or for other profiles on both sides, is not answered by the same bytes.
func TestAPartOfARunIsNoSameRun(t *testing.T) {
	dir := filepath.Join(native, "runs", "tools")
	for _, o := range []replay.RunOptions{{Until: 2}, {Until: 0}, {Until: replay.All, Profiles: trace.Profiles{}}} {
		if made, err := replaySame(dir, o); err == nil {
			t.Errorf("%+v: %s", o, made.Result.Verdict)
		}
		replayRun(t, dir, o)
	}
}

// R7: what a backend says of a candidate besides its id and score is no part of the ranking: members are additive within v1.
func TestFurtherMembersOfACandidateAreRead(t *testing.T) {
	dir := runtest.Copy(t, filepath.Join(native, "runs", "candidates"), filepath.Join(t.TempDir(), "run"))
	runtest.Replace(t, dir, run.CandidatesFile, `"candidates": [{"record_id": "e2"`, `"candidates": [{"distance": 0.09, "record_id": "e2"`)
	runtest.Repair(t, dir)
	o := replay.RunOptions{Until: replay.All}
	if r, _ := replayRun(t, dir, o); r.Verdict != finding.Equivalent || !sameResult(t, dir, o, r) {
		t.Errorf("%s%s", r.Verdict, told(r))
	}
}
