package cmd_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// P6, R1: under the working tree's files each run of a chain starts at the state that the one before commits then, and where that
// one commits nothing, a run does not happen.
func TestAChainIsFollowedUnderTheWorkingTreesFiles(t *testing.T) {
	chain := nativeFixture("runs", "chain")
	handedOn := "snapshot.json of the run is replaced by the state that run 0 of the chain commits"
	for _, c := range []struct {
		what    string
		args    []string
		exit    int
		link    string   // of the chain
		codes   []string // errors of the link
		says    string   // of the link
		without string   // what no finding of the link says
	}{
		{"the recorded configuration", []string{chain, "--config", nativeFixture("tree", "same.json")}, 0, "0001", nil, "is the recorded one", "snapshot.json of the run"},
		{"nothing is extracted", []string{chain, "--config", nativeFixture("tree", "raw.json")}, 1, "0001", []string{"equiv.records", "stage.state"}, handedOn, ""},
		{"at once", []string{chain, "--config", nativeFixture("tree", "raw.json"), "--jobs", "3"}, 1, "0001", []string{"equiv.records", "stage.state"}, handedOn, ""},
		{"what comes of it later", []string{chain, "--config", nativeFixture("tree", "raw.json")}, 1, "0002", []string{"equiv.records", "stage.state"}, "run 1 of the chain commits", ""},
		{"another start", []string{chain, "--snapshot", nativeFixture("inputs", "filters", "snapshot.json")}, 1, "0001", []string{"equiv.records"}, handedOn, ""},
		{"only a profile", []string{chain, "--profiles", nativeFixture("tree", "profiles.json")}, 0, "0001", nil, "", "snapshot.json of the run"},
		{"a run that is named", []string{filepath.Join(chain, "0001"), "--config", nativeFixture("tree", "raw.json")}, 1, "0001", []string{"stage.parse"}, "config.json of the run is replaced", "snapshot.json of the run"},
		{"nothing is committed", []string{chain, "--policies", nativeFixture("tree", "no-writes.json")}, 1, "0001", []string{"replay.chain_broken"}, "run 0 of the chain commits nothing", ""},
		{"and nothing follows", []string{chain, "--policies", nativeFixture("tree", "no-writes.json")}, 1, "0002", []string{"replay.chain_broken"}, "run 1 of the chain does not happen", ""},
	} {
		r, exit := runJSON(t, append([]string{"replay"}, c.args...)...)
		i := slices.IndexFunc(r.Results, func(result reportedResult) bool { return strings.Contains(result.Name, "chain/"+c.link) })
		if exit != c.exit || i < 0 {
			t.Errorf("%s: exit code %d, result %d:%s", c.what, exit, i, inShort(r.errors()))
			continue
		}
		told := inShort(r.Results[i].Findings)
		for _, code := range c.codes {
			if !strings.Contains(told, code) {
				t.Errorf("%s: no %s:%s", c.what, code, told)
			}
		}
		if !strings.Contains(told, c.says) || c.without != "" && strings.Contains(told, c.without) {
			t.Errorf("%s: want %q, not %q:%s", c.what, c.says, c.without, told)
		}
	}
}

// E1, P6: two chains are not equivalent where one is none, though each run be equal to its twin.
func TestDiffHoldsEachSideToItsChain(t *testing.T) {
	whole := nativeFixture("runs", "chain")
	broken := runtest.Copy(t, whole, filepath.Join(t.TempDir(), "chain"))
	runtest.Replace(t, broken, "0001/manifest.json", `"previous_run_id": "`, `"previous_run_id": "other-`)
	for _, c := range []struct {
		left, right string
		exit        int
		results     int
	}{{whole, whole, 0, 3}, {whole, broken, 3, 4}, {broken, broken, 3, 5}} {
		r, exit := runJSON(t, "diff", c.left, c.right)
		if exit != c.exit || len(r.Results) != c.results || (exit != 0) != strings.Contains(inShort(r.errors()), "run.chain") {
			t.Errorf("exit code %d, %d results:%s", exit, len(r.Results), inShort(r.errors()))
		}
	}
}

// R4, P6: a chain is rewritten whole or not at all, and holds together afterwards.
func TestAChainIsUpdatedWhole(t *testing.T) {
	t.Setenv("CI", "")
	root := t.TempDir()
	runtest.Copy(t, nativeFixture("runs", "chain"), filepath.Join(root, "chain"))
	for _, c := range []struct {
		args []string
		exit int
		says string
	}{
		{[]string{"--policies", nativeFixture("tree", "no-writes.json")}, 2, "0001 is left as it was: the run of the chain before it commits nothing now"},
		{[]string{"--config", nativeFixture("tree", "raw.json")}, 1, "updated " + filepath.Join(root, "chain", "0001", "snapshot.json")},
	} {
		p := newProcess(t)
		if code := p.Run(append([]string{"replay", root, "--update"}, c.args...)); code != c.exit || !strings.Contains(p.errs.String(), c.says) {
			t.Errorf("%v: exit code %d, %s", c.args, code, p.errs)
		}
		for _, args := range [][]string{{"replay", root}, {"verify", root, "--require-coverage", "100"}} {
			if r, exit := runJSON(t, args...); exit != 0 {
				t.Errorf("%v, then %v: exit code %d:%s", c.args, args, exit, inShort(r.errors()))
			}
		}
		if left := filesBelow(t, root); slices.ContainsFunc(left, func(name string) bool { return strings.Contains(name, ".update-") }) {
			t.Errorf("%v leaves %q", c.args, left)
		}
	}
	if r, exit := runJSON(t, "replay", root, "--config", nativeFixture("tree", "raw.json")); exit != 0 {
		t.Errorf("after the update: exit code %d:%s", exit, inShort(r.errors()))
	}
}

// P6: a run of a chain that is named stands alone, however its path is spelt; a folder that is named twice is one.
func TestARunOfAChainIsNamedInAnySpelling(t *testing.T) {
	link := nativeFixture("runs", "chain", "0001")
	for _, args := range [][]string{{link}, {link + "/"}, {"./" + link}, {filepath.Join(link, "manifest.json")}, {link, link + "/"}} {
		if r, exit := runJSON(t, append([]string{"replay"}, args...)...); exit != 0 || len(r.Results) != 1 {
			t.Errorf("%q: exit code %d, %d results:%s", args, exit, len(r.Results), inShort(r.errors()))
		}
	}
	chain := nativeFixture("runs", "chain")
	if r, exit := runJSON(t, "replay", chain, chain+"/"); exit != 0 || len(r.Results) != 4 {
		t.Errorf("a chain twice: exit code %d, %d results:%s", exit, len(r.Results), inShort(r.errors()))
	}
}
