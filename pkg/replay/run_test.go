package replay_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
)

// override gives the document of a file in the place of a recorded one.
func override(t *testing.T, flag, path string) replay.Override {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	value, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]func(*trace.Recording) *trace.Document{
		"--config":   func(r *trace.Recording) *trace.Document { return &r.Config },
		"--policies": func(r *trace.Recording) *trace.Document { return &r.Policies },
		"--snapshot": func(r *trace.Recording) *trace.Document { return &r.Snapshot },
	}
	return replay.Override{Of: of[flag], Name: strings.TrimPrefix(flag, "--") + ".json", Document: trace.Document{Path: path, Value: value}}
}

// R1–R7: each row of the fixtures' edits, without the command around it.
func TestEditsHaveTheirVerdictAndRoot(t *testing.T) {
	var edits []struct {
		What, Run, File, Before, After string
		Repair                         bool
		Args                           []string
		Verdict                        finding.Verdict
		Root                           finding.Code
	}
	text, err := os.ReadFile(filepath.Join(native, "edits.json"))
	if err == nil {
		err = json.Unmarshal(text, &edits)
	}
	if err != nil || len(edits) < 30 {
		t.Fatalf("%d edits, %v", len(edits), err)
	}
	for _, e := range edits {
		if slices.Contains(e.Args, "--context-config") {
			continue // the command makes a configuration of it
		}
		dir := runtest.Copy(t, filepath.Join(native, "runs", e.Run), filepath.Join(t.TempDir(), "run"))
		if e.File != "" {
			runtest.Replace(t, dir, e.File, e.Before, e.After)
		}
		if e.Repair {
			runtest.Repair(t, dir)
		}
		o := replay.RunOptions{Until: replay.All}
		for i := 0; i+1 < len(e.Args); i += 2 {
			path := filepath.Join(native, e.Args[i+1])
			switch e.Args[i] {
			case "--until":
				o.Until, err = strconv.Atoi(e.Args[i+1])
			case "--profiles":
				var set trace.Document
				if set, err = record.Read("run.profiles.v1", record.Text{Path: path, JSON: override(t, "--config", path).Document.Value.Raw()}); err == nil {
					o.Profiles, err = record.Profiles(set)
				}
			default:
				o.Overrides = append(o.Overrides, override(t, e.Args[i], path))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		r, _ := replayRun(t, dir, o)
		root := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Class == finding.Root })
		var code finding.Code
		if root >= 0 {
			code = r.Findings[root].Code
		}
		if r.Verdict != e.Verdict || code != e.Root {
			t.Errorf("%s: %s, root %q; want %s, %q:%s", e.What, r.Verdict, code, e.Verdict, e.Root, told(r))
		}
	}
}

