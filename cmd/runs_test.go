package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

const ticksPerDay = run.TicksPerDay

// nowInTicks is the time of the tests' clock (CONTRACT P4).
const nowInTicks = 639_072_288_000_000_000

// V4: prune lists every run with its reason and removes those that may go; a dry run removes nothing.
func TestPruneKeepsWhatALaneKeeps(t *testing.T) {
	if got := fixedNow().Unix()*10_000_000 + 621_355_968_000_000_000; got != nowInTicks {
		t.Fatalf("the clock of the tests stands at %d", got)
	}
	root := t.TempDir()
	made := func(name string, days int64, lane run.Lane) {
		runtest.Write(t, filepath.Join(root, name), runtest.Features{Lane: lane, Created: nowInTicks - days*ticksPerDay})
	}
	made("a-young", 13, run.Lane{Name: "ci", Deterministic: true})
	made("b-old", 31, run.Lane{Name: "ci", Deterministic: true})
	made("c-scratch", 2, run.Lane{Name: "scratch"})
	made("d-other", 9, run.Lane{Name: "other"})
	runtest.Put(t, root, "notes.txt", nil)
	policies := filepath.Join(fixtures, "policies", "policy_set.json")
	prune := func(args ...string) (string, int) {
		p := newProcess(t)
		code := p.Run(append([]string{"runs", "prune", root}, args...))
		return p.out.String() + p.errs.String(), code
	}
	base := filepath.Base(root)
	want := "keep    " + base + "/a-young: deterministic lane ci is kept for 30 days, and it is 13 days old\n" +
		"remove  " + base + "/b-old: deterministic lane ci is kept for 30 days, and it is 31 days old\n" +
		"remove  " + base + "/c-scratch: lane scratch is kept for 2 days, and it is 2 days old\n" +
		"keep    " + base + "/d-other: lane other is kept for 10 days, and it is 9 days old\n"
	if got, code := prune("--policies", policies, "--days", "10", "--dry-run"); code != 0 || got != want+"would remove 2 of 4 runs\n" {
		t.Errorf("exit %d\n%s", code, got)
	}
	if _, err := os.Stat(filepath.Join(root, "b-old", run.ManifestFile)); err != nil {
		t.Fatal("a dry run removed something")
	}
	if got, code := prune("--policies", policies, "--days", "10"); code != 0 || got != want+"removed 2 of 4 runs\n" {
		t.Errorf("exit %d\n%s", code, got)
	}
	for name, there := range map[string]bool{"a-young": true, "b-old": false, "c-scratch": false, "d-other": true, "notes.txt": true} {
		if _, err := os.Stat(filepath.Join(root, name)); (err == nil) != there {
			t.Errorf("%s is there: %v", name, err == nil)
		}
	}
	// A deterministic run of 13 days survives any setting.
	if got, code := prune("--days", "0"); code != 0 || !strings.HasPrefix(got, "keep    "+base+"/a-young: deterministic lane ci is kept for 14 days, and it is 13 days old\n") {
		t.Errorf("exit %d\n%s", code, got)
	}
}

func TestPruneRefusesBadInput(t *testing.T) {
	for _, args := range [][]string{
		{"--days", "-1"},
		{"--policies", filepath.Join(fixtures, "policies", "none.json")},
		{"--policies", filepath.Join(fixtures, "demo", "expected.json")},
	} {
		p := newProcess(t)
		if code := p.Run(append([]string{"runs", "prune", t.TempDir()}, args...)); code != 2 || p.out.Len() != 0 || strings.Count(p.errs.String(), "\n") != 2 {
			t.Errorf("%q: exit %d, %q %q", args, code, p.out, p.errs)
		}
	}
	p := newProcess(t)
	if code := p.Run([]string{"runs", "prune", filepath.Join(t.TempDir(), "none")}); code != 2 {
		t.Errorf("a folder that is not there: exit %d", code)
	}
}

// D9: policy_set_id is the json-v1 digest of the policy set, and an unknown rule has none.
func TestDigestOfAPolicySet(t *testing.T) {
	path := filepath.Join(fixtures, "policies", "policy_set.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := canon.Digest(canon.JSONv1, text)
	if err != nil {
		t.Fatal(err)
	}
	p := newProcess(t)
	if code := p.Run([]string{"digest", "policy-set", path}); code != 0 || p.out.String() != sum.Hex()+"\n" {
		t.Errorf("exit %d, %q", code, p.out)
	}
	lines := newProcess(t)
	lines.In = strings.NewReader(`{"schema_version":"memory.policy_set.v1"}` + "\n" + strings.Join(strings.Fields(string(text)), "") + "\n")
	if code := lines.Run([]string{"digest", "policy-set", "--jsonl"}); code != 2 || !strings.Contains(lines.out.String(), "error: shape.value\n"+sum.Hex()) {
		t.Errorf("exit %d, %q %q", code, lines.out, lines.errs)
	}
	unknown := newProcess(t)
	unknown.In = strings.NewReader(strings.Replace(string(text), `"gate_passed"`, `"luck"`, 1))
	code := unknown.Run([]string{"digest", "policy-set"})
	if code != 2 || !strings.Contains(unknown.errs.String(), "/commit/rules/4/rule") || !strings.Contains(unknown.errs.String(), "(shape.value)") {
		t.Errorf("exit %d, %q", code, unknown.errs)
	}
}
