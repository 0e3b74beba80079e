package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/trace"
)

// V3, V4, R5: a truncated run proves nothing: no command calls it good, and none calls it divergent, whatever differs.
func TestATruncatedRunProvesNothing(t *testing.T) {
	truncated, whole := nativeFixture("undecided", "truncated"), nativeFixture("runs", "turns")
	for _, args := range [][]string{
		{"verify", truncated},
		{"verify", truncated, "--require-coverage", "100"},
		{"verify", filepath.Dir(truncated)},
		{"diff", truncated, truncated},
		{"diff", truncated, whole},
		{"diff", whole, truncated},
		{"replay", truncated},
		{"replay", truncated, "--config", nativeFixture("tree", "template.json")},
		{"replay", truncated, "--until", "3"},
	} {
		r, exit := runJSON(t, args...)
		found := false
		for _, f := range r.errors() {
			found = found || f.Code == "claim.truncated"
		}
		if r.Verdict != "undecided" || exit != 3 || !found {
			t.Errorf("dmpl %s: %s, exit code %d:%s", strings.Join(args, " "), r.Verdict, exit, inShort(r.errors()))
		}
	}
	// E1: what both kept is compared all the same, and where the truncated one has more that is a difference.
	for code, args := range map[string][]string{
		"stage.prompt":      {truncated, nativeFixture("runs", "chain", "0000")},
		"equiv.event_count": {truncated, nativeFixture("runs", "storage-failed")},
	} {
		if r, exit := runJSON(t, append([]string{"diff"}, args...)...); exit != 1 || !strings.Contains(inShort(r.errors()), code) {
			t.Errorf("dmpl diff %s: exit code %d, want %s:%s", strings.Join(args, " "), exit, code, inShort(r.errors()))
		}
	}
}

// V4: one byte under, at and over the cap of a run and of a part, as `dmpl run` writes them.
func TestRunKeepsToTheCapsOfATrace(t *testing.T) {
	all := 0
	for _, name := range []string{"trace/0000.jsonl", "retrieval/0000.jsonl"} {
		all += len(readFile(t, nativeFixture("runs", "turns", name)))
	}
	for _, c := range []struct{ most, verify int }{{all + 1, 0}, {all, 0}, {all - 1, 3}} {
		dir := filepath.Join(t.TempDir(), "run")
		p := newProcess(t)
		if code := p.Run([]string{
			"run", "--from", nativeFixture("inputs", "turns"), "--out", dir, "--visibility", "buffered_write", "--run-id", "turns",
			"--max-trace-bytes", strconv.Itoa(c.most),
		}); code != 0 || strings.Contains(p.out.String(), "1 dropped over the cap") != (c.verify != 0) {
			t.Errorf("%d bytes: exit code %d, %s%s", c.most, code, p.out, p.errs)
		}
		if r, exit := runJSON(t, "verify", dir); exit != c.verify {
			t.Errorf("%d bytes: verify says %s:%s", c.most, r.Verdict, inShort(r.errors()))
		}
	}
	p := newProcess(t)
	if code := p.Run([]string{"run", "--out", "x", "--max-trace-bytes", strconv.Itoa(trace.MaxRun + 1)}); code != 2 || !strings.Contains(p.errs.String(), "is over the cap of a run") {
		t.Errorf("exit code %d, %s", code, p.errs)
	}
	first := len(recordWithRole(t, "x").event) - 1 // of the first event without its role
	for over, kept := range map[int]int{-1: 5, 0: 5, 1: 0} {
		r := recordWithRole(t, strings.Repeat("x", trace.MaxPart+over-first))
		if events := strings.Count(r.said, "dropped"); events != map[bool]int{true: 1}[kept == 0] || kept > 0 && len(r.event) != trace.MaxPart+over {
			t.Errorf("%d bytes over a part: the event has %d; %s", over, len(r.event), r.said)
		}
		report, exit := runJSON(t, "verify", r.dir)
		if want := map[bool]int{true: 0, false: 3}[kept > 0]; exit != want {
			t.Errorf("%d bytes over a part: verify says %s:%s", over, report.Verdict, inShort(report.errors()))
		}
	}
}

// recordedRole is a run whose events have a long role.
type recordedRole struct {
	dir, said string
	event     []byte // the first, with its line feed; nil where it was dropped
}

func recordWithRole(t *testing.T, role string) recordedRole {
	t.Helper()
	inputs := runtest.Copy(t, nativeFixture("inputs", "single"), filepath.Join(t.TempDir(), "inputs"))
	runtest.Replace(t, inputs, run.TurnsFile, `"npc_id": "guard"`, `"npc_id": "`+role+`"`)
	r := recordedRole{dir: filepath.Join(t.TempDir(), "run")}
	p := newProcess(t)
	if code := p.Run([]string{"run", "--from", inputs, "--out", r.dir, "--run-id", "r"}); code != 0 {
		t.Fatalf("exit code %d, %s", code, p.errs)
	}
	r.said = p.out.String()
	part := filepath.Join(r.dir, "trace", "0000.jsonl")
	if _, err := os.Stat(part); err == nil {
		r.event = bytes.SplitAfterN(readFile(t, part), []byte("\n"), 2)[0]
	}
	return r
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
