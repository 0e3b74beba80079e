package cmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/cmd"
)

const fixtures = "../fixtures"

// reported is what the fixture tests read of a JSON report.
type reported struct {
	Verdict  string           `json:"verdict"`
	ExitCode int              `json:"exit_code"`
	Results  []reportedResult `json:"results"`
}

type reportedResult struct {
	Name     string          `json:"name"`
	Verdict  string          `json:"verdict"`
	Findings []reportedEntry `json:"findings"`
}

type reportedEntry struct {
	Code, Severity, Class, Artifact, Pointer, Detail, Hint string
	EventIndex                                             *int   `json:"event_index"`
	RightArtifact                                          string `json:"right_artifact"`
	RightPointer                                           string `json:"right_pointer"`
}

// all gives the findings of all results.
func (r reported) all() []reportedEntry {
	var out []reportedEntry
	for _, result := range r.Results {
		out = append(out, result.Findings...)
	}
	return out
}

// errors gives the findings of severity error.
func (r reported) errors() []reportedEntry {
	return slices.DeleteFunc(r.all(), func(f reportedEntry) bool { return f.Severity != "error" })
}

// runJSON runs a command with --format json and holds the exit code to the report.
func runJSON(t *testing.T, args ...string) (reported, int) {
	t.Helper()
	var out, errs bytes.Buffer
	a := &cmd.App{In: strings.NewReader(""), Out: &out, Err: &errs, Dir: t.TempDir()}
	code := a.Run(append(slices.Clone(args), "--format", "json"))
	var r reported
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("dmpl %s: exit %d and no JSON report: %v\n%s%s", strings.Join(args, " "), code, err, out.String(), errs.String())
	}
	if code != r.ExitCode {
		t.Errorf("exit code %d, and the report says %d", code, r.ExitCode)
	}
	return r, code
}

// wanted is what an expected.json says of one case; fixtures/README.md explains its members.
type wanted struct {
	Rule, What, Verdict string
	Args                []string
	Exit                int
	Findings            []wantedEntry
	Notes, May          []string
}

type wantedEntry struct {
	Code, Class, Pointer, File string
	EventIndex                 *int `json:"event_index"`
}

func readExpected(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// eachCase runs a test for every folder, so that none is forgotten.
func eachCase(t *testing.T, folder string, run func(t *testing.T, dir string, want wanted)) {
	entries, err := os.ReadDir(filepath.Join(fixtures, folder))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		t.Fatal("no fixtures in " + folder)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			dir := filepath.Join(fixtures, folder, e.Name())
			var want wanted
			readExpected(t, filepath.Join(dir, "expected.json"), &want)
			run(t, dir, want)
		})
	}
}

// E1–E9, E11, Z1, Z2: every pair has the verdict, the exit code and the findings that the contract demands.
func TestPairsHaveTheExpectedOutcome(t *testing.T) {
	eachCase(t, "pairs", func(t *testing.T, dir string, want wanted) {
		args := []string{"diff", filepath.Join(dir, "left.memory_trace.json"), filepath.Join(dir, "right.memory_trace.json")}
		r, _ := runJSON(t, append(args, inFolder(dir, want.Args)...)...)
		compare(t, r, want, "left.memory_trace.json")
	})
}

// V0–V6, D1–D3: every artifact likewise.
func TestChecksHaveTheExpectedOutcome(t *testing.T) {
	eachCase(t, "checks", func(t *testing.T, dir string, want wanted) {
		args := []string{"verify", filepath.Join(dir, "memory_trace.json")}
		r, _ := runJSON(t, append(args, inFolder(dir, want.Args)...)...)
		compare(t, r, want, "memory_trace.json")
	})
}

// inFolder makes the paths among the arguments relative to the case's folder.
func inFolder(dir string, args []string) []string {
	out := slices.Clone(args)
	for i := range out {
		if path := filepath.Join(dir, out[i]); !strings.HasPrefix(out[i], "-") {
			if _, err := os.Stat(path); err == nil {
				out[i] = path
			}
		}
	}
	return out
}

func compare(t *testing.T, r reported, want wanted, file string) {
	t.Helper()
	if r.Verdict != want.Verdict || r.ExitCode != want.Exit {
		t.Errorf("%s: %s\nverdict %s, exit %d; want %s, exit %d", want.Rule, want.What, r.Verdict, r.ExitCode, want.Verdict, want.Exit)
	}
	got := slices.DeleteFunc(r.errors(), func(f reportedEntry) bool { return slices.Contains(want.May, f.Code) })
	slices.SortStableFunc(got, func(a, b reportedEntry) int { return rootFirst(a) - rootFirst(b) })
	if problem := match(got, want.Findings, file); problem != "" {
		t.Errorf("%s: %s\n%s\ngot:%s", want.Rule, want.What, problem, describe(got))
	}
	for _, code := range want.Notes {
		if !slices.ContainsFunc(r.all(), func(f reportedEntry) bool { return f.Code == code && f.Severity != "error" }) {
			t.Errorf("%s: %s\nno note or warning %s", want.Rule, want.What, code)
		}
	}
}

func rootFirst(f reportedEntry) int {
	if f.Class == "root" {
		return 0
	}
	return 1
}

// match pairs findings with expected ones in order. Neighbours that match one entry count as one, and an entry without an
// index may stand anywhere.
func match(got []reportedEntry, want []wantedEntry, file string) string {
	rest := slices.Clone(got)
	for _, w := range want {
		i := slices.IndexFunc(rest, func(f reportedEntry) bool { return w.matches(f, file) })
		if i < 0 || i > 0 && w.EventIndex != nil && w.Class != "root" && !anywhere(rest[:i]) {
			return "missing, or out of order: " + w.Code + " " + w.Pointer
		}
		n := i + 1
		w.Class = "" // the neighbours of a root are independent
		for n < len(rest) && w.matches(rest[n], file) {
			n++
		}
		rest = slices.Delete(rest, i, n)
	}
	if len(rest) > 0 {
		return "not expected: " + rest[0].Code + " " + rest[0].Pointer
	}
	return ""
}

// anywhere says that findings have no index, so that others may be expected before them.
func anywhere(fs []reportedEntry) bool {
	return !slices.ContainsFunc(fs, func(f reportedEntry) bool { return f.EventIndex != nil })
}

func (w wantedEntry) matches(f reportedEntry, file string) bool {
	if w.File != "" {
		file = w.File
	}
	at := file == "*" || filepath.Base(f.Artifact) == file || filepath.Base(f.RightArtifact) == file
	pointer := strings.HasPrefix(f.Pointer, w.Pointer) || strings.HasPrefix(f.RightPointer, w.Pointer)
	class := w.Class == "" || w.Class == f.Class
	index := w.EventIndex == nil || f.EventIndex != nil && *f.EventIndex == *w.EventIndex
	return f.Code == w.Code && at && pointer && class && index
}

func describe(fs []reportedEntry) string {
	var b strings.Builder
	for _, f := range fs {
		text, err := json.Marshal(f)
		if err != nil {
			panic(err)
		}
		b.WriteString("\n  ")
		b.Write(text)
	}
	return b.String()
}
