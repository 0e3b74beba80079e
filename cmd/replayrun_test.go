package cmd_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dmpl/dmpl/cmd"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

func nativeFixture(parts ...string) string {
	return filepath.Join(append([]string{fixtures, "native"}, parts...)...)
}

// brokenChain gives a chain whose second run starts at another state than the first one commits.
func brokenChain(t *testing.T) string {
	t.Helper()
	dir := runtest.Copy(t, nativeFixture("runs", "chain"), filepath.Join(t.TempDir(), "chain"))
	runtest.Replace(t, filepath.Join(dir, "0001"), run.SnapshotFile, "storm broke", "flood broke")
	runtest.Repair(t, filepath.Join(dir, "0001"))
	return dir
}

// P6: each run of a chain starts at the state that the one before commits when it is executed again.
func TestReplayFollowsAChain(t *testing.T) {
	r, exit := runJSON(t, "replay", brokenChain(t))
	found := false
	for _, f := range r.errors() {
		found = found || f.Code == "replay.chain_broken" && strings.HasSuffix(f.Artifact, "0001/snapshot.json")
	}
	if !found || exit != 1 {
		t.Errorf("exit code %d:%s", exit, inShort(r.errors()))
	}
}

// truncatedRun gives a run whose last events were dropped by its writer.
func truncatedRun(t *testing.T) string {
	t.Helper()
	dir := runtest.Copy(t, nativeFixture("runs", "turns"), filepath.Join(t.TempDir(), "run"))
	text, err := os.ReadFile(filepath.Join(dir, "trace", "0000.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	runtest.Put(t, dir, "trace/0000.jsonl", bytes.Join(lines[:8], nil))
	runtest.Replace(t, dir, run.TraceFile, `"truncated":false`, `"truncated":true`)
	runtest.Replace(t, dir, run.TraceFile, `"events_kept":16`, `"events_kept":8`)
	runtest.Repair(t, dir)
	return dir
}

// R5: a truncated recording ends undecided, whatever differs.
func TestReplayOfATruncatedRunIsUndecided(t *testing.T) {
	dir := truncatedRun(t)
	for _, args := range [][]string{{}, {"--config", nativeFixture("tree", "template.json")}} {
		r, exit := runJSON(t, append([]string{"replay", dir}, args...)...)
		if r.Verdict != "undecided" || exit != 3 {
			t.Errorf("%v: %s, exit code %d:%s", args, r.Verdict, exit, inShort(r.errors()))
		}
		changed := false
		for _, f := range r.all() {
			changed = changed || f.Code == "replay.prompt_changed" && f.Severity == "warning"
		}
		if changed != (len(args) > 0) {
			t.Errorf("%v: prompt_changed as a warning: %v", args, changed)
		}
	}
}

// A path to the manifest is the run too.
func TestReplayTakesAManifest(t *testing.T) {
	if r, exit := runJSON(t, "replay", nativeFixture("runs", "single", run.ManifestFile)); exit != 0 || len(r.Results) != 1 {
		t.Errorf("exit code %d, %d results:%s", exit, len(r.Results), inShort(r.errors()))
	}
}

// R4: a folder without a run is no pass.
func TestReplayOfNothingIsUndecided(t *testing.T) {
	r, exit := runJSON(t, "replay", t.TempDir())
	if exit != 3 || len(r.errors()) != 1 || r.errors()[0].Code != "input.empty_corpus" {
		t.Errorf("exit code %d:%s", exit, inShort(r.errors()))
	}
}

// R4: recordings are rewritten only where it is asked for and nobody looks away, and then they hold.
func TestUpdateRewritesDivergentRecordings(t *testing.T) {
	root := t.TempDir()
	changed := runtest.Copy(t, nativeFixture("runs", "retry"), filepath.Join(root, "retry"))
	runtest.Copy(t, nativeFixture("runs", "prompts"), filepath.Join(root, "prompts"))
	args := []string{"replay", changed, "--config", nativeFixture("tree", "template.json"), "--update"}
	t.Setenv("CI", "true")
	p := newProcess(t)
	if code := p.Run(args); code != 2 || !strings.Contains(p.errs.String(), "CI is set") {
		t.Errorf("under CI: exit code %d, %s", code, p.errs)
	}
	t.Setenv("CI", "")
	p = newProcess(t)
	if code := p.Run(args); code != 1 {
		t.Errorf("exit code %d, %s", code, p.errs)
	}
	for _, name := range []string{"config.json", "manifest.json", "outputs.jsonl", "trace/0000.jsonl"} {
		if !strings.Contains(p.errs.String(), "updated "+filepath.Join(changed, filepath.FromSlash(name))+"\n") {
			t.Errorf("%s is not listed: %s", name, p.errs)
		}
	}
	if strings.Contains(p.errs.String(), "snapshot.json") {
		t.Errorf("the snapshot did not change: %s", p.errs)
	}
	for _, args := range [][]string{{"replay", root}, {"verify", root, "--require-coverage", "100"}} {
		if r, exit := runJSON(t, args...); exit != 0 {
			t.Errorf("%v: exit code %d:%s", args, exit, inShort(r.errors()))
		}
	}
	if left, err := os.ReadDir(root); err != nil || len(left) != 2 {
		t.Errorf("%d entries are left, %v", len(left), err)
	}
}

// R1: an update that cannot be recorded leaves the recording as it was.
func TestUpdateLeavesWhatItCannotRecord(t *testing.T) {
	t.Setenv("CI", "")
	dir := runtest.Copy(t, nativeFixture("runs", "retry"), filepath.Join(t.TempDir(), "run"))
	p := newProcess(t)
	if code := p.Run([]string{"replay", dir, "--config", nativeFixture("tree", "no-constraints.json"), "--update"}); code != 2 ||
		!strings.Contains(p.errs.String(), "nothing asks for the output of turn 0, attempt 1") {
		t.Errorf("exit code %d, %s", code, p.errs)
	}
	if r, exit := runJSON(t, "replay", dir); exit != 0 {
		t.Errorf("exit code %d:%s", exit, inShort(r.errors()))
	}
}

// Z2: what is asked wrongly is said in one line, with exit code 2.
func TestRunAndReplayRefuseWhatTheyCannotDo(t *testing.T) {
	single, out := nativeFixture("inputs", "single"), filepath.Join(t.TempDir(), "out")
	empty := t.TempDir()
	blank := filepath.Join(t.TempDir(), "outputs.jsonl")
	if err := os.WriteFile(blank, []byte(`{"turn":0,"attempt":0,"text":""}`+"\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(blank), "none"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	profiles, err := os.ReadFile(nativeFixture("tree", "profiles.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(profiles), "[")
	one, _, _ := strings.Cut(list, "\n  },")
	twice := filepath.Join(filepath.Dir(blank), "twice.json")
	if err := os.WriteFile(twice, []byte(`{"tool_profiles":[`+one+"},"+one+"}]}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"run", "--from", single}, "--out is required"},
		{[]string{"run", "--out", out}, "there is no snapshot.json"},
		{[]string{"run", "--from", empty, "--out", out}, "snapshot.json"},
		{[]string{"run", "--from", single, "--out", out, "--chain"}, "would commit nothing"},
		{[]string{"run", "--from", single, "--out", out, "--visibility", "live_read_write"}, "reads and writes a store, and none is given"},
		{[]string{"run", "--from", single, "--out", out, "--visibility", "live"}, "must be one of"},
		{[]string{"run", "--from", single, "--out", out, "--non-deterministic"}, "belongs to --visibility live_read_write"},
		{[]string{"run", "--from", single, "--out", out, "--store", "mysql:x"}, "a store is a file of SQLite or a database of PostgreSQL, and this is neither"},
		{[]string{"run", "--from", single, "--out", out, "--config", nativeFixture("tree", "policy-2.json")}, "policy-2.json, at /schema_version"},
		{[]string{"run", "--from", single, "--out", out, "--turns", nativeFixture("inputs", "single", "outputs.jsonl")}, "outputs.jsonl, at /0/npc_id"},
		{[]string{"run", "--from", single, "--out", out, "--outputs", nativeFixture("inputs", "retry", "outputs.jsonl")}, "nothing asks for the output of turn 0, attempt 1"},
		{[]string{"run", "--from", nativeFixture("runs", "single"), "--out", out, "--config", nativeFixture("tree", "template.json")}, "the output answered another prompt"},
		{[]string{"run", "--from", single, "--out", single}, "the folder is not empty: a run is written once, into a folder of its own\nhint: Name another folder"},
		{[]string{"run", "--from", single, "--out", nativeFixture("inputs", "single", "config.json", "x")}, "Check the path and the permissions"},
		{[]string{"run", "--from", single, "--out", out, "--turns", filepath.Join(filepath.Dir(blank), "none")}, "turns.jsonl: there is no turn, and a run has one at least"},
		{[]string{"run", "--from", single, "--out", out, "--outputs", blank}, "outputs.jsonl, at /1: expected a value"},
		{[]string{"run", "--from", nativeFixture("inputs", "candidates"), "--out", out, "--visibility", "off"}, "--visibility off reads nothing"},
		{[]string{"run", "--from", nativeFixture("inputs", "candidates"), "--out", out, "--turns", nativeFixture("inputs", "single", "turns.jsonl")}, "outputs.jsonl, at /1/turn: there is no such turn"},
		{[]string{"run", "--from", nativeFixture("inputs", "chain"), "--out", out, "--chain", "--visibility", "buffered_write", "--turns", nativeFixture("inputs", "single", "turns.jsonl")}, "there is no such turn"},
		{[]string{"replay", nativeFixture("runs", "single"), "--mode", "ledger"}, "--mode, --db and --state belong to streams"},
		{[]string{"replay", nativeFixture("runs", "single"), "--jobs", "0"}, "--jobs 0 is less than one"},
		{[]string{"replay", nativeFixture("runs", "single"), "--until", "-2"}, "--until -2 is no index"},
		{[]string{"replay", nativeFixture("runs", "single"), "--config", nativeFixture("tree", "policy-2.json")}, "policy-2.json, at /schema_version"},
		{[]string{"replay", nativeFixture("runs", "single"), "--policies", nativeFixture("tree", "same.json")}, "same.json, at /retrieval"},
		{[]string{"replay", nativeFixture("runs", "references"), "--context-config", nativeFixture("tree", "same.json")}, "same.json, at /schema_version"},
		{[]string{"replay", nativeFixture("runs", "tools"), "--profiles", twice}, "twice.json, at /tool_profiles/1: a profile of this tool and version is there already"},
		{[]string{"replay", nativeFixture("nowhere")}, "nowhere: cannot stat: no such file"},
		{[]string{"replay", nativeFixture("runs.json"), "--update"}, "is no folder of native runs"},
	} {
		os.RemoveAll(out)
		p := newProcess(t)
		if code := p.Run(c.args); code != 2 || !strings.Contains(p.errs.String(), c.says) || !strings.Contains(p.errs.String(), "\nhint: ") {
			t.Errorf("dmpl %s: exit code %d, %s; want %q", strings.Join(c.args, " "), code, p.errs, c.says)
		}
	}
}

// P2(h), Z2: a run that is given no id gets a random one, lower case.
func TestRunMakesAnID(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		out := filepath.Join(t.TempDir(), "out")
		p := newProcess(t)
		if code := p.Run([]string{"run", "--from", nativeFixture("inputs", "single"), "--out", out}); code != 0 {
			t.Fatalf("exit code %d, %s", code, p.errs)
		}
		r, err := run.Read(out, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		id := r.Trace.RunID.Text()
		if len(id) != 36 || strings.ToLower(id) != id || seen[id] {
			t.Errorf("run id %q", id)
		}
		seen[id] = true
	}
}

// The report has the runs in the order of their paths however many are replayed at a time, to the byte.
func TestReplayReportsTheSameWithAnyJobs(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		report := func(jobs string, more ...string) string {
			var out, errs bytes.Buffer
			a := &cmd.App{In: strings.NewReader(""), Out: &out, Err: &errs, Dir: t.TempDir()}
			a.Run(append([]string{"replay", nativeFixture("runs"), "--jobs", jobs, "--format", format}, more...))
			if !strings.Contains(out.String(), "storage-failed") {
				t.Fatalf("--jobs %s: no report:\n%s", jobs, errs.String())
			}
			return out.String()
		}
		for _, args := range [][]string{nil, {"--config", nativeFixture("tree", "template.json")}} {
			one := report("1", args...)
			for _, jobs := range []string{"2", "5", "100"} {
				if got := report(jobs, args...); got != one {
					t.Errorf("%s %v: --jobs %s reports\n%s\n--jobs 1 reports\n%s", format, args, jobs, got, one)
				}
			}
		}
	}
}

// P1, R2: a pattern that runs out of time here may have an answer elsewhere: no run is recorded of it, and a recording that comes
// to one is undecided, and not a turn that failed.
func TestAPatternThatRunsOutOfTimeProvesNothing(t *testing.T) {
	endless := strings.Repeat("a", 64) + "!"
	spoil := func(dir string) {
		text := readFile(t, filepath.Join(dir, run.TurnsFile))
		rules := bytes.Index(text, []byte(`"custom_rules": [`))
		runtest.Put(t, dir, run.TurnsFile, slices.Concat(text[:rules], []byte(`"custom_rules": [{"Pattern": "^(a+)+$"}], "were": [`), text[rules+len(`"custom_rules": [`):]))
	}
	inputs := runtest.Copy(t, nativeFixture("inputs", "single"), filepath.Join(t.TempDir(), "inputs"))
	spoil(inputs)
	runtest.Replace(t, inputs, run.OutputsFile, "The king is named Arthur.", endless)
	out := filepath.Join(t.TempDir(), "out")
	p := newProcess(t)
	if code := p.Run([]string{"run", "--from", inputs, "--out", out}); code != 2 || !strings.Contains(p.errs.String(), "turn 0: a pattern ran out of time") {
		t.Errorf("exit code %d, %s", code, p.errs)
	}
	if r, exit := runJSON(t, "verify", out); exit != 3 || r.errors()[0].Code != "run.cut_short" {
		t.Errorf("exit code %d:%s", exit, inShort(r.errors()))
	}
	recorded := runtest.Copy(t, nativeFixture("runs", "single"), filepath.Join(t.TempDir(), "run"))
	spoil(recorded)
	runtest.Replace(t, recorded, run.OutputsFile, "The king is named Arthur.", endless)
	runtest.Repair(t, recorded)
	r, exit := runJSON(t, "replay", recorded)
	if errs := r.errors(); exit != 3 || len(errs) == 0 || errs[0].Code != "replay.not_executed" || !strings.Contains(errs[0].Detail, "ran out of time") {
		t.Errorf("exit code %d:%s", exit, inShort(errs))
	}
}

// R4: a recording that is older than the stated age is no pass. The clock is the command's.
func TestAnOldRecordingIsNoPass(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	p := newProcess(t)
	if code := p.Run([]string{"run", "--from", nativeFixture("inputs", "single"), "--out", out}); code != 0 {
		t.Fatalf("exit code %d, %s", code, p.errs)
	}
	for _, c := range []struct {
		days int
		age  time.Duration
		exit int
	}{{0, 1000 * day, 0}, {30, 30*day - time.Second, 0}, {30, 30 * day, 3}, {1, 0, 0}, {-1, 0, 2}, {math.MaxInt32, 1000 * day, 0}} {
		p := newProcess(t)
		p.Now = func() time.Time { return fixedNow().Add(c.age) }
		code := p.Run([]string{"replay", out, "--max-age", strconv.Itoa(c.days)})
		if code != c.exit || strings.Contains(p.out.String(), "replay.too_old") != (c.exit == 3) {
			t.Errorf("%d days, %s old: exit code %d, %s%s", c.days, c.age, code, p.out, p.errs)
		}
	}
}

const day = 24 * time.Hour

// R1: a tool that no given profile is for is compared as it was recorded, which is said once.
func TestReplaySaysOfWhichToolNoProfileIsGiven(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.json")
	if err := os.WriteFile(none, []byte(`{"tool_profiles":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{none: 2, nativeFixture("tree", "profiles.json"): 0} {
		r, exit := runJSON(t, "replay", nativeFixture("runs", "tools"), "--profiles", path)
		told := 0
		for _, f := range r.all() {
			if f.Code == "equiv.profile_missing" && f.Severity == "note" {
				told++
			}
		}
		if exit != 0 || told != want || !strings.HasSuffix(r.Results[0].Name, "with the working tree's files") {
			t.Errorf("%s: exit code %d, %d notes, %s", path, exit, told, r.Results[0].Name)
		}
	}
}

// P6: a run that two arguments lead to is replayed once.
func TestARunBelowTwoArgumentsIsOneRun(t *testing.T) {
	r, exit := runJSON(t, "replay", nativeFixture("runs"), nativeFixture("runs", "chain"))
	if once, _ := runJSON(t, "replay", nativeFixture("runs")); exit != 0 || len(r.Results) != len(once.Results) {
		t.Errorf("exit code %d, %d results, and %d below one", exit, len(r.Results), len(once.Results))
	}
}

// R1: a fault of one recording is said of it, also where a context configuration is put into its own; the others are replayed.
func TestAFaultOfOneRecordingEndsNoOther(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"references", "single"} {
		runtest.Copy(t, nativeFixture("runs", name), filepath.Join(root, name))
	}
	runtest.Replace(t, filepath.Join(root, "references"), run.ConfigFile, `"dmpl-v1"`, `"llamabrain-v1"`)
	runtest.Repair(t, filepath.Join(root, "references"))
	r, exit := runJSON(t, "replay", root, "--context-config", nativeFixture("tree", "context-one.json"))
	if exit != 3 || len(r.Results) != 2 || r.Results[0].Verdict != "undecided" || r.Results[1].Verdict != "equivalent" {
		t.Errorf("exit code %d: %+v", exit, r)
	}
}
