package cmd_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// vectors holds artifacts that the real systems wrote. They lie beside the project, not in it.
const vectors = "../../shared/vectors"

// needVectors skips a test, loudly, where the vectors are not there.
func needVectors(t *testing.T, elements ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{vectors}, elements...)...)
	if _, err := os.Stat(path); err != nil {
		t.Logf("NOT RUN: the vectors %s are not beside this checkout", path)
		t.SkipNow()
	}
	return path
}

// E1–E8: dmpl diff gives real pairs an acceptable verdict and names every place where they differ.
func TestOrketPairs(t *testing.T) {
	dir := needVectors(t, "orket", "pairs")
	var expected struct {
		Pairs []struct {
			ID    string
			Files map[string]*string
			Seed  struct {
				Verdict           string
				Acceptable, Where []string
			}
		}
	}
	readExpected(t, filepath.Join(dir, "expected.json"), &expected)
	if len(expected.Pairs) == 0 {
		t.Fatal("no pairs")
	}
	for _, p := range expected.Pairs {
		t.Run(p.ID, func(t *testing.T) {
			args := []string{"diff", filepath.Join(dir, *p.Files["left"]), filepath.Join(dir, *p.Files["right"])}
			for side, flag := range map[string]string{"left_retrieval": "--left-retrieval", "right_retrieval": "--right-retrieval"} {
				if name := p.Files[side]; name != nil {
					args = append(args, flag, filepath.Join(dir, *name))
				}
			}
			r, code := runJSON(t, args...)
			if got := orketVerdict(code); !slices.Contains(p.Seed.Acceptable, got) {
				t.Errorf("exit %d (%s), want one of %v; findings:%s", code, got, p.Seed.Acceptable, describe(r.errors()))
			}
			if p.Seed.Verdict != "DIVERGENT" || code != 1 {
				return
			}
			for _, where := range p.Seed.Where {
				if !named(r.all(), where) {
					t.Errorf("no finding names %s; findings:%s", where, describe(r.all()))
				}
			}
		})
	}
}

func orketVerdict(code int) string {
	switch code {
	case 0:
		return "EQUIVALENT"
	case 1:
		return "DIVERGENT"
	case 2, 3:
		return "INELIGIBLE"
	}
	return "exit code " + strconv.Itoa(code)
}

// named says that a finding stands at a place or below it: a pointer into the trace, or, behind /retrieval, into the
// retrieval trace. A place with a remark, "/events (length 8 vs 10)", is meant itself.
func named(fs []reportedEntry, where string) bool {
	where, _, itself := strings.Cut(where, " ")
	pointer, inRetrieval := strings.CutPrefix(where, "/retrieval/")
	if inRetrieval {
		pointer = "/" + pointer
	}
	return slices.ContainsFunc(fs, func(f reportedEntry) bool {
		at := f.Pointer == pointer || !itself && strings.HasPrefix(f.Pointer, pointer+"/")
		return at && strings.Contains(f.Artifact, "retrieval_trace") == inRetrieval
	})
}

// V1–V5: dmpl verify accepts exactly the artifacts that are valid and can support a claim.
func TestOrketChecks(t *testing.T) {
	dir := needVectors(t, "orket", "checks")
	var expected struct {
		Cases []struct {
			ID    string
			Files map[string]*string
			Max   *int `json:"max_trace_bytes"`
			Seed  struct {
				Valid    bool `json:"artifact_valid"`
				Provable bool `json:"claim_provable"`
			}
		}
	}
	readExpected(t, filepath.Join(dir, "expected.json"), &expected)
	if len(expected.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range expected.Cases {
		t.Run(c.ID, func(t *testing.T) {
			args := []string{"verify", filepath.Join(dir, *c.Files["trace"])}
			if name := c.Files["retrieval"]; name != nil {
				args = append(args, "--retrieval", filepath.Join(dir, *name))
			}
			if c.Max != nil {
				args = append(args, "--max-bytes", strconv.Itoa(*c.Max))
			}
			r, code := runJSON(t, args...)
			if holds := c.Seed.Valid && c.Seed.Provable; holds != (code == 0) {
				t.Errorf("exit %d, want valid %v, provable %v; findings:%s", code, c.Seed.Valid, c.Seed.Provable, describe(r.errors()))
			}
		})
	}
}

// E3, E4, V5: whole run folders as Orket leaves them compare turn by turn, and verify with their tool results.
func TestOrketRuns(t *testing.T) {
	dir := needVectors(t, "orket", "runs")
	var expected struct {
		Pairs []struct{ Left, Right, Verdict string }
	}
	readExpected(t, filepath.Join(dir, "expected.json"), &expected)
	if len(expected.Pairs) == 0 {
		t.Fatal("no runs")
	}
	for _, p := range expected.Pairs {
		t.Run(p.Right, func(t *testing.T) {
			_, code := runJSON(t, "diff", filepath.Join(dir, p.Left), filepath.Join(dir, p.Right))
			if got := orketVerdict(code); got != p.Verdict {
				t.Errorf("exit %d (%s), want %s", code, got, p.Verdict)
			}
			if r, code := runJSON(t, "verify", filepath.Join(dir, p.Right)); code != 0 {
				t.Errorf("verify: exit %d; findings:%s", code, describe(r.errors()))
			}
		})
	}
}
