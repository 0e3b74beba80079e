package cmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const replays = fixtures + "/thread/replay"

// replayCase is a row of fixtures/thread/replay/expected.json.
type replayCase struct {
	What, Verdict string
	Args          []string
	Exit          int
	Codes         []string
	Pointer       *string
}

func replayCases(t *testing.T) []replayCase {
	t.Helper()
	var cases []replayCase
	readExpected(t, filepath.Join(replays, "expected.json"), &cases)
	if len(cases) < 15 {
		t.Fatalf("only %d replays", len(cases))
	}
	return cases
}

// line gives the command line of a case, in a mode.
func (c replayCase) line(mode string) []string {
	args := []string{"replay", "--mode", mode}
	for _, arg := range c.Args {
		if strings.Contains(arg, ".") {
			arg = filepath.Join(replays, arg)
		}
		args = append(args, arg)
	}
	return args
}

func everyReplay(t *testing.T) []invocation {
	t.Helper()
	var all []invocation
	for _, c := range replayCases(t) {
		for _, mode := range []string{"stream", "ledger"} {
			all = append(all, invocation{"replay " + mode + ": " + c.What, c.line(mode)})
		}
	}
	return all
}

// X4, X5, R4, R5: each replay has its verdict and its codes.
func TestReplaysHaveTheExpectedOutcome(t *testing.T) {
	for _, c := range replayCases(t) {
		for _, mode := range []string{"stream", "ledger"} {
			r, code := runJSON(t, c.line(mode)...)
			var codes []string
			for _, f := range r.all() {
				codes = append(codes, f.Code)
			}
			slices.Sort(codes)
			codes = slices.Compact(codes)
			if code != c.Exit || r.Verdict != c.Verdict || !slices.Equal(codes, c.Codes) {
				t.Errorf("%s, %s: exit %d, %s, %q; want %d, %s, %q", c.What, mode, code, r.Verdict, codes, c.Exit, c.Verdict, c.Codes)
			}
			if c.Pointer != nil && (len(r.all()) != 1 || r.all()[0].Pointer != *c.Pointer) {
				t.Errorf("%s, %s: %+v, want the pointer %s", c.What, mode, r.all(), *c.Pointer)
			}
		}
	}
}

// X5: both modes give the same bytes, for the snapshot and for the trail of a stream.
func TestStreamAndLedgerReplayReportTheSame(t *testing.T) {
	roots := []string{filepath.Join(fixtures, "thread", "streams")}
	for _, name := range []string{"streams", "tampered"} {
		dir := filepath.Join("..", "..", "shared", "vectors", "dbl-gateway", name)
		if _, err := os.Stat(dir); err != nil {
			t.Logf("!! NOT CHECKED: %s is not there", dir)
			continue
		}
		roots = append(roots, dir)
	}
	seen := 0
	for _, root := range roots {
		for _, pattern := range []string{"*/snapshot.json*", "*/trail.sqlite*", "*/live.sqlite"} {
			files, err := filepath.Glob(filepath.Join(root, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				seen++
				sameInBothModes(t, file)
			}
		}
	}
	if seen < 7 {
		t.Errorf("only %d streams", seen)
	}
}

func sameInBothModes(t *testing.T, file string) {
	t.Helper()
	configs := []string{filepath.Join(filepath.Dir(file), "context.json")}
	if !strings.Contains(file, "s10_large") { // one of 2,000 turns is enough
		configs = append(configs, filepath.Join(replays, "config_descending.json"), filepath.Join(replays, "config_max_refs_1.json"))
	}
	for _, config := range configs {
		var reports [2][]byte
		for i, mode := range []string{"stream", "ledger"} {
			reports[i] = reportOf(t, invocation{file, []string{"replay", file, "--context-config", config, "--mode", mode}}, "json")
		}
		if !bytes.Equal(reports[0], reports[1]) {
			t.Errorf("%s under %s:\n%s\n%s", file, config, reports[0], reports[1])
		}
	}
}

// X5: the file of --db is a trail with the same report, and none that is there is overwritten.
func TestLedgerReplayKeepsItsDatabase(t *testing.T) {
	dir := filepath.Join(fixtures, "thread", "streams", "s01_chat_refs")
	config := filepath.Join(dir, "context.json")
	db := filepath.Join(t.TempDir(), "ledger.sqlite")
	args := []string{"replay", filepath.Join(dir, "snapshot.json"), "--context-config", config, "--mode", "ledger", "--db", db}
	if _, code := runJSON(t, args...); code != 0 {
		t.Fatalf("exit %d", code)
	}
	before, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	if r, code := runJSON(t, "replay", db, "--context-config", config); code != 0 || r.Verdict != "equivalent" {
		t.Errorf("the projection: exit %d, %s", code, r.Verdict)
	}
	if r, code := runJSON(t, args...); code != 2 || len(r.all()) != 1 || r.all()[0].Code != "input.not_a_file" {
		t.Errorf("over an existing file: exit %d, %+v", code, r.all())
	}
	if after, err := os.ReadFile(db); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the existing file was changed: %v", err)
	}
}

// C1: a stream comes from standard input in both modes; the report names it as typed.
func TestReplayReadsStandardInput(t *testing.T) {
	dir := filepath.Join(fixtures, "thread", "streams", "s01_chat_refs")
	for _, file := range []string{"snapshot.json", "trail.sqlite"} {
		for _, mode := range []string{"stream", "ledger"} {
			data, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			p := newProcess(t)
			p.In = bytes.NewReader(data)
			code := p.Run([]string{"replay", "-", "--mode", mode, "--context-config", filepath.Join(dir, "context.json"), "--format", "json"})
			var r reported
			if err := json.Unmarshal(p.out.Bytes(), &r); err != nil || code != 0 || r.Results[0].Name != "-" {
				t.Errorf("%s, %s: exit %d, %v, %s", file, mode, code, err, p.errs)
			}
		}
	}
}

// Z2: what the command line asks for wrongly is said before anything is read.
func TestReplayRefusesWrongFlags(t *testing.T) {
	for _, args := range [][]string{
		{"replay", "x"},
		{"replay", "--context-config", "c"},
		{"replay", "x", "y", "--context-config", "c"},
		{"replay", "x", "--context-config", "c", "--db", "d"},
		{"replay", "x", "--context-config", "c", "--until", "-2"},
		{"replay", "-", "--context-config", "-"},
		{"replay", "x", "--context-config", "c", "--mode", "both"},
	} {
		p := newProcess(t)
		if code := p.Run(args); code != 2 || p.out.Len() != 0 || p.errs.Len() == 0 {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", args, code, p.out, p.errs)
		}
	}
}
