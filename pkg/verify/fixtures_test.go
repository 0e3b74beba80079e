package verify_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/orket"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/verify"
)

const (
	checkFolder   = "../../fixtures/checks"
	vectorsFolder = "../../../shared/vectors/orket"
)

// wanted is what an expected.json says; fixtures/README.md explains its members.
type wanted struct {
	Rule, What, Verdict string
	Args                []string
	Findings            []struct{ Code, Pointer, File string }
	Notes, May          []string
}

// read reads a trace with the files beside it, as dmpl verify does.
func read(path string, o dialect.Options) (*dialect.Artifact, error) {
	f, err := dialect.ReadFile(path, nil, 0)
	if err != nil {
		return nil, err
	}
	return orket.Reader{}.Read(f, o)
}

// options takes over the arguments of a case.
func options(t *testing.T, dir string, args []string) verify.Options {
	t.Helper()
	var o verify.Options
	if len(args)%2 != 0 {
		t.Fatalf("arguments %v", args)
	}
	for i := 0; i < len(args); i += 2 {
		n, errNumber := strconv.Atoi(args[i+1])
		var err error
		switch args[i] {
		case "--profiles":
			o.Profiles, _, err = orket.ReadProfiles(filepath.Join(dir, args[i+1]), 0)
		case "--max-bytes":
			o.MaxBytes, err = int64(n), errNumber
		case "--require-coverage":
			o.Coverage, err = n, errNumber
		default:
			t.Fatalf("the argument %s is not known here", args[i])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func codes(fs []finding.Finding, keep func(finding.Finding) bool) []string {
	var out []string
	for _, f := range fs {
		if keep(f) {
			out = append(out, string(f.Code))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func isError(f finding.Finding) bool { return f.Severity == finding.Error }

// V0–V6, D1–D4, D7, Z1: every artifact has the verdict and the codes that the contract demands.
func TestChecksHaveTheExpectedVerdictAndCodes(t *testing.T) {
	entries, err := os.ReadDir(checkFolder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < 100 {
		t.Fatalf("%d cases in %s: fixtures are missing", len(entries), checkFolder)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			dir := filepath.Join(checkFolder, e.Name())
			data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
			if err != nil {
				t.Fatal(err)
			}
			var want wanted
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			check(t, dir, want)
		})
	}
}

func check(t *testing.T, dir string, want wanted) {
	var expected []string
	for _, f := range want.Findings {
		expected = append(expected, f.Code)
	}
	slices.Sort(expected)
	expected = slices.Compact(expected)
	a, err := read(filepath.Join(dir, "memory_trace.json"), dialect.Options{})
	if err != nil {
		var problem *dialect.Problem
		if !errors.As(err, &problem) || !slices.Equal(expected, []string{string(problem.Code)}) {
			t.Errorf("want %v, got %v", expected, err)
		}
		return
	}
	r := verify.Trace(a.Trace, a.Shape, options(t, dir, want.Args))
	if string(r.Verdict) != want.Verdict {
		t.Errorf("%s: %s\nverdict %s, want %s", want.Rule, want.What, r.Verdict, want.Verdict)
	}
	got := slices.DeleteFunc(codes(r.Findings, isError), func(code string) bool { return slices.Contains(want.May, code) })
	if !slices.Equal(got, expected) {
		t.Errorf("%s: %s\nerrors %v, want %v", want.Rule, want.What, got, expected)
	}
	for _, code := range want.Notes {
		if !slices.Contains(codes(r.Findings, func(f finding.Finding) bool { return !isError(f) }), code) {
			t.Errorf("no note or warning %s", code)
		}
	}
	for _, c := range r.Checks {
		if c.Count < 1 || c.Status == finding.NotChecked && c.Reason == "" {
			t.Errorf("check %+v", c)
		}
	}
}

// V1–V5: the artifacts that Orket wrote are accepted exactly where they are valid and can support a claim.
func TestOrketArtifacts(t *testing.T) {
	dir := filepath.Join(vectorsFolder, "checks")
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Logf("NOT RUN: %s is not beside this checkout", dir)
		t.SkipNow()
	}
	var expected struct {
		Cases []struct {
			ID    string
			Files map[string]*string
			Max   int64 `json:"max_trace_bytes"`
			Seed  struct {
				Valid    bool `json:"artifact_valid"`
				Provable bool `json:"claim_provable"`
			}
		}
	}
	if err := json.Unmarshal(data, &expected); err != nil || len(expected.Cases) == 0 {
		t.Fatalf("%d cases, %v", len(expected.Cases), err)
	}
	for _, c := range expected.Cases {
		t.Run(c.ID, func(t *testing.T) {
			o := dialect.Options{}
			if name := c.Files["retrieval"]; name != nil {
				o.Retrieval = filepath.Join(dir, *name)
			}
			verdict := finding.Verdict("unreadable")
			if a, err := read(filepath.Join(dir, *c.Files["trace"]), o); err == nil {
				verdict = verify.Trace(a.Trace, a.Shape, verify.Options{MaxBytes: c.Max}).Verdict
			}
			if holds := c.Seed.Valid && c.Seed.Provable; holds != (verdict == finding.Pass) {
				t.Errorf("%s, want valid %v, provable %v", verdict, c.Seed.Valid, c.Seed.Provable)
			}
		})
	}
}
