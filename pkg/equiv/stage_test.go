package equiv_test

import (
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	native "github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/trace"
	"github.com/dmpl/dmpl/pkg/verify"
)

// nativeSide reads the run in a folder.
func nativeSide(t *testing.T, dir string) equiv.Side {
	t.Helper()
	r, err := native.Read(dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return equiv.Side{Trace: r.Trace, Findings: verify.Trace(r.Trace, r.Shape, verify.Options{InFolder: true}).Findings}
}

func checkOf(r finding.Result, id string) []finding.Check {
	var found []finding.Check
	for _, c := range r.Checks {
		if c.ID == id {
			found = append(found, c)
		}
	}
	return found
}

const otherDigest = `"0123456789012345678901234567890123456789012345678901234567890123"`

// E10: each member of a stage is compared, each difference has its own code at its own place, and a missing member is a
// malformed side.
func TestStagesAreCompared(t *testing.T) {
	features := runtest.Features{Retry: true, References: true}
	left := runtest.Write(t, filepath.Join(t.TempDir(), "left"), features)
	features.RunID = "run-2"
	right := runtest.Write(t, filepath.Join(t.TempDir(), "right"), features)
	same := equiv.Compare(nativeSide(t, left), nativeSide(t, right), equiv.Options{})
	if checks := checkOf(same, "E10"); same.Verdict != finding.Equivalent || len(checks) != 1 || checks[0].Status != finding.Passed || checks[0].Count != 8 {
		t.Fatalf("%s, %+v, %+v", same.Verdict, checks, same.Findings)
	}
	for _, c := range []struct {
		before, after string
		want          finding.Verdict
		code          finding.Code
		pointer       string
	}{
		{`"context_digest":`, `"context_digest":` + otherDigest + `,"was":`, finding.Divergent, finding.StageContext, "/events/0/stage/context_digest"},
		{`"constraints_digest":`, `"constraints_digest":` + otherDigest + `,"was":`, finding.Divergent, finding.StageConstraints, "/events/0/stage/constraints_digest"},
		{`"prompt_digest":`, `"prompt_digest":` + otherDigest + `,"was":`, finding.Divergent, finding.StagePrompt, "/events/0/stage/prompt_digest"},
		{`"parse_digest":`, `"parse_digest":` + otherDigest + `,"was":`, finding.Divergent, finding.StageParse, "/events/1/stage/parse_digest"},
		{`"gate_digest":`, `"gate_digest":` + otherDigest + `,"was":`, finding.Divergent, finding.StageGate, "/events/2/stage/gate_digest"},
		{`"mutation_batch_digest":`, `"mutation_batch_digest":` + otherDigest + `,"was":`, finding.Divergent, finding.StageMutations, "/events/6/stage/mutation_batch_digest"},
		{`"state_digest":`, `"state_digest":` + otherDigest + `,"was":`, finding.Divergent, finding.StageState, "/events/6/stage/state_digest"},
		{`"open_gate"`, `"close_gate"`, finding.Divergent, finding.StageIntents, "/events/7/stage/dispatched_intents"},
		{`"attempt":1`, `"attempt":2`, finding.Divergent, finding.StagePlace, "/events/3/stage/attempt"},
		{`"parse_digest":`, `"parse":`, finding.Divergent, finding.StageParse, "/events/1/stage/parse_digest"},
		{`"parse_digest":"`, `"parse_digest":7,"was":"`, finding.Undecided, finding.ShapeType, "/events/1/stage/parse_digest"},
		{`"stage":{"attempt":0,"parse`, `"was":{"attempt":0,"parse`, finding.Undecided, finding.RunStageMissing, "/events/1/stage"},
	} {
		dir := runtest.Copy(t, right, filepath.Join(t.TempDir(), "right"))
		runtest.Replace(t, dir, "trace/0000.jsonl", c.before, c.after)
		runtest.Repair(t, dir)
		got := equiv.Compare(nativeSide(t, left), nativeSide(t, dir), equiv.Options{})
		f, found := find(got, c.code)
		if got.Verdict != c.want || !found || f.Pointer != c.pointer {
			t.Errorf("%s: %s, %v, want %s and %s", c.after, got.Verdict, codes(got.Findings), c.want, c.code)
		}
	}
}

// E10, V4: what never recorded its stages, and what is cut short, is not compared and says so.
func TestStagesThatAreNotThere(t *testing.T) {
	dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), runtest.Features{})
	plain := func() equiv.Side {
		side := nativeSide(t, dir)
		side.Trace.Recording = nil
		return side
	}
	short := runtest.Copy(t, dir, filepath.Join(t.TempDir(), "short"))
	runtest.Replace(t, short, native.ManifestFile, `"complete"`, `"open"`)
	unordered := func() equiv.Side {
		side := nativeSide(t, dir)
		side.Trace.Events[0].IndexField.State = trace.Malformed
		return side
	}
	for what, c := range map[string]struct {
		left, right equiv.Side
		id          string
		want        string
		verdict     finding.Verdict
	}{
		"neither side": {plain(), plain(), "E10", "these runs never recorded prompts, gates and states", finding.Equivalent},
		"one side":     {plain(), nativeSide(t, dir), "E10", "only one side recorded prompts, gates and states", finding.Equivalent},
		"cut short":    {nativeSide(t, dir), nativeSide(t, short), "E2", "a run is cut short", finding.Undecided},
		"no order":     {unordered(), nativeSide(t, dir), "E10", "the events of a side cannot be ordered", finding.Equivalent},
	} {
		r := equiv.Compare(c.left, c.right, equiv.Options{})
		checks := checkOf(r, c.id)
		if r.Verdict != c.verdict || len(checks) != 1 || checks[0].Status != finding.NotChecked || checks[0].Reason != c.want {
			t.Errorf("%s: %s, %+v", what, r.Verdict, checks)
		}
	}
}
