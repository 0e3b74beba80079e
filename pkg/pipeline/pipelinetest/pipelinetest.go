// Package pipelinetest holds stages of the pipeline to the answers that LlamaBrain's own code gave.
package pipelinetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Case is one vector: what goes into a stage and what comes out.
type Case struct {
	Name     string
	Input    canon.Value
	Expected canon.Value
}

// notAsked are members of expected answers that no stage gives: forms for people to read.
var notAsked = []string{"toString", "statsToString", "ToString"}

// wallClock stands in an expected answer for any value.
const wallClock = `"<wall clock>"`

// Each runs a test for every vector of a kind: those in fixtures/pipeline, and the whole list beside the project.
func Each(t *testing.T, kind string, atLeast int, test func(t *testing.T, c Case)) {
	t.Helper()
	for _, place := range []struct{ name, dir string }{
		{"fixtures", filepath.Join(Root(t), "fixtures", "pipeline")},
		{"shared", filepath.Join(Root(t), "..", "shared", "vectors", "llamabrain")},
	} {
		t.Run(place.name, func(t *testing.T) {
			path := filepath.Join(place.dir, kind+".json")
			if _, err := os.Stat(path); err != nil && place.name == "shared" {
				t.Skipf("NOT RUN, VECTORS MISSING: %s: %v", path, err)
			}
			cases := Read(t, path)
			if len(cases) < atLeast {
				t.Fatalf("%s: %d vectors, want %d at least", path, len(cases), atLeast)
			}
			for _, c := range cases {
				t.Run(c.Name, func(t *testing.T) { test(t, c) })
			}
		})
	}
}

// EachStage holds a stage to every vector of a kind.
func EachStage(t *testing.T, kind string, atLeast int, stage func(canon.Value) ([]byte, error)) {
	t.Helper()
	Each(t, kind, atLeast, func(t *testing.T, c Case) {
		got, err := stage(c.Input)
		if err != nil {
			t.Fatal(err)
		}
		Compare(t, got, c.Expected)
	})
}

// Root gives the top folder of the project.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}

// Read gives the vectors of a file.
func Read(t testing.TB, path string) []Case {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := parse(t, data)
	list, _ := all.Get("cases")
	var cases []Case
	for _, v := range list.Elements() {
		var c Case
		name, _ := v.Get("name")
		c.Name, _ = name.Text()
		c.Input, _ = v.Get("input")
		c.Expected, _ = v.Get("expected")
		cases = append(cases, c)
	}
	return cases
}

// parse reads a document in which lone surrogates survive.
func parse(t testing.TB, data []byte) canon.Value {
	t.Helper()
	v, err := canon.ParseAs(canon.DBL, data)
	if err != nil {
		t.Fatalf("%v in %.200q", err, data)
	}
	return v
}

// Compare fails the test where an answer is not the expected one, and names the first place.
func Compare(t testing.TB, got []byte, want canon.Value) {
	t.Helper()
	if !json.Valid(got) {
		t.Fatalf("no JSON: %.200q", got)
	}
	if d := Difference(parse(t, got), want); d != "" {
		t.Error(d)
	}
}

// Difference gives the first place where an answer is not the expected one; empty where there is none. Members stand in
// the same order. Whole numbers are compared exactly, others as binary32, which is all that the vectors hold of them.
func Difference(got, want canon.Value) string { return difference("", got, want) }

func difference(at string, got, want canon.Value) string {
	if string(want.Raw()) == wallClock {
		return ""
	}
	if got.Kind() != want.Kind() {
		return fmt.Sprintf("at %s: %.200s, want %.200s", at, got.Raw(), want.Raw())
	}
	switch want.Kind() {
	case canon.Object:
		return differentMembers(at, got.Members(), want.Members())
	case canon.Array:
		return differentElements(at, got.Elements(), want.Elements())
	case canon.String:
		g, _ := got.Text()
		w, _ := want.Text()
		if g != w {
			return fmt.Sprintf("at %s:\n got %q\nwant %q", at, g, w)
		}
	case canon.Number:
		if !sameNumber(string(got.Raw()), string(want.Raw())) {
			return fmt.Sprintf("at %s: %s, want %s", at, got.Raw(), want.Raw())
		}
	default:
		if string(got.Raw()) != string(want.Raw()) {
			return fmt.Sprintf("at %s: %s, want %s", at, got.Raw(), want.Raw())
		}
	}
	return ""
}

func differentMembers(at string, got, want []canon.Member) string {
	want = slices.DeleteFunc(slices.Clone(want), func(m canon.Member) bool { return slices.Contains(notAsked, m.Name) })
	if g, w := names(got), names(want); !slices.Equal(g, w) {
		return fmt.Sprintf("at %s: members %q, want %q", at, g, w)
	}
	for i, m := range want {
		if d := difference(canon.AppendToken(at, m.Name), got[i].Value, m.Value); d != "" {
			return d
		}
	}
	return ""
}

func names(members []canon.Member) []string {
	var list []string
	for _, m := range members {
		list = append(list, m.Name)
	}
	return list
}

func differentElements(at string, got, want []canon.Value) string {
	for i := range min(len(got), len(want)) {
		if d := difference(canon.AppendToken(at, strconv.Itoa(i)), got[i], want[i]); d != "" {
			return d
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("at %s: %d elements, want %d", at, len(got), len(want))
	}
	return ""
}

func sameNumber(got, want string) bool {
	g, gWhole := canon.Integer([]byte(got))
	w, wWhole := canon.Integer([]byte(want))
	if gWhole && wWhole {
		return g == w
	}
	a, errA := strconv.ParseFloat(got, 32)
	b, errB := strconv.ParseFloat(want, 32)
	return errA == nil && errB == nil && a == b
}
