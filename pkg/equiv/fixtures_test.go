package equiv_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/orket"
	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/verify"
)

const (
	pairFolder    = "../../fixtures/pairs"
	vectorsFolder = "../../../shared/vectors/orket"
)

// wanted is what an expected.json says; fixtures/README.md explains its members.
type wanted struct {
	Rule, What, Verdict string
	Args                []string
	Findings            []struct{ Code, Class string }
	Notes, May          []string
}

// readSide reads a trace with the files beside it, as dmpl diff does.
func readSide(path string, o dialect.Options) (equiv.Side, error) {
	f, err := dialect.ReadFile(path, nil, 0)
	if err != nil {
		return equiv.Side{}, err
	}
	return sideOf(f, o)
}

func sideOf(f *dialect.File, o dialect.Options) (equiv.Side, error) {
	a, err := orket.Reader{}.Read(f, o)
	if err != nil {
		return equiv.Side{}, err
	}
	return equiv.Side{Trace: a.Trace, Findings: verify.Trace(a.Trace, a.Shape, verify.Options{}).Findings}, nil
}

// eachPair runs a test for every pair of fixtures, so that none is forgotten.
func eachPair(t *testing.T, run func(t *testing.T, dir string, want wanted)) {
	entries, err := os.ReadDir(pairFolder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < 100 {
		t.Fatalf("%d pairs in %s: fixtures are missing", len(entries), pairFolder)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			dir := filepath.Join(pairFolder, e.Name())
			data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
			if err != nil {
				t.Fatal(err)
			}
			var want wanted
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			run(t, dir, want)
		})
	}
}

// options takes over the arguments of a pair that concern the comparison.
func options(t *testing.T, dir string, args []string) equiv.Options {
	t.Helper()
	var o equiv.Options
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "--profiles":
			i++
			profiles, _, err := orket.ReadProfiles(filepath.Join(dir, args[i]), 0)
			if err != nil {
				t.Fatal(err)
			}
			o.Profiles = profiles
		case "--ignore":
			i++
			o.Ignore = append(o.Ignore, args[i])
		case "--no-fail", "--allow-undecided": // they concern the exit code
		default:
			t.Fatalf("the argument %s is not known here", args[i])
		}
	}
	return o
}

// readPair reads both sides of a pair; false where one is no JSON, which the pair must then expect.
func readPair(t *testing.T, dir string, want wanted) (left, right equiv.Side, ok bool) {
	t.Helper()
	var errs [2]error
	left, errs[0] = readSide(filepath.Join(dir, "left.memory_trace.json"), dialect.Options{})
	right, errs[1] = readSide(filepath.Join(dir, "right.memory_trace.json"), dialect.Options{})
	for _, err := range errs {
		if err == nil {
			continue
		}
		var problem *dialect.Problem
		if !errors.As(err, &problem) || !slices.ContainsFunc(want.Findings, func(f struct{ Code, Class string }) bool { return f.Code == string(problem.Code) }) {
			t.Fatalf("the pair cannot be read, which it does not expect: %v", err)
		}
	}
	return left, right, errs[0] == nil && errs[1] == nil
}

func errorsOf(r finding.Result) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f finding.Finding) bool { return f.Severity != finding.Error })
}

func codes(fs []finding.Finding) []string {
	var out []string
	for _, f := range fs {
		out = append(out, string(f.Code))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// E1–E9, E11, Z1: every pair has the verdict, the codes and the root that the contract demands.
func TestPairsHaveTheExpectedVerdictAndCodes(t *testing.T) {
	eachPair(t, func(t *testing.T, dir string, want wanted) {
		left, right, ok := readPair(t, dir, want)
		if !ok {
			return
		}
		r := equiv.Compare(left, right, options(t, dir, want.Args))
		if string(r.Verdict) != want.Verdict {
			t.Errorf("%s: %s\nverdict %s, want %s; findings %v", want.Rule, want.What, r.Verdict, want.Verdict, codes(r.Findings))
		}
		got := slices.DeleteFunc(codes(errorsOf(r)), func(code string) bool { return slices.Contains(want.May, code) })
		var expected []string
		for _, f := range want.Findings {
			expected = append(expected, f.Code)
			if f.Class == "root" && !slices.ContainsFunc(r.Findings, func(g finding.Finding) bool { return string(g.Code) == f.Code && g.Class == finding.Root }) {
				t.Errorf("the root is no %s", f.Code)
			}
		}
		slices.Sort(expected)
		if expected = slices.Compact(expected); !slices.Equal(got, expected) {
			t.Errorf("%s: %s\nerrors %v, want %v", want.Rule, want.What, got, expected)
		}
		for _, code := range want.Notes {
			noted := func(f finding.Finding) bool { return string(f.Code) == code && f.Severity != finding.Error }
			if verifyOnly := strings.HasPrefix(code, "blind."); !verifyOnly && !slices.ContainsFunc(r.Findings, noted) {
				t.Errorf("no note or warning %s", code)
			}
		}
	})
}

// mirrored is a finding seen from the other side.
type mirrored struct {
	code                    finding.Code
	severity                finding.Severity
	class                   finding.Class
	event                   int
	artifact, rightArtifact string
	pointer, rightPointer   string
	expected, actual        string
}

func (m mirrored) key() string {
	return strings.Join([]string{string(m.code), m.artifact, m.pointer, m.rightPointer, m.expected, m.actual}, "\x00")
}

func mirror(r finding.Result, swap bool) []mirrored {
	var out []mirrored
	for _, f := range r.Findings {
		m := mirrored{
			f.Code, f.Severity, f.Class, f.EventIndex, f.Artifact, f.RightArtifact, f.Pointer, f.RightPointer,
			string(f.Expected), string(f.Actual),
		}
		if compared := f.Code.Layer() == "equiv"; compared && swap {
			m.artifact, m.rightArtifact = m.rightArtifact, m.artifact
			m.pointer, m.rightPointer = m.rightPointer, m.pointer
			m.expected, m.actual = m.actual, m.expected
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b mirrored) int { return strings.Compare(a.key(), b.key()) })
	return out
}

// E1–E11: Compare(b, a) says what Compare(a, b) says, with the sides exchanged.
func TestCompareMirrors(t *testing.T) {
	eachPair(t, func(t *testing.T, dir string, want wanted) {
		left, right, ok := readPair(t, dir, want)
		if !ok {
			return
		}
		o := options(t, dir, want.Args)
		there, back := equiv.Compare(left, right, o), equiv.Compare(right, left, o)
		if there.Verdict != back.Verdict {
			t.Errorf("%s there, %s back", there.Verdict, back.Verdict)
		}
		a, b := mirror(there, false), mirror(back, true)
		if !slices.Equal(a, b) {
			for i := range max(len(a), len(b)) {
				if i >= len(a) || i >= len(b) || a[i] != b[i] {
					t.Errorf("finding %d:\nthere %+v\nback  %+v", i, at(a, i), at(b, i))
				}
			}
		}
		if x, y := there.Alignment, back.Alignment; (x == nil) != (y == nil) || x != nil && (x.LeftEvents != y.RightEvents || len(x.Edits) != len(y.Edits)) {
			t.Errorf("alignment %+v there, %+v back", x, y)
		}
	})
}

func at(ms []mirrored, i int) any {
	if i < len(ms) {
		return ms[i]
	}
	return "none"
}