// R1: a document of the working tree that no stage can read is an error, not a finding about the recording.
func TestAMalformedOverrideIsAnError(t *testing.T) {
	r, err := run.Read(filepath.Join(native, "runs", "single"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = replay.Run(r.Trace, replay.RunOptions{Until: replay.All, Overrides: []replay.Override{override(t, "--config", filepath.Join(native, "tree", "policy-2.json"))}})
	var wrong *execute.Error
	if !errors.As(err, &wrong) || filepath.Base(wrong.Path) != "policy-2.json" {
		t.Errorf("error %v", err)
	}
}

// R3: the words of a changed prompt are those that were kept, or those that the recorded configuration gives again; where
// neither has the recorded digest that is said.
func TestTheWordsOfAChangedPromptAreProvedByItsDigest(t *testing.T) {
	template := override(t, "--config", filepath.Join(native, "tree", "template.json"))
	words := func(dir string, o ...replay.Override) (before, now, detail string) {
		r, _ := replayRun(t, dir, replay.RunOptions{Until: replay.All, Overrides: o})
		for _, f := range r.Findings {
			if f.Code == finding.ReplayPromptChanged {
				return string(f.Expected), string(f.Actual), f.Detail
			}
		}
		t.Fatalf("no changed prompt:%s", told(r))
		return "", "", ""
	}
	before, now, _ := words(filepath.Join(native, "runs", "single"), template)
	if !strings.Contains(before, `\nPlayer: Who is`) || !strings.Contains(now, `\nTraveller: Who is`) {
		t.Errorf("%s\n%s", before, now)
	}
	dir := runtest.Copy(t, filepath.Join(native, "runs", "prompts"), filepath.Join(t.TempDir(), "kept"))
	runtest.Replace(t, dir, run.TurnsFile, "guard of the gate", "cook of the house")
	runtest.Repair(t, dir)
	before, now, _ = words(dir)
	if !strings.Contains(before, "guard of the gate") || !strings.Contains(now, "cook of the house") {
		t.Errorf("%s\n%s", before, now)
	}
	dir = runtest.Copy(t, filepath.Join(native, "runs", "single"), filepath.Join(t.TempDir(), "lost"))
	runtest.Replace(t, dir, run.TurnsFile, "guard of the gate", "cook of the house")
	runtest.Repair(t, dir)
	if _, _, detail := words(dir); !strings.Contains(detail, "its words cannot be had") {
		t.Errorf("%s", detail)
	}
}

// R6: recorded outputs stand for the model, so that a missing seed does not make a replay undecided.
func TestAMissingSeedIsNoMatterOfReplay(t *testing.T) {
	dir := runtest.Copy(t, filepath.Join(native, "runs", "single"), filepath.Join(t.TempDir(), "run"))
	for _, file := range []string{run.TraceFile, run.OutputsFile} {
		runtest.Replace(t, dir, file, `"seed":7`, `"stochastic_unseeded":true`)
	}
	r, err := run.Read(dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	id, err := (&trace.ToolProfile{}).Fingerprint(r.Trace.ModelConfig.Raw, []string{
		"provider_name", "model_name", "model_revision", "decoding", "seed", "stochastic_unseeded", "tool_runtime_profile_hash",
	})
	if err != nil {
		t.Fatal(err)
	}
	runtest.Replace(t, dir, run.TraceFile, r.Trace.ModelConfigID.Text(), id)
	runtest.Repair(t, dir)
	result, _ := replayRun(t, dir, replay.RunOptions{Until: replay.All})
	unseeded := slices.ContainsFunc(result.Findings, func(f finding.Finding) bool { return f.Code == finding.ClaimUnseeded && f.Severity == finding.Note })
	if result.Verdict != finding.Equivalent || !unseeded {
		t.Errorf("%s:%s", result.Verdict, told(result))
	}
}

// R5: a truncated recording is undecided, and its differences are warnings.
func TestATruncatedRecordingIsUndecided(t *testing.T) {
	dir := runtest.Copy(t, filepath.Join(native, "runs", "turns"), filepath.Join(t.TempDir(), "run"))
	text, err := os.ReadFile(filepath.Join(dir, "trace", "0000.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	runtest.Put(t, dir, "trace/0000.jsonl", []byte(strings.Join(strings.SplitAfter(string(text), "\n")[:8], "")))
	runtest.Replace(t, dir, run.TraceFile, `"truncated":false`, `"truncated":true`)
	runtest.Replace(t, dir, run.TraceFile, `"events_kept":16`, `"events_kept":8`)
	runtest.Repair(t, dir)
	r, _ := replayRun(t, dir, replay.RunOptions{Until: replay.All, Overrides: []replay.Override{override(t, "--config", filepath.Join(native, "tree", "template.json"))}})
	if r.Verdict != finding.Undecided {
		t.Errorf("%s:%s", r.Verdict, told(r))
	}
	for _, f := range r.Findings {
		if f.Code == finding.ReplayPromptChanged && f.Severity != finding.Warning {
			t.Errorf("%+v", f)
		}
	}
}

// P6: the links of a chain hand their state on.
func TestLinksOfAChainHandTheirStateOn(t *testing.T) {
	for _, broken := range []bool{false, true} {
		var chains replay.Chains
		dir := runtest.Copy(t, filepath.Join(native, "runs", "chain"), filepath.Join(t.TempDir(), "chain"))
		if broken {
			runtest.Replace(t, filepath.Join(dir, "0002"), run.SnapshotFile, "storm broke", "flood broke")
		}
		for _, link := range []string{"0002", "0000", "0001"} {
			r, err := run.Read(filepath.Join(dir, link), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			made, err := replay.Run(r.Trace, replay.RunOptions{Until: replay.All})
			if err != nil {
				t.Fatal(err)
			}
			chains.Add(r.Trace, made)
		}
		chains.Add(nil, nil)
		fs := chains.Findings()
		if chains.Links() != 3 || (len(fs) == 1) != broken {
			t.Errorf("broken %v: %d links, %+v", broken, chains.Links(), fs)
		}
		if broken && (fs[0].Code != finding.ReplayChainBroken || !strings.HasSuffix(filepath.ToSlash(fs[0].Artifact), "0002/snapshot.json")) {
			t.Errorf("%+v", fs[0])
		}
	}
}
